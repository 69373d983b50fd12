//! The observer's questions to an etcd, beside the stream of its changes. Past every edge, never
//! through a path that a fault may touch.

use super::stream;
use crate::env::error::EnvError;
use crate::env::observer::{LOG, failed};
use crate::env::redis::observe::KeyLeft;
use crate::etcd_link::{Link, NoAnswer};
use crate::ids::{FencingToken, OwnerDigest};
use crate::timeline::event::Change;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Longest wait for one answer of a server that nothing is done to.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Between two tries.
const STEP: Duration = Duration::from_millis(5);

/// Who asks.
#[derive(Clone)]
pub struct Control {
    link: Arc<Link>,
    address: SocketAddr,
    prefix: String,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Control({})", self.address)
    }
}

/// A lock's key.
struct Held {
    owner: OwnerDigest,
    made: Option<u64>,
    lease: String,
}

impl Control {
    /// Waits until the server has a leader.
    ///
    /// # Errors
    /// When it has none within the limit.
    pub async fn connect(
        address: SocketAddr,
        prefix: &str,
        limit: Duration,
    ) -> Result<Self, EnvError> {
        let begun = Instant::now();
        let link = Link::new(&address.to_string()).map_err(|wrong| failed(&wrong.why))?;
        let control = Control {
            link: Arc::new(link),
            address,
            prefix: prefix.to_owned(),
        };
        loop {
            let why = match control.ask("maintenance/status", json!({})).await {
                Ok(status) if status.get("leader").is_some() => return Ok(control),
                Ok(_) => "it has no leader".to_owned(),
                Err(error) => error.what,
            };
            if begun.elapsed() > limit {
                let what = format!("etcd at {address} does not answer: {why}");
                return Err(EnvError::new(what, LOG));
            }
            sleep(STEP).await;
        }
    }

    /// The same server, asked anew.
    ///
    /// # Errors
    /// When the server does not answer within the limit.
    pub async fn anew(&self, limit: Duration) -> Result<Self, EnvError> {
        Control::connect(self.address, &self.prefix, limit).await
    }

    async fn ask(&self, path: &str, body: Value) -> Result<Value, EnvError> {
        let until = tokio::time::Instant::now() + ANSWER_MAX;
        let answer = self.link.call(path, &body, until).await;
        answer.map_err(|why| failed(&why))
    }

    async fn key(&self, key: &str) -> Result<(Option<Held>, Option<u64>), EnvError> {
        let body = json!({ "key": STANDARD.encode(self.lock_key(key)) });
        let answer = self.ask("kv/range", body).await?;
        let revision = number(&answer, "/header/revision");
        let Some(kv) = answer.pointer("/kvs/0") else {
            return Ok((None, revision));
        };
        let text = |name: &str| kv.get(name).and_then(Value::as_str).unwrap_or_default();
        let owner = STANDARD.decode(text("value")).unwrap_or_default();
        let held = Held {
            owner: OwnerDigest::of(&owner),
            made: number(kv, "/create_revision"),
            lease: text("lease").to_owned(),
        };
        Ok((Some(held), revision))
    }

    /// What the server holds of one lock, and the revision that it has come to.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn held(&self, key: &str) -> Result<(Change, Option<u64>), EnvError> {
        let (held, revision) = self.key(key).await?;
        let change = Change::Restarted {
            fencing: held.as_ref().and_then(|held| held.made).map(FencingToken),
            owner: held.map(|held| held.owner),
            until_ms: None,
        };
        Ok((change, revision))
    }

    /// The server's name of a lock.
    pub fn lock_key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Writes a mark into the stream.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn mark(&self, name: &str) -> Result<(), EnvError> {
        let put = stream::emit(&self.prefix, name);
        self.ask("kv/put", put).await.map(drop)
    }

    /// What is left of one lock; none if it is free.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn left(&self, key: &str) -> Result<Option<KeyLeft>, EnvError> {
        let (Some(held), _) = self.key(key).await? else {
            return Ok(None);
        };
        let mut remaining_ms = None;
        if !held.lease.is_empty() {
            let lease = json!({ "ID": held.lease });
            let left = self.ask("lease/timetolive", lease).await?;
            // It tells whole seconds, and less than none of one that has ended.
            remaining_ms = Some(number(&left, "/TTL").unwrap_or(0) * 1_000);
        }
        Ok(Some(KeyLeft {
            owner: Some(held.owner),
            remaining_ms,
        }))
    }
}

/// A number of 64 bits, which is told as text.
fn number(answer: &Value, at: &str) -> Option<u64> {
    answer.pointer(at)?.as_str()?.parse().ok()
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) | NoAnswer::Unknown(why) => {
                f.write_str(why)
            }
        }
    }
}
