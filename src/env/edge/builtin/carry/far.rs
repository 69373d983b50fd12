//! The server end of a connection, which may not be there yet.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use tokio::net::TcpStream;

/// On the way to the server.
pub type Dial = Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>;

/// The server end.
pub enum Far {
    /// Not to be reached before the heal: the server does not even learn that somebody connects.
    Waiting,
    /// Being reached.
    Dialing(Dial),
    /// Reached.
    Here(TcpStream),
    /// It refused.
    Gone,
}

/// Sets out for the server.
pub fn dial(upstream: SocketAddr) -> Far {
    Far::Dialing(Box::pin(TcpStream::connect(upstream)))
}

/// Arrived, or refused. Who has not set out never arrives.
pub async fn reached(dial: Option<&mut Dial>) -> io::Result<TcpStream> {
    match dial {
        Some(dial) => dial.await,
        None => std::future::pending().await,
    }
}
