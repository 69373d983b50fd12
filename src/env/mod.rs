//! The only place that touches the world: processes, signals, servers, namespaces, folders.

pub mod action;
pub mod error;
pub mod look;
pub mod redis;
pub mod stop;
