//! What is said to the Redis store and what it answers: keys, commands, replies; no decisions.
//!
//! `n` of the log is the place in a list that is only ever appended to, in the script that
//! decides, so the numbers have no gaps. Nothing on the server refuses a later change of the list;
//! only the store's own commands reach it.

use super::super::rule::Mark;
use super::super::{Attempt, Logged, Standing, StoreAnswer};
use crate::ids::{FencingToken, GrantId};
use redis::{Cmd, FromRedisValue, Value};
use std::collections::BTreeMap;

/// In front of `host:port` in a location.
pub(super) const SCHEME: &str = "redis://";

/// Version of the keys and of the log's lines.
pub(super) const VERSION: u64 = 2;

const ATTEMPT: &str = include_str!("attempt.lua");
const BIRTH: &str = "store:birth";
const LOG: &str = "store:log";

fn resource_key(resource: &str) -> String {
    format!("store:resource:{resource}")
}

fn jobs_key(resource: &str) -> String {
    format!("store:jobs:{resource}")
}

/// What a store is created with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Birth {
    /// Version of its keys.
    pub(super) version: u64,
    /// How far the wall clock was ahead of the monotonic clock, ns.
    pub(super) wall_ahead_ns: u64,
}

/// Who decides whether an attempt is applied.
#[derive(Debug, Clone, Copy)]
pub(super) enum Decision {
    /// The rule, inside the script.
    Inside,
    /// Somebody else, beforehand.
    Before { admitted: bool },
}

/// What is put to the store.
#[derive(Debug, Clone, Copy)]
pub(super) enum Kind {
    Write,
    Seal,
}

/// Nil if there was a store already.
pub(super) fn give_birth(birth: &Birth) -> Cmd {
    let text = format!("{} {}", birth.version, birth.wall_ahead_ns);
    command("SET", &[BIRTH, &text, "NX"])
}

pub(super) fn read_birth() -> Cmd {
    command("GET", &[BIRTH])
}

pub(super) fn birth(text: &str) -> Option<Birth> {
    let (version, wall_ahead_ns) = text.split_once(' ')?;
    Some(Birth {
        version: version.parse().ok()?,
        wall_ahead_ns: wall_ahead_ns.parse().ok()?,
    })
}

/// The one script, sent as text each time: nothing here is fast enough to need its hash.
pub(super) fn attempt(
    attempt: &Attempt,
    kind: Kind,
    (decision, once, idempotent): (Decision, bool, bool),
) -> serde_json::Result<Cmd> {
    let decision = match decision {
        Decision::Inside => "inside",
        Decision::Before { admitted: true } => "yes",
        Decision::Before { admitted: false } => "no",
    };
    let kind = match kind {
        Kind::Write => "write",
        Kind::Seal => "seal",
    };
    let fencing = attempt.fencing.map(|token| token.0.to_string());
    let grant = attempt.grant.as_ref().map(|grant| grant.0.as_str());
    let keys = [
        resource_key(&attempt.resource),
        LOG.to_owned(),
        jobs_key(&attempt.resource),
    ];
    let mut command = command("EVAL", &[ATTEMPT]);
    command.arg(keys.len()).arg(&keys);
    command.arg(decision).arg(u8::from(once)).arg(kind);
    command.arg(fencing.unwrap_or_default());
    command.arg(grant.unwrap_or_default()).arg(&attempt.write);
    command.arg(serde_json::to_string(attempt)?);
    command.arg(attempt.job.as_deref().unwrap_or_default());
    command.arg(u8::from(idempotent));
    Ok(command)
}

/// The script's answer. A reply that it never gives is no answer: something ran, but what?
pub(super) fn answer(value: Value) -> StoreAnswer {
    match <(u8, String)>::from_redis_value(value) {
        Ok((1, _)) => StoreAnswer::Accepted,
        Ok((2, _)) => StoreAnswer::DoneBefore,
        Ok((0, highest)) if highest.is_empty() => StoreAnswer::Rejected { highest: None },
        Ok((0, highest)) => token(&highest).map_or_else(nonsense, |token| StoreAnswer::Rejected {
            highest: Some(token),
        }),
        Ok(_) | Err(_) => nonsense(),
    }
}

