//! What a stranger sees through an edge, found out by being one. No key is written.
//!
//! [`probe`] opens a connection and asks for an answer. A [`Canary`] is a connection opened while
//! all is well and used later: it tells a lost reply from a request that never arrived by a name
//! that it gives itself and that the server, asked past the edge, knows or does not.

use super::ServerProtocol;
use crate::clock;
use crate::env::postgres::stranger;
use crate::env::postgres::wire::Wire;
use crate::env::zookeeper;
use crate::env::{etcd, gateway};
use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// The server answered.
    Answered {
        /// From before the connect to the answer, ns.
        took_ns: u64,
    },
    /// Connected, and the protocol knows no question.
    Connected {
        /// How long that took, ns.
        took_ns: u64,
    },
    /// Nothing came within the limit, be it the connection or the answer.
    Silent,
    /// The connection was refused.
    Refused,
    /// The connection was reset.
    ResetByPeer,
    /// The connection was closed in good order without an answer.
    Closed,
    /// Something else, in words.
    Failed(String),
}

impl Probe {
    fn of(error: &io::Error) -> Probe {
        match error.kind() {
            ErrorKind::TimedOut => Probe::Silent,
            ErrorKind::ConnectionRefused => Probe::Refused,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected => Probe::ResetByPeer,
            ErrorKind::UnexpectedEof => Probe::Closed,
            _ => Probe::Failed(error.to_string()),
        }
    }
}

/// Opens a connection through an edge and asks the server for an answer; all within the limit.
pub async fn probe(address: SocketAddr, protocol: ServerProtocol, limit: Duration) -> Probe {
    let began_ns = clock::monotonic_ns();
    let took_ns = || clock::monotonic_ns().saturating_sub(began_ns);
    let ask = async {
        if protocol == ServerProtocol::Plain {
            TcpStream::connect(address).await?;
            return Ok(Probe::Connected { took_ns: took_ns() });
        }
        Talking::begin(address, protocol).await?;
        Ok(Probe::Answered { took_ns: took_ns() })
    };
    match timeout(limit, ask).await {
        Ok(Ok(seen)) => seen,
        Ok(Err(error)) => Probe::of(&error),
        Err(_) => Probe::Silent,
    }
}

/// What became of a request and its reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Crossing {
    /// The reply came.
    Answered {
        /// After so many ns.
        took_ns: u64,
    },
    /// The server executed it; the reply did not come within the limit.
    ReplyLost,
    /// The server did not execute it, up to the limit.
    NeverArrived,
    /// The connection broke first.
    Broken(Probe),
    /// The server could not be asked past the edge: why.
    Unknown(String),
}

/// A connection through an edge that is known to work, kept for later.
#[derive(Debug)]
pub struct Canary {
    talking: Talking,
}

/// A connection that has been answered on.
#[derive(Debug)]
enum Talking {
    Redis(TcpStream),
    Postgres(Wire<TcpStream>),
    Etcd(TcpStream),
    Zookeeper(TcpStream),
    Gateway(TcpStream),
}

impl Talking {
    async fn begin(address: SocketAddr, protocol: ServerProtocol) -> io::Result<Talking> {
        match protocol {
            ServerProtocol::Postgres => stranger::enter(address).await.map(Talking::Postgres),
            ServerProtocol::Etcd => etcd::stranger::enter(address).await.map(Talking::Etcd),
            ServerProtocol::Zookeeper => {
                let entered = zookeeper::stranger::enter(address).await;
                entered.map(Talking::Zookeeper)
            }
            ServerProtocol::Gateway => gateway::enter(address).await.map(Talking::Gateway),
            ServerProtocol::Redis | ServerProtocol::Plain => {
                let mut stream = TcpStream::connect(address).await?;
                stream.write_all(b"*1\r\n$4\r\nPING\r\n").await?;
                line(&mut stream).await?;
                Ok(Talking::Redis(stream))
            }
        }
    }

