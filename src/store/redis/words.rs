//! What is said to the Redis store and what it answers: keys, commands, replies; no decisions.
//!
//! `n` of the log is the place in a list that is only ever appended to, in the script that
//! decides, so the numbers have no gaps. Nothing on the server refuses a later change of the list;
//! only the store's own commands reach it.

use super::super::rule::{Mark, Ruling};
use super::super::wall_time::WallAhead;
use super::super::{Attempt, AttemptKind, Logged, Standing, StoreAnswer, StoreSpec, kinds};
use crate::ids::{FencingToken, GrantId};
use redis::{Cmd, FromRedisValue, Value};
use std::collections::BTreeMap;

/// In front of `host:port` in a location.
pub(super) const SCHEME: &str = "redis://";

/// Version of the keys and of the log's lines.
pub(super) const VERSION: u64 = 4;

const ATTEMPT: &str = include_str!("attempt.lua");
const BIRTH: &str = "store:birth";
const LOG: &str = "store:log";

fn resource_key(resource: &str) -> String {
    format!("store:resource:{resource}")
}

fn jobs_key(resource: &str) -> String {
    format!("store:jobs:{resource}")
}

fn outbox_key(resource: &str) -> String {
    format!("store:outbox:{resource}")
}

/// What a store is created with.
#[derive(Debug, Clone, Copy)]
pub(super) struct Birth {
    /// Version of its keys.
    pub(super) version: u64,
    /// By which its times become lab time.
    pub(super) ahead: WallAhead,
}

/// Nil if there was a store already.
pub(super) fn give_birth(birth: &Birth) -> Cmd {
    let text = format!("{} {}", birth.version, birth.ahead.0);
    command("SET", &[BIRTH, &text, "NX"])
}

pub(super) fn read_birth() -> Cmd {
    command("GET", &[BIRTH])
}

pub(super) fn birth(text: &str) -> Option<Birth> {
    let (version, ahead_ns) = text.split_once(' ')?;
    Some(Birth {
        version: version.parse().ok()?,
        ahead: WallAhead(ahead_ns.parse().ok()?),
    })
}

/// The one script, sent as text each time: nothing here is fast enough to need its hash.
pub(super) fn attempt(
    attempt: &Attempt,
    (kind, (decision, job)): (AttemptKind, Ruling),
    spec: &StoreSpec,
) -> serde_json::Result<Cmd> {
    let kind = kinds::word(kind);
    let fencing = attempt.fencing.map(|token| token.0.to_string());
    let grant = attempt.grant.as_ref().map(|grant| grant.0.as_str());
    let keys = [
        resource_key(&attempt.resource),
        LOG.to_owned(),
        jobs_key(&attempt.resource),
        outbox_key(&attempt.resource),
    ];
    let mut command = command("EVAL", &[ATTEMPT]);
    command.arg(keys.len()).arg(&keys);
    command
        .arg(decision.word())
        .arg(u8::from(spec.once))
        .arg(kind);
    command.arg(fencing.unwrap_or_default());
    command.arg(grant.unwrap_or_default()).arg(&attempt.write);
    command.arg(serde_json::to_string(attempt)?);
    command.arg(attempt.job.as_deref().unwrap_or_default());
    command.arg(job.word());
    command.arg(u8::from(spec.outbox));
    Ok(command)
}

