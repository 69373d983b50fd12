//! Measures host noise throughout: a thread that only sleeps, and tells whenever it woke late.
//!
//! What the workers themselves burn is not host noise, but a host that cannot run a sleeping
//! thread on time cannot time a lease either.

use crate::clock::monotonic_ns;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const PERIOD: Duration = Duration::from_millis(5);

/// A wake-up later than this is told.
const WORTH_TELLING_NS: u64 = 10_000_000;

/// Runs until dropped.
#[derive(Debug)]
pub struct StallWatch {
    stop: Arc<AtomicBool>,
}

impl StallWatch {
    /// Starts the thread; `tell` gets the times, in ns of `CLOCK_MONOTONIC`, at which it should
    /// have woken and did.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(tell: impl Fn(u64, u64) + Send + 'static) -> std::io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        std::thread::Builder::new()
            .name("stall-watch".to_owned())
            .spawn(move || {
                let period_ns = u64::try_from(PERIOD.as_nanos()).unwrap_or(u64::MAX);
                while !stopped.load(Ordering::Relaxed) {
                    let due = monotonic_ns() + period_ns;
                    std::thread::sleep(PERIOD);
                    let woke = monotonic_ns();
                    if woke > due + WORTH_TELLING_NS {
                        tell(due, woke);
                    }
                }
            })?;
        Ok(StallWatch { stop })
    }
}

impl Drop for StallWatch {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
