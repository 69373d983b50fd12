//! A stranger who tries an edge to a Postgres server, and gives itself a name that the server knows
//! if it executed that. No table is touched.

use super::server::ROLE;
use super::wire::Wire;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// Opens a connection and is let in.
///
/// # Errors
/// When it breaks, or the server refuses.
pub async fn enter(address: SocketAddr) -> io::Result<Wire<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Wire::begin(stream, &[("user", ROLE), ("database", ROLE)]).await
}

/// Takes a name; it must need no quoting.
///
/// # Errors
/// When the connection breaks.
pub async fn take_name(wire: &mut Wire<TcpStream>, name: &str) -> io::Result<()> {
    let sql = format!("SET application_name = '{name}'");
    wire.ask(&sql).await.map(drop)
}

/// Whether the server at its own address knows somebody of this name.
///
/// # Errors
/// When it cannot be asked.
pub async fn is_known(direct: SocketAddr, name: &str) -> io::Result<bool> {
    let mut wire = enter(direct).await?;
    let sql = format!("SELECT count(*) FROM pg_stat_activity WHERE application_name = '{name}'");
    Ok(wire.ask(&sql).await?.is_some_and(|count| count != "0"))
}
