//! Turns the changes of a ZooKeeper's nodes into effects on locks. Pure.
//!
//! A lock's node that is made is a grant, and the number of that change is the fencing token; one
//! that is said again was renewed. When a session will end is told by nobody: that it has ended
//! shows when the server writes that down.

use super::log::{Done, Step};
use crate::env::seen::Seen;
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Change;
use std::collections::HashMap;

/// Behind a lock's folder.
const HELD: &str = "/held";
/// The node under which the lab writes its marks. No lock's folder has this name: what stands
/// behind a `%` there is a number.
pub const MARK: &str = "/%mark";

/// The locks so far.
#[derive(Debug)]
pub struct Effects {
    server: String,
    prefix: String,
    /// Owner and session of those that are held, by their keys.
    held: HashMap<String, (OwnerDigest, i64)>,
}

impl Effects {
    /// Follows locks with this prefix on a server that has none yet.
    pub fn new(server: &str, prefix: &str) -> Self {
        Effects {
            server: server.to_owned(),
            prefix: prefix.to_owned(),
            held: HashMap::new(),
        }
    }

    /// What one step means; nothing for everything that is not ours.
    pub fn read(&mut self, step: &Step) -> Vec<Seen> {
        let mut seen = Vec::new();
        for done in &step.done {
            match done {
                Done::Made {
                    path,
                    data,
                    with_session,
                } => {
                    let session = if *with_session { step.session } else { 0 };
                    seen.extend(self.said(path, data, (step.number, session)));
                }
                Done::Set { path, data } => seen.extend(self.said_again(path, data, step.number)),
                Done::Gone { path } => {
                    if let Some(key) = self.key(path)
                        && self.held.remove(&key).is_some()
                    {
                        seen.push(Seen::effect(&self.server, key, Change::Deleted));
                    }
                }
                Done::SessionOver => {
                    let over = |(_, (_, session)): &(&String, &(OwnerDigest, i64))| {
                        *session == step.session
                    };
                    let mut keys: Vec<String> = self
                        .held
                        .iter()
                        .filter(over)
                        .map(|(key, _)| key.clone())
                        .collect();
                    keys.sort();
                    for key in keys {
                        self.held.remove(&key);
                        seen.push(Seen::effect(&self.server, key, Change::Deleted));
                    }
                }
            }
        }
        seen
    }

    fn said(&mut self, path: &str, data: &[u8], (number, session): (i64, i64)) -> Option<Seen> {
        if path == MARK {
            return Some(Seen::Mark(String::from_utf8_lossy(data).into_owned()));
        }
        let key = self.key(path)?;
        let owner = owner(data);
        self.held.insert(key.clone(), (owner.clone(), session));
        let change = Change::Set {
            owner,
            fencing: u64::try_from(number).ok().map(FencingToken),
            until_ms: None,
        };
        Some(Seen::effect(&self.server, key, change))
    }

    fn said_again(&mut self, path: &str, data: &[u8], number: i64) -> Option<Seen> {
        let before = self.key(path).and_then(|key| self.held.get(&key).cloned());
        match before {
            Some((had, _)) if had == owner(data) => {
                let change = Change::Extended { until_ms: None };
                Some(Seen::effect(&self.server, self.key(path)?, change))
            }
            Some((_, session)) => self.said(path, data, (number, session)),
            None => self.said(path, data, (number, 0)),
        }
    }

    /// The key whose lock is held in this node; none if it is no such node.
    fn key(&self, path: &str) -> Option<String> {
        let folder = path.strip_suffix(HELD)?.strip_prefix('/')?;
        let name = decoded(folder)?;
        Some(name.strip_prefix(&self.prefix)?.to_owned())
    }
}

/// A folder's name as it was before what the server does not take was written as numbers.
fn decoded(folder: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = folder.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        rest = behind;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let (digits, behind) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = behind;
    }
    String::from_utf8(bytes).ok()
}

/// The owner stands behind the lease.
pub(super) fn owner(data: &[u8]) -> OwnerDigest {
    let space = data.iter().position(|byte| *byte == b' ');
    OwnerDigest::of(space.map_or(data, |space| &data[space + 1..]))
}

/// Where a lock is held.
pub(super) fn held(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_:".contains(&byte);
    let folder: String = name
        .bytes()
        .map(|byte| match plain(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02x}"),
        })
        .collect();
    format!("/{folder}{HELD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::event::Event;

    fn step(number: i64, session: i64, done: Done) -> Step {
        Step {
            number,
            session,
            done: vec![done],
        }
    }

    fn made(path: &str, data: &str) -> Done {
        Done::Made {
            path: path.to_owned(),
            data: data.as_bytes().to_vec(),
            with_session: true,
        }
    }

    fn changes(seen: Vec<Seen>) -> Vec<Change> {
        let change = |seen| match seen {
            Seen::Effect(Event::Effect { key, change, .. }) => {
                assert_eq!(key, "k/1");
                change
            }
            other => panic!("{other:?}"),
        };
        seen.into_iter().map(change).collect()
    }

    #[test]
    fn a_grant_a_renewal_and_two_ends() {
        let mut effects = Effects::new("zookeeper", "lab:");
        let path = held("lab:k/1");
        let set = |owner: &str, number| Change::Set {
            owner: OwnerDigest::of(owner.as_bytes()),
            fencing: Some(FencingToken(number)),
            until_ms: None,
        };
        let grant = step(5, 7, made(&path, "500 a"));
        assert_eq!(changes(effects.read(&grant)), [set("a", 5)]);
        let data = b"500 a".to_vec();
        let again = Done::Set {
            path: path.clone(),
            data,
        };
        let extended = Change::Extended { until_ms: None };
        assert_eq!(changes(effects.read(&step(6, 7, again))), [extended]);
        assert_eq!(effects.read(&step(7, 8, Done::SessionOver)), []);
        let over = step(8, 7, Done::SessionOver);
        assert_eq!(changes(effects.read(&over)), [Change::Deleted]);
        assert_eq!(effects.read(&over), [], "it is gone once");
        assert_eq!(
            changes(effects.read(&step(9, 9, made(&path, "500 b")))),
            [set("b", 9)]
        );
        let gone = step(10, 7, Done::Gone { path });
        assert_eq!(changes(effects.read(&gone)), [Change::Deleted]);
    }

    #[test]
    fn what_is_not_ours_is_nothing_and_a_mark_is_seen_as_such() {
        let mut effects = Effects::new("zookeeper", "lab:");
        for path in ["/app:k/held", "/lab:k/wait-1", "/lab:k/own-1", "/held"] {
            assert_eq!(effects.read(&step(1, 7, made(path, "5 x"))), [], "{path}");
        }
        let mark = step(2, 7, made(MARK, "end"));
        assert_eq!(effects.read(&mark), [Seen::Mark("end".to_owned())]);
    }
}
