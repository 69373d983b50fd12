//! How a handle says that its lock is gone: once, with a reason, as a future and as a
//! cancellation token.

use std::fmt;
use std::future::{Future, IntoFuture};
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use tokio_util::sync::CancellationToken;

/// Why a lock is lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LostReason {
    /// The handle's own deadline passed without a successful renewal.
    Deadline,
    /// The server says that there is no such lock any more.
    Absent,
    /// The server says that somebody else holds it.
    Foreign,
    /// The handle was released by its owner. Answers a renewal after that; never signalled.
    Released,
}

impl LostReason {
    /// One word for records.
    pub const fn as_str(self) -> &'static str {
        match self {
            LostReason::Deadline => "deadline",
            LostReason::Absent => "absent",
            LostReason::Foreign => "foreign",
            LostReason::Released => "released",
        }
    }
}

impl fmt::Display for LostReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The loss of one grant. `.await` it, select on its [`token`](Lost::token), or ask for its
/// [`reason`](Lost::reason). A lock that is given back in time is never lost: the future then
/// stays pending, so select it against the work and do not await it alone.
#[derive(Debug, Clone, Default)]
pub struct Lost {
    token: CancellationToken,
    reason: Arc<OnceLock<LostReason>>,
}

impl Lost {
    /// Cancelled when the lock is lost. Cancelling it oneself changes nothing here.
    pub fn token(&self) -> CancellationToken {
        self.token.child_token()
    }

    /// Why, once it is lost.
    pub fn reason(&self) -> Option<LostReason> {
        self.reason.get().copied()
    }

    /// Tells it; the first reason stands.
    pub(super) fn tell(&self, reason: LostReason) {
        // A second loss of one grant is not a loss.
        let _ = self.reason.set(reason);
        self.token.cancel();
    }
}

impl IntoFuture for Lost {
    type Output = LostReason;
    type IntoFuture = Pin<Box<dyn Future<Output = LostReason> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            self.token.cancelled().await;
            // `tell` sets the reason before it cancels.
            self.reason().unwrap_or(LostReason::Deadline)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_reason_stands_and_wakes_everyone() {
        let lost = Lost::default();
        let token = lost.token();
        assert_eq!(lost.reason(), None);
        lost.tell(LostReason::Foreign);
        lost.tell(LostReason::Deadline);
        token.cancelled().await;
        assert_eq!(lost.clone().await, LostReason::Foreign);
    }

    #[test]
    fn a_callers_token_cannot_fake_a_loss() {
        let lost = Lost::default();
        lost.token().cancel();
        assert!(!lost.token().is_cancelled());
    }
}
