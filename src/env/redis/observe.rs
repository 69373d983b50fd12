//! Runs the observer: one connection that follows the replication stream, one that asks the
//! clock, writes marks and reads what is left. All over a door of its own, never through a path
//! that a fault may touch.

use super::door::Door;
use super::effects::MARK;
use super::tap::Tap;
use super::value::owner_and_fencing;
use crate::clock::monotonic_ns;
use crate::env::error::EnvError;
use crate::env::seen::{Observed, Seen};
use crate::ids::OwnerDigest;
use crate::timeline::event::Change;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc::UnboundedSender;

/// Longest wait for one answer of a server that nothing is done to.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Follows the stream until the connection ends; every message goes to `out`.
pub async fn follow(door: Door, tap: Tap, out: UnboundedSender<Observed>) {
    let why = match stream(&door, tap, &out).await {
        Ok(()) => "the server closed the replication stream".to_owned(),
        Err(error) => error.to_string(),
    };
    // The receiver is gone only when the arm has ended; then nobody misses this.
    let _ = out.send(Observed::Gap(monotonic_ns(), why));
}

async fn stream(door: &Door, mut tap: Tap, out: &UnboundedSender<Observed>) -> std::io::Result<()> {
    let mut socket = door.open().await?;
    socket.write_all(b"SYNC\r\n").await?;
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut told = false;
    loop {
        let count = socket.read(&mut buffer).await?;
        let now = monotonic_ns();
        if count == 0 {
            return Ok(());
        }
        let seen = tap.feed(&buffer[..count]).map_err(std::io::Error::other)?;
        if tap.in_sync() && !told {
            told = true;
            let _ = out.send(Observed::Synced(now));
        }
        for seen in seen {
            let _ = out.send(match seen {
                Seen::Effect(event) => Observed::Effect(now, event),
                Seen::Mark(name) => Observed::Mark(name),
                Seen::Lost(why) => Observed::Gap(now, why),
            });
        }
    }
}

/// The observer's second connection.
#[derive(Debug, Clone)]
pub struct Control {
    connection: redis::aio::MultiplexedConnection,
    door: Door,
    prefix: String,
}

/// What a server holds for one lock key at the end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyLeft {
    /// Digest of the owner in the value; none if there is no key.
    pub owner: Option<OwnerDigest>,
    /// Remaining lease, ms; none if there is no key or it has no lease.
    pub remaining_ms: Option<u64>,
}

