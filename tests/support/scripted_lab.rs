//! A manager over a scripted back end, with its notes.

use super::scripted::{Notes, Scripted, TokioClock};
use lockdrill::lock::service::RenewAnswer;
use lockdrill::lock::{Acquired, LockError, LockHandle, LockManager, LockOptions, ManagerOptions};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

pub const MS: Duration = Duration::from_millis(1);
pub const LEASE: Duration = Duration::from_millis(1_000);
/// 1 % and 2 ms.
pub const DRIFT: Duration = Duration::from_millis(12);
pub const RENEWED: RenewAnswer = RenewAnswer::Renewed { lease: LEASE };

pub struct Lab {
    pub service: Arc<Scripted>,
    pub notes: Arc<Notes>,
    pub locks: LockManager,
}

pub fn lab(service: Scripted) -> Lab {
    let (service, notes) = (Arc::new(service), Arc::new(Notes::default()));
    let locks = LockManager::new(service.clone(), ManagerOptions::new("test", ""))
        .with_clock(TokioClock::start())
        .with_probe(notes.clone());
    Lab {
        service,
        notes,
        locks,
    }
}

impl Lab {
    pub async fn acquire(&self, renew: Option<Duration>) -> Result<Acquired, LockError> {
        let options = LockOptions::new(LEASE, renew).unwrap();
        self.locks.acquire("k", &options).await
    }

    pub async fn granted(&self, renew: Option<Duration>) -> LockHandle {
        match self.acquire(renew).await {
            Ok(Acquired::Granted(lock)) => lock,
            other => panic!("not granted: {other:?}"),
        }
    }

    pub async fn unknown(&self) -> LockHandle {
        match self.acquire(None).await {
            Ok(Acquired::Unknown(lock)) => lock,
            other => panic!("not unknown: {other:?}"),
        }
    }
}

/// Lets every task that can run do so.
pub async fn settle() {
    sleep(Duration::from_micros(1)).await;
}
