//! Whole drills, end to end, in a program of their own: nothing else should run beside them.
#![allow(clippy::unwrap_used, missing_docs, reason = "tests")]

#[path = "support/lab.rs"]
mod lab;
#[path = "support/meddling.rs"]
mod meddling;
#[path = "support/redis_server.rs"]
mod redis_server;

mod cli_server;
mod cli_suite;
mod faked_clocks;
mod faked_edges;
mod faked_faults;
mod faked_servers;
mod lab_killed;
mod matrix_drills;
mod run_drills;
mod run_environment;
mod run_etcd;
mod run_given;
mod run_patience;
mod run_pause;
mod run_trouble;
mod run_zookeeper;
mod several_servers;
