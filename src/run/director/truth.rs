//! Who holds the lock by the servers' truth, right now, and which of several servers takes writes:
//! for faults whose target is the holder or the lock's server.
//!
//! Follows the record as it grows. Only the choice of a target rests on it; the checks work the
//! same out again from the record alone.

use crate::ids::{GrantId, OwnerDigest};
use crate::timeline::event::{By, Call, Change, Event, Line};
use std::collections::{BTreeMap, HashMap};

/// What the servers have told so far.
#[derive(Debug, Default)]
pub struct Truth {
    attempts: HashMap<OwnerDigest, (String, GrantId)>,
    servers: BTreeMap<String, Told>,
}

/// What one server has told.
#[derive(Debug, Default)]
struct Told {
    owner: Option<OwnerDigest>,
    until_ms: Option<u64>,
    /// Server µs minus lab ns / 1000, at the last clock sample.
    offset_us: Option<i128>,
    /// Of one of several.
    role: Option<Role>,
    /// How far each counter has come.
    counters: HashMap<String, u64>,
    /// Lab time at which a counter was last seen to have fallen, ns.
    forgot: Option<u64>,
}

/// What one of several servers says of itself.
#[derive(Debug, Clone, Copy)]
struct Role {
    primary: bool,
    links: u64,
    /// Lab time at which it became so, or was first asked, ns.
    since: u64,
    /// Lab time at which it said so, ns.
    at: u64,
}

impl Truth {
    /// Takes note of one line.
    pub fn note(&mut self, line: &Line) {
        match (&line.by, &line.event) {
            (
                By::Worker(worker),
                Event::Invoke {
                    call: Call::Attempt { grant, owner },
                    ..
                },
            ) => {
                self.attempts
                    .insert(owner.clone(), (worker.clone(), grant.clone()));
            }
            (
                _,
                Event::Effect {
                    server,
                    key,
                    change,
                    ..
                },
            ) => {
                let told = self.of(server);
                told.change(change);
                if told.falls(key, change) {
                    told.forgot = Some(line.at);
                }
            }
            (
                _,
                Event::ServerRole {
                    server,
                    primary,
                    links,
                    since,
                },
            ) => {
                let told = self.of(server);
                let lasts = told.role.filter(|role| role.primary == *primary);
                told.role = Some(Role {
                    primary: *primary,
                    links: *links,
                    at: line.at,
                    since: lasts.map_or(since.unwrap_or(0), |role| role.since),
                });
            }
            (
                _,
                Event::ClockSample {
                    server,
                    before,
                    after,
                    server_us,
                },
            ) => {
                let middle_us = i128::from(before.midpoint(*after)) / 1000;
                self.of(server).offset_us = Some(i128::from(*server_us) - middle_us);
            }
            _ => {}
        }
    }

    fn of(&mut self, server: &str) -> &mut Told {
        self.servers.entry(server.to_owned()).or_default()
    }

    /// When a server was last seen to have forgotten how far a counter had come.
    pub fn forgot(&self, server: &str) -> Option<u64> {
        self.servers.get(server)?.forgot
    }

    /// One of several servers takes writes, by its own word.
    pub fn is_primary(&self, server: &str) -> bool {
        let role = self.servers.get(server).and_then(|told| told.role);
        role.is_some_and(|role| role.primary)
    }

    /// Of several servers, the one that took over last.
    pub fn takes_writes(&self) -> Option<&str> {
        let primary = |told: &Told| told.role.filter(|role| role.primary);
        let all = self.servers.iter();
        let all = all.filter_map(|(name, told)| Some((name, primary(told)?)));
        let last = all.max_by_key(|(_, role)| role.since);
        last.map(|(name, _)| name.as_str())
    }

    /// This server has said since then that it takes writes, or that its link is up.
    pub fn is_linked(&self, server: &str, since: u64) -> bool {
        let role = self.servers.get(server).and_then(|told| told.role);
        role.is_some_and(|role| role.at >= since && (role.primary || role.links > 0))
    }

    /// Nobody copies this server, and no other that copies has a link that is up; these aside.
    pub fn is_cut_off(&self, server: &str, aside: &[&str]) -> bool {
        let others = |name: &str| aside.iter().filter(|other| **other != name).count() as u64;
        self.servers.iter().all(|(name, told)| match told.role {
            Some(role) if role.primary => name != server || role.links == others(name),
            Some(role) => role.links == 0 || aside.contains(&name.as_str()),
            None => true,
        })
    }

    /// How many copy this server, if all others do and each has a link that is up.
    pub fn copies(&self, server: &str) -> Option<u64> {
        let roles = self.servers.iter();
        let roles: Vec<_> = roles
            .filter_map(|(name, told)| Some((name, told.role?)))
            .collect();
        let links = (roles.len() as u64).checked_sub(1)?;
        let all = roles.iter().all(|(name, role)| {
            let is_it = *name == server;
            role.primary == is_it && role.links == if is_it { links } else { 1 }
        });
        (all && links > 0).then_some(links)
    }

    /// Worker and grant that the server names at this lab time, if the lease has not ended.
    ///
    /// # Errors
    /// Why there is no such worker, in words.
    pub fn holder(&self, lab_ns: u64) -> Result<(String, GrantId), String> {
        let told = match self.takes_writes() {
            Some(name) => self.servers.get(name),
            None => self.servers.values().next(),
        };
        let told = told.ok_or("the server names no holder")?;
        let owner = told.owner.as_ref().ok_or("the server names no holder")?;
        let offset_us = told
            .offset_us
            .ok_or("the server's clock is not known yet")?;
        let now_ms = (i128::from(lab_ns) / 1000 + offset_us) / 1000;
        if told
            .until_ms
            .is_some_and(|until| i128::from(until) <= now_ms)
        {
            return Err("the last lease has ended by the server's clock".to_owned());
        }
        self.attempts
            .get(owner)
            .cloned()
            .ok_or_else(|| format!("no worker knows the owner {owner} that the server names"))
    }
}

impl Told {
    /// Whether a counter that had come somewhere is behind that now, or everything is gone.
    fn falls(&mut self, key: &str, change: &Change) -> bool {
        match change {
            // Where nothing was known yet, too: the server itself said that it was emptied.
            Change::Flushed => {
                self.counters.clear();
                true
            }
            Change::Counter { value: Some(value) } => {
                let before = self.counters.insert(key.to_owned(), *value);
                before.is_some_and(|before| *value < before)
            }
            _other => false,
        }
    }

    fn change(&mut self, change: &Change) {
        match change {
            Change::Set {
                owner, until_ms, ..
            } => {
                self.owner = Some(owner.clone());
                self.until_ms = *until_ms;
            }
            Change::Extended { until_ms } => self.until_ms = *until_ms,
            Change::Restarted {
                owner, until_ms, ..
            }
            | Change::Copied {
                owner, until_ms, ..
            } => {
                self.owner.clone_from(owner);
                self.until_ms = *until_ms;
            }
            Change::Deleted | Change::Flushed => {
                self.owner = None;
                self.until_ms = None;
            }
            Change::Counter { .. } => {}
        }
    }
}

#[cfg(test)]
#[path = "truth/tests.rs"]
mod tests;
