//! The three scripts, the keys they run on, what they answer, and the flaws that live in them: each flaw is one edit of the sound text,
//! applied here, so that a flawed lock differs from the sound one in that statement and in
//! nothing else.

use crate::ids::FencingToken;
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::LockName;
use redis::{Cmd, Value};
use std::time::Duration;

const ACQUIRE: &str = include_str!("scripts/acquire.lua");
const RENEW: &str = include_str!("scripts/renew.lua");
const RELEASE: &str = include_str!("scripts/release.lua");

/// The keys of one lock.
pub(super) struct Keys {
    pub(super) lock: String,
    pub(super) fence: String,
    pub(super) wake: String,
}

impl Keys {
    /// The braces put all three into one hash slot.
    pub(super) fn of(name: &LockName) -> Keys {
        let lock = [&name.prefix, "{", &name.key, "}"].concat();
        Keys {
            fence: [&lock, ":fence"].concat(),
            wake: [&lock, ":wake"].concat(),
            lock,
        }
    }
}

/// A script and the hash by which the server knows it.
pub(super) struct Text {
    pub(super) code: String,
    hash: String,
}

impl Text {
    fn new(code: String) -> Text {
        let hash = redis::Script::new(&code).get_hash().to_owned();
        Text { code, hash }
    }

    /// The command that runs it on a server that knows it.
    pub(super) fn by_hash(&self, keys: &[&str], args: &[&str]) -> Cmd {
        command("EVALSHA", &self.hash, keys, args)
    }

    /// The command that runs it on any server, which knows it from then on.
    pub(super) fn by_text(&self, keys: &[&str], args: &[&str]) -> Cmd {
        command("EVAL", &self.code, keys, args)
    }
}

fn command(verb: &str, script: &str, keys: &[&str], args: &[&str]) -> Cmd {
    let mut command = redis::cmd(verb);
    command.arg(script).arg(keys.len()).arg(keys).arg(args);
    command
}

/// What one connection runs.
pub(super) struct Scripts {
    pub(super) acquire: Text,
    pub(super) renew: Text,
    pub(super) release: Text,
}

impl Scripts {
    pub(super) fn new(flaw: Option<Flaw>) -> Scripts {
        let edited = |script: &str| {
            Text::new(match flaw.and_then(edit) {
                Some((from, to)) => script.replacen(from, to, 1),
                None => script.to_owned(),
            })
        };
        Scripts {
            acquire: edited(ACQUIRE),
            renew: edited(RENEW),
            release: edited(RELEASE),
        }
    }

    pub(super) fn all(&self) -> [&Text; 3] {
        [&self.acquire, &self.renew, &self.release]
    }
}

/// The one statement that a flaw changes, if it changes a script. Each `from` stands in exactly
/// one script, once.
const fn edit(flaw: Flaw) -> Option<(&'static str, &'static str)> {
    match flaw {
        Flaw::BlindRelease => Some((
            "if string.match(value, '^(.*):%d*$') ~= ARGV[1] then -- not this owner's to release",
            "if false then",
        )),
        Flaw::BlindRenew => Some((
            "if string.match(value, '^(.*):%d*$') ~= ARGV[1] then -- not this owner's to renew",
            "if false then",
        )),
        Flaw::RenewRecreates => Some((
            "  return 0 -- gone, and it stays gone",
            "  redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[3], 'PX', ARGV[2]) return 1",
        )),
        Flaw::SetThenPexpire => Some((", 'PX', ARGV[2])", ")")),
        Flaw::FenceAfterSet => Some((
            "local fencing = redis.call('INCR', KEYS[2])",
            "local fencing",
        )),
        Flaw::DeadlineFromReply
        | Flaw::TimeoutMeansBusy
        | Flaw::IgnoresRenewalFailure
        | Flaw::HotPoll => None,
    }
}

/// Whether an acquire with this flaw is two commands.
pub(super) const fn needs_two(flaw: Flaw) -> bool {
    matches!(flaw, Flaw::SetThenPexpire | Flaw::FenceAfterSet)
}

/// A reply that none of our scripts gives: something ran, but who knows what.
pub(super) fn nonsense() -> CommandError {
    CommandError::Unknown("the server's reply makes no sense".into())
}

pub(super) fn fencing_token(value: &Value) -> Result<Option<FencingToken>, CommandError> {
    match value {
        Value::Int(token) => u64::try_from(*token)
            .map(|token| Some(FencingToken(token)))
            .map_err(|_| nonsense()),
        Value::Nil => Ok(None),
        _ => Err(nonsense()),
    }
}

/// -1 is a key without a lease, -2 no key: neither has a time left.
pub(super) fn milliseconds(left: i64) -> Option<Duration> {
    u64::try_from(left).ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::flaws;

    #[test]
    fn each_edit_changes_one_place_of_one_script() {
        let sound = format!("{ACQUIRE}\0{RENEW}\0{RELEASE}");
        for flaw in flaws::ALL {
            if let Some((from, to)) = edit(*flaw) {
                assert_eq!(sound.matches(from).count(), 1, "{}", flaw.name());
                assert_ne!(from, to);
            }
        }
    }
}
