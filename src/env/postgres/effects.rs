//! Turns the text in which the server tells its changes (`test_decoding`) into effects on locks.
//! Pure.

use super::columns::columns_of;
use crate::env::seen::Seen;
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Change;
use std::collections::HashMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// Where the rows of the locks are: those that end by their row alone, and those that a session holds.
/// Of the end of a session nothing is told; the row says until when it was granted.
const TABLE: &str = "table public.lockdrill_lock: ";
const SESSIONS: &str = "table public.lockdrill_session: ";
/// In front of the text of one of our own messages.
const MESSAGE: &str = "message: transactional: 1 prefix: lockdrill, sz: ";

/// What a row said last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Row {
    owner: Option<String>,
    fencing: Option<u64>,
    until_ms: Option<u64>,
}

/// The rows so far.
#[derive(Debug)]
pub struct Effects {
    server: String,
    prefix: String,
    rows: HashMap<String, Row>,
}

impl Effects {
    /// Follows locks with this prefix on a server that has none yet.
    pub fn new(server: &str, prefix: &str) -> Self {
        Effects {
            server: server.to_owned(),
            prefix: prefix.to_owned(),
            rows: HashMap::new(),
        }
    }

    /// What a line changed, in order; nothing for everything that is not ours.
    pub fn read(&mut self, line: &str) -> Vec<Seen> {
        if let Some(message) = line.strip_prefix(MESSAGE) {
            let content = message.split_once(" content:");
            return content
                .map(|(_, name)| Seen::Mark(name.to_owned()))
                .into_iter()
                .collect();
        }
        let Some((what, columns)) = line
            .strip_prefix(TABLE)
            .or_else(|| line.strip_prefix(SESSIONS))
            .and_then(|change| change.split_once(": "))
        else {
            return Vec::new();
        };
        if what == "TRUNCATE" {
            self.rows.clear();
            return vec![Seen::effect(&self.server, "", Change::Flushed)];
        }
        let columns = columns_of(columns);
        let text = |name: &str| columns.get(name).cloned().flatten();
        let (Some(prefix), Some(key)) = (text("prefix"), text("key")) else {
            return Vec::new();
        };
        if prefix != self.prefix {
            return Vec::new();
        }
        let is_gone = what == "DELETE";
        let now = if is_gone {
            Row::default()
        } else {
            Row {
                owner: text("owner"),
                fencing: text("fencing").and_then(|number| number.parse().ok()),
                until_ms: text("ends_at").and_then(|time| epoch_ms(&time)),
            }
        };
        let before = self.rows.insert(key.clone(), now.clone());
        let changes = changes(&before.unwrap_or_default(), &now, is_gone);
        let effects = changes
            .into_iter()
            .map(|change| Seen::effect(&self.server, key.as_str(), change));
        effects.collect()
    }
}

/// What happened to a lock, when its row was changed so.
fn changes(before: &Row, now: &Row, is_gone: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    if before.fencing != now.fencing {
        // A counter that is gone counts from nothing.
        let value = if is_gone { Some(0) } else { now.fencing };
        changes.push(Change::Counter { value });
    }
    // A token that somebody drew without the lock: nothing is granted with it.
    let is_drawn =
        before.owner.is_some() && (&before.owner, before.until_ms) == (&now.owner, now.until_ms);
    match (&before.owner, &now.owner) {
        (_, Some(_)) if is_drawn => {}
        (_, Some(owner)) if (&before.owner, before.fencing) != (&now.owner, now.fencing) => {
            changes.push(Change::Set {
                owner: OwnerDigest::of(owner.as_bytes()),
                fencing: now.fencing.map(FencingToken),
                until_ms: now.until_ms,
            });
        }
        (_, Some(_)) if before.until_ms != now.until_ms => {
            let until_ms = now.until_ms;
            changes.push(Change::Extended { until_ms });
        }
        (Some(_), None) => changes.push(Change::Deleted),
        (None, None) | (_, Some(_)) => {}
    }
    changes
}

