//! Where the servers of an arm listen.

use super::DirectorError;
use crate::env::error::EnvError;
use crate::plan::Service;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

/// How often a port that somebody else took is tried again.
pub const TRIES: usize = 5;

/// Where servers listen.
pub const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

/// The port of a service in a network namespace of our own.
pub const fn own_port(service: Service) -> u16 {
    match service {
        Service::Lock => 6379,
        Service::Store => 6380,
    }
}

/// So many different ports that nobody has now; somebody may take one before it is used.
pub fn free_ports(count: usize) -> Result<Vec<u16>, DirectorError> {
    let mut held = Vec::new();
    for _ in 0..count {
        held.push(free()?);
    }
    Ok(held.iter().map(|(_, address)| address.port()).collect())
}

/// A port that nobody has now; somebody may take it before it is used.
pub fn free_address() -> Result<SocketAddr, DirectorError> {
    free().map(|(_, address)| address)
}

fn free() -> Result<(TcpListener, SocketAddr), DirectorError> {
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
