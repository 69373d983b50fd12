//! From plans to a run directory.
//!
//! The conductor runs arms side by side and judges them; each arm is a process tree of its own,
//! led by a director that starts servers and workers, injects the faults on the events that the
//! plan names, and records everything.

pub mod arm;
pub mod conductor;
pub mod console;
pub mod director;
pub mod environment;
pub mod interrupt;
pub mod preflight;
pub mod recorder;
pub mod run_dir;
pub mod services;
pub mod shard;
pub mod spec;
pub mod stall;
pub mod target;
