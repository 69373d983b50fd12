//! Postgres as a server under test: finding its programs, starting it, observing it.

mod columns;
pub mod effects;
pub mod find;
pub mod observe;
pub mod server;
pub mod sessions;
pub mod stranger;
pub mod stream;
pub mod wire;
