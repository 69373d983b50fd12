//! Reads a Redis replication stream: the snapshot that precedes it, then commands.
//!
//! Only complete commands come out, in the server's order. The stream holds effects, not
//! attempts: a refused `SET NX` or a script that changed nothing is absent; an expiry and a
//! delete look the same; deadlines are absolute.

/// Splits bytes as they arrive into commands.
#[derive(Debug)]
pub struct Decoder {
    buffer: Vec<u8>,
    phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Waiting for `$<length>` of the snapshot; the server sends newlines to keep us alive.
    Preamble,
    /// That many bytes of the snapshot are still to come.
    Snapshot(usize),
    /// Commands.
    Commands,
}

/// The stream does not read as a replication stream.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("replication stream: {0}")]
pub struct StreamError(String);

/// One command: its words as they were sent.
pub type Words = Vec<Vec<u8>>;

/// No key or value of the lab is near this long; a longer one means that we lost our place.
const WORD_MAX: usize = 64 << 20;

impl Default for Decoder {
    fn default() -> Self {
        Decoder {
            buffer: Vec::new(),
            phase: Phase::Preamble,
        }
    }
}

impl Decoder {
    /// A decoder of commands alone, with no snapshot before them.
    pub fn of_commands() -> Self {
        Decoder {
            phase: Phase::Commands,
            ..Decoder::default()
        }
    }

    /// The snapshot has been read; from here on nothing is missed.
    pub fn in_sync(&self) -> bool {
        self.phase == Phase::Commands
    }

    /// Takes bytes and returns the commands that they complete.
    ///
    /// # Errors
    /// When the bytes are not a replication stream: the observer has lost its place.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Words>, StreamError> {
        self.buffer.extend_from_slice(bytes);
        let mut commands = Vec::new();
        while let Some((command, used)) = self.step()? {
            self.buffer.drain(..used);
            commands.extend(command);
        }
        Ok(commands)
    }

    /// One piece of progress: how many bytes it took, and the command if it completed one.
    fn step(&mut self) -> Result<Option<(Option<Words>, usize)>, StreamError> {
        match self.phase {
            Phase::Snapshot(0) => {
                self.phase = Phase::Commands;
                Ok(Some((None, 0)))
            }
            Phase::Snapshot(left) => {
                let used = left.min(self.buffer.len());
                self.phase = Phase::Snapshot(left - used);
                Ok((used > 0).then_some((None, used)))
            }
            Phase::Preamble | Phase::Commands if self.buffer.first() == Some(&b'\n') => {
                Ok(Some((None, 1)))
            }
            Phase::Preamble => self.preamble(),
            Phase::Commands => self.command(),
        }
    }

    fn preamble(&mut self) -> Result<Option<(Option<Words>, usize)>, StreamError> {
        let Some((line, used)) = line(&self.buffer, 0) else {
            return Ok(None);
        };
        let length = line
            .strip_prefix(b"$")
            .and_then(number)
            .ok_or_else(|| StreamError(format!("snapshot announced as {}", shown(line))))?;
        self.phase = Phase::Snapshot(length);
        Ok(Some((None, used)))
    }

    fn command(&self) -> Result<Option<(Option<Words>, usize)>, StreamError> {
        let Some((head, mut at)) = line(&self.buffer, 0) else {
            return Ok(None);
        };
        let count = head
            .strip_prefix(b"*")
            .and_then(number)
            .filter(|count| *count <= 1 << 20)
            .ok_or_else(|| StreamError(format!("command begins with {}", shown(head))))?;
        let mut words = Vec::with_capacity(count.min(16));
        for _ in 0..count {
            let Some((head, start)) = line(&self.buffer, at) else {
                return Ok(None);
            };
            let length = head
                .strip_prefix(b"$")
                .and_then(number)
                .filter(|length| *length <= WORD_MAX)
                .ok_or_else(|| StreamError(format!("word begins with {}", shown(head))))?;
            let Some(word) = self.buffer.get(start..start + length) else {
                return Ok(None);
            };
            if self.buffer.len() < start + length + 2 {
                return Ok(None);
            }
            words.push(word.to_vec());
            at = start + length + 2;
        }
        Ok(Some((Some(words), at)))
    }
}

/// The line that starts at `from`, and where the next one starts.
fn line(buffer: &[u8], from: usize) -> Option<(&[u8], usize)> {
    let rest = buffer.get(from..)?;
    let end = rest.windows(2).position(|pair| pair == b"\r\n")?;
    Some((&rest[..end], from + end + 2))
}

fn number(digits: &[u8]) -> Option<usize> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn shown(bytes: &[u8]) -> String {
    let head: String = String::from_utf8_lossy(bytes).chars().take(40).collect();
    format!("{head:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &[u8] =
        b"\n\n$5\r\nREDIS*1\r\n$4\r\nPING\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2\r\n\r\n\r\n";

    fn words(command: &[&str]) -> Words {
        command
            .iter()
            .map(|word| word.as_bytes().to_vec())
            .collect()
    }

    #[test]
    fn commands_come_out_whole_whatever_the_pieces() {
        let wanted = vec![words(&["PING"]), words(&["SET", "k", "\r\n"])];
        for size in 1..STREAM.len() {
            let mut decoder = Decoder::default();
            let mut got = Vec::new();
            for piece in STREAM.chunks(size) {
                got.extend(decoder.feed(piece).unwrap());
            }
            assert_eq!(got, wanted, "in pieces of {size}");
            assert!(decoder.in_sync());
        }
    }

    #[test]
    fn it_is_in_sync_only_after_the_snapshot() {
        let mut decoder = Decoder::default();
        decoder.feed(b"$5\r\nREDI").unwrap();
        assert!(!decoder.in_sync());
        decoder.feed(b"S").unwrap();
        assert!(decoder.in_sync());
    }

    #[test]
    fn a_lost_place_is_an_error_not_a_guess() {
        let mut decoder = Decoder::default();
        assert!(
            decoder
                .feed(b"-NOAUTH Authentication required\r\n")
                .is_err()
        );
        let mut decoder = Decoder::default();
        assert!(decoder.feed(b"$0\r\nhello\r\n").is_err());
    }
}
