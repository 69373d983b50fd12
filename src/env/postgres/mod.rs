//! Postgres as a server under test: finding its programs, starting it.

pub mod find;
pub mod server;