    async fn take_name(&mut self, name: &str) -> io::Result<()> {
        match self {
            Talking::Postgres(wire) => stranger::take_name(wire, name).await,
            Talking::Etcd(stream) => etcd::stranger::take_name(stream, name).await,
            Talking::Zookeeper(stream) => zookeeper::stranger::take_name(stream, name).await,
            Talking::Gateway(stream) => gateway::take_name(stream, name).await,
            Talking::Redis(stream) => {
                let request = command(&["CLIENT", "SETNAME", name]);
                stream.write_all(&request).await?;
                line(stream).await.map(drop)
            }
        }
    }

    async fn is_known(&self, direct: SocketAddr, name: &str) -> io::Result<bool> {
        match self {
            Talking::Redis(_) => is_known(direct, name).await,
            Talking::Postgres(_) => stranger::is_known(direct, name).await,
            Talking::Etcd(_) => etcd::stranger::is_known(direct, name).await,
            Talking::Zookeeper(_) => zookeeper::stranger::is_known(direct, name).await,
            Talking::Gateway(_) => gateway::is_known(direct, name).await,
        }
    }
}

impl Canary {
    /// Opens it and has one request answered.
    ///
    /// # Errors
    /// What was seen instead of an answer.
    pub async fn open(
        address: SocketAddr,
        protocol: ServerProtocol,
        limit: Duration,
    ) -> Result<Canary, Probe> {
        match timeout(limit, Talking::begin(address, protocol)).await {
            Ok(Ok(talking)) => Ok(Canary { talking }),
            Ok(Err(error)) => Err(Probe::of(&error)),
            Err(_) => Err(Probe::Silent),
        }
    }

    /// Sends one request, waits for its reply up to the limit, and if none came asks the server at
    /// its own address, again up to the limit, whether it executed the request. The canary comes
    /// back unless its connection broke, so that it stays open; it may be asked again only after
    /// an answer.
    pub async fn ask(mut self, direct: SocketAddr, limit: Duration) -> (Crossing, Option<Canary>) {
        let name = unique_name();
        let began_ns = clock::monotonic_ns();
        match timeout(limit, self.talking.take_name(&name)).await {
            Ok(Ok(())) => {
                let took_ns = clock::monotonic_ns().saturating_sub(began_ns);
                (Crossing::Answered { took_ns }, Some(self))
            }
            Ok(Err(error)) => (Crossing::Broken(Probe::of(&error)), None),
            Err(_) => {
                // The connection stays open while the server is asked: a client that is gone is
                // not in its list.
                let crossing = match timeout(limit, self.talking.is_known(direct, &name)).await {
                    Ok(Ok(true)) => Crossing::ReplyLost,
                    Ok(Ok(false)) => Crossing::NeverArrived,
                    Ok(Err(error)) => Crossing::Unknown(error.to_string()),
                    Err(_) => Crossing::Unknown("no answer at the server's own address".into()),
                };
                (crossing, Some(self))
            }
        }
    }
}

/// Whether the server has a client of this name.
async fn is_known(direct: SocketAddr, name: &str) -> io::Result<bool> {
    let mut stream = TcpStream::connect(direct).await?;
    stream.write_all(&command(&["CLIENT", "LIST"])).await?;
    let head = line(&mut stream).await?;
    let length = head.strip_prefix('$').and_then(|text| text.parse().ok());
    let length: usize = length.ok_or_else(|| io::Error::other(format!("it said {head}")))?;
    let mut list = vec![0; length];
    stream.read_exact(&mut list).await?;
    let list = String::from_utf8_lossy(&list);
    let wanted = format!("name={name}");
    Ok(list.split_whitespace().any(|field| field == wanted))
}

/// A line without its end. Byte by byte, so that nothing behind it is taken.
async fn line(stream: &mut TcpStream) -> io::Result<String> {
    let mut line = Vec::new();
    while !line.ends_with(b"\r\n") {
        if line.len() > 4096 {
            return Err(io::Error::other("an answer that is no line"));
        }
        line.push(stream.read_u8().await?);
    }
    line.truncate(line.len().saturating_sub(2));
    Ok(String::from_utf8_lossy(&line).into_owned())
}

fn command(words: &[&str]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    text.into_bytes()
}

fn unique_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (pid, now_ns) = (std::process::id(), clock::monotonic_ns());
    format!("lockdrill-canary-{pid}-{number}-{now_ns}")
}
