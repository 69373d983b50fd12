//! What the commands of a Redis server's stream of changes mean to the lab.
//!
//! A server sends effects, most of them in one plain form: a `SETEX` arrives as `SET … PXAT`, a
//! `GETEX` as `PEXPIREAT`, a `GETDEL` as `DEL`. Those that grant, extend and end a lock are read.
//! Any other command that names a key of a lock may have made of it what nobody here can tell: from
//! there on the observer has lost its place, and says so. None is passed over.

use super::stream::Words;
use super::value::{Held, owner_and_fencing};
use crate::env::seen::Seen;
use crate::timeline::event::{Change, Event};
use std::collections::HashMap;

/// Key, without the prefix, that the lab writes to mark a place in the stream.
pub const MARK: &str = "mark";

/// The only database that the lab uses.
const OURS: &str = "0";

/// Commands that are in a stream and change no key, whatever their words are.
const CHANGE_NOTHING: &[&str] = &["PING", "MULTI", "EXEC", "PUBLISH", "SPUBLISH", "REPLCONF"];

/// Turns the commands of a replication stream into effects on the lab's own keys.
#[derive(Debug)]
pub struct Effects {
    server: String,
    prefix: String,
    next_pos: u64,
    /// The commands that come now are for another database than the first, which is the lab's.
    elsewhere: bool,
    /// How far each counter has come; one that is not here counts from nothing, none = unknown.
    counters: HashMap<String, Option<i64>>,
    /// What each lock that is held was last set to.
    held: HashMap<String, Held>,
}

impl Effects {
    /// Follows keys with this prefix on a server that starts empty.
    pub fn new(server: &str, prefix: &str) -> Self {
        Effects {
            server: server.to_owned(),
            prefix: prefix.to_owned(),
            next_pos: 0,
            elsewhere: false,
            counters: HashMap::new(),
            held: HashMap::new(),
        }
    }

    /// The counter of a lock goes on from here.
    pub fn count_from(&mut self, key: &str, value: u64) {
        let value = i64::try_from(value).ok();
        self.counters.insert(key.to_owned(), value);
    }

    /// A lock is held already.
    pub fn go_on(&mut self, key: &str, held: Held) {
        self.held.insert(key.to_owned(), held);
    }

    /// What a command changed, in order; nothing for commands on other keys.
    pub fn read(&mut self, words: &Words) -> Vec<Seen> {
        let text: Vec<&str> = words
            .iter()
            .map(|word| std::str::from_utf8(word).unwrap_or(""))
            .collect();
        let Some((verb, rest)) = text.split_first() else {
            return Vec::new();
        };
        let verb = verb.to_ascii_uppercase();
        match (verb.as_str(), rest) {
            ("SELECT", [database]) => {
                self.elsewhere = *database != OURS;
                Vec::new()
            }
            ("FLUSHALL", _) => self.flushed(),
            ("CLUSTER" | "TRIMSLOTS", _) => lost(&verb, "slots of a cluster"),
            ("SWAPDB", between) => match between.contains(&OURS) {
                true => lost(&verb, "the lab's database"),
                false => Vec::new(),
            },
            ("COPY", [_, to, options @ ..]) => {
                let here = database_of(options).map_or(!self.elsewhere, |to| to == OURS);
                self.unread_if(here, &verb, &[to])
            }
            ("MOVE", [key, _]) if !self.elsewhere => self.gone(key),
            ("MOVE", [key, to]) => self.unread_if(*to == OURS, &verb, &[key]),
            _ if self.elsewhere => Vec::new(),
            (verb, rest) => self.read_here(verb, rest, words),
        }
    }

    /// A command for the lab's own database.
    fn read_here(&mut self, verb: &str, rest: &[&str], words: &Words) -> Vec<Seen> {
        match (verb, rest) {
            ("SET", [key, value, ..]) if *key == format!("{}{MARK}", self.prefix) => {
                vec![Seen::Mark((*value).to_owned())]
            }
            ("SET", [key, _, options @ ..]) => self.set(verb, key, &words[2], options),
            ("SETNX", [key, _]) => self.set(verb, key, &words[2], &[]),
            ("MSET" | "MSETNX", pairs) if pairs.len() % 2 == 0 => {
                let each = pairs.iter().step_by(2).zip(words[2..].iter().step_by(2));
                each.flat_map(|(key, value)| self.set(verb, key, value, &[]))
                    .collect()
            }
            ("PEXPIREAT", [key, until, ..]) if self.counter(key).is_none() => self.on_lock(
                key,
                Change::Extended {
                    until_ms: until.parse().ok(),
                },
            ),
            // A counter that has a lease lapses at its end, and that is told when it happens.
            ("PEXPIREAT" | "PERSIST", [key, ..]) if self.counter(key).is_some() => Vec::new(),
            ("PERSIST", [key]) => self.on_lock(key, Change::Extended { until_ms: None }),
            ("DEL" | "UNLINK", keys) => keys.iter().flat_map(|key| self.gone(key)).collect(),
            ("RENAME" | "RENAMENX", [from, to]) => {
                let gone = self.gone(from);
                let lost = self.unread_if(true, verb, &[to]);
                gone.into_iter().chain(lost).collect()
            }
            ("INCR", [key]) => self.count(verb, key, Some(1)),
            ("DECR", [key]) => self.count(verb, key, Some(-1)),
            ("INCRBY", [key, by]) => self.count(verb, key, by.parse().ok()),
            ("DECRBY", [key, by]) => {
                let by = by.parse().ok().and_then(i64::checked_neg);
                self.count(verb, key, by)
            }
            ("FLUSHDB", _) => self.flushed(),
            (verb, _) if CHANGE_NOTHING.contains(&verb) => Vec::new(),
            (verb, words) => self.unread_if(true, verb, words),
        }
    }

