//! Where the servers of an arm listen.

use super::DirectorError;
use super::scene::Scene;
use crate::env::error::EnvError;
use crate::env::isolation::Mode;
use crate::plan::Service;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::ops::Range;

/// How often a port that somebody else took is tried again.
pub const TRIES: usize = 5;

/// Where servers listen.
pub const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// At which addresses a server listens: where the network is the arm's own, each edge may lead to an
/// address of its own.
pub const fn bind(isolation: Mode) -> IpAddr {
    match isolation {
        Mode::Namespace => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        Mode::Guard => HOST,
    }
}

/// Where a server is reached: at the address that it had before, at a fixed port in a network of our
/// own, at a free one elsewhere.
pub fn address(
    isolation: Mode,
    (own_port, had): (u16, Option<SocketAddr>),
) -> Result<SocketAddr, DirectorError> {
    match (isolation, had) {
        (Mode::Namespace, _) => Ok(SocketAddr::new(HOST, own_port)),
        (Mode::Guard, Some(had)) => Ok(had),
        (Mode::Guard, None) => free_address(),
    }
}

/// Starts a server, and again for as long as it says with these words that somebody else took its
/// port in between.
pub async fn retried<T>(
    scene: &mut Scene,
    taken: &str,
    start: impl AsyncFn(&mut Scene) -> Result<T, DirectorError>,
) -> Result<T, DirectorError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match start(scene).await {
            Err(DirectorError::Env(error)) if tries < TRIES && error.what.contains(taken) => {}
            told => return told,
        }
    }
}

/// The port of a service in a network namespace of our own.
pub const fn own_port(service: Service) -> u16 {
    match service {
        Service::Lock => 6379,
        Service::Store => 6380,
    }
}

/// Below the ports that the kernel gives to whoever connects, unless it was told otherwise: what is
/// free there is not taken a moment later by somebody's connection.
const QUIET: Range<u16> = 10_000..32_000;

/// How many of them an arm tries before those of another arm.
const BLOCK: u32 = 64;

/// So many different ports that nobody has now, at places where nobody else of the lab looks first:
/// several servers that have to be told each other's ports cannot choose again one by one.
pub fn quiet_ports(count: usize) -> Result<Vec<u16>, DirectorError> {
    let places = u32::from(QUIET.end - QUIET.start);
    let first = std::process::id().wrapping_mul(BLOCK) % places;
    let all = (0..places).map(|step| QUIET.start + ((first + step) % places) as u16);
    let free = all.filter(|port| TcpListener::bind((HOST, *port)).is_ok());
    let found: Vec<u16> = free.take(count).collect();
    if found.len() == count {
        return Ok(found);
    }
    // Whoever has taken all of these may have left others.
    let held: Result<Vec<_>, _> = (0..count).map(|_| free_port()).collect();
    Ok(held?.iter().map(|(_, address)| address.port()).collect())
}

/// A port that nobody has now; somebody may take it before it is used.
pub fn free_address() -> Result<SocketAddr, DirectorError> {
    free_port().map(|(_, address)| address)
}

fn free_port() -> Result<(TcpListener, SocketAddr), DirectorError> {
    TcpListener::bind((HOST, 0))
        .and_then(|listener| {
            let address = listener.local_addr()?;
            Ok((listener, address))
        })
        .map_err(|error| {
            DirectorError::Env(EnvError::new(
                format!("no free port on {HOST}: {error}"),
                "close what holds the ports, or use --isolation namespace",
            ))
        })
}
