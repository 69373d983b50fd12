//! One lock on several Redis servers that know nothing of each other: whoever has the votes of a
//! quorum holds it. All are asked side by side, and a command is decided as soon as a quorum is
//! certain or impossible, whoever has not answered by then.
//!
//! A vote is the key that a lock on one server would be. The fencing token of a grant is the
//! highest that its quorum counted, and a quorum has it before the grant is told: the next quorum
//! shares a server with it and counts on from there.
//!
//! An attempt without a quorum is taken back from every server, also from those whose answer did
//! not come. Where several rivals have a part each, they try again after a random pause; a server
//! that still owes an answer is left out then, or a vote of the next try might be taken back for
//! one of the last.

use crate::lock::backends::redis_scripts::Keys;
use crate::lock::backends::redlock_attempt::Attempt;
use crate::lock::backends::redlock_count::{Count, Vote, quorum};
use crate::lock::backends::redlock_ears::Ears;
use crate::lock::backends::redlock_voters::{Asking, Voters};
use crate::lock::backends::redlock_words::{Errand, Word, Words};
use crate::lock::backends::{Armed, ConnectSpec, Connecting, LockKind, Servers, check_flaw};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::{
    AcquireAnswer, Ask, Capabilities, LockName, LockService, Promise, ReleaseAnswer, RenewAnswer,
    Wake,
};
use async_trait::async_trait;
use redis::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "redlock",
    summary: "independent Redis servers, of which a quorum has to agree",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises for as long as no server of a quorum forgets its counter; one that comes back empty can give a lower one",
        ),
        exclusion: Promise::BestEffort(
            "survives the loss of a minority of the servers, for as long as none of them comes back empty within a lease and the clocks of a majority do not jump",
        ),
        fair: Promise::BestEffort(
            "each server wakes its waiters in the order of their arrival; a newcomer may overtake, and rivals that split the votes try again at random",
        ),
        wakes: true,
    },
    servers: Servers::Voters,
    within_one_process: false,
    flaws: &[
        Flaw::BlindRelease,
        Flaw::BlindRenew,
        Flaw::RenewRecreates,
        Flaw::EvalshaOnly,
        Flaw::QuorumOfAnswers,
        Flaw::OneByOne,
    ],
    on_the_wire: |flaw, command| Words::new(flaw).marks(command),
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        let voters = Voters::new(&spec.address, Words::new(spec.flaw), spec.flaw)?;
        voters.meet(quorum(voters.number())).await?;
        let redlock = Redlock {
            voters: Arc::new(voters),
            flaw: spec.flaw,
            armed: spec.armed,
        };
        Ok(Arc::new(redlock) as Arc<dyn LockService>)
    })
}

struct Redlock {
    voters: Arc<Voters>,
    flaw: Option<Flaw>,
    armed: Option<Armed>,
}

impl Redlock {
    /// Asks everybody, and takes answers until it is decided.
    async fn ask(&self, errand: &Errand, vote: Read, decided: Decided) -> (Count, Asking) {
        let mut count = self.count();
        let mut asking = self.voters.ask(0..self.voters.number(), errand);
        while !decided(&count) {
            match asking.next().await {
                Some((server, Ok(answer))) => count.votes[server] = vote(answer),
                Some((server, Err(why))) => count.votes[server] = Vote::missing(why),
                None => break,
            }
        }
        (count, asking)
    }

    pub(super) fn count(&self) -> Count {
        let of_answers = self.flaw == Some(Flaw::QuorumOfAnswers);
        Count::new(self.voters.number(), of_answers)
    }
}

/// What an answer means, and when enough are there.
type Read = fn(Value) -> Vote;
type Decided = fn(&Count) -> bool;

#[async_trait]
impl LockService for Redlock {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        if let Some(Armed(armed)) = &self.armed {
            armed();
        }
        let attempt = Attempt::new(Arc::clone(&self.voters), self.count(), ask);
        Box::pin(attempt.made()).await
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        let read = |answer| match answer {
            Value::Int(1) => Vote::Ours(0),
            Value::Int(0) => Vote::Free,
            Value::Int(-1) => Vote::Taken(None, String::new()),
            _ => Vote::nonsense(),
        };
        let decided: Decided = match self.flaw {
            Some(Flaw::UnboundedRenewal) => |count| count.open() == 0,
            _ => |count| count.is_won() || count.is_gone(),
        };
        let (count, rest) = self.ask(&Errand::of(Word::Renew, ask), read, decided).await;
        rest.leave();
        if count.is_won() {
            return Ok(RenewAnswer::Renewed { lease: ask.lease });
        }
        match (count.is_gone(), count.is_gone_to_others()) {
            (_, true) => Ok(RenewAnswer::Foreign),
            (true, false) => Ok(RenewAnswer::Absent),
            (false, false) => Err(count.no_answer()),
        }
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        let read = |answer| match answer {
            Value::Int(1) => Vote::Ours(0),
            Value::Int(0) => Vote::Free,
            _ => Vote::nonsense(),
        };
        let decided = |count: &Count| count.ours() >= count.quorum() || count.is_gone();
        let errand = Errand::of(Word::Release, ask);
        let (count, rest) = self.ask(&errand, read, decided).await;
        // It is for everybody, whoever is heard.
        let (voters, mut doubtful) = (Arc::clone(&self.voters), count.silent());
        tokio::spawn(async move {
            doubtful.extend(rest.heard().await);
            voters.insist(doubtful, errand).await;
        });
        if count.ours() >= count.quorum() {
            Ok(ReleaseAnswer::Released)
        } else if count.is_gone() {
            Ok(ReleaseAnswer::NotOurs)
        } else {
            Err(count.no_answer())
        }
    }

    async fn remaining(
        &self,
        name: &LockName,
        until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        let decided = |count: &Count| count.held().is_some() || count.cannot_be_held();
        let errand = Errand::look(name, until);
        let (count, rest) = self.ask(&errand, Vote::of, decided).await;
        rest.leave();
        match count.held() {
            Some(left) => Ok(left),
            None if count.cannot_be_held() => Ok(None),
            None => Err(count.no_answer()),
        }
    }

    fn watch(&self, name: &LockName) -> Box<dyn Wake> {
        let keys = Keys::of(name);
        Box::new(Ears::new(self.voters.routes(), keys.wake()))
    }
}
