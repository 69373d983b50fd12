//! etcd as a server under test: finding its program, starting it, observing it.

pub mod effects;
pub mod find;
pub mod observe;
pub mod server;
pub mod stranger;
pub mod stream;
