//! Waiting at a ZooKeeper. Whoever waits takes a place in the lock's folder, in a session of its
//! own, and is told of the end of the one that came right before it. Only the head of the queue is
//! told of the lock, and so it alone is woken. Whoever comes to the head looks once, because a
//! release may have woken the one before it.

use crate::lock::backends::queue_ear::Ear;
use crate::lock::backends::zookeeper_words::{Folder, WAIT};
use crate::lock::lease;
use crate::zookeeper_link::{Code, Link, Live, NoAnswer, Request, Stays, made, names, nonsense};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

/// How long the server keeps a place: as long as one that died is in the way of others, who poll.
const PLACE: Duration = Duration::from_secs(5);
/// How often something is said to keep it, and heard.
const KEEP: Duration = Duration::from_millis(1_500);
/// Pause after an ear broke.
const EAR_BROKEN: Duration = Duration::from_secs(2);
/// Longest time to connect, and for an answer.
const BUDGET: Duration = Duration::from_secs(2);

/// A waiter's ear. Dropping it gives up the place in the queue.
pub(super) fn ear(link: Arc<Link>, folder: Folder) -> Ear {
    Ear::new(move |wakes, over| {
        let place = Place {
            link,
            folder,
            wakes,
        };
        listen(place, over)
    })
}

/// Until nobody wants to be woken any more.
async fn listen(place: Place, over: CancellationToken) {
    loop {
        let mut live = None;
        let is_over = tokio::select! {
            () = over.cancelled() => true,
            // Whatever broke it: the poll goes on, and the ear is tried again.
            _broken = place.hear(&mut live) => false,
        };
        // Gives the place up. If this fails, its session ends by itself.
        if let Some(live) = live {
            let _ = live.close(soon()).await;
        }
        if is_over {
            return;
        }
        tokio::select! {
            () = over.cancelled() => return,
            () = sleep(EAR_BROKEN.mul_f64(1.0 + lease::jitter())) => {}
        }
    }
}

/// A place in the queue for one lock.
struct Place {
    link: Arc<Link>,
    folder: Folder,
    wakes: Arc<Notify>,
}

fn soon() -> Instant {
    Instant::now() + BUDGET
}

impl Place {
    /// Tells of each wake-up until something breaks.
    async fn hear(&self, place: &mut Option<Live>) -> Result<(), NoAnswer> {
        let live = place.insert(self.link.begin(PLACE, soon()).await?);
        let own = self.queued(live).await?;
        while let Some(before) = self.before(live, &own).await? {
            let path = self.folder.child(&before);
            match live.ask(&Request::exists(&path, true), soon()).await {
                Ok(_) => gone(live, &path).await?,
                Err(NoAnswer::Refused(Code::NO_NODE)) => {}
                Err(error) => return Err(error),
            }
        }
        let held = self.folder.held();
        live.ask(&Request::follow(&held), soon()).await?;
        match live.ask(&Request::exists(&held, false), soon()).await {
            Ok(_) => {}
            Err(NoAnswer::Refused(Code::NO_NODE)) => self.wakes.notify_one(),
            Err(error) => return Err(error),
        }
        loop {
            gone(live, &held).await?;
            self.wakes.notify_one();
        }
    }

    /// The name of the place.
    async fn queued(&self, live: &mut Live) -> Result<String, NoAnswer> {
        let path = self.folder.child(WAIT);
        let queue = Request::create(&path, b"", Stays::InTurn);
        let answer = match live.ask(&queue, soon()).await {
            Err(NoAnswer::Refused(Code::NO_NODE)) => {
                match live.ask(&self.folder.make(), soon()).await {
                    Ok(_) | Err(NoAnswer::Refused(Code::NODE_EXISTS)) => {}
                    Err(error) => return Err(error),
                }
                live.ask(&queue, soon()).await?
            }
            other => other?,
        };
        let (path, _) = made(&answer).ok_or_else(nonsense)?;
        let (_, name) = path.rsplit_once('/').ok_or_else(nonsense)?;
        Ok(name.to_owned())
    }

    /// The one who came right before; none at the head.
    async fn before(&self, live: &mut Live, own: &str) -> Result<Option<String>, NoAnswer> {
        let children = Request::children(self.folder.path());
        let answer = live.ask(&children, soon()).await?;
        let names = names(&answer).ok_or_else(nonsense)?;
        let waiting = names.into_iter().filter(|name| name.starts_with(WAIT));
        // Numbers of equal length stand in order as text does.
        Ok(waiting.filter(|name| name.as_str() < own).max())
    }
}

/// Returns once this node is told to be gone, and keeps the session until then.
async fn gone(live: &mut Live, path: &str) -> Result<(), NoAnswer> {
    loop {
        let keep = KEEP.mul_f64(1.0 - lease::jitter() / 10.0);
        let heard = tokio::select! {
            told = live.told() => Some(told?),
            () = sleep(keep) => None,
        };
        match heard {
            Some(told) if told.is_gone && told.path == path => return Ok(()),
            Some(_) => {}
            None => drop(live.ask(&Request::exists("/", false), soon()).await?),
        }
    }
}
