//! The worker's hands on the lock: one handle at most, each step told as an operation.
//!
//! What goes over the wire is told by the [`Record`] as the lock core's probe; here is told what
//! a step asked and was answered. A renewal or release that sends a command is that one operation
//! and not two.

use super::WorkerSpec;
use super::record::Record;
use super::source::Source;
use super::stage::Stage;
use crate::ids::FencingToken;
use crate::lock::backends::{self, ConnectSpec};
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::lock::service::LockService;
use crate::lock::{
    Acquired, EnterError, LockError, LockHandle, LockManager, LockOptions, ManagerOptions, Release,
    Renewal,
};
use crate::plan::{Fencing, Gate, WorkerPlan};
use crate::timeline::event::{Answer, Call, Outcome};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

mod presenting;

/// How long the end of a script waits for releases that are on their way.
const LAST_RELEASE: Duration = Duration::from_secs(2);

/// The lock as one worker uses it.
pub(super) struct Lock<'a> {
    manager: LockManager,
    /// For what no lock should be asked: a fencing token by itself.
    service: Arc<dyn LockService>,
    prefix: &'a str,
    options: LockOptions,
    key: &'a str,
    fencing: Fencing,
    record: &'a Record,
    /// The latest grant, or what may be one. Kept after release or loss: late work presents it.
    handle: Option<LockHandle>,
    /// The latest step brought a grant that nobody has asked for yet.
    new: bool,
    /// Grants so far.
    grants: u64,
    /// The fencing token that was drawn without the lock since the latest grant.
    drawn: Option<FencingToken>,
}

