//! The questions that `inspect` asks a server, and what its refusals mean.

use super::{Found, Seen, time};
use redis::{Client, Connection, ErrorKind, FromRedisValue, RedisError, RedisResult};
use std::time::Duration;

/// Longer than this nobody waits for an answer.
const LIMIT: Duration = Duration::from_secs(5);

/// How often it is asked again if the lock changed hands between two questions.
const LOOKS: usize = 5;

/// Asks for one lock. The lock is asked for before and after its lease: what is told of the two
/// belongs to one holder.
///
/// # Errors
/// When the server cannot be reached or does not answer.
pub(super) fn look(client: &Client, lock: &str) -> RedisResult<Seen> {
    let mut server: Connection = client.get_connection_with_timeout(LIMIT)?;
    server.set_read_timeout(Some(LIMIT))?;
    let mut looks = 0;
    loop {
        looks += 1;
        let seen = Seen {
            lock: get(&mut server, lock)?,
            left_ms: ask(&mut server, "PTTL", lock)?,
            counter: get(&mut server, &format!("{lock}:fence"))?,
            server_time: time(redis::cmd("TIME").query::<(u64, u64)>(&mut server)?.0),
        };
        if looks == LOOKS || get(&mut server, lock)? == seen.lock {
            return Ok(seen);
        }
    }
}

fn get(server: &mut Connection, key: &str) -> RedisResult<Found> {
    match ask::<Option<Vec<u8>>>(server, "GET", key) {
        Ok(Some(value)) => Ok(Found::Text(value)),
        Ok(None) => Ok(Found::Nothing),
        Err(error) if error.code() == Some("WRONGTYPE") => {
            ask(server, "TYPE", key).map(Found::Other)
        }
        Err(error) => Err(error),
    }
}

fn ask<T: FromRedisValue>(server: &mut Connection, command: &str, key: &str) -> RedisResult<T> {
    redis::cmd(command).arg(key).query(server)
}

/// Why there is no answer, and what to do where that is known.
pub(super) fn reason(error: &RedisError) -> String {
    if let Some((address, _)) = error.redirect_node() {
        return format!("another node of the cluster has this key: ask redis://{address}");
    }
    match error.code() {
        Some("NOAUTH") => "it wants a password: put the address into LOCKDRILL_REDIS".to_owned(),
        Some("CLUSTERDOWN") => "its cluster serves no such key at present".to_owned(),
        Some("ERR")
            if error
                .detail()
                .is_some_and(|text| text.contains("unknown command")) =>
        {
            "it keeps no keys; if it is a sentinel, ask it for the primary: \
             `SENTINEL GET-MASTER-ADDR-BY-NAME NAME`"
                .to_owned()
        }
        _ if error.kind() == ErrorKind::AuthenticationFailed => {
            "it wants other credentials".to_owned()
        }
        _ if error.is_timeout() => format!("no answer within {} s", LIMIT.as_secs()),
        // Some errors fill several lines.
        _ => error
            .to_string()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" "),
    }
}
