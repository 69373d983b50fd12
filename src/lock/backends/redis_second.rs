//! The second command of the two flaws that make an acquire of two: what may happen between the
//! two is what they are there to show.

use crate::ids::FencingToken;
use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_scripts::{Keys, needs_two, token_of};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::service::Ask;

impl Redis {
    /// The second command of the two flaws that make an acquire of two.
    pub(super) async fn second_command(
        &self,
        flaw: Flaw,
        keys: &Keys,
        ask: &Ask<'_>,
        fencing: Option<FencingToken>,
    ) -> Result<Option<FencingToken>, CommandError> {
        if needs_two(flaw) {
            self.arm();
        }
        match flaw {
            Flaw::SetThenPexpire => {
                let mut pexpire = redis::cmd("PEXPIRE");
                pexpire.arg(keys.lock()).arg(ask.lease_ms());
                let set = self.plain(keys.lock(), &pexpire, ask.until).await;
                set.map_err(half_done)?;
                Ok(fencing)
            }
            Flaw::FenceAfterSet if fencing.is_none() => {
                let mut incr = redis::cmd("INCR");
                incr.arg(keys.fence());
                let minted = self.plain(keys.fence(), &incr, ask.until).await;
                token_of(&minted.map_err(half_done)?)
            }
            Flaw::FenceAfterSet
            | Flaw::BlindRelease
            | Flaw::BlindRenew
            | Flaw::RenewRecreates
            | Flaw::DeadlineFromReply
            | Flaw::TimeoutMeansBusy
            | Flaw::IgnoresRenewalFailure
            | Flaw::UnboundedRenewal
            | Flaw::SwallowsReleaseError
            | Flaw::EvalshaOnly
            | Flaw::FailsOpen
            | Flaw::HotPoll
            | Flaw::WallClockDeadline
            | Flaw::PlainCounter
            | Flaw::QuorumOfAnswers
            | Flaw::OneByOne
            | Flaw::NoIdleTimeout => Ok(fencing),
        }
    }
}

/// The first command took effect: whatever became of the second, this did not *not happen*.
fn half_done(error: CommandError) -> CommandError {
    CommandError::Unknown(format!("the second command: {error}"))
}
