//! One connection that is made anew when it is broken, whatever the server speaks: by one for all who
//! wait, and not before somebody needs it.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::{Instant, timeout_at};

/// A connection that may or may not be worth another command.
pub(crate) trait Usable {
    /// Neither broken nor suspect.
    fn is_good(&self) -> bool;
}

/// The present connection, if there is one.
pub(crate) struct Kept<L> {
    present: Mutex<Option<Arc<L>>>,
    /// Held by the one who connects anew.
    connecting: tokio::sync::Mutex<()>,
}

impl<L> Default for Kept<L> {
    fn default() -> Self {
        Kept {
            present: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        }
    }
}

impl<L: Usable> Kept<L> {
    /// The present connection, if it is good.
    pub(crate) fn present(&self) -> Option<Arc<L>> {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.as_ref().filter(|live| live.is_good()).cloned()
    }

    /// A new connection, or the one that somebody else has made meanwhile; `late` is what is told
    /// if nobody let us connect in time.
    pub(crate) async fn anew<E>(
        &self,
        until: Instant,
        late: E,
        connect: impl Future<Output = Result<L, E>>,
    ) -> Result<Arc<L>, E> {
        let turn = timeout_at(until, self.connecting.lock()).await;
        let Ok(_turn) = turn else { return Err(late) };
        if let Some(live) = self.present() {
            return Ok(live);
        }
        let live = Arc::new(connect.await?);
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        *present = Some(Arc::clone(&live));
        Ok(live)
    }
}
