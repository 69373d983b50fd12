//! Redis as a server under test: finding its program, starting it (alone, under Sentinel, as a
//! cluster, with a user's own settings), observing it.

pub mod appended;
mod asked;
pub mod cluster;
pub mod directives;
pub mod door;
pub mod effects;
pub mod find;
pub mod given;
pub mod observe;
mod probe;
pub mod replaced;
pub mod replicated;
pub mod role;
pub mod sentinel;
pub mod server;
pub mod stream;
pub mod tap;
mod value;
