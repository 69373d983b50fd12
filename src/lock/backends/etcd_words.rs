//! What the etcd back end says to the JSON gateway, and how it reads the answers: bytes as base64,
//! numbers of 64 bits as text, and what is nothing left out.
//!
//! A lock is one key, whose value is the owner token, under a lease of its own. Behind it, at names
//! that no lock can have, stand those who wait for it.

use crate::ids::{FencingToken, OwnerToken};
use crate::lock::service::LockName;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::time::Duration;

pub(super) const RANGE: &str = "kv/range";
pub(super) const TXN: &str = "kv/txn";
pub(super) const WATCH: &str = "watch";
pub(super) const STATUS: &str = "maintenance/status";
pub(super) const LEASE_GRANT: &str = "lease/grant";
pub(super) const LEASE_KEEP: &str = "lease/keepalive";
pub(super) const LEASE_REVOKE: &str = "lease/revoke";
pub(super) const LEASE_LEFT: &str = "lease/timetolive";

/// Between a lock's key and what stands behind it. Names are text, in which this byte never is.
const BEHIND: u8 = 0xff;

/// A key, as it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(Vec<u8>);

impl Key {
    /// Of a lock.
    pub(super) fn of(name: &LockName) -> Key {
        Key([name.prefix.as_bytes(), name.key.as_bytes()].concat())
    }

    /// In front of all who wait for this lock.
    pub(super) fn waiting(&self) -> Key {
        Key([&self.0[..], &[BEHIND]].concat())
    }

    /// Of one who waits for this lock, under a lease of its own.
    pub(super) fn waiter(&self, lease: i64) -> Key {
        Key([&self.0[..], &[BEHIND], format!("{lease:x}").as_bytes()].concat())
    }

    /// What the server gives back.
    pub(super) fn sent(text: &str) -> Option<Key> {
        STANDARD.decode(text).ok().map(Key)
    }

    fn text(&self) -> String {
        STANDARD.encode(&self.0)
    }

    /// Behind all who wait: each is this key and hexadecimal digits.
    fn end(&self) -> String {
        STANDARD.encode([&self.0[..], &[u8::MAX]].concat())
    }
}

/// The lease of an attempt or grant, from its owner token: who knows the one can give back the
/// other, and to ask twice for it gives one.
pub(super) fn lease_of(owner: &OwnerToken) -> i64 {
    let digest: [u8; 32] = Sha256::digest(owner.expose().as_bytes()).into();
    // The last eight bytes; the first may be shown.
    let mut eight = [0; 8];
    eight.copy_from_slice(&digest[24..]);
    // Positive: 0 would have the server choose.
    (i64::from_be_bytes(eight) & i64::MAX).max(1)
}

/// The server counts in whole seconds: never fewer than asked for.
pub(super) fn whole_seconds(lease: Duration) -> u64 {
    let ms = u64::try_from(lease.as_millis()).unwrap_or(u64::MAX);
    ms.div_ceil(1_000).max(1)
}

pub(super) fn grant(lease: i64, seconds: u64) -> Value {
    json!({ "ID": lease.to_string(), "TTL": seconds.to_string() })
}

/// A question that needs no more.
pub(super) fn nothing() -> Value {
    json!({})
}

/// A question or an order about one lease.
pub(super) fn one(lease: i64) -> Value {
    json!({ "ID": lease.to_string() })
}

pub(super) fn look(key: &Key) -> Value {
    json!({ "key": key.text() })
}

/// The key is made if there is none, which also mints the fencing token: the revision at which it
/// was made. If there is one, it is told.
pub(super) fn take(key: &Key, owner: &OwnerToken, lease: i64) -> Value {
    json!({
        "compare": [{ "target": "CREATE", "key": key.text(), "create_revision": "0" }],
        "success": [put(key, owner.expose().as_bytes(), lease)],
        "failure": [{ "request_range": look(key) }],
    })
}

/// The key goes if it is this owner's, and of this grant where that is known.
pub(super) fn give_back(key: &Key, owner: &OwnerToken, fencing: Option<FencingToken>) -> Value {
    let compare = is_ours(key, owner, fencing);
    json!({ "compare": compare, "success": [{ "request_delete_range": look(key) }] })
}

/// The flaw: the key goes, whosever it is.
pub(super) fn give_back_blindly(key: &Key) -> Value {
    json!({ "compare": is_there(key), "success": [{ "request_delete_range": look(key) }] })
}

/// The key is said again as it is, if it is this owner's; else it is told.
pub(super) fn say_again(key: &Key, owner: &OwnerToken, fencing: Option<FencingToken>) -> Value {
    again(key, is_ours(key, owner, fencing))
}

/// The flaw: whosever it is.
pub(super) fn say_anybodys_again(key: &Key) -> Value {
    again(key, is_there(key))
}

fn again(key: &Key, compare: Vec<Value>) -> Value {
    let again = json!({ "key": key.text(), "ignore_value": true, "ignore_lease": true });
    json!({
        "compare": compare,
        "success": [{ "request_put": again }],
        "failure": [{ "request_range": look(key) }],
    })
}

