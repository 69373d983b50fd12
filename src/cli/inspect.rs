//! `lockdrill inspect`: who holds a lock on a Redis server, for how long, and where its counter
//! stands. It only reads; shows digests, never an owner token.
//!
//! Ends with 0 if the server said it, 2 if the command line cannot be meant, 4 if the server did
//! not say it.

use crate::exit::Exit;
use crate::say;
use redis::Client;
use std::time::{Duration, SystemTime};

mod asking;
mod told;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The lock's key as its users name it, without prefix and braces.
    key: String,
    /// The server, as redis://HOST:PORT/DB; a password may come from the environment.
    #[arg(
        long,
        value_name = "URL",
        env = "LOCKDRILL_REDIS",
        hide_env_values = true
    )]
    redis: String,
    /// What stands before the braces of the key on the server.
    #[arg(long, default_value = "")]
    prefix: String,
    /// Allow a server that is not on this machine.
    #[arg(long)]
    allow_remote: bool,
}

/// What lies under one key of the server.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    Nothing,
    Text(Vec<u8>),
    /// Something else: the server's word for it.
    Other(String),
}

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    lock: Found,
    /// ms; -1 without a lease, -2 without a key.
    left_ms: i64,
    counter: Found,
    server_time: SystemTime,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    let client = match usable(args) {
        Ok(client) => client,
        Err(why) => {
            say::err(format_args!("lockdrill: {why}"));
            return Exit::Usage;
        }
    };
    let address = client.get_connection_info().addr().to_string();
    let lock = format!("{}{{{}}}", args.prefix, args.key);
    let seen = match asking::look(&client, &lock) {
        Ok(seen) => seen,
        Err(error) => {
            let why = asking::reason(&error);
            say::err(format_args!("lockdrill: {address}: {why}"));
            return Exit::Environment;
        }
    };
    if let Found::Other(kind) = &seen.lock {
        say::err(format_args!(
            "lockdrill: {address}: {lock} is a {kind} and no lock; nobody can be granted it"
        ));
        return Exit::Environment;
    }
    for line in told::told(&seen, &lock) {
        say::out(line);
    }
    Exit::Ok
}

/// A client for a server that may be asked. What was given may hold a password: it is not
/// repeated.
fn usable(args: &Args) -> Result<Client, String> {
    if args.key.is_empty() {
        return Err("the key is empty: no lock has such a key".to_owned());
    }
    let form = "redis://HOST:PORT";
    let client = Client::open(args.redis.as_str()).map_err(|_| match misread(&args.redis) {
        Some(why) => format!("--redis {why}"),
        None => format!("--redis is no address of the form {form}"),
    })?;
    let address = client.get_connection_info().addr().to_string();
    if args.allow_remote || is_local(&address) {
        Ok(client)
    } else {
        Err(format!(
            "{address} is not on this machine; --allow-remote asks it all the same"
        ))
    }
}

/// What was probably meant by an address that cannot be understood.
fn misread(url: &str) -> Option<&'static str> {
    let Some((scheme, rest)) = url.split_once("://") else {
        return Some("has no `redis://` in front of its host");
    };
    let scheme = scheme.to_ascii_lowercase();
    if scheme.contains("sentinel") {
        return Some(
            "names sentinels, and one server is asked: find the primary with \
             `redis-cli -p 26379 SENTINEL GET-MASTER-ADDR-BY-NAME NAME` and name that",
        );
    }
    let hosts = rest.rsplit_once('@').map_or(rest, |(_, hosts)| hosts);
    if scheme.contains("cluster") || hosts.contains(',') {
        return Some(
            "names several servers, and one is asked: name any node of a cluster, and it says \
             which one has the key",
        );
    }
    matches!(scheme.as_str(), "rediss" | "valkeys")
        .then_some("asks for TLS, which lockdrill does not speak: use a tunnel on this machine")
}

fn is_local(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    let loopback = host
        .parse::<std::net::IpAddr>()
        .is_ok_and(|ip| ip.is_loopback());
    loopback || host == "localhost" || address.starts_with('/')
}

/// The server's own time, from seconds since 1970.
fn time(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.min(u64::from(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_asked_without_being_told() {
        for local in [
            "127.0.0.1:6379",
            "[::1]:6379",
            "localhost:1",
            "/run/redis.sock",
        ] {
            assert!(is_local(local), "{local}");
        }
        for remote in [
            "10.0.0.1:6379",
            "example.com:6379",
            "localhost.example.com:1",
        ] {
            assert!(!is_local(remote), "{remote}");
        }
    }

    #[test]
    fn what_was_meant_is_told_without_what_was_typed() {
        let meant = |url: &str| misread(url).unwrap_or("nothing");
        assert!(meant("127.0.0.1:6379").contains("redis://"));
        assert!(meant("redis-sentinel://h:1/m").contains("GET-MASTER-ADDR"));
        assert!(meant("redis://u:s,w@h:1,h:2").contains("several servers"));
        assert_eq!(meant("redis://u:s,w@h:x"), "nothing");
        assert!(meant("rediss://h:1").contains("TLS"));
    }
}
