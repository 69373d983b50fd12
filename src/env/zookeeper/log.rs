//! Reads the files in which a ZooKeeper writes down every change, in its own order, before it
//! carries it out and answers. Pure.
//!
//! A file is a head and then records: a checksum, the change behind its length, and a mark of its
//! end. Behind the last one stand zeros, or one that is not yet written to its end.

use crate::zookeeper_link::Take;

/// Bytes in front of the first record.
pub const HEAD: usize = 16;
/// What a file begins with.
const MAGIC: &[u8] = b"ZKLG";
/// Behind every record.
const END: u8 = b'B';

const CREATE: i32 = 1;
const DELETE: i32 = 2;
const SET: i32 = 5;
const SEVERAL: i32 = 14;
const CREATE_AND_TELL: i32 = 15;
const SESSION_OVER: i32 = -11;

/// One change, or several at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// Its number in the server's order.
    pub number: i64,
    /// Whose session it was done in.
    pub session: i64,
    /// What it did; nothing for what changes no node of ours, or was refused.
    pub done: Vec<Done>,
}

/// What was done to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// It was made.
    Made {
        /// Its path.
        path: String,
        /// What it holds.
        data: Vec<u8>,
        /// It lives as long as its session.
        with_session: bool,
    },
    /// It was given something else to hold, or the same again.
    Set {
        /// Its path.
        path: String,
        /// What it holds.
        data: Vec<u8>,
    },
    /// It was deleted.
    Gone {
        /// Its path.
        path: String,
    },
    /// The session has ended, and with it every node that lived as long.
    SessionOver,
}

/// Whether a file begins as it should; none if that is not yet written.
pub fn is_log(bytes: &[u8]) -> Option<bool> {
    (bytes.len() >= HEAD).then(|| bytes.starts_with(MAGIC))
}

/// The first record of these bytes and its length; none if there is none yet.
///
/// # Errors
/// When it is written to its end and makes no sense.
pub fn next(bytes: &[u8]) -> Result<Option<(Step, usize)>, String> {
    let mut take = Take(bytes);
    let (Some(sum), Some(length)) = (take.long(), take.int()) else {
        return Ok(None);
    };
    let Some(length) = usize::try_from(length).ok().filter(|length| *length > 0) else {
        return Ok(None);
    };
    let Some((record, rest)) = take.0.split_at_checked(length) else {
        return Ok(None);
    };
    if rest.first() != Some(&END) || i64::from(adler32(record)) != sum {
        return Ok(None);
    }
    let step = step(record).ok_or("a change in its log cannot be read")?;
    Ok(Some((step, 8 + 4 + length + 1)))
}

fn step(record: &[u8]) -> Option<Step> {
    let mut take = Take(record);
    let session = take.long()?;
    let _request = take.int()?;
    let number = take.long()?;
    let _time = take.long()?;
    let kind = take.int()?;
    let mut done = Vec::new();
    if kind == SEVERAL {
        for _ in 0..take.int()? {
            let kind = take.int()?;
            done.extend(one(kind, Take(take.bytes()?))?);
        }
    } else {
        done.extend(one(kind, take)?);
    }
    Some(Step {
        number,
        session,
        done,
    })
}

/// What one change did, if it is one that counts.
fn one(kind: i32, mut take: Take<'_>) -> Option<Option<Done>> {
    Some(match kind {
        CREATE | CREATE_AND_TELL => {
            let (path, data) = (take.text()?.to_owned(), take.bytes()?.to_vec());
            for _ in 0..take.int()? {
                let _permissions = (take.int()?, take.text()?, take.text()?);
            }
            let with_session = take.flag()?;
            Some(Done::Made {
                path,
                data,
                with_session,
            })
        }
        SET => Some(Done::Set {
            path: take.text()?.to_owned(),
            data: take.bytes()?.to_vec(),
        }),
        DELETE => Some(Done::Gone {
            path: take.text()?.to_owned(),
        }),
        SESSION_OVER => Some(Done::SessionOver),
        _other => None,
    })
}

fn adler32(bytes: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % MODULUS;
        high = (high + low) % MODULUS;
    }
    (high << 16) | low
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::zookeeper_link::Put;

    fn record(change: &Put) -> Vec<u8> {
        let change = change.as_bytes();
        let whole = Put::default()
            .long(i64::from(adler32(change)))
            .bytes(change);
        [whole.as_bytes(), b"B"].concat()
    }

    /// A node that is given something to hold, as a record.
    pub fn mark_record(number: i64, path: &str, data: &str) -> Vec<u8> {
        let change = Put::default()
            .long(77)
            .int(3)
            .long(number)
            .long(1_000)
            .int(SET);
        record(&change.text(path).text(data).int(1))
    }

    fn head(kind: i32) -> Put {
        Put::default().long(77).int(3).long(9).long(1_000).int(kind)
    }

    fn made(put: Put) -> Put {
        let anybody = put.text("/k/held").bytes(b"5 a").int(1);
        let anybody = anybody.int(31).text("world").text("anyone");
        anybody.flag(true).int(1)
    }

    #[test]
    fn the_sum_is_that_of_adler() {
        assert_eq!(adler32(b"Wikipedia"), 0x11E6_0398);
    }

    #[test]
    fn several_changes_at_once_are_one_step() {
        let inner = made(Put::default());
        let all = head(SEVERAL).int(3);
        let all = all.int(CREATE).bytes(inner.as_bytes());
        let all = all.int(13).bytes(b"").int(DELETE);
        let all = all.bytes(Put::default().text("/k/wait-1").as_bytes());
        let bytes = record(&all);
        let (step, length) = next(&bytes).unwrap().unwrap();
        assert_eq!((step.number, step.session, length), (9, 77, bytes.len()));
        let (path, data) = ("/k/held".to_owned(), b"5 a".to_vec());
        let with_session = true;
        let held = Done::Made {
            path,
            data,
            with_session,
        };
        let path = "/k/wait-1".to_owned();
        assert_eq!(step.done, [held, Done::Gone { path }]);
    }

    #[test]
    fn what_is_not_written_to_its_end_is_not_yet_there() {
        let whole = record(&made(head(CREATE_AND_TELL)));
        for length in 0..whole.len() {
            let mut cut = whole[..length].to_vec();
            assert_eq!(next(&cut), Ok(None), "{length}");
            cut.resize(whole.len() + 64, 0);
            assert_eq!(next(&cut), Ok(None), "{length}, and zeros behind it");
        }
        assert!(next(&whole).unwrap().is_some());
    }

    #[test]
    fn what_is_written_to_its_end_and_makes_no_sense_is_told() {
        assert!(next(&record(&head(CREATE).int(9))).is_err());
        let refused = record(&head(-1).int(-110));
        assert_eq!(next(&refused).unwrap().unwrap().0.done, []);
        let over = record(&head(SESSION_OVER));
        assert_eq!(next(&over).unwrap().unwrap().0.done, [Done::SessionOver]);
    }
}
