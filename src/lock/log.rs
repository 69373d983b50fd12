//! What a person reads of one lock: a `tracing` event an occurrence, each with everything that
//! tells this grant from all others. `DEBUG` in the ordinary course, `WARN` for a loss or an
//! answer that did not come.
//!
//! The fields: `lock.key`, `lock.owner` (a digest, never the owner token), `lock.grant`,
//! `lock.fencing`, `lock.lease_ms`; with `wait_ms` how long it took to be granted or not, with
//! `took_ms` how long the server took to answer. Metrics are events of their own, in
//! [`metrics`](super::metrics): a digest among the attributes of a metric would be one time series
//! a grant. To see these alone, filter by the target `lockdrill::lock::log`.

use crate::ids::{FencingToken, OwnerDigest};
use crate::lock::commands::Release;
use crate::lock::error::CommandError;
use crate::lock::holding::{Holding, State};
use crate::lock::lost::LostReason;
use crate::lock::metrics;
use crate::lock::service::{AcquireAnswer, RenewAnswer};
use std::fmt::Display;
use std::time::Duration;

/// One line about one grant: its level, what tells it from others, and the rest.
macro_rules! tell {
    ($level:ident, $holding:expr, $fencing:expr, $lease:expr, $($rest:tt)+) => {
        tracing::$level!(
            lock.manager = %$holding.context.name,
            lock.key = $holding.name.key,
            lock.owner = %$holding.digest(),
            lock.grant = %$holding.grant(),
            lock.fencing = number($fencing),
            lock.lease_ms = millis($lease),
            $($rest)+
        )
    };
}

fn number(fencing: Option<FencingToken>) -> Option<u64> {
    fencing.map(|token| token.0)
}

fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// An attempt was answered, or was not; counts it too. What came of an answer is told by whoever
/// knows how long it was waited for.
pub(super) fn attempted(holding: &Holding, answer: &Result<AcquireAnswer, CommandError>) {
    metrics::acquired(&holding.context.name, answer);
    if let Err(error) = answer {
        tell!(warn, holding, None, holding.options.lease(), why = %error, "lock attempt");
    }
}

/// It is ours, after this wait.
pub(super) fn granted(holding: &Holding, wait: Duration) {
    let (fencing, lease) = {
        let state = holding.state();
        (state.fencing, state.lease)
    };
    tell!(
        debug,
        holding,
        fencing,
        lease,
        wait_ms = millis(wait),
        "lock granted"
    );
}

/// It is not ours, after this wait.
pub(super) fn not_granted(manager: &str, key: &str, wait: Duration, why: &dyn Display) {
    tracing::debug!(
        lock.manager = manager,
        lock.key = key,
        wait_ms = millis(wait),
        why = %why,
        "lock not granted"
    );
}

/// A renewal was answered, or was not; counts it too.
pub(super) fn renewed(
    holding: &Holding,
    answer: &Result<RenewAnswer, CommandError>,
    took: Duration,
) {
    metrics::renewed(&holding.context.name, answer, took);
    let (fencing, lease) = {
        let state = holding.state();
        (state.fencing, state.lease)
    };
    let renewal = match answer {
        Ok(RenewAnswer::Renewed { .. }) => "renewed",
        Ok(RenewAnswer::Absent) => "absent",
        Ok(RenewAnswer::Foreign) => "foreign",
        Err(error) => {
            let took_ms = millis(took);
            tell!(warn, holding, fencing, lease, renewal = "no answer", took_ms, why = %error, "lock renewal");
            return;
        }
    };
    tell!(
        debug,
        holding,
        fencing,
        lease,
        renewal,
        took_ms = millis(took),
        "lock renewal"
    );
}

/// It is lost; counts it too.
pub(super) fn lost(holding: &Holding, state: &State, reason: LostReason) {
    let held_ns = holding.now_ns().saturating_sub(state.granted_at_ns);
    metrics::lost(&holding.context.name, reason, held_ns);
    let held_ms = millis(Duration::from_nanos(held_ns));
    tell!(
        warn,
        holding,
        state.fencing,
        state.lease,
        reason = reason.as_str(),
        held_ms,
        "lock lost"
    );
}

/// It was given back, or nobody knows; counts it too.
pub(super) fn released(holding: &Holding, state: &State, release: &Release) {
    metrics::released(&holding.context.name, release);
    let (fencing, lease) = (state.fencing, state.lease);
    match release {
        Release::Released => tell!(
            debug,
            holding,
            fencing,
            lease,
            release = "released",
            "lock release"
        ),
        Release::AlreadyLost => tell!(
            debug,
            holding,
            fencing,
            lease,
            release = "already lost",
            "lock release"
        ),
        Release::Unknown(why) => {
            tell!(
                warn,
                holding,
                fencing,
                lease,
                release = "no answer",
                why,
                "lock release"
            );
        }
    }
}

/// Of a grant that is known by its owner token alone; counts it too.
pub(super) fn gave_back(manager: &str, key: &str, owner: &OwnerDigest, release: &Release) {
    metrics::released(manager, release);
    tracing::debug!(
        lock.manager = manager,
        lock.key = key,
        lock.owner = %owner,
        release = ?release,
        "lock release"
    );
}
