//! `lockdrill inspect`: who holds a lock on a Redis server, for how long, and where its counter
//! stands. Sends GET, PTTL and TIME and nothing else; shows digests, never an owner token.

use crate::exit::Exit;
use crate::ids::OwnerDigest;
use crate::say;
use redis::{Client, Connection, ErrorKind, RedisError, RedisResult};
use std::time::Duration;

/// Longer than this nobody waits for an answer.
const LIMIT: Duration = Duration::from_secs(5);

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

/// What the server said.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    value: Option<Vec<u8>>,
    /// ms; -1 without a lease, -2 without a key.
    left_ms: i64,
    counter: Option<String>,
    server_time: u64,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    let client = match Client::open(args.redis.as_str()) {
        Ok(client) => client,
        Err(_) => {
            // What was given may hold a password: it is not repeated.
            say::err("lockdrill: --redis is no address of the form redis://HOST:PORT");
            return Exit::Usage;
        }
    };
    let address = client.get_connection_info().addr().to_string();
    if !args.allow_remote && !is_local(&address) {
        say::err(format_args!(
            "lockdrill: {address} is not on this machine; --allow-remote asks it all the same"
        ));
        return Exit::Usage;
    }
    match look(&client, &args.prefix, &args.key) {
        Ok(seen) => {
            for line in told(&seen, &format!("{}{{{}}}", args.prefix, args.key)) {
                say::out(line);
            }
            Exit::Ok
        }
        Err(error) => {
            say::err(format_args!("lockdrill: {address}: {}", reason(&error)));
            Exit::Environment
        }
    }
}

fn is_local(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or(address, |(host, _)| host);
    let host = host.trim_matches(['[', ']']);
    let loopback = host
        .parse::<std::net::IpAddr>()
        .is_ok_and(|ip| ip.is_loopback());
    loopback || host == "localhost" || address.starts_with('/')
}

fn reason(error: &RedisError) -> String {
    match error.kind() {
        ErrorKind::AuthenticationFailed => "the server wants other credentials".to_owned(),
        _other => error.to_string(),
    }
}

fn look(client: &Client, prefix: &str, key: &str) -> RedisResult<Seen> {
    let mut server: Connection = client.get_connection_with_timeout(LIMIT)?;
    server.set_read_timeout(Some(LIMIT))?;
    let lock = format!("{prefix}{{{key}}}");
    let ask = |command: &str, key: &str| {
        let mut asked = redis::cmd(command);
        asked.arg(key);
        asked
    };
    Ok(Seen {
        value: ask("GET", &lock).query(&mut server)?,
        left_ms: ask("PTTL", &lock).query(&mut server)?,
        counter: ask("GET", &format!("{lock}:fence")).query(&mut server)?,
        server_time: redis::cmd("TIME").query::<(u64, u64)>(&mut server)?.0,
    })
}

fn told(seen: &Seen, key: &str) -> Vec<String> {
    let mut lines = vec![format!("{key} at server time {}", seen.server_time)];
    match &seen.value {
        None => lines.push("  held by nobody".to_owned()),
        Some(value) => {
            let split = value.iter().rposition(|byte| *byte == b':');
            let fencing = split.and_then(|at| std::str::from_utf8(&value[at + 1..]).ok());
            let fencing = fencing.filter(|text| text.parse::<u64>().is_ok());
            let owner = match (split, fencing) {
                (Some(at), Some(_)) => &value[..at],
                _other => value.as_slice(),
            };
            lines.push(format!(
                "  held by     {} (digest of the owner token)",
                OwnerDigest::of(owner)
            ));
            lines.push(match fencing {
                Some(fencing) => format!("  fencing     {fencing}"),
                None => "  fencing     none: no value that lockdrill's lock writes".to_owned(),
            });
            lines.push(match seen.left_ms {
                -1 => "  lease       none: this lock never ends by itself".to_owned(),
                -2 => "  lease       over since it was asked who holds it".to_owned(),
                ms => format!("  lease       {ms} ms left"),
            });
        }
    }
    let counter = seen
        .counter
        .as_deref()
        .unwrap_or("none: lost, or never granted");
    lines.push(format!("  counter     {counter}"));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(value: &str, left_ms: i64) -> String {
        let seen = Seen {
            value: Some(value.as_bytes().to_vec()),
            left_ms,
            counter: Some("9".to_owned()),
            server_time: 1,
        };
        told(&seen, "{k}").join("\n")
    }

    #[test]
    fn no_owner_token_is_ever_shown() {
        let text = seen("secretsecret:7", 1500);
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains(&OwnerDigest::of(b"secretsecret").0), "{text}");
        assert!(
            text.contains("fencing     7") && text.contains("1500 ms left"),
            "{text}"
        );
        let foreign = seen("secret", -1);
        assert!(
            !foreign.contains("secret") && foreign.contains("never ends"),
            "{foreign}"
        );
    }

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
}
