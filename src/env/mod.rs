//! The only place that touches the world: processes, signals, servers, namespaces, folders.

pub mod action;
