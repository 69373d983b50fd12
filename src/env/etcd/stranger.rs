//! A stranger who tries an edge to an etcd, and asks for a lease of a number that the server knows if
//! it executed that. No key is touched, and the lease ends by itself.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::io;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest answer that is taken, in bytes.
const LONGEST: usize = 64 << 10;
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

/// One request and its answer, whose length is told in front.
async fn ask(stream: &mut TcpStream, path: &str, body: &Value) -> io::Result<Value> {
    post(stream, &format!("/v3/{path}"), body).await
}

/// The same of any server that speaks JSON over HTTP.
pub(in crate::env) async fn post(
    stream: &mut TcpStream,
    path: &str,
    body: &Value,
) -> io::Result<Value> {
    let body = body.to_string();
    let length = body.len();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: lockdrill\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > LONGEST {
            return Err(io::Error::other("an answer without an end"));
        }
        head.push(stream.read_u8().await?);
    }
    let length = length_of(&String::from_utf8_lossy(&head));
    let length = length.filter(|length| *length <= LONGEST);
    let length = length.ok_or_else(|| io::Error::other("an answer of no sensible length"))?;
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    serde_json::from_slice(&body).map_err(io::Error::other)
}

fn length_of(head: &str) -> Option<usize> {
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    let (_, length) = fields.find(|(name, _)| name.eq_ignore_ascii_case("content-length"))?;
    length.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_stands_in_the_head() {
        let head = "HTTP/1.1 200 OK\r\ncontent-LENGTH: 12\r\n\r\n";
        assert_eq!(length_of(head), Some(12));
        assert_eq!(length_of("HTTP/1.1 200 OK\r\n\r\n"), None);
        assert_ne!(number_of("a"), number_of("b"));
    }
}