fn is_ours(key: &Key, owner: &OwnerToken, fencing: Option<FencingToken>) -> Vec<Value> {
    let value = STANDARD.encode(owner.expose());
    let mut compare = vec![json!({ "target": "VALUE", "key": key.text(), "value": value })];
    if let Some(FencingToken(made)) = fencing {
        let made = made.to_string();
        compare.push(json!({ "target": "CREATE", "key": key.text(), "create_revision": made }));
    }
    compare
}

fn is_there(key: &Key) -> Vec<Value> {
    let made = json!({ "target": "CREATE", "result": "GREATER", "key": key.text(), "create_revision": "0" });
    vec![made]
}

/// Takes a place among those who wait.
pub(super) fn queue(waiter: &Key, lease: i64) -> Value {
    json!({ "success": [put(waiter, b"", lease)] })
}

/// The one who came right before that revision.
pub(super) fn before(waiting: &Key, revision: i64) -> Value {
    json!({
        "key": waiting.text(),
        "range_end": waiting.end(),
        "max_create_revision": (revision - 1).to_string(),
        "sort_target": "CREATE",
        "sort_order": "DESCEND",
        "limit": "1",
        "keys_only": true,
    })
}

/// Tells of this key from that revision on.
pub(super) fn watch(key: &Key, from: i64) -> Value {
    json!({ "create_request": { "key": key.text(), "start_revision": from.to_string() } })
}

fn put(key: &Key, value: &[u8], lease: i64) -> Value {
    let value = STANDARD.encode(value);
    json!({ "request_put": { "key": key.text(), "value": value, "lease": lease.to_string() } })
}

/// A number somewhere in an answer; 0 is left out.
pub(super) fn number(answer: &Value, at: &str) -> Option<i64> {
    match answer.pointer(at) {
        None => Some(0),
        Some(Value::String(text)) => text.parse().ok(),
        Some(other) => other.as_i64(),
    }
}

/// The revision of the whole store when it answered.
pub(super) fn revision(answer: &Value) -> Option<i64> {
    number(answer, "/header/revision").filter(|revision| *revision > 0)
}

/// Whether the comparison of a transaction held.
pub(super) fn succeeded(answer: &Value) -> bool {
    answer.get("succeeded") == Some(&Value::Bool(true))
}

/// A key that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) key: Key,
    pub(super) owner: OwnerToken,
    /// When it was made.
    pub(super) made: i64,
    /// 0: none.
    pub(super) lease: i64,
}

/// The first key in the answer to a question, or in the other half of a transaction.
pub(super) fn found(answer: &Value) -> Option<Found> {
    let range = answer
        .pointer("/responses/0/response_range")
        .unwrap_or(answer);
    let kv = range.pointer("/kvs/0")?;
    let text = |name: &str| kv.get(name).and_then(Value::as_str).unwrap_or_default();
    let value = STANDARD.decode(text("value")).ok()?;
    Some(Found {
        key: Key::sent(text("key"))?,
        // What is no text was not written by us.
        owner: OwnerToken::new(String::from_utf8_lossy(&value)),
        made: number(kv, "/create_revision")?,
        lease: number(kv, "/lease")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(prefix: &str, key: &str) -> Key {
        let (prefix, key) = (prefix.to_owned(), key.to_owned());
        Key::of(&LockName { prefix, key })
    }

    #[test]
    fn a_lease_is_rounded_up_to_whole_seconds_and_never_to_none() {
        for (ms, seconds) in [(1, 1), (999, 1), (1_000, 1), (1_001, 2), (5_000, 5)] {
            assert_eq!(whole_seconds(Duration::from_millis(ms)), seconds, "{ms}");
        }
    }

    #[test]
    fn an_owner_has_one_lease_and_another_has_another() {
        let (one, other) = (OwnerToken::new("a"), OwnerToken::new("b"));
        assert_eq!(lease_of(&one), lease_of(&one.clone()));
        assert_ne!(lease_of(&one), lease_of(&other));
        assert!(lease_of(&one) > 0 && lease_of(&other) > 0);
    }

    #[test]
    fn who_waits_stands_where_no_lock_can_be() {
        let lock = key("app:", "k");
        assert!(lock.waiter(0x1f).0.starts_with(&lock.waiting().0));
        assert!(std::str::from_utf8(&lock.waiting().0).is_err());
        let end = STANDARD.decode(lock.waiting().end()).unwrap();
        assert!(lock.waiter(i64::MAX).0 < end && end < key("app:", "l").0);
    }

    #[test]
    fn what_is_nothing_is_left_out_and_numbers_are_text() {
        let answer = json!({ "header": { "revision": "7" }, "kvs": [
            { "key": "aw==", "value": "dg==", "create_revision": "5" }
        ]});
        let found = found(&answer).unwrap();
        assert_eq!((found.key, found.made, found.lease), (key("", "k"), 5, 0));
        assert_eq!(found.owner.expose(), "v");
        assert_eq!((revision(&answer), succeeded(&answer)), (Some(7), false));
        assert_eq!(number(&json!({ "TTL": "x" }), "/TTL"), None);
        assert_eq!(super::found(&json!({})), None);
    }
}
