//! What operators count: one `tracing` event per occurrence, at `DEBUG`. What a person reads of the
//! same occurrence is [`log`](super::log)'s.
//!
//! Fields named `monotonic_counter.*`, `counter.*` and `histogram.*` become OpenTelemetry metrics
//! with a `tracing-opentelemetry` metrics layer and are plain fields without. Durations are
//! seconds. Never an owner token, not even a digest.

use crate::lock::commands::Release;
use crate::lock::error::CommandError;
use crate::lock::lost::LostReason;
use crate::lock::service::{AcquireAnswer, RenewAnswer};
use std::time::Duration;
use tracing::debug;

const NANOS: f64 = 1e9;

pub(super) fn acquired(manager: &str, answer: &Result<AcquireAnswer, CommandError>) {
    let outcome = match answer {
        Ok(AcquireAnswer::Granted { .. }) => "granted",
        Ok(AcquireAnswer::Busy { .. }) => "busy",
        Err(error) => return unanswered(manager, "acquire", error),
    };
    debug!(
        monotonic_counter.lock.acquire.count = 1_u64,
        lock.manager = manager,
        outcome
    );
}

pub(super) fn renewed(manager: &str, answer: &Result<RenewAnswer, CommandError>, took: Duration) {
    let outcome = match answer {
        Ok(RenewAnswer::Renewed { .. }) => "renewed",
        Ok(RenewAnswer::Absent) => "absent",
        Ok(RenewAnswer::Foreign) => "foreign",
        Err(error) => return unanswered(manager, "renew", error),
    };
    debug!(
        monotonic_counter.lock.renewal.count = 1_u64,
        histogram.lock.renewal.duration = took.as_secs_f64(),
        lock.manager = manager,
        outcome
    );
}

pub(super) fn released(manager: &str, release: &Release) {
    let outcome = match release {
        Release::Released => "released",
        Release::AlreadyLost => "already_lost",
        Release::Unknown(why) => {
            debug!(
                monotonic_counter.lock.unknown.count = 1_u64,
                lock.manager = manager,
                operation = "release",
                why
            );
            return;
        }
    };
    debug!(
        monotonic_counter.lock.release.count = 1_u64,
        lock.manager = manager,
        outcome
    );
}

/// A lock was given back while it was held.
pub(super) fn held(manager: &str, for_ns: u64) {
    debug!(
        histogram.lock.hold.duration = for_ns as f64 / NANOS,
        lock.manager = manager
    );
}

pub(super) fn lost(manager: &str, reason: LostReason, held_ns: u64) {
    debug!(
        monotonic_counter.lock.lost.count = 1_u64,
        histogram.lock.hold.duration = held_ns as f64 / NANOS,
        lock.manager = manager,
        reason = reason.as_str()
    );
}

pub(super) fn waited(manager: &str, took: Duration, granted: bool) {
    let outcome = if granted { "granted" } else { "not_granted" };
    debug!(
        histogram.lock.wait.duration = took.as_secs_f64(),
        lock.manager = manager,
        outcome
    );
}

fn unanswered(manager: &str, operation: &str, error: &CommandError) {
    match error {
        CommandError::Failed(why) => debug!(
            monotonic_counter.lock.failed.count = 1_u64,
            lock.manager = manager,
            operation,
            why
        ),
        CommandError::Unknown(why) => debug!(
            monotonic_counter.lock.unknown.count = 1_u64,
            lock.manager = manager,
            operation,
            why
        ),
    }
}

/// One waiter, counted for as long as it waits, however the wait ends.
pub(super) struct Waiting(String);

impl Waiting {
    pub(super) fn begin(manager: &str) -> Waiting {
        debug!(counter.lock.waiters = 1_i64, lock.manager = manager);
        Waiting(manager.to_owned())
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        debug!(counter.lock.waiters = -1_i64, lock.manager = self.0);
    }
}
