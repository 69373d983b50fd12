//! The worker's hands on the queue: publications, each told as an operation.
//!
//! Between the write to the store and the publication there is nothing that holds the two together:
//! a worker that dies there has done one of them. An outbox closes the gap, since the job stands in
//! it from the write on, until somebody has published it and taken it out.

use super::WorkerSpec;
use super::record::Record;
use super::stage::Stage;
use super::writing::Store;
use crate::store::StoreAnswer;
use crate::store::queue::Queue;
use crate::timeline::event::{Answer, Call, Outcome};

/// The queue as one worker uses it.
pub(super) struct Publisher<'a> {
    queue: Queue,
    worker: &'a str,
    record: &'a Record,
    /// There is an outbox to take jobs out of.
    outbox: bool,
}

impl<'a> Publisher<'a> {
    /// Opens the queue; none if nothing is published in this arm.
    pub(super) fn open(spec: &'a WorkerSpec, record: &'a Record) -> Result<Option<Self>, String> {
        let Some(queue) = &spec.queue else {
            return Ok(None);
        };
        let queue = Queue::open(queue).map_err(|error| error.to_string())?;
        Ok(Some(Publisher {
            queue,
            worker: &spec.worker,
            record,
            outbox: spec.plan.store.outbox,
        }))
    }

    /// Publishes one job; stands at its `armed` point at the last moment.
    pub(super) async fn publish(
        &mut self,
        step: &str,
        job: &str,
        store: &mut Store<'_>,
        stage: &Stage,
    ) {
        let point = format!("{}.{step}.armed", self.worker);
        let is_taken = self.put(step, job, &|| stage.pass(point.clone()));
        if is_taken && self.outbox {
            store.published(&[job.to_owned()]).await;
        }
    }

    /// Publishes what is in the outbox; stands at its `armed` point before it takes it out.
    pub(super) async fn relay(&mut self, step: &str, store: &mut Store<'_>, stage: &Stage) {
        let op = self.record.invoke(Call::Relay);
        let mut jobs = match self.outbox {
            true => store.outbox().await,
            false => Vec::new(),
        };
        jobs.retain(|job| self.put(step, job, &|| ()));
        stage.pass(format!("{}.{step}.armed", self.worker));
        store.published(&jobs).await;
        self.record.answer(op, Outcome::Ok, Answer::Done);
    }

    /// One publication; whether the queue has it.
    fn put(&mut self, step: &str, job: &str, armed: &(dyn Fn() + Send + Sync)) -> bool {
        let publish = format!("{}.{step}", self.worker);
        let op = self.record.invoke(Call::Publish {
            publish: publish.clone(),
            message: job.to_owned(),
        });
        let answer = self.queue.publish(&publish, job, armed);
        tracing::info!(publish, job, ?answer, "publication");
        let (outcome, answer) = match answer {
            StoreAnswer::Accepted | StoreAnswer::DoneBefore => (Outcome::Ok, Answer::Accepted),
            StoreAnswer::Rejected { highest } => (Outcome::Fail, Answer::Rejected { highest }),
            StoreAnswer::Failed(message) => (Outcome::Fail, Answer::Error { message }),
            StoreAnswer::Unknown(message) => (Outcome::Info, Answer::Error { message }),
        };
        self.record.answer(op, outcome, answer);
        outcome == Outcome::Ok
    }
}
