//! Identities of a worker's attempts.

use crate::ids::{GrantId, OwnerToken};
use crate::lock::{LockError, TokenSource};
use std::sync::atomic::{AtomicU64, Ordering};

/// Names attempts `<worker>.<n>`, so that a reader of the record knows whose each one is.
pub(super) struct Source {
    worker: String,
    attempts: AtomicU64,
}

impl Source {
    pub(super) fn new(worker: &str) -> Self {
        Source {
            worker: worker.to_owned(),
            attempts: AtomicU64::new(0),
        }
    }
}

impl TokenSource for Source {
    fn owner(&self) -> Result<OwnerToken, LockError> {
        OwnerToken::fresh().map_err(|error| LockError::NoRandomness(error.to_string()))
    }

    fn grant(&self) -> GrantId {
        let n = self.attempts.fetch_add(1, Ordering::Relaxed) + 1;
        GrantId(format!("{}.{n}", self.worker))
    }
}
