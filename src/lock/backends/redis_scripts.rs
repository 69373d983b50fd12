//! The three scripts, the keys they run on, what they answer, and the flaws that live in them: each flaw is one edit of the sound text,
//! applied here, so that a flawed lock differs from the sound one in that statement and in
//! nothing else.

use crate::ids::FencingToken;
use crate::lock::backends::{fencing_token, nonsense};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::LockName;
use redis::{Cmd, Value};
use std::time::Duration;

// The first line of each makes a replica refuse it as a whole: without it a replica would run it up
// to its first write, and tell what it has read there for an answer.
pub(super) const ACQUIRE: &str = include_str!("scripts/acquire.lua");
const RENEW: &str = include_str!("scripts/renew.lua");
const RELEASE: &str = include_str!("scripts/release.lua");

/// The keys of one lock, one behind the other in one text.
pub(super) struct Keys {
    text: String,
    /// Length of the lock's own key.
    lock: usize,
}

const FENCE: &str = ":fence";
const WAKE: &str = ":wake";

impl Keys {
    /// The braces put all three into one hash slot.
    pub(super) fn of(name: &LockName) -> Keys {
        let (prefix, key) = (name.prefix.as_str(), name.key.as_str());
        let text = [
            prefix, "{", key, "}", prefix, "{", key, "}", FENCE, prefix, "{", key, "}", WAKE,
        ];
        Keys {
            text: text.concat(),
            lock: prefix.len() + key.len() + 2,
        }
    }

    /// Holds owner and fencing token.
    pub(super) fn lock(&self) -> &str {
        &self.text[..self.lock]
    }

    /// The counter.
    pub(super) fn fence(&self) -> &str {
        &self.text[self.lock..2 * self.lock + FENCE.len()]
    }

    /// The wake-up list.
    pub(super) fn wake(&self) -> &str {
        &self.text[2 * self.lock + FENCE.len()..]
    }
}

/// A script and the hash by which the server knows it.
pub(super) struct Text {
    pub(super) code: String,
    hash: String,
}

impl Text {
    pub(super) fn new(code: String) -> Text {
        let hash = redis::Script::new(&code).get_hash().to_owned();
        Text { code, hash }
    }

    /// What a request that runs it contains: its hash, or its text.
    pub(super) fn marks(&self) -> Vec<String> {
        vec![self.hash.clone(), self.code.clone()]
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
    // Room for all of it at once, the number of keys in its two digits included.
    let words = [verb, script].into_iter();
    let words = words
        .chain(keys.iter().copied())
        .chain(args.iter().copied());
    let (count, bytes) = words.fold((1, 2), |(n, bytes), word| (n + 1, bytes + word.len()));
    let mut command = Cmd::with_capacity(count, bytes);
    command.arg(verb).arg(script).arg(keys.len());
    command.arg(keys).arg(args);
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

    /// What a request that runs one of them contains: its hash, or its text.
    pub(super) fn marks(&self, command: Command) -> Vec<String> {
        let text = match command {
            Command::Acquire => &self.acquire,
            Command::AutoRenew | Command::Renew => &self.renew,
            Command::Release => &self.release,
        };
        text.marks()
    }

    pub(super) fn all(&self) -> [&Text; 3] {
        [&self.acquire, &self.renew, &self.release]
    }
}

/// The one statement that a flaw changes, if it changes a script. Each `from` stands in exactly
/// one script, once.
pub(super) const fn edit(flaw: Flaw) -> Option<(&'static str, &'static str)> {
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
        Flaw::PlainCounter => Some(("local floor = ARGV[3] and tonumber(ARGV[3])", "local floor")),
        Flaw::DeadlineFromReply
        | Flaw::TimeoutMeansBusy
        | Flaw::IgnoresRenewalFailure
        | Flaw::UnboundedRenewal
        | Flaw::SwallowsReleaseError
        | Flaw::EvalshaOnly
        | Flaw::FailsOpen
        | Flaw::HotPoll
        | Flaw::WallClockDeadline
        | Flaw::QuorumOfAnswers
        | Flaw::OneByOne
        | Flaw::NoIdleTimeout => None,
    }
}

/// Whether an acquire with this flaw is two commands.
pub(super) const fn needs_two(flaw: Flaw) -> bool {
    matches!(flaw, Flaw::SetThenPexpire | Flaw::FenceAfterSet)
}

/// Whether a renewal with this flaw is its script and nothing else: the flaw is in it, or in what it
/// finds.
pub(super) const fn needs_script(flaw: Flaw) -> bool {
    matches!(
        flaw,
        Flaw::BlindRenew | Flaw::RenewRecreates | Flaw::EvalshaOnly | Flaw::FenceAfterSet
    )
}

/// A fencing token that a script may have drawn.
pub(super) fn token_of(value: &Value) -> Result<Option<FencingToken>, CommandError> {
    match value {
        Value::Int(token) => fencing_token(*token).map(Some),
        Value::Nil => Ok(None),
        _ => Err(nonsense()),
    }
}

/// What `PTTL` answers: -1 is a key without a lease, -2 no key: neither has a time left.
pub(super) fn milliseconds(left: i64) -> Option<Duration> {
    u64::try_from(left).ok().map(Duration::from_millis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::flaws;

    #[test]
    fn the_keys_of_a_lock_share_its_hash_slot() {
        let name = LockName {
            prefix: "p:é".to_owned(),
            key: "orders".to_owned(),
        };
        let keys = Keys::of(&name);
        assert_eq!(
            [keys.lock(), keys.fence(), keys.wake()],
            ["p:é{orders}", "p:é{orders}:fence", "p:é{orders}:wake"]
        );
    }

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
