//! ZooKeeper as a server under test: finding Java and its jars, starting it, observing it.

pub mod effects;
pub mod find;
pub mod log;
pub mod observe;
pub mod server;
pub mod stranger;
pub mod stream;
