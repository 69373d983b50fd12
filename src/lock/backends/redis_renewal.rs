//! A renewal as one plain command, `SET … IFEQ … PX …`, where the server has it (Redis 8.4, Valkey
//! 8.1): it sets the key to what it holds already, with a new lease, if it holds just that.
//!
//! It is the script's renewal and no other: whenever the command did not do it, whatever the reason,
//! the script is asked, and its answer counts. It tells a lock that is gone from one that is
//! somebody else's, and it is let through by a server that is out of memory, which refuses every
//! `SET`.
//!
//! A release stays a script on every server: it deletes the lock *and* leaves a wake-up, and
//! `DELEX` or `DELIFEQ` can do the first alone. So do the voters' scripts: what a voter's key holds
//! beside the owner token, its own number or the agreed one, is not known for sure.

use crate::lock::backends::nonsense;
use crate::lock::backends::redis_asked::nothing_sent;
use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_route::{Call, What};
use crate::lock::backends::redis_scripts::{Keys, Scripts, needs_script};
use crate::lock::error::CommandError;
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::{Ask, RenewAnswer};
use crate::redis_link::{Live, NoAnswer};
use redis::Value;
use tokio::time::Instant;

/// The word as it is sent, which stands in no other command of ours.
const IFEQ: &str = "\r\nIFEQ\r\n";

/// What a request contains that runs a lock's command.
pub(super) fn marks(flaw: Option<Flaw>, command: Command) -> Vec<String> {
    let mut marks = Scripts::new(flaw).marks(command);
    if matches!(command, Command::AutoRenew | Command::Renew) && !flaw.is_some_and(needs_script) {
        marks.push(IFEQ.to_owned());
    }
    marks
}

impl Redis {
    /// Asks beforehand, so that the first renewal costs what every renewal costs. A server that
    /// does not say it now is asked again.
    pub(super) async fn learn(&self, live: &Live, until: Instant) {
        if !self.flaw.is_some_and(needs_script) {
            drop(live.sets_if_equal(until).await);
        }
    }

    /// Renews by one command; none = the script has to say.
    pub(super) async fn renewed_in_one(
        &self,
        keys: &Keys,
        ask: &Ask<'_>,
    ) -> Result<Option<RenewAnswer>, CommandError> {
        let sound = !self.flaw.is_some_and(needs_script);
        let Some(fencing) = ask.fencing.filter(|_| sound) else {
            return Ok(None);
        };
        let Ok(live) = self.route.live(keys.lock(), ask.until).await else {
            // Whoever runs the script looks for a way for longer.
            return Ok(None);
        };
        if !live.sets_if_equal(ask.until).await.map_err(nothing_sent)? {
            return Ok(None);
        }
        let held = format!("{}:{fencing}", ask.owner.expose());
        let mut set = redis::cmd("SET");
        set.arg(keys.lock()).arg(&held).arg("IFEQ").arg(&held);
        set.arg("PX").arg(ask.lease_ms());
        let call = Call {
            key: keys.lock(),
            what: What::Plain(&set),
        };
        match self.route.ask(&call, ask.until).await {
            Ok(Value::Okay) => Ok(Some(RenewAnswer::Renewed { lease: ask.lease })),
            Ok(Value::Nil) | Err(NoAnswer::Refused(..)) => Ok(None),
            Ok(_) => Err(nonsense()),
            Err(why) => Err(why.into()),
        }
    }
}
