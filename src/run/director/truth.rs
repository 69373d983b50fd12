//! Who holds the lock by the servers' truth, right now, and which of several servers takes writes:
//! for faults whose target is the holder or the lock's server.
//!
//! Follows the record as it grows. Only the choice of a target rests on it; the checks work the
//! same out again from the record alone.

use crate::ids::{GrantId, OwnerDigest};
use crate::timeline::event::{By, Call, Event, Line};
use std::collections::{BTreeMap, HashMap};
use told::{Role, Told};

mod told;

/// What the servers have told so far.
#[derive(Debug, Default)]
pub struct Truth {
    attempts: HashMap<OwnerDigest, (String, GrantId)>,
    servers: BTreeMap<String, Told>,
    /// How many servers have to name a holder.
    quorum: usize,
}

impl Truth {
    /// Where so many servers have to name a holder.
    pub fn by(quorum: usize) -> Truth {
        Truth {
            quorum,
            ..Truth::default()
        }
    }

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

    /// What a server does that sets a key: alone it grants, of several it votes.
    pub const fn said_of_a_set(&self) -> &'static str {
        if self.quorum > 1 {
            "gave its vote for"
        } else {
            "granted"
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
        let ruler = self.takes_writes();
        let asked = self
            .servers
            .iter()
            .filter(|(name, _)| ruler.is_none_or(|of| of == *name));
        let mut named: BTreeMap<&OwnerDigest, usize> = BTreeMap::new();
        let mut why = "the server names no holder";
        for (_, told) in asked {
            match told.names(lab_ns) {
                Ok(owner) => *named.entry(owner).or_default() += 1,
                Err(other) => why = other,
            }
        }
        let enough = named
            .into_iter()
            .find(|(_, count)| *count >= self.quorum.max(1));
        let owner = enough.map(|(owner, _)| owner).ok_or(why)?;
        self.attempts
            .get(owner)
            .cloned()
            .ok_or_else(|| format!("no worker knows the owner {owner} that the server names"))
    }
}

#[cfg(test)]
#[path = "truth/tests.rs"]
mod tests;
