//! The two tasks of a grant, separate so that neither can hold up the other: one renews, the
//! other says Lost at the deadline. Both end with the grant.

use crate::lock::holding::{Holding, Phase, Renewal};
use crate::lock::lease;
use crate::lock::probe::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Longest sleep of the timer. Timers do not run while the machine is suspended but the lease
/// does: after a resume the loss is told at most this late (a question to the handle sees it at
/// once).
const NAP_MAX: Duration = Duration::from_secs(1);

/// Starts what a fresh grant needs. Both tasks keep the grant's data alive but not its handle.
pub(super) fn start(holding: &Arc<Holding>) {
    tokio::spawn(until_ended(Arc::clone(holding), watch_deadline));
    if let Some(interval) = holding.options.renewal_interval() {
        let renewing = Arc::clone(holding);
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = renewing.ended.cancelled() => {}
                () = keep_renewing(&renewing, interval) => {}
            }
        });
    }
}

async fn until_ended<F, T>(holding: Arc<Holding>, task: F)
where
    F: FnOnce(Arc<Holding>) -> T,
    T: Future<Output = ()>,
{
    tokio::select! {
        biased;
        () = holding.ended.cancelled() => {}
        () = task(Arc::clone(&holding)) => {}
    }
}

async fn watch_deadline(holding: Arc<Holding>) {
    while !holding.expire_if_due() {
        let deadline_ns = holding.state().deadline_ns;
        let left = lease::left(deadline_ns, holding.now_ns()).unwrap_or_default();
        sleep(left.min(NAP_MAX)).await;
    }
}

async fn keep_renewing(holding: &Holding, interval: Duration) {
    let mut pause = lease::renewal_pause(interval, lease::jitter());
    loop {
        sleep(pause).await;
        pause = match holding.renew(Command::AutoRenew, None).await {
            Renewal::Renewed => lease::renewal_pause(interval, lease::jitter()),
            Renewal::Unknown(_) => lease::retry_pause(interval, lease::jitter()),
            Renewal::Lost(_) => return,
        };
        debug_assert!(holding.state().phase != Phase::Pending, "only grants renew");
    }
}
