//! Waiting on several servers: an ear at each. A release tells all of them, one behind the other,
//! and who comes after the first word would find the rest still taken: so a waiter is woken when a
//! quorum has told, or a moment after the first, because each server wakes whom it likes.

use crate::lock::backends::redis_ear::Ear;
use crate::lock::backends::redis_route::Route;
use crate::lock::backends::redlock_count::quorum;
use crate::lock::service::Wake;
use async_trait::async_trait;
use std::future::poll_fn;
use std::task::Poll;
use std::time::Duration;
use tokio::time::timeout;

/// How long a quorum is waited for behind the first that told.
const OTHERS: Duration = Duration::from_millis(20);

pub(super) struct Ears {
    ears: Vec<Ear>,
    /// Which of them have been told of a release.
    told: Vec<bool>,
}

impl Ears {
    pub(super) fn new(routes: Vec<Route>, list: &str) -> Ears {
        let ears = routes
            .into_iter()
            .map(|route| Ear::new(route, list.to_owned()));
        let ears: Vec<Ear> = ears.collect();
        Ears {
            told: vec![false; ears.len()],
            ears,
        }
    }

    /// Until so many have been told.
    async fn heard(&mut self, wanted: usize) {
        let told = &mut self.told;
        let mut listening: Vec<_> = self
            .ears
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| !told[*at])
            .map(|(at, ear)| (at, ear.woken()))
            .collect();
        poll_fn(|context| {
            listening.retain_mut(|(at, woken)| {
                told[*at] = woken.as_mut().poll(context).is_ready();
                !told[*at]
            });
            match told.iter().filter(|told| **told).count() >= wanted {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

#[async_trait]
impl Wake for Ears {
    fn listening(&self) -> bool {
        self.ears.iter().any(Ear::listening)
    }

    async fn woken(&mut self) {
        self.heard(1).await;
        // In vain if others wait for the rest.
        drop(timeout(OTHERS, self.heard(quorum(self.ears.len()))).await);
        self.told.fill(false);
    }
}
