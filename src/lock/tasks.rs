//! The two tasks of a grant, separate so that neither can hold up the other: one renews, the
//! other says Lost at the deadline. Both end with the grant.

use crate::lock::commands::Renewal;
use crate::lock::holding::Holding;
use crate::lock::lease;
use crate::lock::probe::Command;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// Longest sleep of the timer. Timers do not run while the machine is suspended but the lease
/// does: after a resume the loss is told at most this late (a question to the handle sees it at
/// once).
const NAP_MAX: Duration = Duration::from_secs(1);

/// Starts what a fresh grant needs. The tasks keep the grant's data alive, not its handle.
pub(super) fn start(holding: &Arc<Holding>) {
    let watching = watch_deadline(Arc::clone(holding));
    tokio::spawn(until_ended(Arc::clone(holding), watching));
    if let Some(interval) = holding.options.renewal_interval() {
        let renewing = keep_renewing(Arc::clone(holding), interval);
        tokio::spawn(until_ended(Arc::clone(holding), renewing));
    }
}

async fn until_ended(holding: Arc<Holding>, task: impl Future<Output = ()>) {
    tokio::select! {
        biased;
        () = holding.ended.cancelled() => {}
        () = task => {}
    }
}

async fn watch_deadline(holding: Arc<Holding>) {
    while !holding.expire_if_due() {
        let deadline_ns = holding.state().deadline_ns;
        let left = lease::left(deadline_ns, holding.now_ns()).unwrap_or_default();
        sleep(left.min(NAP_MAX)).await;
    }
}

async fn keep_renewing(holding: Arc<Holding>, interval: Duration) {
    let mut pause = lease::renewal_pause(interval, lease::jitter());
    loop {
        sleep(pause).await;
        pause = match holding.renew(Command::AutoRenew).await {
            Renewal::Renewed => lease::renewal_pause(interval, lease::jitter()),
            Renewal::Unknown(_) => lease::retry_pause(interval, lease::jitter()),
            Renewal::Lost(_) => return,
        };
    }
}
