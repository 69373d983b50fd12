//! Waiting on a Postgres server, on a connection of its own. All who wait listen; of them only the
//! one that has waited longest is woken: they queue for an advisory lock, which the server gives
//! in the order in which it was asked for and takes back when a connection ends. Whoever comes to
//! the head of the queue finds out once whether the lock is free, because a release may have woken
//! the one before it; and of a release that it hears of only then it knows whether that is news.

use crate::lock::backends::postgres_words::{Digested, news};
use crate::lock::backends::queue_ear::Ear;
use crate::lock::lease;
use crate::lock::service::LockName;
use crate::postgres_link::{Link, NoAnswer};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::unbounded_channel;
use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How long the head of the queue hears nothing before it asks whether the server is still there.
const LISTEN: Duration = Duration::from_secs(30);
/// Longest wait for the head of the queue: the poll is the floor, and a connection that nobody
/// answers on any more has to end some time.
const QUEUE: Duration = Duration::from_secs(600);
/// Pause after an ear broke.
const EAR_BROKEN: Duration = Duration::from_secs(2);
/// Longest time to connect, and for an answer.
const BUDGET: Duration = Duration::from_secs(2);

/// What an ear's connection is told first: wait as long as it takes, and notice soon when the
/// client is gone, be it while the server waits for the queue.
pub(super) const GREETING: &str = "
SELECT set_config(name, value, false) FROM (VALUES
  ('application_name', 'lockdrill waits'),
  ('client_connection_check_interval', '500ms'),
  ('tcp_keepalives_idle', '10'),
  ('tcp_keepalives_interval', '5'),
  ('tcp_keepalives_count', '3'),
  ('lock_timeout', '0'),
  ('statement_timeout', '0'),
  ('idle_session_timeout', '0')
) AS wanted (name, value) WHERE EXISTS (SELECT FROM pg_settings AS known WHERE known.name = wanted.name)";

/// A waiter's ear, of a lock whose row is in that table. Dropping it closes the connection, and with
/// it the place in the queue.
pub(super) fn ear(link: Arc<Link>, table: &'static str, name: &LockName) -> Ear {
    let name = name.clone();
    Ear::new(move |wakes, over| async move {
        let digested = Digested::of(&name);
        let place = Place {
            listen: format!("LISTEN {}", digested.channel()),
            turn: digested.turn(),
            news: news(table),
            name,
            wakes,
        };
        let ears = async {
            loop {
                // Whatever broke it: the poll goes on, and the ear is tried again.
                let _ = place.hear(&link).await;
                sleep(EAR_BROKEN.mul_f64(1.0 + lease::jitter())).await;
            }
        };
        tokio::select! {
            () = over.cancelled() => {}
            () = ears => {}
        }
    })
}

/// A place in the queue for one lock.
struct Place {
    listen: String,
    turn: i64,
    /// Reads in the lock's row whether it is free.
    news: String,
    name: LockName,
    wakes: Arc<Notify>,
}

impl Place {
    /// Tells of each wake-up until the connection breaks.
    async fn hear(&self, link: &Link) -> Result<(), NoAnswer> {
        let soon = || Instant::now() + BUDGET;
        let (told, mut heard) = unbounded_channel();
        let ear = link.connect(Some(told), soon()).await?;
        // First listen, then queue: nothing is missed between the two.
        ear.call(&self.listen, &[], soon()).await?;
        let queue = "SELECT pg_advisory_lock($1)";
        ear.call(queue, &[(&self.turn, Type::INT8)], Instant::now() + QUEUE)
            .await?;
        // An attempt would leave the waiter none for the release that it waits for.
        let params = [
            (&self.name.prefix as _, Type::TEXT),
            (&self.name.key as _, Type::TEXT),
        ];
        let rows = ear.call(&self.news, &params, soon()).await?;
        let (news, free) = found(rows.first());
        if free {
            self.wakes.notify_one();
        }
        loop {
            match timeout(LISTEN, heard.recv()).await {
                // What was said while others stood before it comes all at once.
                Ok(Some(ended)) => {
                    if ended.parse().map_or(true, |fencing: i64| fencing >= news) {
                        self.wakes.notify_one();
                    }
                }
                // The driver has ended.
                Ok(None) => return Ok(()),
                Err(_) => {
                    ear.call("SELECT 1", &[], soon()).await?;
                }
            }
        }
    }
}

/// The first fencing token whose end is news, and whether the lock is free; of a lock that was never
/// granted every end is.
fn found(row: Option<&Row>) -> (i64, bool) {
    let told = row.and_then(|row| Some((row.try_get(0).ok()?, row.try_get(1).ok()?)));
    told.unwrap_or((i64::MIN, true))
}
