//! The scripts that voters run: those of the lock on one server, and three more for what only a
//! quorum needs. An attempt is told whose a vote is by a digest, so that it can tell one holder
//! from several rivals.

use crate::lock::backends::redis_scripts::{ACQUIRE, Keys, Scripts, Text, edit};
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::{Ask, LockName};
use std::time::Duration;
use tokio::time::Instant;

const WITHDRAW: &str = include_str!("scripts/withdraw.lua");
const SETTLE: &str = include_str!("scripts/settle.lua");
const LOOK: &str = include_str!("scripts/look.lua");

/// What a busy server answers on its own, and as one of several.
const TELL_WHO: (&str, &str) = (
    "  return {0, redis.call('PTTL', KEYS[1])}",
    "  return {0, redis.call('PTTL', KEYS[1]), redis.sha1hex(owner or value)}",
);

/// What is asked of a voter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    /// Vote for an attempt.
    Vote,
    /// Write the agreed fencing token.
    Settle,
    /// Take the vote of a failed attempt back.
    Withdraw,
    /// Extend the lease.
    Renew,
    /// Give the lock back and wake a waiter.
    Release,
    /// Say whose the vote is.
    Look,
}

/// The script of each word.
pub(super) struct Words {
    vote: Text,
    settle: Text,
    withdraw: Text,
    look: Text,
    own: Scripts,
    /// A server that has forgotten a script is sent its text.
    pub(super) again: bool,
}

impl Words {
    pub(super) fn new(flaw: Option<Flaw>) -> Words {
        let vote = ACQUIRE.replacen(TELL_WHO.0, TELL_WHO.1, 1);
        let vote = match flaw.and_then(edit) {
            Some((from, to)) => vote.replacen(from, to, 1),
            None => vote,
        };
        Words {
            vote: Text::new(vote),
            settle: Text::new(SETTLE.to_owned()),
            withdraw: Text::new(WITHDRAW.to_owned()),
            look: Text::new(LOOK.to_owned()),
            own: Scripts::new(flaw),
            again: flaw != Some(Flaw::EvalshaOnly),
        }
    }

    pub(super) fn text(&self, word: Word) -> &Text {
        match word {
            Word::Vote => &self.vote,
            Word::Settle => &self.settle,
            Word::Withdraw => &self.withdraw,
            Word::Renew => &self.own.renew,
            Word::Release => &self.own.release,
            Word::Look => &self.look,
        }
    }

    pub(super) const ALL: [Word; 6] = [
        Word::Vote,
        Word::Settle,
        Word::Withdraw,
        Word::Renew,
        Word::Release,
        Word::Look,
    ];

    /// What a request for a command contains: the hash of its script, or its text.
    pub(super) fn marks(&self, command: Command) -> Vec<String> {
        match command {
            Command::Acquire => self.vote.marks(),
            Command::AutoRenew | Command::Renew | Command::Release => self.own.marks(command),
        }
    }
}

/// One script with what it is run on.
#[derive(Clone)]
pub(super) struct Errand {
    pub(super) word: Word,
    pub(super) keys: Vec<String>,
    pub(super) args: Vec<String>,
    /// For how long the lock is held, or wanted.
    pub(super) lease: Duration,
    /// Of the whole command.
    pub(super) until: Instant,
}

impl Errand {
    /// For an attempt or a grant.
    pub(super) fn of(word: Word, ask: &Ask<'_>) -> Errand {
        let keys = Keys::of(ask.name);
        let (lock, fence, wake) = (keys.lock(), keys.fence(), keys.wake());
        let lease_ms = ask.lease_ms().to_string();
        let fencing = || ask.fencing.map_or_else(String::new, |of| of.to_string());
        let (keys, args) = match word {
            Word::Vote => (vec![lock, fence, wake], vec![lease_ms]),
            Word::Settle => (vec![lock, fence], Vec::new()),
            Word::Withdraw | Word::Look => (vec![lock], Vec::new()),
            Word::Renew => (vec![lock], vec![lease_ms, fencing()]),
            Word::Release => (vec![lock, wake], vec![lease_ms]),
        };
        let owner = ask.owner.expose().to_owned();
        Errand {
            word,
            keys: keys.into_iter().map(str::to_owned).collect(),
            args: [owner].into_iter().chain(args).collect(),
            lease: ask.lease,
            until: ask.until,
        }
    }

    /// A question for whoever holds it.
    pub(super) fn look(name: &LockName, until: Instant) -> Errand {
        Errand {
            word: Word::Look,
            keys: vec![Keys::of(name).lock().to_owned()],
            args: Vec::new(),
            lease: until - Instant::now(),
            until,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_voter_is_asked_what_one_server_is_and_says_whose_it_is() {
        assert_eq!(ACQUIRE.matches(TELL_WHO.0).count(), 1);
        let words = Words::new(None);
        assert!(words.vote.code.contains("sha1hex"));
        let marks = Words::ALL.map(|word| words.text(word).marks());
        let unique: std::collections::HashSet<_> = marks.iter().flatten().collect();
        assert_eq!(unique.len(), 2 * Words::ALL.len());
    }
}
