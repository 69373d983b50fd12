//! Which TCP connections a process group has, by the kernel's own tables: a worker that reaches a
//! server past its edge is not met by what is done to the edge.

use super::procfs;
use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4};

/// How many connections the processes of a group have to this address, in this network namespace.
///
/// # Errors
/// When the tables cannot be read, or the address is not of IPv4.
pub fn connections(pgid: i32, to: SocketAddr) -> io::Result<usize> {
    let SocketAddr::V4(to) = to else {
        return Err(io::ErrorKind::Unsupported.into());
    };
    let table = fs::read_to_string("/proc/net/tcp")?;
    let live = table.lines().filter_map(|line| live(line, to));
    let live: HashSet<String> = live.map(|inode| format!("socket:[{inode}]")).collect();
    let mut found = 0;
    if live.is_empty() {
        return Ok(found);
    }
    for member in procfs::all()?.iter().filter(|stat| stat.group == pgid) {
        // A process that ends meanwhile has no connections.
        let Ok(descriptors) = fs::read_dir(format!("/proc/{}/fd", member.pid)) else {
            continue;
        };
        let targets = descriptors.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
        found += targets
            .filter(|target| target.to_str().is_some_and(|target| live.contains(target)))
            .count();
    }
    Ok(found)
}

/// The inode of a line like `0: 0100007F:C350 0100007F:18EB 01 …` if that is a connection to this
/// address; 01 is ESTABLISHED.
fn live(line: &str, to: SocketAddrV4) -> Option<&str> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (host, port) = fields.get(2)?.split_once(':')?;
    let host = Ipv4Addr::from(u32::from_str_radix(host, 16).ok()?.to_ne_bytes());
    let port = u16::from_str_radix(port, 16).ok()?;
    let is_it = *fields.get(3)? == "01" && SocketAddrV4::new(host, port) == to;
    is_it.then(|| fields.get(9).copied())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_is_known_by_whom_it_belongs_to_and_where_it_leads() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let elsewhere = TcpListener::bind("127.0.0.1:0").unwrap();
        let (to, other) = (
            listener.local_addr().unwrap(),
            elsewhere.local_addr().unwrap(),
        );
        let us = nix::unistd::getpgrp().as_raw();
        assert_eq!(connections(us, to).unwrap(), 0);
        let stream = TcpStream::connect(to).unwrap();
        assert_eq!(connections(us, to).unwrap(), 1);
        assert_eq!(connections(us, other).unwrap(), 0);
        assert_eq!(connections(1, to).unwrap(), 0);
        drop(stream);
        assert_eq!(connections(us, to).unwrap(), 0);
    }
}
