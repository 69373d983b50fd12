//! The ear of a waiter that queues at the server: begun in the background when somebody waits, and
//! over when the ear is dropped. A place in the queue grants nothing: it says only who is woken.

use crate::lock::service::Wake;
use async_trait::async_trait;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

type Begin = Box<dyn FnOnce(Arc<Notify>, CancellationToken) + Send>;

/// Dropping it gives up the place.
pub(super) struct Ear {
    /// None once it has begun.
    begin: Option<Begin>,
    wakes: Arc<Notify>,
    listening: Option<DropGuard>,
}

impl Ear {
    /// `listen` takes the place and tells of each wake-up, anew whenever that breaks, until nobody
    /// wants to be woken any more; then it gives the place up.
    pub(super) fn new<F>(
        listen: impl FnOnce(Arc<Notify>, CancellationToken) -> F + Send + 'static,
    ) -> Ear
    where
        F: Future<Output = ()> + Send + 'static,
    {
        Ear {
            begin: Some(Box::new(|wakes, over| {
                drop(tokio::spawn(listen(wakes, over)))
            })),
            wakes: Arc::default(),
            listening: None,
        }
    }
}

#[async_trait]
impl Wake for Ear {
    fn listening(&self) -> bool {
        self.listening.is_some()
    }

    async fn woken(&mut self) {
        if let Some(begin) = self.begin.take() {
            let over = CancellationToken::new();
            begin(Arc::clone(&self.wakes), over.clone());
            self.listening = Some(over.drop_guard());
        }
        self.wakes.notified().await;
    }
}
