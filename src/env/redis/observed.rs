//! What an observer of a server has to say.

use super::role::Role;
use crate::timeline::event::Event;

/// What the observer says, with the lab's clock (ns of `CLOCK_MONOTONIC`) at the reading.
#[derive(Debug)]
pub enum Observed {
    /// From here on nothing is missed.
    Synced(u64),
    /// An effect, in the server's order.
    Effect(u64, Event),
    /// A mark that [`Control::mark`] wrote has come by: everything before it has been seen.
    Mark(String),
    /// What one of several servers says of itself, when it is otherwise than before.
    Role {
        /// When it had answered.
        at: u64,
        /// What it says.
        role: Role,
        /// When it was last asked and said something else; none = it had not been asked.
        since: Option<u64>,
    },
    /// The place in the stream is lost, and why.
    Gap(u64, String),
}
