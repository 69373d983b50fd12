//! etcd as a server under test: finding its program, starting it.

pub mod find;
pub mod server;
