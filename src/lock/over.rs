//! That something is over, said once. The token that others can wait for is made for the first who
//! asks: most locks are taken and given back before anybody does.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use tokio_util::sync::CancellationToken;

/// Not over until it is told.
#[derive(Debug, Default)]
pub(super) struct Over {
    told: AtomicBool,
    token: OnceLock<CancellationToken>,
}

impl Over {
    /// From here on it is over.
    pub(super) fn tell(&self) {
        self.told.store(true, Ordering::SeqCst);
        // Either this sees the token of one who asks now, or he sees that it was told.
        fence(Ordering::SeqCst);
        if let Some(token) = self.token.get() {
            token.cancel();
        }
    }

    /// It has been told.
    pub(super) fn is_told(&self) -> bool {
        self.told.load(Ordering::SeqCst)
    }

    /// Cancelled when it is told.
    pub(super) fn token(&self) -> &CancellationToken {
        let token = self.token.get_or_init(CancellationToken::new);
        fence(Ordering::SeqCst);
        if self.is_told() {
            token.cancel();
        }
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_asks_too_late_is_told_all_the_same() {
        let over = Over::default();
        assert!(!over.is_told() && !over.token().is_cancelled());
        over.tell();
        assert!(over.is_told() && over.token().is_cancelled());
        let never_asked = Over::default();
        never_asked.tell();
        assert!(never_asked.token().is_cancelled());
    }

    #[test]
    fn one_who_asks_while_it_is_told_is_told() {
        for _ in 0..2_000 {
            let over = Over::default();
            std::thread::scope(|scope| {
                scope.spawn(|| over.tell());
                over.token();
            });
            assert!(
                over.token
                    .get()
                    .is_some_and(CancellationToken::is_cancelled)
            );
        }
    }
}
