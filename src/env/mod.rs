//! The only place that touches the world: processes, signals, servers, namespaces, folders.

pub mod action;
pub mod brought;
pub mod clock_shim;
pub mod control;
pub mod deployment;
pub mod edge;
pub mod error;
pub mod etcd;
pub mod gateway;
pub mod guard;
pub mod isolation;
mod json_asked;
pub mod ledger;
pub mod look;
pub mod machine;
pub mod observer;
pub mod postgres;
pub mod process;
pub mod procfs;
pub mod redis;
pub mod root;
pub mod seen;
pub mod socket_file;
pub mod sockets;
pub mod stop;
pub mod sweep;
pub mod zookeeper;
