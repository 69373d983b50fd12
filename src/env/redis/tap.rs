//! The observer of a Redis server: follows its replication stream over a path of its own and
//! reads its clock.
//!
//! It never reads a worker's record. It uses the old `SYNC` command, so the server counts no
//! acknowledgements from it (`WAIT` answers as if it were not there). Not to be used where the
//! service itself counts replicas (Sentinel, `min-replicas-to-write`).

use super::effects::Effects;
use super::stream::{Decoder, StreamError};
use crate::env::seen::Seen;
use crate::timeline::event::Change;

/// Decoder and meaning together: bytes in, what they mean out.
#[derive(Debug)]
pub struct Tap {
    decoder: Decoder,
    effects: Effects,
}

impl Tap {
    /// A tap on a server that starts empty.
    pub fn new(server: &str, prefix: &str) -> Self {
        Tap {
            decoder: Decoder::default(),
            effects: Effects::new(server, prefix),
        }
    }

    /// The counter of a lock goes on from here: the server kept its data over a restart.
    #[must_use]
    pub fn counting_from(mut self, key: &str, value: u64) -> Self {
        self.effects.count_from(key, value);
        self
    }

    /// A lock is held already: the server kept it over a restart.
    #[must_use]
    pub fn going_on(mut self, key: &str, held: &Change) -> Self {
        if let Change::Restarted {
            owner: Some(owner),
            fencing,
            ..
        } = held
        {
            self.effects.go_on(key, (owner.clone(), *fencing));
        }
        self
    }

    /// Takes bytes of the stream.
    ///
    /// # Errors
    /// When the place in the stream is lost.
    pub fn feed(&mut self, bytes: &[u8]) -> Result<Vec<Seen>, StreamError> {
        let commands = self.decoder.feed(bytes)?;
        Ok(commands
            .iter()
            .flat_map(|words| self.effects.read(words))
            .collect())
    }

    /// From here on nothing is missed.
    pub fn in_sync(&self) -> bool {
        self.decoder.in_sync()
    }
}