/// The script's answer, with the write that a read was shown. A reply that it never gives is no
/// answer: something ran, but what?
pub(super) fn answer(value: Value) -> (StoreAnswer, Option<String>) {
    let Ok((code, highest, shown)) = <(u8, String, String)>::from_redis_value(value) else {
        return (StoreAnswer::nonsense(), None);
    };
    let answer = match (code, highest.as_str()) {
        (1, _) => StoreAnswer::Accepted,
        (2, _) => StoreAnswer::DoneBefore,
        (0, "") => StoreAnswer::Rejected { highest: None },
        (0, highest) => {
            token(highest).map_or_else(StoreAnswer::nonsense, |token| StoreAnswer::Rejected {
                highest: Some(token),
            })
        }
        _ => StoreAnswer::nonsense(),
    };
    (answer, Some(shown).filter(|shown| !shown.is_empty()))
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

/// How often a job has taken effect.
pub(super) fn read_times_done(resource: &str, job: &str) -> Cmd {
    command("HGET", &[&jobs_key(resource), job])
}

/// How often each job has taken effect.
pub(super) fn read_jobs(resource: &str) -> Cmd {
    command("HGETALL", &[&jobs_key(resource)])
}

/// The jobs that are not known to be published.
pub(super) fn read_outbox(resource: &str) -> Cmd {
    command("LRANGE", &[&outbox_key(resource), "0", "-1"])
}

/// Takes a job out of the outbox.
pub(super) fn take_out(resource: &str, job: &str) -> Cmd {
    command("LREM", &[&outbox_key(resource), "0", job])
}

pub(super) fn read_log() -> Cmd {
    command("LRANGE", &[LOG, "0", "-1"])
}

/// One line of the log, as the script wrote it; its time is still the server's wall clock.
pub(super) fn logged(n: u64, line: &str) -> Option<Logged> {
    let mut words = line.splitn(7, ' ');
    let answer = words.next()?;
    let done_before = answer == "2";
    let accepted = done_before || flag(answer, "0", "1")?;
    let kind = kinds::kind(words.next()?)?;
    let highest = match words.next()? {
        "-" => None,
        text => Some(token(text)?),
    };
    let seconds: u64 = words.next()?.parse().ok()?;
    let micros: u64 = words.next()?.parse().ok()?;
    let wall_ns = seconds
        .checked_mul(1_000_000_000)?
        .checked_add(micros.checked_mul(1_000)?)?;
    let shown = words.next()?;
    let mut attempt: Attempt = serde_json::from_str(words.next()?).ok()?;
    if kind == AttemptKind::Read {
        attempt.based_on = (shown != "-").then(|| shown.to_owned());
    }
    Some(Logged {
        n,
        kind,
        attempt,
        accepted,
        done_before,
        highest,
        applied_ns: wall_ns,
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
        let line = format!("1 write - 1700000000 25 - {attempt}");
        let read = logged(3, &line).unwrap();
        let at = 1_700_000_000_000_025_000;
        assert_eq!((read.n, read.applied_ns, read.highest), (3, at, None));
        assert_eq!(read.attempt.resource, "two words");
        let shown = line.replace("write - 1700000000 25 -", "read - 1700000000 25 b.write.2");
        let shown = logged(3, &shown).unwrap().attempt.based_on;
        assert_eq!(shown.as_deref(), Some("b.write.2"));
        for damaged in [
            line.replace("1 write", "3 write"),
            line.replace("write -", "wrote -"),
            line.replace("- 17", "x 17"),
            line.replace("\"fencing\":7", "\"fencing\":-7"),
            "1 write".to_owned(),
        ] {
            assert_eq!(logged(3, &damaged), None, "{damaged}");
        }
    }

    #[test]
    fn an_answer_that_the_script_never_gives_is_unknown() {
        let reply = |code, highest: &str| {
            let fields = vec![
                Value::Int(code),
                Value::BulkString(highest.into()),
                Value::BulkString("".into()),
            ];
            answer(Value::Array(fields)).0
        };
        assert_eq!(reply(1, ""), StoreAnswer::Accepted);
        let highest = Some(FencingToken(7));
        assert_eq!(reply(0, "7"), StoreAnswer::Rejected { highest });
        assert!(matches!(reply(3, "7"), StoreAnswer::Unknown(_)));
        assert!(matches!(reply(0, "x"), StoreAnswer::Unknown(_)));
        assert!(matches!(answer(Value::Nil).0, StoreAnswer::Unknown(_)));
    }
}
