//! Redis as a server under test: finding its program, starting it, observing it.

pub mod find;
pub mod observe;
pub mod server;
pub mod stream;
pub mod tap;
