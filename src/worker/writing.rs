//! The worker's hands on the protected store: writes, seals and reads, each told as an operation.
//!
//! A write presents what the worker believes to have, a fencing token and a grant, or nothing.
//! The worker never asks whether it still holds the lock: that is what the store is for.

use super::claim::Claim;
use super::record::Record;
use super::stage::Stage;
use crate::ids::GrantId;
use crate::plan::{StorePlan, WorkerPlan};
use crate::store::{Attempt, ProtectedStore, ReadAnswer, StoreAnswer};
use crate::timeline::event::{Answer, Call, Outcome};
use std::future::pending;
use std::time::Duration;
use tokio::sync::Notify;

/// How a write is put to the store.
#[derive(Debug, Clone, Default)]
pub(super) struct Delivery {
    /// The job that it does.
    pub(super) job: Option<String>,
    /// Nothing is changed unless the job is still pending.
    pub(super) if_pending: bool,
    /// Longest wait for the answer; none = the store's own limit.
    pub(super) within: Option<Duration>,
}

/// The write that a worker last read or made, and the grant under which it did. What was read
/// under an earlier grant is no basis: somebody else may have written since.
#[derive(Debug, Clone)]
struct Basis {
    grant: Option<GrantId>,
    write: Option<String>,
}

/// The store as one worker uses it.
pub(super) struct Store<'a> {
    store: Box<dyn ProtectedStore>,
    plan: &'a StorePlan,
    worker: &'a str,
    record: &'a Record,
    /// What the next write is based on.
    basis: Option<Basis>,
    seals: u64,
}

impl<'a> Store<'a> {
    pub(super) fn new(
        store: Box<dyn ProtectedStore>,
        plan: &'a StorePlan,
        worker: &'a WorkerPlan,
        record: &'a Record,
    ) -> Self {
        Store {
            store,
            plan,
            worker: &worker.name,
            record,
            basis: None,
            seals: 0,
        }
    }

    /// One write, `<worker>.<step>`; stands at its `armed` point at the last moment. Reads first
    /// what it is based on, unless this grant has read or written already.
    pub(super) async fn write(
        &mut self,
        step: &str,
        claim: Claim,
        delivery: Delivery,
        stage: &Stage,
    ) {
        if !self.has_basis(&claim) {
            self.read(&claim).await;
        }
        let based_on = self.basis.as_ref().and_then(|basis| basis.write.clone());
        let mut attempt = self.attempt(step, based_on, claim.clone());
        attempt.job = delivery.job;
        attempt.if_pending = delivery.if_pending;
        let op = self.record.invoke(Call::Write {
            write: attempt.write.clone(),
            based_on: attempt.based_on.clone(),
            grant: attempt.grant.clone(),
            fencing: attempt.fencing,
        });
        let point = format!("{}.armed", attempt.write);
        let left = Notify::new();
        let armed = || {
            stage.pass(point.clone());
            left.notify_one();
        };
        // The time runs from when it leaves, not while it stands at the point.
        let in_time = async {
            left.notified().await;
            match delivery.within {
                Some(within) => tokio::time::sleep(within).await,
                None => pending().await,
            }
            delivery.within.unwrap_or_default()
        };
        let answer = tokio::select! {
            biased;
            answer = self.store.write(&attempt, &armed) => answer,
            within = in_time => {
                StoreAnswer::Unknown(format!("no answer within {} ms", within.as_millis()))
            }
        };
        claim.tell(("write", &attempt), &answer);
        // What had been done before changed nothing now: the basis stays.
        if answer == StoreAnswer::Accepted {
            self.basis = Some(Basis {
                grant: attempt.grant,
                write: Some(attempt.write),
            });
        }
        self.answer(op, answer);
    }