impl<'a> Lock<'a> {
    pub(super) async fn connect(
        (spec, worker): (&'a WorkerSpec, &'a WorkerPlan),
        (record, stage): (&'a Arc<Record>, &Arc<Stage>),
    ) -> Result<Self, String> {
        let plan = &spec.plan.lock;
        let kind = backends::named(&plan.backend)
            .ok_or_else(|| format!("no lock back end `{}`", plan.backend))?;
        let flaw = match &plan.flaw {
            Some(name) => Some(Flaw::named(name).ok_or_else(|| format!("no flaw `{name}`"))?),
            None => None,
        };
        let renew = plan.renew_ms.map(Duration::from_millis);
        let options = LockOptions::new(Duration::from_millis(plan.lease_ms), renew)
            .map_err(|error| error.to_string())?
            .with_copies(plan.copies);
        let stage = Arc::clone(stage);
        let mut connect = ConnectSpec::new(&spec.lock.address);
        connect.flaw = flaw;
        connect.client = Some(spec.worker.clone());
        let service = (kind.connect)(connect.arming(Arc::new(move || stage.acquire_armed())));
        let service = service
            .await
            .map_err(|error| format!("cannot connect to the lock service: {error}"))?;
        let source = Source::new(&spec.worker);
        let names = ManagerOptions::new(&spec.worker, &spec.lock.prefix);
        let manager = LockManager::new(Arc::clone(&service), names)
            .with_source(Arc::new(source))
            .with_probe(Arc::clone(record) as _);
        Ok(Lock {
            manager,
            service,
            prefix: &spec.lock.prefix,
            options,
            key: worker.key.as_ref().unwrap_or(&plan.key),
            fencing: worker.fencing,
            record,
            handle: None,
            new: false,
            grants: 0,
            drawn: None,
        })
    }

    /// One attempt.
    pub(super) async fn acquire(&mut self) {
        let op = self.record.invoke(Call::Acquire);
        let (outcome, answer) = match self.manager.acquire(self.key, &self.options).await {
            Ok(Acquired::Granted(handle)) => self.granted(handle),
            Ok(Acquired::Busy(_)) => (Outcome::Fail, Answer::Busy),
            Ok(Acquired::Unknown(handle)) => {
                self.handle = Some(handle);
                let message = "nobody knows whether it was granted".to_owned();
                (Outcome::Info, Answer::Error { message })
            }
            Err(error) => refused(&error),
        };
        self.record.answer(op, outcome, answer);
    }

    /// Waits for the lock, unless it is cancelled.
    pub(super) async fn enter(&mut self, wait: Duration, cancel: &CancellationToken) {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let op = self.record.invoke(Call::Enter { wait_ms });
        let entered = self.manager.enter(self.key, &self.options, wait, cancel);
        let (outcome, answer) = match entered.await {
            Ok(handle) => self.granted(handle),
            Err(EnterError::TimedOut) => (Outcome::Fail, Answer::TimedOut),
            Err(EnterError::Busy) => (Outcome::Fail, Answer::Busy),
            Err(EnterError::Failed(error)) => refused(&error),
            Err(EnterError::Unknown(message)) => (Outcome::Info, Answer::Error { message }),
            Err(error @ (EnterError::Cancelled | EnterError::Expired | EnterError::Released)) => {
                let message = error.to_string();
                (Outcome::Fail, Answer::Error { message })
            }
        };
        self.record.answer(op, outcome, answer);
    }

    /// Asks the handle whether it holds.
    pub(super) fn check(&self) -> bool {
        let grant = self.handle.as_ref().map(|handle| handle.grant().clone());
        let op = self.record.invoke(Call::Check { grant });
        let locked = self.handle.as_ref().is_some_and(LockHandle::is_locked);
        self.record
            .answer(op, Outcome::Ok, Answer::Locked { locked });
        locked
    }

    /// Asks what the plan says before a write.
    pub(super) fn lets_write(&self, gate: Gate) -> bool {
        match gate {
            Gate::None => true,
            Gate::IsLocked => self.check(),
            Gate::Handle => self.handle.is_some(),
        }
    }

    /// Renews by hand. Without a handle there is nothing to renew and nothing is done.
    pub(super) async fn renew(&self) {
        let Some(handle) = &self.handle else { return };
        let sent_before = self.record.sent(Command::Renew);
        let renewal = handle.renew().await;
        if self.record.sent(Command::Renew) == sent_before {
            let grant = handle.grant().clone();
            let op = self.record.invoke(Call::Renew { grant, auto: false });
            let (outcome, answer) = match renewal {
                Renewal::Renewed => (Outcome::Ok, Answer::Renewed),
                Renewal::Lost(reason) => {
                    let reason = reason.to_string();
                    (Outcome::Fail, Answer::Lost { reason })
                }
                Renewal::Unknown(message) => (Outcome::Info, Answer::Error { message }),
            };
            self.record.answer(op, outcome, answer);
        }
    }

    /// Gives back what it has. Without a handle there is nothing to give and nothing is done.
    pub(super) async fn release(&self) {
        let Some(handle) = &self.handle else { return };
        let sent_before = self.record.sent(Command::Release);
        let release = handle.release().await;
        if self.record.sent(Command::Release) == sent_before {
            let grant = handle.grant().clone();
            let op = self.record.invoke(Call::Release { grant });
            let (outcome, answer) = match release {
                Release::Released => (Outcome::Ok, Answer::Released),
                Release::AlreadyLost => (Outcome::Fail, Answer::AlreadyLost),
                Release::Unknown(message) => (Outcome::Info, Answer::Error { message }),
            };
            self.record.answer(op, outcome, answer);
        }
    }

    /// The handle has said that the lock is lost.
    pub(super) fn is_lost(&self) -> bool {
        let handle = self.handle.as_ref();
        handle.is_some_and(|handle| handle.lost().reason().is_some())
    }

    /// The end of the script: gives back what is still held, by no step.
    pub(super) async fn close(self) {
        let until = Instant::now() + LAST_RELEASE;
        if let Some(handle) = self.handle.filter(LockHandle::is_held) {
            handle.release().await;
        }
        while self.record.awaits(Command::Release) && Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    fn granted(&mut self, handle: LockHandle) -> (Outcome, Answer) {
        let lease = handle.granted_lease();
        let answer = Answer::Granted {
            grant: handle.grant().clone(),
            fencing: handle.fencing_token(),
            lease_ms: u64::try_from(lease.as_millis()).unwrap_or(u64::MAX),
        };
        self.handle = Some(handle);
        self.new = true;
        self.grants += 1;
        self.drawn = None;
        (Outcome::Ok, answer)
    }
}

fn refused(error: &LockError) -> (Outcome, Answer) {
    tracing::warn!(%error, "not granted");
    let message = error.to_string();
    (Outcome::Fail, Answer::Error { message })
}
