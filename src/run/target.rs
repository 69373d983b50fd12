//! A lock server that a run is given instead of starting one: where it is, and which drills can be
//! played there. It is somebody else's, so nothing is done to it: faults hit workers, the ways to it
//! and the store, which stay the lab's own.

use crate::lock::backends::{self, Servers};
use crate::plan::{FaultPlan, Persist, Plan, Service, Target as Aim};
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};

/// The name of the servers of `docker-compose.yml`.
pub const COMPOSE: &str = "compose";

/// Where `docker-compose.yml` puts its `redis`.
const COMPOSE_REDIS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 16379);

/// The port of a Redis server that names none.
const REDIS_PORT: u16 = 6379;

/// A server that is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// As it was named.
    pub name: String,
    /// Where it listens.
    pub address: SocketAddr,
}

/// Why there is no such server for us. Never repeats what was given: it may hold a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Not an address.
    #[error("--target is neither `{COMPOSE}` nor an address of the form redis://HOST:PORT")]
    Form,
    /// With what lockdrill's lock does not speak.
    #[error("--target takes no user, password, database or TLS: redis://HOST:PORT alone")]
    Extras,
    /// Nobody knows the host.
    #[error("--target: {host} has no address: {why}")]
    Unknown {
        /// The host.
        host: String,
        /// Why, in the resolver's words.
        why: String,
    },
    /// On another machine, and nobody said that this is meant.
    #[error("--target: {0} is not on this machine; --allow-remote plays drills there all the same")]
    Remote(SocketAddr),
}

impl Target {
    /// Reads what was given on the command line.
    ///
    /// # Errors
    /// See [`TargetError`].
    pub fn read(given: &str, allow_remote: bool) -> Result<Target, TargetError> {
        if given == COMPOSE {
            return Ok(Target {
                name: given.to_owned(),
                address: COMPOSE_REDIS,
            });
        }
        let rest = given.strip_prefix("redis://");
        let rest = rest.ok_or_else(|| match given.split_once("://") {
            Some(("rediss" | "redis+unix" | "unix", _)) => TargetError::Extras,
            Some(_) | None => TargetError::Form,
        })?;
        let rest = rest.strip_suffix("/0").unwrap_or(rest);
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        if rest.contains(['@', '/', '?', '#']) {
            return Err(TargetError::Extras);
        }
        let (host, port) = host_and_port(rest).ok_or(TargetError::Form)?;
        let address = resolve(host, port)?;
        if !allow_remote && !address.ip().is_loopback() {
            return Err(TargetError::Remote(address));
        }
        Ok(Target {
            name: format!("redis://{address}"),
            address,
        })
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)
    }
}

fn host_and_port(text: &str) -> Option<(&str, u16)> {
    let bare = text.ends_with(']') || !text.contains(':');
    let (host, port) = if bare {
        (text, REDIS_PORT)
    } else {
        let (host, port) = text.rsplit_once(':')?;
        (host, port.parse().ok()?)
    };
    let host = match host.strip_prefix('[') {
        Some(inner) => inner.strip_suffix(']')?,
        None if host.contains(':') => return None,
        None => host,
    };
    (!host.is_empty() && port > 0).then_some((host, port))
}

/// One address of a host, loopback first: the same one for all that follows.
fn resolve(host: &str, port: u16) -> Result<SocketAddr, TargetError> {
    let unknown = |why: String| TargetError::Unknown {
        host: host.to_owned(),
        why,
    };
    let found = (host, port).to_socket_addrs();
    let found = found.map_err(|error| unknown(error.to_string()))?;
    let far = |address: &SocketAddr| (!address.ip().is_loopback(), address.is_ipv6());
    found.min_by_key(far).ok_or_else(|| unknown("none".into()))
}

/// Why these arms of one drill cannot be played on a server that is not the lab's own, each reason
/// once: the controls of a drill mostly need what it needs.
pub fn refusals<'p>(plans: impl Iterator<Item = &'p Plan>) -> Vec<String> {
    let mut refused = Vec::new();
    for why in plans.flat_map(of_plan) {
        if !refused.contains(&why) {
            refused.push(why);
        }
    }
    refused
}

fn of_plan(plan: &Plan) -> Vec<String> {
    let mut why = Vec::new();
    let backend = &plan.lock.backend;
    if !backends::live_on(backend, Servers::Redis) {
        why.push(format!(
            "a lock of kind {backend} does not live on one Redis server"
        ));
    }
    if plan.lock.persist != Persist::None {
        why.push("what the server keeps on disk is not the lab's to say".to_owned());
    }
    if !plan.server.is_the_labs() {
        why.push("its `[server]` is for a server that the lab starts".to_owned());
    }
    let done_to_it = |fault: &&FaultPlan| fault.target == Aim::Server(Service::Lock);
    why.extend(plan.faults.iter().filter(done_to_it).map(|fault| {
        format!(
            "its fault `{}` ({}) is done to the lock server; only one of the lab's own is ever \
             killed, stopped, emptied, told or set",
            fault.name, fault.kind
        )
    }));
    why
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &str) -> Result<SocketAddr, TargetError> {
        Target::read(given, false).map(|target| target.address)
    }

    #[test]
    fn addresses_of_this_machine() {
        let at = |text: &str| text.parse().unwrap();
        assert_eq!(read("compose"), Ok(at("127.0.0.1:16379")));
        assert_eq!(read("redis://127.0.0.1:7000"), Ok(at("127.0.0.1:7000")));
        assert_eq!(read("redis://127.0.0.1/0"), Ok(at("127.0.0.1:6379")));
        assert_eq!(read("redis://[::1]:7000/"), Ok(at("[::1]:7000")));
        assert_eq!(read("redis://[::1]"), Ok(at("[::1]:6379")));
    }

    #[test]
    fn another_machine_has_to_be_allowed() {
        let given = "redis://192.0.2.7:6379";
        let error = read(given).unwrap_err().to_string();
        assert!(
            error.contains("192.0.2.7:6379 is not on this machine"),
            "{error}"
        );
        assert!(error.contains("--allow-remote"), "{error}");
        assert!(Target::read(given, true).is_ok());
    }

    #[test]
    fn nothing_that_may_be_secret_is_repeated() {
        for given in [
            "redis://user:s3cret@127.0.0.1:6379",
            "redis://:s3cret@127.0.0.1",
            "rediss://s3cret:6379",
            "redis://127.0.0.1:6379/3",
            "redis://127.0.0.1?password=s3cret",
        ] {
            assert_eq!(read(given), Err(TargetError::Extras), "{given}");
        }
        for given in [
            "",
            "s3cret",
            "http://s3cret",
            "redis://:1",
            "redis://a:b",
            "redis://::1:1",
        ] {
            assert_eq!(read(given), Err(TargetError::Form), "{given}");
        }
        for error in [TargetError::Extras, TargetError::Form] {
            assert!(!error.to_string().contains("s3cret"));
        }
    }
}
