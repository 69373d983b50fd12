//! Waiting at an etcd. Whoever waits takes a place behind the lock's key, under a lease of its own,
//! and listens for the end of the one that came right before it. Only the head of the queue listens
//! for the lock, and so it alone is woken. Whoever comes to the head looks once, because a release
//! may have woken the one before it.

use crate::etcd_link::{Link, NoAnswer};
use crate::lock::backends::etcd_words::{self as words, Key};
use crate::lock::backends::queue_ear::Ear;
use crate::lock::lease;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Lease of a place in the queue: as long as one that died is in the way of others, who poll.
const PLACE: Duration = Duration::from_secs(5);
/// How often it is kept.
const KEEP: Duration = Duration::from_millis(1_500);
/// How long nothing is heard before one listens anew: a connection may be dead without a word.
const LISTEN: Duration = Duration::from_secs(30);
/// Pause after an ear broke.
const EAR_BROKEN: Duration = Duration::from_secs(2);
/// Longest time to connect, and for an answer.
const BUDGET: Duration = Duration::from_secs(2);

/// A waiter's ear. Dropping it gives up the place in the queue.
pub(super) fn ear(link: Arc<Link>, key: Key) -> Ear {
    Ear::new(move |wakes, over| {
        let place = Place {
            link,
            key,
            wakes,
            lease: AtomicI64::new(0),
        };
        listen(place, over)
    })
}

/// Until nobody wants to be woken any more.
async fn listen(place: Place, over: CancellationToken) {
    let ears = async {
        loop {
            // Whatever broke it: the poll goes on, and the ear is tried again.
            let _ = place.hear().await;
            place.leave().await;
            sleep(EAR_BROKEN.mul_f64(1.0 + lease::jitter())).await;
        }
    };
    tokio::select! {
        () = over.cancelled() => {}
        () = ears => {}
    }
    place.leave().await;
}

/// A place in the queue for one lock.
struct Place {
    link: Arc<Link>,
    key: Key,
    wakes: Arc<Notify>,
    /// 0: none.
    lease: AtomicI64,
}

fn soon() -> Instant {
    Instant::now() + BUDGET
}

fn nonsense() -> NoAnswer {
    NoAnswer::Unknown("the server's answer makes no sense".into())
}

impl Place {
    /// Tells of each wake-up until something breaks.
    async fn hear(&self) -> Result<(), NoAnswer> {
        let grant = words::grant(0, PLACE.as_secs());
        let granted = self.link.call(words::LEASE_GRANT, &grant, soon()).await?;
        let lease = words::number(&granted, "/ID").ok_or_else(nonsense)?;
        self.lease.store(lease, Ordering::Relaxed);
        tokio::select! {
            broken = self.keep(lease) => broken,
            broken = self.queue(lease) => broken,
        }
    }

    /// Keeps the place until that fails.
    async fn keep(&self, lease: i64) -> Result<(), NoAnswer> {
        loop {
            sleep(KEEP.mul_f64(1.0 - lease::jitter() / 10.0)).await;
            let keep = words::one(lease);
            let kept = self.link.call(words::LEASE_KEEP, &keep, soon()).await?;
            if words::number(&kept, "/result/TTL").is_none_or(|left| left <= 0) {
                return Ok(());
            }
        }
    }

    async fn queue(&self, lease: i64) -> Result<(), NoAnswer> {
        let queue = words::queue(&self.key.waiter(lease), lease);
        let queued = self.link.call(words::TXN, &queue, soon()).await?;
        let came = words::revision(&queued).ok_or_else(nonsense)?;
        let before = words::before(&self.key.waiting(), came);
        loop {
            let answer = self.link.call(words::RANGE, &before, soon()).await?;
            let seen = words::revision(&answer).ok_or_else(nonsense)?;
            let Some(found) = words::found(&answer) else {
                break;
            };
            let mut news = News::of(found.key, seen + 1);
            news.deleted(&self.link).await?;
        }
        let look = words::look(&self.key);
        let answer = self.link.call(words::RANGE, &look, soon()).await?;
        let seen = words::revision(&answer).ok_or_else(nonsense)?;
        if words::found(&answer).is_none() {
            self.wakes.notify_one();
        }
        let mut news = News::of(self.key.clone(), seen + 1);
        loop {
            news.deleted(&self.link).await?;
            self.wakes.notify_one();
        }
    }

    /// Gives the place up. If this fails, its lease ends.
    async fn leave(&self) {
        let lease = self.lease.swap(0, Ordering::Relaxed);
        if lease != 0 {
            let revoke = words::one(lease);
            let _ = self.link.call(words::LEASE_REVOKE, &revoke, soon()).await;
        }
    }
}

/// What becomes of one key.
struct News {
    key: Key,
    /// The revision from which on nothing has been heard.
    from: i64,
    told: Option<crate::etcd_link::Told>,
}

impl News {
    fn of(key: Key, from: i64) -> News {
        News {
            key,
            from,
            told: None,
        }
    }

    /// Returns once it is deleted from here on.
    async fn deleted(&mut self, link: &Link) -> Result<(), NoAnswer> {
        loop {
            let told = match &mut self.told {
                Some(told) => told,
                none => {
                    let watch = words::watch(&self.key, self.from);
                    none.insert(link.follow(words::WATCH, &watch, soon()).await?)
                }
            };
            let Ok(news) = timeout(LISTEN, told.next()).await else {
                self.told = None;
                continue;
            };
            let news = news?;
            if news.get("canceled") == Some(&Value::Bool(true)) {
                return Err(nonsense());
            }
            let events = news.get("events").and_then(Value::as_array);
            let Some(events) = events.filter(|events| !events.is_empty()) else {
                continue;
            };
            self.from = words::revision(&news).ok_or_else(nonsense)? + 1;
            let gone = Some("DELETE");
            if events
                .iter()
                .any(|event| event.get("type").and_then(Value::as_str) == gone)
            {
                return Ok(());
            }
        }
    }
}
