//! `lockdrill` shows, on a record that anyone can check, whether a distributed lock and the work
//! it protects survive pauses, partitions, crashes and failover.
//!
//! Layers, lower never names higher (`tests/tidy` enforces it):
//!
//! 1. base: [`ids`] [`clock`] [`rng`] [`problem`] [`exit`] [`say`], and the connections to servers
//! 2. [`lock`] the lock core, usable on its own; [`store`] the protected stores
//! 3. [`plan`] what an arm will do, as data; [`timeline`] what happened; [`worker`] who did it
//! 4. [`env`] the only place that touches the world; [`faults`] data that yield onset and heal
//! 5. [`checks`] one property a file, pure; [`verdict`] findings to an answer
//! 6. [`experiment`] a file to plans, all problems at once
//! 7. [`run`] plans to a run directory
//! 8. [`report`] a run directory to a page a stranger understands
//! 9. [`cli`]
//!
//! Data flow: experiment file → [`plan::Plan`] → run → run directory → [`timeline::history`] →
//! findings → verdict → report. Every arrow starts from a value or from disk.
//!
//! `default-features = false` builds layers 1 and 2's lock core only.
#![cfg_attr(test, allow(clippy::unwrap_used))]

#[cfg(not(target_os = "linux"))]
compile_error!(
    "lockdrill runs on Linux only: it needs /proc, CLOCK_BOOTTIME, process groups it can stop \
     and, where allowed, namespaces"
);

mod address;
pub mod clock;
mod etcd_link;
mod http_link;
pub mod ids;
mod kept;
pub mod lock;
mod postgres_link;
mod redis_link;
mod zookeeper_link;

#[cfg(feature = "lab")]
pub mod checks;
#[cfg(feature = "lab")]
pub mod cli;
#[cfg(feature = "lab")]
pub mod env;
#[cfg(feature = "lab")]
pub mod exit;
#[cfg(feature = "lab")]
pub mod experiment;
#[cfg(feature = "lab")]
pub mod faults;
#[cfg(feature = "lab")]
pub mod plan;
#[cfg(feature = "lab")]
pub mod problem;
#[cfg(feature = "lab")]
pub mod report;
#[cfg(feature = "lab")]
pub mod rng;
#[cfg(feature = "lab")]
pub mod run;
#[cfg(feature = "lab")]
pub mod say;
#[cfg(feature = "lab")]
pub mod store;
#[cfg(feature = "lab")]
pub mod timeline;
#[cfg(feature = "lab")]
pub mod verdict;
#[cfg(feature = "lab")]
pub mod worker;
