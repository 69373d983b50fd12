//! The little of Postgres' protocol that the lab speaks itself, where the client library cannot:
//! to follow the server's changes, and to be a stranger at an edge. Only with servers that ask for
//! no password.

use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

/// Version 3.0.
const PROTOCOL: i32 = 196_608;
/// Longest message that is taken, in bytes.
const LONGEST: usize = 16 << 20;

/// A connection that the server has let in.
#[derive(Debug)]
pub struct Wire<S> {
    stream: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Wire<S> {
    /// Says who we are, and waits to be let in.
    ///
    /// # Errors
    /// When the connection breaks, or the server refuses; its message.
    pub async fn begin(stream: S, params: &[(&str, &str)]) -> io::Result<Wire<S>> {
        let mut wire = Wire { stream };
        let mut body = PROTOCOL.to_be_bytes().to_vec();
        for (name, value) in params {
            for text in [name, value] {
                body.extend_from_slice(text.as_bytes());
                body.push(0);
            }
        }
        body.push(0);
        let packet = [&length_of(&body)?.to_be_bytes()[..], &body].concat();
        wire.stream.write_all(&packet).await?;
        loop {
            match wire.message().await? {
                (b'Z', _) => return Ok(wire),
                (b'R', body) if body != [0, 0, 0, 0] => {
                    return Err(io::Error::other("the server asks for a password"));
                }
                _other => {}
            }
        }
    }

    /// Sends one message.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn send(&mut self, tag: u8, body: &[u8]) -> io::Result<()> {
        let packet = [&[tag][..], &length_of(body)?.to_be_bytes(), body].concat();
        self.stream.write_all(&packet).await
    }

    /// The next message: its tag and its body.
    ///
    /// # Errors
    /// When the connection breaks, or the message is an error; its text.
    pub async fn message(&mut self) -> io::Result<(u8, Vec<u8>)> {
        let tag = self.stream.read_u8().await?;
        let length = self.stream.read_u32().await?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if !(4..=LONGEST).contains(&length) {
            return Err(io::Error::other("a message of no sensible length"));
        }
        let mut body = vec![0; length - 4];
        self.stream.read_exact(&mut body).await?;
        if tag == b'E' {
            return Err(io::Error::other(error_text(&body)));
        }
        Ok((tag, body))
    }

    /// Sends a statement and waits for its end; the first column of its first row, if it has one.
    ///
    /// # Errors
    /// When the connection breaks, or the server answers with an error.
    pub async fn ask(&mut self, sql: &str) -> io::Result<Option<String>> {
        let body = [sql.as_bytes(), &[0]].concat();
        self.send(b'Q', &body).await?;
        let mut first = None;
        loop {
            match self.message().await? {
                (b'Z', _) => return Ok(first),
                (b'D', body) if first.is_none() => first = first_column(&body),
                _other => {}
            }
        }
    }
}

fn length_of(body: &[u8]) -> io::Result<i32> {
    i32::try_from(body.len() + 4).map_err(io::Error::other)
}

/// Of a row: two bytes of count, then for each column its length and its bytes.
fn first_column(row: &[u8]) -> Option<String> {
    let length = i32::from_be_bytes(row.get(2..6)?.try_into().ok()?);
    let end = usize::try_from(length).ok()?.checked_add(6)?;
    Some(String::from_utf8_lossy(row.get(6..end)?).into_owned())
}

/// Code and message of an error.
fn error_text(body: &[u8]) -> String {
    let fields = body.split(|byte| *byte == 0);
    let told = fields.filter_map(|field| match field.split_first() {
        Some((b'C' | b'M', text)) => Some(String::from_utf8_lossy(text).into_owned()),
        _other => None,
    });
    told.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_told_by_code_and_message_alone() {
        let body = b"SFATAL\0VFATAL\0C28000\0Mno entry\0Dsecret\0Fauth.c\0\0";
        assert_eq!(error_text(body), "28000 no entry");
    }

    #[test]
    fn the_first_column_of_a_row_may_be_nothing() {
        assert_eq!(first_column(b"\0\x01\0\0\0\x02hi"), Some("hi".to_owned()));
        assert_eq!(first_column(b"\0\x01\xff\xff\xff\xff"), None);
        assert_eq!(first_column(b"\0\x01\0\0\0\x09hi"), None);
        assert_eq!(first_column(b""), None);
    }
}
