//! One attempt for the votes of a quorum: taken back from every server if it does not get it, made
//! again after a random pause if it met rivals that have a part each.

use crate::ids::FencingToken;
use crate::lock::backends::redlock_count::{Count, Vote};
use crate::lock::backends::redlock_voters::{Asking, Voters};
use crate::lock::backends::redlock_words::{Errand, Word};
use crate::lock::error::CommandError;
use crate::lock::lease;
use crate::lock::service::{AcquireAnswer, Ask};
use redis::Value;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How often an attempt is made that met rivals, at most.
const TRIES: u32 = 8;
/// Pause before the second try, at most; each further one is twice as long.
const PAUSE: Duration = Duration::from_millis(10);

/// One attempt.
pub(super) struct Attempt {
    voters: Arc<Voters>,
    nobody: Count,
    vote: Errand,
    settle: Errand,
    withdraw: Errand,
    lease: Duration,
    until: Instant,
}

/// What one try came to.
enum Tried {
    Granted(u64),
    /// Somebody else has a quorum: for how long yet.
    Held(Option<Duration>),
    /// Rivals have a part of the votes each.
    Split,
    /// Too few servers.
    Failed,
    /// A quorum may be ours.
    Unknown,
}

impl Attempt {
    pub(super) fn new(voters: Arc<Voters>, nobody: Count, ask: &Ask<'_>) -> Attempt {
        Attempt {
            voters,
            nobody,
            vote: Errand::of(Word::Vote, ask),
            settle: Errand::of(Word::Settle, ask),
            withdraw: Errand::of(Word::Withdraw, ask),
            lease: ask.lease,
            until: ask.until,
        }
    }

    /// Makes it.
    pub(super) async fn made(mut self) -> Result<AcquireAnswer, CommandError> {
        let (mut owing, mut pause) = (Vec::new(), PAUSE);
        for further in (0..TRIES).rev() {
            let mut count = self.nobody.clone();
            for server in &owing {
                count.votes[*server] = Vote::Silent("it still owed an answer".into());
            }
            let servers = (0..count.votes.len()).filter(|server| !owing.contains(server));
            let mut rest = self.voters.ask(servers, &self.vote);
            let tried = self.tried(&mut count, &mut rest).await;
            let wait = pause.mul_f64(0.5 + lease::jitter() / 2.0);
            let again = further > 0
                && count.votes.len() - count.owing().len() >= count.quorum()
                && Instant::now() + wait < self.until;
            match tried {
                Tried::Granted(token) => {
                    rest.leave();
                    let (fencing, lease) = (Some(FencingToken(token)), self.lease);
                    return Ok(AcquireAnswer::Granted { fencing, lease });
                }
                Tried::Unknown => {
                    rest.leave();
                    return Err(CommandError::Unknown(count.told()));
                }
                Tried::Split if again => {}
                Tried::Held(remaining) => {
                    self.forgotten(&count, rest);
                    return Ok(AcquireAnswer::Busy { remaining });
                }
                Tried::Split => {
                    self.forgotten(&count, rest);
                    return Ok(AcquireAnswer::Busy { remaining: None });
                }
                Tried::Failed => {
                    self.forgotten(&count, rest);
                    return Err(CommandError::Failed(count.told()));
                }
            }
            // A server that still owes an answer is left out: what takes the vote of this try back
            // might come behind the vote of the next.
            owing = count.owing();
            sleep(wait).await;
            pause *= 2;
        }
        Ok(AcquireAnswer::Busy { remaining: None })
    }

    async fn tried(&mut self, count: &mut Count, rest: &mut Asking) -> Tried {
        while !count.is_won() && !count.is_impossible() {
            match rest.next().await {
                Some((server, answer)) => count.votes[server] = Vote::of_attempt(answer),
                None => break,
            }
        }
        if count.is_won() && self.settled(count).await {
            return Tried::Granted(count.token());
        }
        let held = count.held();
        let unclear = count.owing().len() >= count.quorum();
        if unclear || held.is_none() && count.is_contended() {
            while let Some((server, answer)) = rest.next().await {
                count.votes[server] = Vote::of_attempt(answer);
            }
        }
        // What nothing can clear up is left as it is: whoever asks again finds the same votes.
        if count.owing().len() < count.quorum() {
            self.withdrawn(count).await;
        }
        match held {
            _ if count.owing().len() >= count.quorum() => Tried::Unknown,
            Some(remaining) => Tried::Held(remaining),
            None if count.is_contended() => Tried::Split,
            None => Tried::Failed,
        }
    }

    /// Writes the highest token to those that counted less far; whether a quorum has it.
    async fn settled(&self, count: &mut Count) -> bool {
        let token = count.token();
        let behind = count.ours_with(|of| of < token);
        let mut have = count.ours() - behind.len();
        let mut settle = self.settle.clone();
        settle.args.push(token.to_string());
        let mut asking = self.voters.ask(behind, &settle);
        while have < count.needed() {
            match asking.next().await {
                Some((server, Ok(Value::Int(1)))) => {
                    count.votes[server] = Vote::Ours(token);
                    have += 1;
                }
                Some((server, Ok(Value::Int(0)))) => count.votes[server] = Vote::Free,
                // Its vote stands, whatever became of the number.
                Some(_) => {}
                None => return false,
            }
        }
        asking.leave();
        true
    }

    /// Takes back the votes that are known; who does not say that it is gone may have it yet.
    async fn withdrawn(&self, count: &mut Count) {
        let ours = count.ours_with(|_| true);
        let mut asking = self.voters.ask(ours, &self.withdraw);
        while let Some((server, answer)) = asking.next().await {
            count.votes[server] = match answer {
                Ok(Value::Int(_)) => Vote::Free,
                Ok(_) => Vote::nonsense(),
                Err(why) => Vote::Silent(CommandError::from(why).to_string()),
            };
        }
    }

    /// It is over: whoever has not been heard is told to forget it, and nobody waits for that.
    fn forgotten(&self, count: &Count, rest: Asking) {
        let (owing, voters) = (count.owing(), Arc::clone(&self.voters));
        let withdraw = self.withdraw.clone();
        if owing.is_empty() {
            return rest.leave();
        }
        tokio::spawn(async move {
            // Behind what was sent before, on whichever connection.
            rest.heard().await;
            voters.insist(owing, withdraw).await;
        });
    }
}