/// `2026-11-30 09:57:00.123456+00`, in ms; the rest of a millisecond is dropped.
fn epoch_ms(text: &str) -> Option<u64> {
    let utc = text.strip_suffix("+00")?;
    let time: SystemTime = humantime::parse_rfc3339_weak(utc).ok()?;
    let since = time.duration_since(UNIX_EPOCH).ok()?;
    u64::try_from(since.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::event::Event;

    fn row(what: &str, owner: &str, fencing: u64, ends_at: &str) -> String {
        format!(
            "{TABLE}{what}: prefix[text]:'lab:' key[text]:'it''s [x]:1' owner[text]:{owner} \
             fencing[bigint]:{fencing} ends_at[timestamp with time zone]:{ends_at}"
        )
    }

    fn seen(effects: &mut Effects, line: &str) -> Vec<Change> {
        let seen = effects.read(line).into_iter();
        seen.map(|seen| match seen {
            Seen::Effect(Event::Effect { key, change, .. }) => {
                assert!(key == "it's [x]:1" || key.is_empty(), "{key}");
                change
            }
            other => panic!("{other:?}"),
        })
        .collect()
    }

    #[test]
    fn a_grant_a_resend_a_renewal_and_a_release() {
        let mut effects = Effects::new("postgres", "lab:");
        let set = Change::Set {
            owner: OwnerDigest::of(b"s3cret"),
            fencing: Some(FencingToken(1)),
            until_ms: Some(1_500),
        };
        let grant = row("INSERT", "'s3cret'", 1, "'1970-01-01 00:00:01.5+00'");
        let counter = Change::Counter { value: Some(1) };
        assert_eq!(seen(&mut effects, &grant), [counter, set]);
        let resend = row("UPDATE", "'s3cret'", 1, "'1970-01-01 00:00:01.5+00'");
        assert_eq!(seen(&mut effects, &resend), []);
        let renewal = row("UPDATE", "'s3cret'", 1, "'1970-01-01 00:00:02.7509+00'");
        let until_ms = Some(2_750);
        assert_eq!(
            seen(&mut effects, &renewal),
            [Change::Extended { until_ms }]
        );
        let release = row("UPDATE", "null", 1, "null");
        assert_eq!(seen(&mut effects, &release), [Change::Deleted]);
        assert_eq!(seen(&mut effects, &release), []);
    }

    #[test]
    fn a_successor_takes_a_row_over_and_a_row_may_go() {
        let mut effects = Effects::new("postgres", "lab:");
        let first = row("INSERT", "'a'", 1, "'1970-01-01 00:00:01+00'");
        seen(&mut effects, &first);
        let next = row("UPDATE", "'null'", 2, "'1970-01-01 00:00:03+00'");
        let told = seen(&mut effects, &next);
        assert_eq!(told[0], Change::Counter { value: Some(2) });
        assert!(
            matches!(&told[1], Change::Set { owner, .. } if *owner == OwnerDigest::of(b"null"))
        );
        let gone = format!("{TABLE}DELETE: prefix[text]:'lab:' key[text]:'it''s [x]:1'");
        let counter = Change::Counter { value: Some(0) };
        assert_eq!(seen(&mut effects, &gone), [counter, Change::Deleted]);
        let flushed = format!("{TABLE}TRUNCATE: (no-flags)");
        assert_eq!(seen(&mut effects, &flushed), [Change::Flushed]);
    }

    #[test]
    fn a_lock_of_a_session_is_a_row_too() {
        let mut effects = Effects::new("postgres", "lab:");
        let row = |what: &str, owner: &str, backend: &str, fencing: u64| {
            format!(
                "{SESSIONS}{what}: prefix[text]:'lab:' key[text]:'it''s [x]:1' owner[text]:{owner} \
                 backend[integer]:{backend} fencing[bigint]:{fencing} \
                 ends_at[timestamp with time zone]:'1970-01-01 00:00:01.5+00'"
            )
        };
        let granted = |changes: Vec<Change>| matches!(&changes[..], [_, Change::Set { .. }]);
        assert!(granted(seen(&mut effects, &row("INSERT", "'a'", "7", 1))));
        assert!(granted(seen(&mut effects, &row("UPDATE", "'b'", "8", 2))));
        let released = row("UPDATE", "null", "null", 2);
        assert_eq!(seen(&mut effects, &released), [Change::Deleted]);
    }

    #[test]
    fn a_token_drawn_without_the_lock_grants_nothing() {
        let mut effects = Effects::new("postgres", "lab:");
        let held = row("INSERT", "'b'", 2, "'1970-01-01 00:00:01+00'");
        seen(&mut effects, &held);
        let drawn = row("UPDATE", "'b'", 3, "'1970-01-01 00:00:01+00'");
        let counter = Change::Counter { value: Some(3) };
        assert_eq!(seen(&mut effects, &drawn), [counter]);
        let renewal = row("UPDATE", "'b'", 3, "'1970-01-01 00:00:02+00'");
        let until_ms = Some(2_000);
        assert_eq!(
            seen(&mut effects, &renewal),
            [Change::Extended { until_ms }]
        );
        seen(&mut effects, &row("UPDATE", "null", 3, "null"));
        let of_nobody = row("UPDATE", "null", 4, "null");
        let counter = Change::Counter { value: Some(4) };
        assert_eq!(seen(&mut effects, &of_nobody), [counter]);
    }

    #[test]
    fn what_is_not_ours_is_nothing_and_a_mark_is_seen_as_such() {
        let mut effects = Effects::new("postgres", "lab:");
        for line in [
            "BEGIN",
            "COMMIT",
            "table public.other: INSERT: prefix[text]:'lab:' key[text]:'k'",
            "table public.lockdrill_lock: INSERT: prefix[text]:'app:' key[text]:'k' owner[text]:'x'",
            "message: transactional: 1 prefix: other, sz: 3 content:end",
        ] {
            assert_eq!(effects.read(line), [], "{line}");
        }
        let mark = "message: transactional: 1 prefix: lockdrill, sz: 3 content:end";
        assert_eq!(effects.read(mark), [Seen::Mark("end".to_owned())]);
    }
}
