//! A Redis server that somebody else has started and gives to the lab: what is asked of it before a
//! drill, and what is taken away after it.
//!
//! It is followed like a server of the lab's own, and whoever follows a server is sent a copy of all
//! that it holds. So one that holds anybody else's keys is refused, and nothing is ever asked of it
//! but what it is, what the lab's own keys hold, and the time: no FLUSHALL, CONFIG, DEBUG, SHUTDOWN
//! or MONITOR, and no command on a key of somebody else.

use super::find;
use super::probe::field;
use crate::env::error::EnvError;
use crate::redis_link::{Link, NoAnswer};
use redis::{Cmd, FromRedisValue};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::time::Instant;

/// In front of every key that the lab makes on any server.
pub const OWN: &str = "lockdrill:";

/// Longest wait for one answer.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Dead runs do not leave more than so many keys; nobody looks through more.
const LEFT_MAX: u64 = 10_000;

/// What to do about a server that cannot be used.
const OTHER: &str =
    "give a Redis server that is there for drills alone (docker-compose.yml has one)";

/// What a given server says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Given {
    /// Its version.
    pub version: String,
    /// Keys that a dead run left there.
    pub left: u64,
}

/// Asks a server whether drills can be played on it.
///
/// # Errors
/// When it does not answer, is too old, copies another server, is part of a cluster, or holds keys
/// that are not the lab's; with what to do about it.
pub async fn look(address: SocketAddr) -> Result<Given, EnvError> {
    let server = Server::at(address)?;
    let info: String = server.ask(Cmd::new().arg("INFO")).await?;
    if let Some(why) = unfit(&info) {
        return Err(server.refused(&why));
    }
    let keys = keys(&info);
    let left = match keys {
        Keys::Elsewhere => return Err(server.refused(&others("keys in another database"))),
        Keys::So(0) => 0,
        Keys::So(many) if many > LEFT_MAX => {
            return Err(server.refused(&others(&format!("{many} keys"))));
        }
        Keys::So(many) => {
            let own = server.own(OWN).await?.len() as u64;
            if own < many {
                let foreign = format!("{} keys that are not lockdrill's", many - own);
                return Err(server.refused(&others(&foreign)));
            }
            own
        }
    };
    let version = field(&info, "redis_version").to_owned();
    Ok(Given { version, left })
}

/// Removes every key with this prefix, and nothing else; what was removed, and what is there still.
///
/// # Errors
/// When the server does not answer.
pub async fn sweep(
    address: SocketAddr,
    prefix: &str,
) -> Result<(Vec<String>, Vec<String>), EnvError> {
    let server = Server::at(address)?;
    let keys = server.own(prefix).await?;
    if !keys.is_empty() {
        let _: u64 = server.ask(Cmd::new().arg("DEL").arg(&keys)).await?;
    }
    Ok((keys, server.own(prefix).await?))
}

fn others(what: &str) -> String {
    format!("holds {what}, and to follow a server is to be sent all that it holds")
}

/// Why no drill can be played on a server that says this of itself.
fn unfit(info: &str) -> Option<String> {
    let version = field(info, "redis_version");
    let role = field(info, "role");
    if !find::is_new_enough(version) {
        Some(format!(
            "is Redis {version}, older than {}",
            find::minimum()
        ))
    } else if role != "master" {
        Some(format!("takes no writes: it says that it is a {role}"))
    } else if field(info, "cluster_enabled") == "1" {
        Some("is part of a cluster".to_owned())
    } else {
        None
    }
}

/// How many keys a server holds.
#[derive(Debug, PartialEq, Eq)]
enum Keys {
    /// In the first database, and none elsewhere.
    So(u64),
    /// In another database, too.
    Elsewhere,
}

fn keys(info: &str) -> Keys {
    let databases = info.lines().filter_map(|line| line.strip_prefix("db"));
    let mut databases = databases.filter_map(|line| line.split_once(":keys="));
    let mut first = 0;
    if databases.any(|(number, rest)| {
        let count = rest.split(',').next().and_then(|count| count.parse().ok());
        first = count.unwrap_or(u64::MAX);
        number != "0"
    }) {
        return Keys::Elsewhere;
    }
    Keys::So(first)
}

/// Questions to one server.
struct Server {
    address: SocketAddr,
    link: Link,
}

impl Server {
    fn at(address: SocketAddr) -> Result<Server, EnvError> {
        let link = Link::new(&address.to_string());
        let link = link.map_err(|wrong| EnvError::new(wrong.why, OTHER))?;
        Ok(Server { address, link })
    }

    fn refused(&self, why: &str) -> EnvError {
        EnvError::new(format!("the Redis server at {} {why}", self.address), OTHER)
    }

    async fn ask<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, EnvError> {
        let answer = self.link.call(command, Instant::now() + ANSWER_MAX).await;
        let value = answer.map_err(|none| {
            let (NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) | NoAnswer::Unknown(why)) =
                none;
            self.refused(&format!("does not answer: {why}"))
        })?;
        T::from_redis_value(value).map_err(|error| self.refused(&format!("says: {error}")))
    }

    /// Every key with this prefix.
    async fn own(&self, prefix: &str) -> Result<Vec<String>, EnvError> {
        let mut keys = Vec::new();
        let mut cursor = 0_u64;
        loop {
            let mut scan = Cmd::new();
            scan.arg("SCAN").arg(cursor).arg("MATCH");
            scan.arg(format!("{prefix}*")).arg("COUNT").arg(1000);
            let (next, some): (u64, Vec<String>) = self.ask(&scan).await?;
            // Whatever the pattern means to the server: nothing else is ever taken for the lab's.
            keys.extend(some.into_iter().filter(|key| key.starts_with(prefix)));
            if next == 0 {
                // A key can come twice.
                keys.sort_unstable();
                keys.dedup();
                return Ok(keys);
            }
            cursor = next;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "redis_version:7.0.15\r\nrole:master\r\ncluster_enabled:0\r\n";

    #[test]
    fn only_a_server_that_takes_writes_by_itself_will_do() {
        assert_eq!(unfit(SOUND), None);
        for (is, becomes, says) in [
            ("7.0.15", "6.2.14", "older than 7.0"),
            ("master", "slave", "takes no writes"),
            ("enabled:0", "enabled:1", "part of a cluster"),
        ] {
            let why = unfit(&SOUND.replace(is, becomes)).unwrap_or_default();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn keys_of_every_database_count() {
        let of = |lines: &str| keys(&format!("{SOUND}# Keyspace\r\n{lines}"));
        assert_eq!(of(""), Keys::So(0));
        assert_eq!(of("db0:keys=7,expires=1,avg_ttl=0\r\n"), Keys::So(7));
        assert_eq!(of("db0:keys=x\r\n"), Keys::So(u64::MAX));
        assert_eq!(
            of("db0:keys=7\r\ndb3:keys=1,expires=0\r\n"),
            Keys::Elsewhere
        );
    }
}
