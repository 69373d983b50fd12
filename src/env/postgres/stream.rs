//! Follows a server's changes as the server itself tells them: a logical replication slot, over the
//! socket file, every transaction whole and in the order of its commit. The slot is kept over a
//! crash, so that what was committed and not yet told is told afterwards.

use super::effects::Effects;
use super::server::{ROLE, socket};
use super::wire::Wire;
use crate::clock::monotonic_ns;
use crate::env::seen::{Observed, Seen};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::net::UnixStream;
use tokio::sync::mpsc::UnboundedSender;

/// Name of the slot, and in front of the lab's own messages.
pub const NAME: &str = "lockdrill";

/// How far a server's changes have been read; outlives the connection that read them.
#[derive(Debug)]
pub struct Place {
    effects: Effects,
    /// Behind the last transaction that was read in full.
    lsn: u64,
}

/// The same place for those who read one after the other.
pub type Shared = Arc<Mutex<Place>>;

/// Nothing has been read yet.
pub fn beginning(server: &str, prefix: &str) -> Shared {
    Arc::new(Mutex::new(Place {
        effects: Effects::new(server, prefix),
        lsn: 0,
    }))
}

/// Follows the server until the connection ends; every message goes to `out`. It is in sync once
/// it has read what had been committed before it came.
pub async fn follow((folder, port): (PathBuf, u16), place: Shared, out: UnboundedSender<Observed>) {
    let why = match read(&folder, port, &place, &out).await {
        Ok(()) => "the server closed the replication stream".to_owned(),
        Err(error) => error.to_string(),
    };
    // The receiver is gone only when the arm has ended; then nobody misses this.
    let _ = out.send(Observed::Gap(monotonic_ns(), why));
}

async fn read(
    folder: &Path,
    port: u16,
    place: &Shared,
    out: &UnboundedSender<Observed>,
) -> io::Result<()> {
    let path = socket(folder, port).map_err(io::Error::other)?;
    let who = [("user", ROLE), ("database", ROLE)];
    let times = ("options", "-c datestyle=ISO -c timezone=UTC");
    let stream = UnixStream::connect(&path).await?;
    let follower = [&who[..], &[("replication", "database"), times]].concat();
    let mut wire = Wire::begin(stream, &follower).await?;
    let lsn = lock(place).lsn;
    let (high, low) = (lsn >> 32, lsn & 0xffff_ffff);
    // Transactions without changes are told too: a mark is one.
    let options = "(\"include-xids\" 'off')";
    let start = format!("START_REPLICATION SLOT {NAME} LOGICAL {high:X}/{low:X} {options}\0");
    wire.send(b'Q', start.as_bytes()).await?;
    while wire.message().await?.0 != b'W' {}
    let mark = Seen::sync_mark(monotonic_ns());
    let mut second = Wire::begin(UnixStream::connect(&path).await?, &who).await?;
    second.ask(&emit(&mark)).await?;
    let mut transaction = Vec::new();
    loop {
        let (tag, body) = wire.message().await?;
        match (tag, body.first()) {
            (b'd', Some(b'w')) => {
                let (lsn, text) = change(&body)?;
                if text == "COMMIT" {
                    lock(place).lsn = lsn;
                    tell(&mut transaction, &mark, out);
                    wire.send(b'd', &standing(lsn)).await?;
                } else {
                    transaction.extend(lock(place).effects.read(&text));
                }
            }
            // It wants to know that somebody is there.
            (b'd', Some(b'k')) if body.get(17) == Some(&1) => {
                let lsn = lock(place).lsn;
                wire.send(b'd', &standing(lsn)).await?;
            }
            (b'c', _) => return Ok(()),
            _other => {}
        }
    }
}

/// A whole transaction has been read.
fn tell(transaction: &mut Vec<Seen>, mark: &str, out: &UnboundedSender<Observed>) {
    let now = monotonic_ns();
    for observed in transaction
        .drain(..)
        .filter_map(|seen| seen.told(now, mark))
    {
        let _ = out.send(observed);
    }
}

/// The statement that writes a mark; it must need no quoting.
pub(super) fn emit(mark: &str) -> String {
    format!("SELECT pg_logical_emit_message(true, '{NAME}', '{mark}')")
}

/// `w`, where it stands, where the server is, its clock, and the text.
fn change(body: &[u8]) -> io::Result<(u64, String)> {
    let lsn = body.get(1..9).and_then(|bytes| bytes.try_into().ok());
    let text = body.get(25..).map(String::from_utf8_lossy);
    match lsn.zip(text) {
        Some((lsn, text)) => Ok((u64::from_be_bytes(lsn), text.into_owned())),
        None => Err(io::Error::other("a change that was cut")),
    }
}

/// `r`, up to where all is written, flushed and applied, a clock that nobody reads, no answer
/// wanted.
fn standing(lsn: u64) -> Vec<u8> {
    let lsn = lsn.to_be_bytes();
    [&b"r"[..], &lsn, &lsn, &lsn, &[0; 8], &[0]].concat()
}

fn lock(place: &Shared) -> MutexGuard<'_, Place> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_place_and_a_text() {
        let lsn = 0x1_0000_0002_u64;
        let body = [&b"w"[..], &lsn.to_be_bytes(), &[0; 16], b"COMMIT"].concat();
        assert_eq!(change(&body).unwrap(), (lsn, "COMMIT".to_owned()));
        assert!(change(b"w").is_err());
        assert_eq!(standing(lsn).len(), 1 + 8 * 4 + 1);
    }
}