fn nonsense() -> StoreAnswer {
    StoreAnswer::Unknown("the store's reply makes no sense".to_owned())
}

/// Highest fencing token and its grant.
pub(super) fn read_mark(resource: &str) -> Cmd {
    command("HMGET", &[&resource_key(resource), "highest", "grant"])
}

pub(super) fn mark((highest, grant): (Option<u64>, Option<String>)) -> Mark {
    Mark {
        highest: highest.map(FencingToken),
        grant: grant.filter(|grant| !grant.is_empty()).map(GrantId),
    }
}

/// The write whose value stands, and the highest fencing token.
pub(super) fn read_standing(resource: &str) -> Cmd {
    command("HMGET", &[&resource_key(resource), "write", "highest"])
}

pub(super) fn standing(
    (write, highest): (Option<String>, Option<u64>),
    jobs: BTreeMap<String, u64>,
) -> Standing {
    Standing {
        write,
        highest: highest.map(FencingToken),
        jobs,
    }
}

/// How often each job has taken effect.
pub(super) fn read_jobs(resource: &str) -> Cmd {
    command("HGETALL", &[&jobs_key(resource)])
}

pub(super) fn read_log() -> Cmd {
    command("LRANGE", &[LOG, "0", "-1"])
}

/// One line of the log, as the script wrote it; `zero_ns` is the wall clock at lab time 0.
pub(super) fn logged(n: u64, line: &str, zero_ns: u64) -> Option<Logged> {
    let mut words = line.splitn(6, ' ');
    let answer = words.next()?;
    let done_before = answer == "2";
    let accepted = done_before || flag(answer, "0", "1")?;
    let seal = flag(words.next()?, "write", "seal")?;
    let highest = match words.next()? {
        "-" => None,
        text => Some(token(text)?),
    };
    let seconds: u64 = words.next()?.parse().ok()?;
    let micros: u64 = words.next()?.parse().ok()?;
    let wall_ns = seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros.checked_mul(1_000)?)?;
    Some(Logged {
        n,
        seal,
        attempt: serde_json::from_str(words.next()?).ok()?,
        accepted,
        done_before,
        highest,
        applied_ns: wall_ns.saturating_sub(zero_ns),
    })
}

fn flag(word: &str, no: &str, yes: &str) -> Option<bool> {
    (word == yes || word == no).then_some(word == yes)
}

fn token(text: &str) -> Option<FencingToken> {
    text.parse().ok().map(FencingToken)
}

fn command(verb: &str, args: &[&str]) -> Cmd {
    let mut command = redis::cmd(verb);
    command.arg(args);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_read_whole_or_not_at_all() {
        let attempt = r#"{"resource":"two words","write":"a.write.1","based_on":null,"grant":"a.1","fencing":7}"#;
        let line = format!("1 write - 1700000000 25 {attempt}");
        let read = logged(3, &line, 1_700_000_000_000_000_000).unwrap();
        assert_eq!((read.n, read.applied_ns, read.highest), (3, 25_000, None));
        assert_eq!(read.attempt.resource, "two words");
        for damaged in [
            line.replace("1 write", "3 write"),
            line.replace("write -", "wrote -"),
            line.replace("- 17", "x 17"),
            line.replace("\"fencing\":7", "\"fencing\":-7"),
            "1 write".to_owned(),
        ] {
            assert_eq!(logged(3, &damaged, 0), None, "{damaged}");
        }
    }

    #[test]
    fn an_answer_that_the_script_never_gives_is_unknown() {
        let reply = |code, highest: &str| {
            answer(Value::Array(vec![
                Value::Int(code),
                Value::BulkString(highest.into()),
            ]))
        };
        assert_eq!(reply(1, ""), StoreAnswer::Accepted);
        let highest = Some(FencingToken(7));
        assert_eq!(reply(0, "7"), StoreAnswer::Rejected { highest });
        assert!(matches!(reply(3, "7"), StoreAnswer::Unknown(_)));
        assert!(matches!(reply(0, "x"), StoreAnswer::Unknown(_)));
        assert!(matches!(answer(Value::Nil), StoreAnswer::Unknown(_)));
    }
}
