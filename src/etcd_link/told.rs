//! An answer that goes on: one JSON value a line, until the connection ends.

use super::answer::{broken, refused};
use super::{Live, NoAnswer};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use serde_json::Value;

/// Longest line that is taken, in bytes.
const LONGEST: usize = 16 << 20;

/// The answer, and the connection that brings it.
pub(crate) struct Told {
    body: Incoming,
    read: Vec<u8>,
    _live: Live,
}

impl Told {
    pub(super) fn new(live: Live, body: Incoming) -> Told {
        Told {
            body,
            read: Vec::new(),
            _live: live,
        }
    }

    /// The next value. Dropping the future and asking again loses nothing.
    pub(crate) async fn next(&mut self) -> Result<Value, NoAnswer> {
        loop {
            if let Some(end) = self.read.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.read.drain(..=end).collect();
                return value(&line);
            }
            if self.read.len() > LONGEST {
                return Err(broken(&"a line without an end"));
            }
            match self.body.frame().await {
                Some(Ok(frame)) => {
                    // Anything else is a trailer, which says nothing that we ask for.
                    if let Ok(bytes) = frame.into_data() {
                        self.read.extend_from_slice(&bytes);
                    }
                }
                Some(Err(error)) => return Err(broken(&error)),
                None => return Err(broken(&"the server closed it")),
            }
        }
    }
}

/// What a line holds: a result, or why there is none.
fn value(line: &[u8]) -> Result<Value, NoAnswer> {
    let mut line: Value = serde_json::from_slice(line).map_err(|error| broken(&error))?;
    match line.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => Err(refused(line.get("error").unwrap_or(&line))),
    }
}
