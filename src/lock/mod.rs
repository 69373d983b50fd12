//! The lock core: lease locks with fencing tokens, usable as a library on its own.
//!
//! A [`LockManager`] speaks to one [`LockService`] (a back end). [`LockManager::acquire`] makes
//! one attempt and answers [`Acquired`]: granted, busy, or unknown, never a handle that might be
//! mistaken for ownership. A [`LockHandle`] knows its own deadline, counted from the moment
//! before the command left, and says *Lost* by itself when that deadline passes.
//!
//! A lease lock cannot stop late work: a process that sleeps through its lease wakes up in the
//! middle of its critical section. The protected store has to refuse its write, and for that
//! each grant carries a [`FencingToken`](crate::ids::FencingToken).
//!
//! ```no_run
//! # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
//! use lockdrill::lock::{Acquired, LockManager, LockOptions, ManagerOptions, backends};
//! use std::time::Duration;
//!
//! let kind = backends::named("redis").ok_or("no such back end")?;
//! let service = (kind.connect)(backends::ConnectSpec::new("127.0.0.1:6379")).await?;
//! let locks = LockManager::new(service, ManagerOptions::new("billing", "billing:"));
//! let options = LockOptions::new(Duration::from_secs(10), Some(Duration::from_secs(3)))?;
//! match locks.acquire("invoice:7", &options).await? {
//!     Acquired::Granted(lock) => {
//!         // give lock.fencing_token() to the store with every write; stop when lock.lost() says so
//!         lock.release().await;
//!     }
//!     Acquired::Busy(waiter) => drop(waiter),   // or waiter.enter(deadline, &cancel).await
//!     Acquired::Unknown(lock) => drop(lock),    // gives back what may have been taken
//! }
//! # Ok(()) }
//! ```

pub mod backends;
pub mod error;
pub mod flaws;
pub mod probe;
pub mod promises;
pub mod service;

mod commands;
mod copied;
mod handle;
mod holding;
mod keeper;
mod lease;
mod log;
mod lost;
mod manager;
mod metrics;
mod options;
mod over;
mod pace;
mod source;
mod waiter;

pub use commands::{Release, Renewal};
pub use error::{EnterError, LockError, OptionsError};
pub use handle::LockHandle;
pub use lease::own_deadline_ns;
pub use lost::{Lost, LostReason};
pub use manager::{Acquired, LockManager, ManagerOptions};
pub use options::LockOptions;
pub use service::{Capabilities, LockService};
pub use source::{Identity, SystemSource, TokenSource};
pub use waiter::Waiter;
