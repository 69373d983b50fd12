//! The observer of a Redis server: follows its replication stream over a path of its own and
//! reads its clock.
//!
//! It never reads a worker's record. It uses the old `SYNC` command, so the server counts no
//! acknowledgements from it (`WAIT` answers as if it were not there). Not to be used where the
//! service itself counts replicas (Sentinel, `min-replicas-to-write`).

use super::stream::{Decoder, Words};
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::{Change, Event};
use std::collections::HashMap;

/// Key, without the prefix, that the lab writes to mark a place in the stream.
pub const MARK: &str = "mark";

/// Turns the commands of a replication stream into effects on the lab's own keys.
#[derive(Debug)]
pub struct Effects {
    server: String,
    prefix: String,
    next_pos: u64,
    /// The commands that come now are for another database than the first, which is the lab's.
    elsewhere: bool,
    counters: HashMap<String, u64>,
}

/// What one command of the stream means to the lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// An effect on a lock key or its counter.
    Effect(Event),
    /// A mark that the lab itself wrote.
    Mark(String),
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
        }
    }

    /// What a command changed, in order; nothing for commands on other keys.
    pub fn read(&mut self, words: &Words) -> Vec<Seen> {
        let text: Vec<&str> = words
            .iter()
            .map(|word| std::str::from_utf8(word).unwrap_or(""))
            .collect();
        let Some(verb) = text.first().map(|verb| verb.to_ascii_uppercase()) else {
            return Vec::new();
        };
        match (verb.as_str(), &text[1..]) {
            ("SELECT", [database]) => {
                self.elsewhere = *database != "0";
                Vec::new()
            }
            (verb, _) if self.elsewhere && verb != "FLUSHALL" => Vec::new(),
            ("SET", [key, value, options @ ..]) if *key == format!("{}{MARK}", self.prefix) => {
                let _ = options;
                vec![Seen::Mark((*value).to_owned())]
            }
            ("SET", [key, value, options @ ..]) => self.set(key, value, options),
            ("SETNX", [key, value]) => self.set(key, value, &[]),
            ("PEXPIREAT", [key, until, ..]) => self.on_lock(
                key,
                Change::Extended {
                    until_ms: until.parse().ok(),
                },
            ),
            ("PERSIST", [key]) => self.on_lock(key, Change::Extended { until_ms: None }),
            ("DEL" | "UNLINK", keys) => keys.iter().flat_map(|key| self.gone(key)).collect(),
            ("INCR", [key]) => self.count(key, 1),
            ("INCRBY", [key, by]) => self.count(key, by.parse().unwrap_or(0)),
            ("FLUSHALL" | "FLUSHDB", _) => {
                self.counters.clear();
                self.effect(String::new(), Change::Flushed)
            }
            _ => Vec::new(),
        }
    }

    fn set(&mut self, key: &str, value: &str, options: &[&str]) -> Vec<Seen> {
        if let Some(name) = self.counter(key) {
            let value = value.parse().ok();
            if let Some(value) = value {
                self.counters.insert(name.clone(), value);
            }
            return self.effect(name, Change::Counter { value });
        }
        let until_ms = options
            .iter()
            .position(|word| word.eq_ignore_ascii_case("PXAT"))
            .and_then(|at| options.get(at + 1)?.parse().ok());
        let (owner, fencing) = owner_and_fencing(value.as_bytes());
        let change = Change::Set {
            owner,
            fencing,
            until_ms,
        };
        self.on_lock(key, change)
    }

    fn count(&mut self, key: &str, by: u64) -> Vec<Seen> {
        let Some(name) = self.counter(key) else {
            return Vec::new();
        };
        let count = self.counters.entry(name.clone()).or_insert(0);
        *count = count.saturating_add(by);
        let value = Some(*count);
        self.effect(name, Change::Counter { value })
    }

    /// A counter that is gone counts from nothing.
    fn gone(&mut self, key: &str) -> Vec<Seen> {
        let Some(name) = self.counter(key) else {
            return self.on_lock(key, Change::Deleted);
        };
        self.counters.remove(&name);
        self.effect(name, Change::Counter { value: Some(0) })
    }

    fn on_lock(&mut self, key: &str, change: Change) -> Vec<Seen> {
        match self.lock(key) {
            Some(name) => self.effect(name, change),
            None => Vec::new(),
        }
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

/// What a lock key's value says: `owner:fencing`, or the owner alone. Nobody but the lock
/// service ever sees the owner token itself.
pub(super) fn owner_and_fencing(value: &[u8]) -> (OwnerDigest, Option<FencingToken>) {
    let at = value.iter().rposition(|byte| *byte == b':');
    let parts = at.map(|at| (&value[..at], &value[at + 1..]));
    let number = |bytes| std::str::from_utf8(bytes).ok()?.parse().ok();
    match parts.and_then(|(owner, fencing)| Some((owner, number(fencing)?))) {
        Some((owner, fencing)) => (OwnerDigest::of(owner), Some(FencingToken(fencing))),
        None => {
            let owner = parts.filter(|(_, fencing)| fencing.is_empty());
            (
                OwnerDigest::of(owner.map_or(value, |(owner, _)| owner)),
                None,
            )
        }
    }
}

/// Decoder and meaning together: bytes in, what they mean out.
#[derive(Debug)]
pub struct Tap {
    decoder: Decoder,
    effects: Effects,
}

impl Tap {
    /// A tap on a server that starts empty.
    pub fn new(server: &str, prefix: &str) -> Self {
        Tap {
            decoder: Decoder::default(),
            effects: Effects::new(server, prefix),
        }
    }

    /// The counter of a lock goes on from here: the server kept its data over a restart.
    #[must_use]
    pub fn counting_from(mut self, key: &str, value: u64) -> Self {
        self.effects.counters.insert(key.to_owned(), value);
        self
    }

    /// Takes bytes of the stream.
    ///
    /// # Errors
    /// When the place in the stream is lost.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Seen>, super::stream::StreamError> {
        let commands = self.decoder.feed(bytes)?;
        Ok(commands
            .iter()
            .flat_map(|words| self.effects.read(words))
            .collect())
    }

    /// From here on nothing is missed.
    pub fn in_sync(&self) -> bool {
        self.decoder.in_sync()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(effects: &mut Effects, command: &str) -> Vec<Seen> {
        effects.read(
            &command
                .split(' ')
                .map(|word| word.as_bytes().to_vec())
                .collect(),
        )
    }

    fn change(seen: &[Seen]) -> Option<(u64, String, Change)> {
        match seen {
            [
                Seen::Effect(Event::Effect {
                    pos, key, change, ..
                }),
            ] => Some((*pos, key.clone(), change.clone())),
            _ => None,
        }
    }

    #[test]
    fn a_grant_a_renewal_and_an_end_in_the_servers_order() {
        let mut effects = Effects::new("redis", "lab:");
        assert_eq!(
            change(&read(&mut effects, "INCR lab:{orders}:fence")),
            Some((0, "orders".into(), Change::Counter { value: Some(1) }))
        );
        let owner = OwnerDigest::of(b"s3cret");
        assert_eq!(
            change(&read(&mut effects, "SET lab:{orders} s3cret:1 PXAT 1700")),
            Some((
                1,
                "orders".into(),
                Change::Set {
                    owner,
                    fencing: Some(FencingToken(1)),
                    until_ms: Some(1700)
                }
            ))
        );
        assert_eq!(
            change(&read(&mut effects, "PEXPIREAT lab:{orders} 1900")),
            Some((
                2,
                "orders".into(),
                Change::Extended {
                    until_ms: Some(1900)
                }
            ))
        );
        assert_eq!(
            change(&read(&mut effects, "DEL lab:{orders}")),
            Some((3, "orders".into(), Change::Deleted))
        );
    }

    #[test]
    fn a_value_without_a_number_names_its_owner_alone() {
        let mut effects = Effects::new("redis", "lab:");
        for (value, owner, number) in [
            ("s3cret:7", "s3cret", Some(7)),
            ("s3cret:", "s3cret", None),
            ("s3cret", "s3cret", None),
            ("s3cret:x", "s3cret:x", None),
            ("s3:cret:7", "s3:cret", Some(7)),
        ] {
            let seen = read(&mut effects, &format!("SET lab:{{orders}} {value} PXAT 5"));
            let Some((
                _,
                _,
                Change::Set {
                    owner: o, fencing, ..
                },
            )) = change(&seen)
            else {
                panic!("{value}: {seen:?}");
            };
            assert_eq!(o, OwnerDigest::of(owner.as_bytes()), "{value}");
            assert_eq!(fencing, number.map(FencingToken), "{value}");
        }
    }

    #[test]
    fn a_counter_that_was_deleted_or_flushed_counts_from_nothing() {
        let mut effects = Effects::new("redis", "lab:");
        let mut counts = |command: &str| match change(&read(&mut effects, command)) {
            Some((_, key, Change::Counter { value })) if key == "orders" => value,
            _other => None,
        };
        assert_eq!(counts("INCRBY lab:{orders}:fence 4"), Some(4));
        assert_eq!(counts("DEL lab:{orders}:fence"), Some(0));
        assert_eq!(counts("INCR lab:{orders}:fence"), Some(1));
        assert_eq!(counts("UNLINK lab:{orders}:fence"), Some(0));
        assert_eq!(counts("SET lab:{orders}:fence 9"), Some(9));
        assert_eq!(counts("FLUSHALL"), None);
        assert_eq!(counts("INCR lab:{orders}:fence"), Some(1));
    }

    #[test]
    fn foreign_keys_and_helper_keys_are_not_ours() {
        let mut effects = Effects::new("redis", "lab:");
        for command in [
            "SET other x PXAT 1",
            "SET lab:{orders}:queue x PXAT 1",
            "DEL lab:{orders}:queue",
            "PING",
            "MULTI",
            "EXEC",
            "SELECT 0",
        ] {
            assert_eq!(read(&mut effects, command), vec![], "{command}");
        }
    }

    #[test]
    fn what_is_done_in_another_database_is_not_done_to_the_lab() {
        let mut effects = Effects::new("redis", "lab:");
        let mut seen = |command: &str| read(&mut effects, command).len();
        assert_eq!(seen("SELECT 3"), 0);
        assert_eq!(seen("FLUSHDB"), 0);
        assert_eq!(seen("DEL lab:{orders}"), 0);
        assert_eq!(seen("FLUSHALL"), 1);
        assert_eq!(seen("SELECT 0"), 0);
        assert_eq!(seen("FLUSHDB"), 1);
        assert_eq!(seen("DEL lab:{orders}"), 1);
    }

    #[test]
    fn a_mark_is_seen_as_such() {
        let mut effects = Effects::new("redis", "lab:");
        assert_eq!(
            read(&mut effects, "SET lab:mark end PXAT 5"),
            vec![Seen::Mark("end".into())]
        );
    }
}
