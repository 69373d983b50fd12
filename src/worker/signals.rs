//! What a worker is asked at any time, whatever it does: to end (SIGTERM), and what its wall clock
//! shows (SIGUSR1). A thread of its own takes the signals, so that neither a step nor a runtime is
//! interrupted, and says on the record that they came.

use super::record::Record;
use crate::clock::wall_ns;
use crate::plan::OnSigterm;
use crate::timeline::event::Event;
use nix::sys::signal::{SigSet, Signal};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Exit code of a worker that ends at once when it is asked to: what a shell tells of SIGTERM.
const ENDED: i32 = 128 + 15;

/// Whether this worker was asked to end.
#[derive(Debug, Default)]
pub(super) struct Asked {
    to_end: Mutex<bool>,
    changed: Condvar,
    /// Ends a wait for the lock: nothing new is begun.
    pub(super) cancel: CancellationToken,
}

impl Asked {
    /// It was.
    pub(super) fn to_end(&self) -> bool {
        *self.state()
    }

    /// Tells it, and then it is so; whoever asks meanwhile waits, so that nothing is begun after it
    /// was told.
    fn note(&self, tell: impl FnOnce()) {
        let mut asked = self.state();
        tell();
        *asked = true;
        drop(asked);
        self.changed.notify_all();
        self.cancel.cancel();
    }

    /// Works for so long; what is left of it, if it is asked to end before.
    pub(super) fn work(&self, time: Duration) -> Option<Duration> {
        let until = Instant::now() + time;
        let left = || until.saturating_duration_since(Instant::now());
        let mut asked = self.state();
        while !*asked {
            if left().is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(asked, left());
            asked = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(left())
    }

    fn state(&self) -> MutexGuard<'_, bool> {
        self.to_end.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn taken() -> SigSet {
    [Signal::SIGTERM, Signal::SIGUSR1].into_iter().collect()
}

/// From here on both signals wait until they are taken; to be called before any other thread is
/// started, because each inherits it.
pub(super) fn hold() -> Result<(), String> {
    let held = taken().thread_block();
    held.map_err(|error| format!("cannot hold signals: {error}"))
}

/// Takes signals on a thread of its own, for as long as this process lives.
pub(super) fn listen(
    record: &Arc<Record>,
    answer: OnSigterm,
    asked: &Arc<Asked>,
) -> Result<(), String> {
    let (record, asked) = (Arc::clone(record), Arc::clone(asked));
    let thread = std::thread::Builder::new().name("signals".to_owned());
    let listening = thread.spawn(move || {
        loop {
            match taken().wait() {
                Ok(Signal::SIGUSR1) => tell_time(&record),
                Ok(Signal::SIGTERM) => asked_to_end(&record, answer, &asked),
                Ok(_) | Err(_) => {}
            }
        }
    });
    listening
        .map(drop)
        .map_err(|error| format!("no thread: {error}"))
}

/// What the wall clock shows, between two readings of lab time.
fn tell_time(record: &Record) {
    let (before, wall_us, after) = (record.now(), wall_ns() / 1000, record.now());
    record.tell(Event::WallClock {
        before,
        after,
        wall_us,
    });
}

fn asked_to_end(record: &Record, answer: OnSigterm, asked: &Asked) {
    if asked.to_end() {
        return;
    }
    asked.note(|| {
        record.tell(Event::AskedToEnd);
        if answer == OnSigterm::End {
            // No destructor runs: nothing is released, renewed or written.
            std::process::exit(ENDED);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_ends_early_only_if_one_is_asked_to_end() {
        let asked = Asked::default();
        assert_eq!(asked.work(Duration::from_millis(1)), None);
        let long = Duration::from_secs(600);
        std::thread::scope(|scope| {
            let working = scope.spawn(|| asked.work(long));
            asked.note(|| {});
            assert!(working.join().unwrap().is_some());
        });
        assert!(asked.to_end() && asked.cancel.is_cancelled());
        assert!(asked.work(long).is_some(), "asked is asked");
    }
}