    /// Raises the store's mark, if the plan says so.
    pub(super) async fn seal(&mut self, claim: Claim) {
        let Some(grant) = claim.grant.clone().filter(|_| self.plan.seal) else {
            return;
        };
        self.seals += 1;
        let fencing = claim.fencing;
        let attempt = self.attempt(&format!("seal.{}", self.seals), None, claim.clone());
        let op = self.record.invoke(Call::Seal { grant, fencing });
        let answer = self.store.seal(&attempt).await;
        claim.tell(("seal", &attempt), &answer);
        self.answer(op, answer);
    }

    /// A `read` step, `<worker>.<step>`, under what the worker has; stands at its `armed` point
    /// at the last moment. The next write is based on what it is shown.
    pub(super) async fn look(&mut self, step: &str, claim: Claim, stage: &Stage) {
        let attempt = self.attempt(step, None, claim.clone());
        let op = self.record.invoke(Call::ReadUnder {
            read: attempt.write.clone(),
            grant: attempt.grant.clone(),
            fencing: attempt.fencing,
        });
        let point = format!("{}.armed", attempt.write);
        let armed = || stage.pass(point.clone());
        let shown = self.store.show(&attempt, &armed).await;
        claim.tell(("read", &attempt), &shown);
        let (outcome, answer) = match shown {
            ReadAnswer::Shown(write) => {
                self.basis = Some(Basis {
                    grant: attempt.grant,
                    write: write.clone(),
                });
                (Outcome::Ok, Answer::Value { write })
            }
            ReadAnswer::Rejected { highest } => (Outcome::Fail, Answer::Rejected { highest }),
            ReadAnswer::Failed(message) => (Outcome::Fail, Answer::Error { message }),
            ReadAnswer::Unknown(message) => (Outcome::Info, Answer::Error { message }),
        };
        self.record.answer(op, outcome, answer);
    }

    /// The jobs in the outbox, oldest first; none if it cannot be read.
    pub(super) async fn outbox(&mut self) -> Vec<String> {
        let found = self.store.outbox(&self.plan.resource).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the outbox cannot be read");
            Vec::new()
        })
    }

    /// Takes jobs out of the outbox. If that fails they stay there, to be published once more.
    pub(super) async fn published(&mut self, jobs: &[String]) {
        if let Err(error) = self.store.published(&self.plan.resource, jobs).await {
            tracing::warn!(%error, "the outbox keeps what was published");
        }
    }

    /// Reads which write stands; the next write is based on it. A part of that write, judged with
    /// it, and so neither fenced nor logged.
    async fn read(&mut self, claim: &Claim) {
        let op = self.record.invoke(Call::Read);
        match self.store.read(&self.plan.resource).await {
            Ok(standing) => {
                let write = standing.write;
                self.basis = Some(Basis {
                    grant: claim.grant.clone(),
                    write: write.clone(),
                });
                self.record.answer(op, Outcome::Ok, Answer::Value { write });
            }
            Err(error) => {
                let message = error.to_string();
                self.record
                    .answer(op, Outcome::Fail, Answer::Error { message });
            }
        }
    }

    fn has_basis(&self, claim: &Claim) -> bool {
        self.basis
            .as_ref()
            .is_some_and(|basis| basis.grant == claim.grant)
    }

    fn attempt(&self, name: &str, based_on: Option<String>, claim: Claim) -> Attempt {
        Attempt {
            resource: self.plan.resource.clone(),
            write: format!("{}.{name}", self.worker),
            based_on,
            grant: claim.grant,
            fencing: claim.fencing,
            job: None,
            if_pending: false,
        }
    }

    fn answer(&self, op: u64, answer: StoreAnswer) {
        let (outcome, answer) = match answer {
            StoreAnswer::Accepted | StoreAnswer::DoneBefore => (Outcome::Ok, Answer::Accepted),
            StoreAnswer::Rejected { highest } => (Outcome::Fail, Answer::Rejected { highest }),
            StoreAnswer::Failed(message) => (Outcome::Fail, Answer::Error { message }),
            StoreAnswer::Unknown(message) => (Outcome::Info, Answer::Error { message }),
        };
        self.record.answer(op, outcome, answer);
    }
}
