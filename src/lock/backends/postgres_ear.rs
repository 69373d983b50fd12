//! Waiting on a Postgres server, on a connection of its own. All who wait listen; of them only the
//! one that has waited longest is woken: they queue for an advisory lock, which the server gives
//! in the order in which it was asked for and takes back when a connection ends. Whoever comes to
//! the head of the queue finds out once whether the lock is free, because a release may have woken
//! the one before it; and of a release that it hears of only then it knows whether that is news.

use crate::lock::backends::postgres_words::{Digested, news};
use crate::lock::lease;
use crate::lock::service::{LockName, Wake};
use crate::postgres_link::{Link, NoAnswer};
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::unbounded_channel;
use tokio::task::JoinHandle;
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

/// A waiter's ear. Dropping it closes the connection, and with it the place in the queue.
pub(super) struct Ear {
    link: Arc<Link>,
    channel: String,
    turn: i64,
    /// Reads in the lock's row whether it is free.
    news: String,
    name: LockName,
    wakes: Arc<Notify>,
    listening: Option<JoinHandle<()>>,
}

impl Ear {
    /// For a lock whose row is in that table.
    pub(super) fn new(link: Arc<Link>, (table, name): (&str, &LockName)) -> Ear {
        let digested = Digested::of(name);
        Ear {
            link,
            channel: digested.channel(),
            turn: digested.turn(),
            news: news(table),
            name: name.clone(),
            wakes: Arc::default(),
            listening: None,
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        if let Some(listening) = &self.listening {
            listening.abort();
        }
    }
}

#[async_trait]
impl Wake for Ear {
    fn listening(&self) -> bool {
        self.listening.is_some()
    }

    async fn woken(&mut self) {
        if self.listening.is_none() {
            let (link, wakes) = (Arc::clone(&self.link), Arc::clone(&self.wakes));
            let (listen, turn) = (format!("LISTEN {}", self.channel), self.turn);
            let (news, name) = (self.news.clone(), self.name.clone());
            self.listening = Some(tokio::spawn(async move {
                loop {
                    // Whatever broke it: the poll goes on, and the ear is tried again.
                    let _ = hear(&link, (&listen, turn), (&news, &name), &wakes).await;
                    sleep(EAR_BROKEN.mul_f64(1.0 + lease::jitter())).await;
                }
            }));
        }
        self.wakes.notified().await;
    }
}

/// Tells of each wake-up until the connection breaks.
async fn hear(
    link: &Link,
    (listen, turn): (&str, i64),
    (news, name): (&str, &LockName),
    wakes: &Notify,
) -> Result<(), NoAnswer> {
    let soon = || Instant::now() + BUDGET;
    let (told, mut heard) = unbounded_channel();
    let ear = link.connect(Some(told), soon()).await?;
    // First listen, then queue: nothing is missed between the two.
    ear.call(listen, &[], soon()).await?;
    let queue = "SELECT pg_advisory_lock($1)";
    ear.call(queue, &[(&turn, Type::INT8)], Instant::now() + QUEUE)
        .await?;
    // An attempt would leave the waiter none for the release that it waits for.
    let params = [
        (&name.prefix as _, Type::TEXT),
        (&name.key as _, Type::TEXT),
    ];
    let rows = ear.call(news, &params, soon()).await?;
    let (news, free) = found(rows.first());
    if free {
        wakes.notify_one();
    }
    loop {
        match timeout(LISTEN, heard.recv()).await {
            // What was said while others stood before it comes all at once.
            Ok(Some(ended)) => {
                if ended.parse().map_or(true, |fencing: i64| fencing >= news) {
                    wakes.notify_one();
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

/// The first fencing token whose end is news, and whether the lock is free; of a lock that was never
/// granted every end is.
fn found(row: Option<&Row>) -> (i64, bool) {
    let told = row.and_then(|row| Some((row.try_get(0).ok()?, row.try_get(1).ok()?)));
    told.unwrap_or((i64::MIN, true))
}
