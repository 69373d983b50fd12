//! A stranger who tries an edge to a ZooKeeper, and makes a node that is no lock's and that the
//! server knows if it executed that. It goes with the stranger's session.

use crate::zookeeper_link::{Put, Request, Session, Stays, Take, hello};
use sha2::{Digest, Sha256};
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest answer that is taken, bytes.
const LONGEST: usize = 64 << 10;
/// How long the server remembers a stranger.
const REMEMBERED: Duration = Duration::from_secs(60);
/// What the server says of a node that is not there.
const NO_NODE: i32 = -101;

/// Opens a connection and has a session given to it.
///
/// # Errors
/// When it breaks, or the answer is none of a ZooKeeper.
pub async fn enter(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let answer = ask(&mut stream, &hello(&Session::none_yet(REMEMBERED))).await?;
    let mut take = Take(&answer);
    match (take.int(), take.int()) {
        (Some(0), Some(kept_ms)) if kept_ms > 0 => Ok(stream),
        _other => Err(io::Error::other("it gives no session")),
    }
}

/// Takes a name.
///
/// # Errors
/// When the connection breaks.
pub async fn take_name(stream: &mut TcpStream, name: &str) -> io::Result<()> {
    let node = Request::create(&node_of(name), b"", Stays::WithSession);
    match code(&ask(stream, &node.message(1)).await?)? {
        0 => Ok(()),
        code => Err(io::Error::other(format!("it said {code}"))),
    }
}

/// Whether the server at its own address knows somebody of this name.
///
/// # Errors
/// When it cannot be asked.
pub async fn is_known(direct: SocketAddr, name: &str) -> io::Result<bool> {
    let mut stream = enter(direct).await?;
    let look = Request::exists(&node_of(name), false);
    match code(&ask(&mut stream, &look.message(1)).await?)? {
        0 => Ok(true),
        NO_NODE => Ok(false),
        code => Err(io::Error::other(format!("it said {code}"))),
    }
}

/// A node for a name; no lock's folder is called so.
fn node_of(name: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    let digest: String = digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("/%stranger-{digest}")
}

/// The code in the head of an answer.
fn code(answer: &[u8]) -> io::Result<i32> {
    let mut take = Take(answer);
    let head = (take.int(), take.long(), take.int());
    head.2
        .ok_or_else(|| io::Error::other("an answer without a head"))
}

/// One message and its answer, each behind its length.
async fn ask(stream: &mut TcpStream, message: &Put) -> io::Result<Vec<u8>> {
    let message = Put::default().bytes(message.as_bytes());
    stream.write_all(message.as_bytes()).await?;
    let length = usize::try_from(stream.read_i32().await?).ok();
    let length = length.filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("an answer of no sensible length"))?;
    let mut answer = vec![0; length];
    stream.read_exact(&mut answer).await?;
    Ok(answer)
}
