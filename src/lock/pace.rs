//! How many commands a waiter may send: three in any one second, however it is woken. Without
//! this a waiter that is woken often and always comes too late would spin.
//!
//! Not held back is the release of what an attempt may have taken: the lock would stay taken for
//! everybody for as long as it waited. It counts, and what comes after it waits the longer.

use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// Commands that one waiter may send within [`WINDOW`].
const COMMANDS: usize = 3;
/// The window.
const WINDOW: Duration = Duration::from_secs(1);

/// The sending times of one waiter's last commands.
#[derive(Debug, Default)]
pub(super) struct Pace(VecDeque<Instant>);

impl Pace {
    /// The earliest moment at which the next command may leave.
    pub(super) fn next(&self, now: Instant) -> Instant {
        match self.0.front() {
            Some(oldest) if self.0.len() == COMMANDS => now.max(*oldest + WINDOW),
            _ => now,
        }
    }

    /// A command leaves.
    pub(super) fn sent(&mut self, at: Instant) {
        if self.0.len() == COMMANDS {
            self.0.pop_front();
        }
        self.0.push_back(at);
    }
}

/// Returns at that moment, and at once if it has come: a timer's grain is a millisecond, which is
/// ten times what a command costs.
pub(super) async fn reached(at: Instant) {
    if at > Instant::now() {
        sleep_until(at).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    #[tokio::test]
    async fn a_moment_that_has_come_costs_no_grain_of_a_timer() {
        let mut come = pin!(reached(Instant::now()));
        let mut context = Context::from_waker(Waker::noop());
        assert_eq!(come.as_mut().poll(&mut context), Poll::Ready(()));
    }

    proptest! {
        #[test]
        fn no_second_sees_more_than_three_commands(wishes in proptest::collection::vec(0..2_000_u64, 4..40)) {
            let mut now = Instant::now();
            let (mut pace, mut sent) = (Pace::default(), Vec::new());
            for wish in wishes {
                now = pace.next(now + Duration::from_millis(wish));
                pace.sent(now);
                sent.push(now);
            }
            for four in sent.windows(4) {
                prop_assert!(four[3] - four[0] >= WINDOW);
            }
        }
    }

    #[test]
    fn the_first_three_leave_at_once() {
        let now = Instant::now();
        let mut pace = Pace::default();
        for _ in 0..3 {
            assert_eq!(pace.next(now), now);
            pace.sent(now);
        }
        assert_eq!(pace.next(now), now + WINDOW);
    }
}
