//! Asks one of several Redis servers, again and again, whether it takes writes and to whom it is
//! linked; over the socket file that only the lab knows. Each change is told with the latest time
//! at which it was still otherwise.

use crate::clock::monotonic_ns;
use crate::env::seen::Observed;
use redis::{AsyncConnectionConfig, RedisError, Value};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::sync::mpsc::UnboundedSender;

/// Between two questions.
const STEP: Duration = Duration::from_millis(10);

/// What a server says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// It takes writes.
    pub primary: bool,
    /// How many copy it, or whether its own link is up.
    pub links: u64,
}

/// A connection that was closed is made anew so often, at most, before it answers again: whoever
/// makes a server take over closes all its connections.
const TRIES: usize = 20;

/// Asks until the server is gone; its first word and every change go to `out`. Of a server that was
/// started again, what it says first holds since it was known to be gone: `gone`, ns of
/// `CLOCK_MONOTONIC`.
pub async fn watch(socket: PathBuf, out: UnboundedSender<Observed>, gone: Option<u64>) {
    let mut known = Known {
        said: None,
        asked: gone,
    };
    let mut tries = 0;
    while tries < TRIES && !out.is_closed() {
        let before = known.said;
        if let Err(error) = ask(&socket, &mut known, &out).await {
            tries = if known.said == before { tries + 1 } else { 1 };
            if tries == TRIES {
                let why = format!("its role is not known any more: {error}");
                let _ = out.send(Observed::Gap(monotonic_ns(), why));
            }
            tokio::time::sleep(STEP).await;
        }
    }
}

/// What a server said last, and when it was asked.
struct Known {
    said: Option<Role>,
    asked: Option<u64>,
}

async fn ask(
    socket: &Path,
    known: &mut Known,
    out: &UnboundedSender<Observed>,
) -> Result<(), RedisError> {
    let client = redis::Client::open(redis::ConnectionAddr::Unix(socket.to_owned()))?;
    // A server that stands still answers when it wakes.
    let config = AsyncConnectionConfig::new().set_response_timeout(None);
    let mut connection = client
        .get_multiplexed_async_connection_with_config(&config)
        .await?;
    while !out.is_closed() {
        let sent = monotonic_ns();
        let answer: Value = redis::cmd("ROLE").query_async(&mut connection).await?;
        let at = monotonic_ns();
        if let Some(role) = read(&answer) {
            if known.said != Some(role) {
                let _ = out.send(Observed::Role(at, role, known.asked));
            }
            (known.said, known.asked) = (Some(role), Some(sent));
        }
        tokio::time::sleep(STEP).await;
    }
    Ok(())
}

/// `master, offset, replicas` or `slave, host, port, state of the link, offset`.
fn read(answer: &Value) -> Option<Role> {
    let Value::Array(fields) = answer else {
        return None;
    };
    let text = |value: &Value| redis::from_redis_value_ref::<String>(value).unwrap_or_default();
    match fields.as_slice() {
        [name, _, Value::Array(replicas)] if text(name) == "master" => Some(Role {
            primary: true,
            links: replicas.len() as u64,
        }),
        [name, _, _, state, ..] if text(name) == "slave" => Some(Role {
            primary: false,
            links: u64::from(text(state) == "connected"),
        }),
        _other => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bulk(text: &str) -> Value {
        Value::BulkString(text.as_bytes().to_vec())
    }

    #[test]
    fn both_roles_are_read() {
        let replica = Value::Array(vec![bulk("127.0.0.1"), bulk("2"), bulk("0")]);
        let primary = [bulk("master"), Value::Int(7), Value::Array(vec![replica])];
        let role = |primary, links| Some(Role { primary, links });
        assert_eq!(read(&Value::Array(primary.to_vec())), role(true, 1));
        for (state, links) in [("connected", 1), ("connect", 0), ("sync", 0)] {
            let fields = [
                bulk("slave"),
                bulk("h"),
                Value::Int(1),
                bulk(state),
                Value::Int(0),
            ];
            assert_eq!(read(&Value::Array(fields.to_vec())), role(false, links));
        }
        assert_eq!(read(&Value::Nil), None);
    }
}