    fn set(&mut self, verb: &str, key: &str, value: &[u8], options: &[&str]) -> Vec<Seen> {
        if let Some(name) = self.counter(key) {
            let value = std::str::from_utf8(value).ok();
            let value = value.and_then(|value| value.parse().ok());
            return self.counted(name, value);
        }
        let said = |name: &str| {
            options
                .iter()
                .position(|word| word.eq_ignore_ascii_case(name))
        };
        if said("KEEPTTL").is_some() {
            return self.unread_if(true, verb, &[key]);
        }
        let until_ms = said("PXAT").and_then(|at| options.get(at + 1)?.parse().ok());
        let Some(name) = self.lock(key) else {
            return Vec::new();
        };
        let (owner, fencing) = owner_and_fencing(value);
        // Each grant has an owner of its own: set to what it is, a lock is held for longer.
        let before = self.held.insert(name.clone(), (owner.clone(), fencing));
        if before.is_some_and(|before| before == (owner.clone(), fencing)) {
            return self.effect(name, Change::Extended { until_ms });
        }
        let change = Change::Set {
            owner,
            fencing,
            until_ms,
        };
        self.effect(name, change)
    }

    fn count(&mut self, verb: &str, key: &str, by: Option<i64>) -> Vec<Seen> {
        let Some(name) = self.counter(key) else {
            return self.unread_if(true, verb, &[key]);
        };
        let before = self.counters.get(&name).copied().unwrap_or(Some(0));
        let value = before
            .zip(by)
            .and_then(|(before, by)| before.checked_add(by));
        self.counted(name, value)
    }

    fn counted(&mut self, name: String, value: Option<i64>) -> Vec<Seen> {
        self.counters.insert(name.clone(), value);
        let value = value.and_then(|value| u64::try_from(value).ok());
        self.effect(name, Change::Counter { value })
    }

    /// A counter that is gone counts from nothing.
    fn gone(&mut self, key: &str) -> Vec<Seen> {
        let Some(name) = self.counter(key) else {
            self.lock(key).and_then(|name| self.held.remove(&name));
            return self.on_lock(key, Change::Deleted);
        };
        self.counters.remove(&name);
        self.effect(name, Change::Counter { value: Some(0) })
    }

    fn flushed(&mut self) -> Vec<Seen> {
        self.counters.clear();
        self.held.clear();
        self.effect(String::new(), Change::Flushed)
    }

    /// A command of which nobody can tell what it made of a key of a lock, if it names one.
    fn unread_if(&mut self, may: bool, verb: &str, words: &[&str]) -> Vec<Seen> {
        let ours = |word: &&&str| self.lock(word).or_else(|| self.counter(word)).is_some();
        match words.iter().find(ours).filter(|_| may) {
            Some(key) => lost(verb, key),
            None => Vec::new(),
        }
    }

    fn on_lock(&mut self, key: &str, change: Change) -> Vec<Seen> {
        let name = self.lock(key);
        name.map_or_else(Vec::new, |name| self.effect(name, change))
    }

    fn effect(&mut self, key: String, change: Change) -> Vec<Seen> {
        let pos = self.next_pos;
        self.next_pos += 1;
        vec![Seen::Effect(Event::Effect {
            server: self.server.clone(),
            pos,
            key,
            change,
        })]
    }

    /// Name of the lock whose key this is: `<prefix>{name}`.
    fn lock(&self, key: &str) -> Option<String> {
        let name = key.strip_prefix(&self.prefix)?.strip_prefix('{')?;
        Some(name.strip_suffix('}')?.to_owned())
    }

    /// Name of the lock whose counter this is: `<prefix>{name}:fence`.
    fn counter(&self, key: &str) -> Option<String> {
        self.lock(key.strip_suffix(":fence")?)
    }
}

fn lost(verb: &str, what: &str) -> Vec<Seen> {
    let why = format!("the server ran {verb} on {what}, and nobody can tell what it made of it");
    vec![Seen::Lost(why)]
}

/// Where a `COPY` goes, if it says so.
fn database_of<'a>(options: &[&'a str]) -> Option<&'a str> {
    let mut words = options.iter();
    words.find(|word| word.eq_ignore_ascii_case("DB"))?;
    words.next().copied()
}

#[cfg(test)]
#[path = "effects/tests.rs"]
mod tests;