impl Control {
    /// Connects, waiting until the server answers.
    ///
    /// # Errors
    /// When it does not within the limit.
    pub async fn connect(door: &Door, prefix: &str, limit: Duration) -> Result<Self, EnvError> {
        let refused = |message: String| {
            EnvError::new(
                format!("redis-server at {door} does not answer: {message}"),
                door.hint(),
            )
        };
        let client =
            redis::Client::open(door.address()).map_err(|error| refused(error.to_string()))?;
        let begun = std::time::Instant::now();
        loop {
            match client.get_multiplexed_async_connection().await {
                Ok(mut connection) => {
                    let pong: redis::RedisResult<String> =
                        redis::cmd("PING").query_async(&mut connection).await;
                    if pong.is_ok() {
                        let (door, prefix) = (door.clone(), prefix.to_owned());
                        return Ok(Control {
                            connection,
                            door,
                            prefix,
                        });
                    }
                }
                Err(error) if begun.elapsed() > limit => return Err(refused(error.to_string())),
                Err(_) => {}
            }
            if begun.elapsed() > limit {
                return Err(refused("no PONG".to_owned()));
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// A new connection to the same server: whoever makes a server take over closes all that it has.
    ///
    /// # Errors
    /// When the server does not answer within the limit.
    pub async fn anew(&self, limit: Duration) -> Result<Self, EnvError> {
        Control::connect(&self.door, &self.prefix, limit).await
    }

    pub(super) async fn ask<T: redis::FromRedisValue>(
        &self,
        command: &redis::Cmd,
    ) -> Result<T, EnvError> {
        let mut connection = self.connection.clone();
        let answer = tokio::time::timeout(ANSWER_MAX, command.query_async(&mut connection)).await;
        match answer {
            Ok(Ok(value)) => Ok(value),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {ANSWER_MAX:?}")),
        }
        .map_err(|message| {
            EnvError::new(
                format!("the observer's question to the server failed: {message}"),
                self.door.hint(),
            )
        })
    }

    /// The server's clock between two readings of ours: (before ns, after ns, server µs).
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn clock(&self) -> Result<(u64, u64, u64), EnvError> {
        let before = monotonic_ns();
        let (seconds, micros): (u64, u64) = self.ask(&redis::cmd("TIME")).await?;
        Ok((before, monotonic_ns(), seconds * 1_000_000 + micros))
    }

    /// Lets others reach the server at this port of the addresses that it was started with.
    ///
    /// # Errors
    /// When the port is taken, or the server does not answer.
    pub async fn open_port(&self, port: u16) -> Result<(), EnvError> {
        let mut command = redis::cmd("CONFIG");
        self.ask(command.arg("SET").arg("port").arg(port)).await
    }

    /// Gives the server a command; its answer or its error, in words, and whether it was an answer.
    ///
    /// # Errors
    /// When the server says nothing at all.
    pub async fn tell(&self, words: &[String]) -> Result<(String, bool), EnvError> {
        let mut connection = self.connection.clone();
        let mut command = redis::Cmd::new();
        command.arg(words);
        let answer = command.query_async::<redis::Value>(&mut connection);
        match tokio::time::timeout(ANSWER_MAX, answer).await {
            Ok(Ok(value)) => Ok((format!("{value:?}"), true)),
            Ok(Err(error)) if error.code().is_some() => Ok((error.to_string(), false)),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err(format!("no answer within {ANSWER_MAX:?}")),
        }
        .map_err(|message| {
            EnvError::new(
                format!("the server did not answer {}: {message}", words.join(" ")),
                self.door.hint(),
            )
        })
    }

    /// What the server holds of one lock: the key as a grant's effect would tell it, and the
    /// counter.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn held(&self, key: &str) -> Result<(Change, Option<u64>), EnvError> {
        let lock = self.lock_key(key);
        let value: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(&lock)).await?;
        let until: i64 = self.ask(redis::cmd("PEXPIRETIME").arg(&lock)).await?;
        let counter = self
            .ask(redis::cmd("GET").arg(format!("{lock}:fence")))
            .await?;
        let (owner, fencing) = value.map_or((None, None), |value| {
            let (owner, fencing) = owner_and_fencing(&value);
            (Some(owner), fencing)
        });
        let change = Change::Restarted {
            owner,
            fencing,
            until_ms: u64::try_from(until).ok(),
        };
        Ok((change, counter))
    }

    /// The server's key of a lock; the counter's has `:fence` behind it.
    pub fn lock_key(&self, key: &str) -> String {
        format!("{}{{{key}}}", self.prefix)
    }

    /// Writes a mark into the stream; it lapses by itself.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn mark(&self, name: &str) -> Result<(), EnvError> {
        let key = format!("{}{MARK}", self.prefix);
        let mut set = redis::cmd("SET");
        self.ask(set.arg(key).arg(name).arg("PX").arg(60_000)).await
    }

    /// What is left of one lock key; none if there is no key.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn left(&self, key: &str) -> Result<Option<KeyLeft>, EnvError> {
        let key = self.lock_key(key);
        let value: Option<Vec<u8>> = self.ask(redis::cmd("GET").arg(&key)).await?;
        let remaining: i64 = self.ask(redis::cmd("PTTL").arg(&key)).await?;
        Ok(value.map(|value| KeyLeft {
            owner: Some(owner_and_fencing(&value).0),
            remaining_ms: u64::try_from(remaining).ok(),
        }))
    }
}
