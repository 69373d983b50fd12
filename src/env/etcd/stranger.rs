//! A stranger who tries an edge to an etcd, and asks for a lease of a number that the server knows if
//! it executed that. No key is touched, and the lease ends by itself.

use crate::env::json_asked::post;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// How long the server remembers a stranger, in seconds.
const REMEMBERED: u64 = 60;

/// Opens a connection and has one question answered.
///
/// # Errors
/// When it breaks, or the answer is none of an etcd.
pub async fn enter(address: SocketAddr) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let status = ask(&mut stream, "maintenance/status", &json!({})).await?;
    match status.get("version") {
        Some(_) => Ok(stream),
        None => Err(io::Error::other("it is no etcd")),
    }
}

/// Takes a name.
///
/// # Errors
/// When the connection breaks.
pub async fn take_name(stream: &mut TcpStream, name: &str) -> io::Result<()> {
    let grant = json!({ "ID": number_of(name), "TTL": REMEMBERED.to_string() });
    ask(stream, "lease/grant", &grant).await.map(drop)
}

/// Whether the server at its own address knows somebody of this name.
///
/// # Errors
/// When it cannot be asked.
pub async fn is_known(direct: SocketAddr, name: &str) -> io::Result<bool> {
    let mut stream = enter(direct).await?;
    let lease = json!({ "ID": number_of(name) });
    let left = ask(&mut stream, "lease/timetolive", &lease).await?;
    Ok(left.get("grantedTTL").is_some())
}

/// A positive number for a name.
fn number_of(name: &str) -> String {
    let digest: [u8; 32] = Sha256::digest(name.as_bytes()).into();
    let mut eight = [0; 8];
    eight.copy_from_slice(&digest[..8]);
    (i64::from_be_bytes(eight) & i64::MAX).max(1).to_string()
}

async fn ask(stream: &mut TcpStream, path: &str, body: &Value) -> io::Result<Value> {
    post(stream, &format!("/v3/{path}"), body).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_has_a_number_of_its_own() {
        assert_ne!(number_of("a"), number_of("b"));
    }
}
