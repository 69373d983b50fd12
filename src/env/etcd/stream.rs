//! Follows an etcd's changes as the server itself tells them, in the order of its revisions. What
//! was changed while nobody followed is told afterwards: the server keeps every revision, since
//! nobody has it forget any.

use super::effects::{Effects, mark_key};
use crate::clock::monotonic_ns;
use crate::env::seen::{Observed, Seen};
use crate::etcd_link::{Link, NoAnswer};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;
use tokio::time::Instant;

/// Longest wait for an answer of a server that nothing is done to.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// How far a server's changes have been read; outlives the connection that read them.
#[derive(Debug)]
pub struct Place {
    effects: Effects,
    /// The last revision that was read in full.
    revision: i64,
}

/// The same place for those who read one after the other.
pub type Shared = Arc<Mutex<Place>>;

/// Nothing has been read yet.
pub fn beginning(server: &str, prefix: &str) -> Shared {
    Arc::new(Mutex::new(Place {
        effects: Effects::new(server, prefix),
        revision: 0,
    }))
}

/// Follows the server until the connection ends; every message goes to `out`. It is in sync once
/// it has read what had been changed before it came.
pub async fn follow(address: SocketAddr, place: Shared, out: UnboundedSender<Observed>) {
    let why = match read(address, &place, &out).await {
        Ok(()) => "the server ended what it told".to_owned(),
        Err(error) => error.to_string(),
    };
    // The receiver is gone only when the arm has ended; then nobody misses this.
    let _ = out.send(Observed::Gap(monotonic_ns(), why));
}

async fn read(
    address: SocketAddr,
    place: &Shared,
    out: &UnboundedSender<Observed>,
) -> io::Result<()> {
    let link = Link::new(&address.to_string()).map_err(|wrong| io::Error::other(wrong.why))?;
    let (prefix, from) = {
        let place = lock(place);
        (place.effects.prefix().to_owned(), place.revision + 1)
    };
    let watch = json!({ "create_request": {
        "key": STANDARD.encode(&prefix),
        "range_end": STANDARD.encode(behind(&prefix)),
        "start_revision": from.to_string(),
    }});
    let until = || Instant::now() + ANSWER_MAX;
    let mut told = link.follow("watch", &watch, until()).await.map_err(other)?;
    let mark = Seen::sync_mark(monotonic_ns());
    let put = emit(&prefix, &mark);
    link.call("kv/put", &put, until()).await.map_err(other)?;
    loop {
        let news = told.next().await.map_err(other)?;
        if news.get("canceled") == Some(&Value::Bool(true)) {
            let why = news.get("cancel_reason").and_then(Value::as_str);
            return Err(io::Error::other(why.unwrap_or("it tells no more")));
        }
        tell(&news, place, (&mark, out));
    }
}

/// A whole revision, or several, has been read.
fn tell(news: &Value, place: &Shared, (mark, out): (&str, &UnboundedSender<Observed>)) {
    let now = monotonic_ns();
    let mut place = lock(place);
    let events = news.get("events").and_then(Value::as_array);
    for event in events.into_iter().flatten() {
        let seen = place.effects.read(event);
        if let Some(observed) = seen.and_then(|seen| seen.told(now, mark)) {
            let _ = out.send(observed);
        }
    }
    let last = events.and_then(|events| events.last());
    let revision = last.and_then(|event| event.pointer("/kv/mod_revision")?.as_str());
    if let Some(revision) = revision.and_then(|text| text.parse().ok()) {
        place.revision = revision;
    }
}

/// The first key behind all that begin so; the prefix is text, whose last byte can be one more.
fn behind(prefix: &str) -> Vec<u8> {
    let mut end = prefix.as_bytes().to_vec();
    if let Some(last) = end.last_mut() {
        *last = last.saturating_add(1);
    }
    end
}

/// What writes a mark.
pub(super) fn emit(prefix: &str, mark: &str) -> Value {
    json!({ "key": STANDARD.encode(mark_key(prefix)), "value": STANDARD.encode(mark) })
}

fn other(why: NoAnswer) -> io::Error {
    io::Error::other(why.to_string())
}

fn lock(place: &Shared) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}
