//! How many replicas have a grant: a mark is written behind it, and `WAIT` counts those that have the
//! mark, on the same connection. Whoever else uses that connection waits meanwhile, so it is short.

use crate::lock::backends::nonsense;
use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_scripts::{Keys, Text};
use crate::lock::error::CommandError;
use crate::lock::service::Ask;
use redis::Value;
use std::time::Duration;
use tokio::time::Instant;

const COPIED: &str = include_str!("scripts/copied.lua");
/// Longest wait for replicas: one that follows has a grant within a round trip.
const WAIT_MAX: Duration = Duration::from_millis(500);

impl Redis {
    /// See [`LockService::copies`](crate::lock::service::LockService::copies).
    pub(super) async fn count_copies(
        &self,
        ask: &Ask<'_>,
        wanted: u64,
    ) -> Result<u64, CommandError> {
        let keys = Keys::of(ask.name);
        let mark = format!("{}:copied", keys.lock());
        // To another server that took over meanwhile nothing of ours is known: the mark tells.
        let live = self.route.live(keys.lock(), ask.until).await?;
        let life = ask.lease_ms().to_string();
        let script = Text::new(COPIED.to_owned());
        let write = script.by_text(&[keys.lock(), &mark], &[ask.owner.expose(), &life]);
        match live.call(&write, ask.until).await? {
            Value::Int(1) => {}
            Value::Int(0) => return Ok(0),
            _ => return Err(nonsense()),
        }
        // What is left is for giving it back.
        let wait = (ask.until - Instant::now()).min(2 * WAIT_MAX) / 2;
        let mut command = redis::cmd("WAIT");
        command.arg(wanted).arg(wait.as_millis().max(1) as u64);
        match live.call(&command, ask.until).await? {
            Value::Int(have) => u64::try_from(have).map_err(|_| nonsense()),
            _ => Err(nonsense()),
        }
    }
}
