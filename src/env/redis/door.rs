//! The observer's own way in to a Redis server, never through a path that a fault may touch.

use crate::env::observer::LOG;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};

/// Where the observer goes in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Door {
    /// A socket file that only the lab knows: of a server that the lab has started.
    Socket(PathBuf),
    /// The port that everybody uses: of a server that somebody else has started.
    Port(SocketAddr),
}

/// Bytes both ways.
pub(super) trait Bytes: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Bytes for T {}

impl Door {
    /// Bytes to and from the server.
    pub(super) async fn open(&self) -> io::Result<Pin<Box<dyn Bytes>>> {
        Ok(match self {
            Door::Socket(path) => Box::pin(UnixStream::connect(path).await?),
            Door::Port(address) => Box::pin(TcpStream::connect(address).await?),
        })
    }

    /// Where the server itself says what is wrong with it.
    pub(super) const fn hint(&self) -> &'static str {
        match self {
            Door::Socket(_) => LOG,
            Door::Port(_) => "it was given and is not lockdrill's: see its own log",
        }
    }

    /// The way in for a client of commands.
    pub(super) fn address(&self) -> redis::ConnectionAddr {
        match self {
            Door::Socket(path) => redis::ConnectionAddr::Unix(path.clone()),
            Door::Port(at) => redis::ConnectionAddr::Tcp(at.ip().to_string(), at.port()),
        }
    }
}

impl fmt::Display for Door {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Door::Socket(path) => path.display().fmt(f),
            Door::Port(address) => address.fmt(f),
        }
    }
}
