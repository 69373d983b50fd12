//! One question in JSON over HTTP, on a connection that the caller has in hand: strangers try edges with
//! it, and an edge is tried by its bytes, so that no client stands between.

use serde_json::Value;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longest answer that is taken, in bytes.
const LONGEST: usize = 64 << 10;

/// One request and its answer, whose length is told in front.
///
/// # Errors
/// When the connection breaks, or the answer is too long or no JSON.
pub(super) async fn post(stream: &mut TcpStream, path: &str, body: &Value) -> io::Result<Value> {
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
    }
}
