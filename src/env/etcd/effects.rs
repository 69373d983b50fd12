//! Turns what an etcd tells of its keys into effects on locks. Pure.
//!
//! A key that is made is a grant, and the revision of its making is the fencing token; one that is
//! said again was renewed. When a lease will end is told by nobody: that it has ended shows when its
//! key goes.

use crate::env::seen::Seen;
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Change;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::HashMap;

/// In front of what is no lock: those who wait, and the lab's marks. No text holds this byte.
const BEHIND: u8 = 0xff;
/// Behind that, of a mark.
const MARK: &[u8] = b"mark";

/// The keys so far.
#[derive(Debug)]
pub struct Effects {
    server: String,
    prefix: String,
    owners: HashMap<String, OwnerDigest>,
}

/// The key under which the lab writes its marks.
pub fn mark_key(prefix: &str) -> Vec<u8> {
    [prefix.as_bytes(), &[BEHIND], MARK].concat()
}

impl Effects {
    /// Follows locks with this prefix on a server that has none yet.
    pub fn new(server: &str, prefix: &str) -> Self {
        Effects {
            server: server.to_owned(),
            prefix: prefix.to_owned(),
            owners: HashMap::new(),
        }
    }

    /// What is followed.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What one change of one key means; nothing for everything that is not ours.
    pub fn read(&mut self, change: &Value) -> Option<Seen> {
        let kv = change.get("kv")?;
        let bytes = |name: &str| STANDARD.decode(kv.get(name)?.as_str()?).ok();
        let number = |name: &str| kv.get(name)?.as_str()?.parse::<u64>().ok();
        let full = bytes("key")?;
        let value = bytes("value").unwrap_or_default();
        let is_gone = change.get("type").and_then(Value::as_str) == Some("DELETE");
        if full == mark_key(&self.prefix) && !is_gone {
            return Some(Seen::Mark(String::from_utf8_lossy(&value).into_owned()));
        }
        let key = full.strip_prefix(self.prefix.as_bytes())?.to_vec();
        let key = String::from_utf8(key).ok()?;
        if is_gone {
            self.owners.remove(&key);
            return Some(Seen::effect(&self.server, key, Change::Deleted));
        }
        let owner = OwnerDigest::of(&value);
        let made = number("create_revision");
        let before = self.owners.insert(key.clone(), owner.clone());
        let is_new = made == number("mod_revision") || before.is_some_and(|old| old != owner);
        let change = match is_new {
            true => Change::Set {
                owner,
                fencing: made.map(FencingToken),
                until_ms: None,
            },
            false => Change::Extended { until_ms: None },
        };
        Some(Seen::effect(&self.server, key, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::event::Event;
    use serde_json::json;

    fn put(key: &[u8], value: &str, made: u64, said: u64) -> Value {
        json!({ "kv": {
            "key": STANDARD.encode(key), "value": STANDARD.encode(value),
            "create_revision": made.to_string(), "mod_revision": said.to_string(),
        }})
    }

    fn seen(effects: &mut Effects, change: &Value) -> Option<Change> {
        effects.read(change).map(|seen| match seen {
            Seen::Effect(Event::Effect { key, change, .. }) => {
                assert_eq!(key, "k");
                change
            }
            other => panic!("{other:?}"),
        })
    }

    #[test]
    fn a_grant_a_renewal_and_an_end() {
        let mut effects = Effects::new("etcd", "lab:");
        let set = |owner: &str, made| Change::Set {
            owner: OwnerDigest::of(owner.as_bytes()),
            fencing: Some(FencingToken(made)),
            until_ms: None,
        };
        let made = put(b"lab:k", "a", 5, 5);
        assert_eq!(seen(&mut effects, &made), Some(set("a", 5)));
        let again = put(b"lab:k", "a", 5, 9);
        let extended = Change::Extended { until_ms: None };
        assert_eq!(seen(&mut effects, &again), Some(extended));
        let over = put(b"lab:k", "b", 5, 10);
        assert_eq!(seen(&mut effects, &over), Some(set("b", 5)));
        let gone = json!({ "type": "DELETE", "kv": { "key": STANDARD.encode("lab:k") } });
        assert_eq!(seen(&mut effects, &gone), Some(Change::Deleted));
    }

    #[test]
    fn what_is_not_ours_is_nothing_and_a_mark_is_seen_as_such() {
        let mut effects = Effects::new("etcd", "lab:");
        for key in [&b"app:k"[..], b"lab:k\xff1a"] {
            assert_eq!(effects.read(&put(key, "x", 1, 1)), None);
        }
        let mark = put(&mark_key("lab:"), "end", 3, 8);
        assert_eq!(effects.read(&mark), Some(Seen::Mark("end".to_owned())));
    }
}
