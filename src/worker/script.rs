//! A worker's script, step by step: the point before, the step, the point after. A step that
//! fails ends nothing; a script does what it says.

use super::locking::Lock;
use super::publishing::Publisher;
use super::record::Record;
use super::signals::Asked;
use super::stage::Stage;
use super::writing::{Delivery, Store};
use crate::plan::{OnSigterm, Step, StepAction, WorkerPlan};
use crate::timeline::event::{Answer, Call, Outcome};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, Runtime};

/// One worker's script and everything it acts on.
pub(super) struct Script<'a> {
    pub(super) plan: &'a WorkerPlan,
    pub(super) stage: Arc<Stage>,
    pub(super) lock: Lock<'a>,
    pub(super) store: Store<'a>,
    pub(super) queue: Option<Publisher<'a>>,
    pub(super) record: &'a Record,
    pub(super) runtime: Driver,
    pub(super) asked: Arc<Asked>,
    /// It was granted the lock, and no step has given it back: this is work to be finished.
    pub(super) at_work: bool,
    /// It was asked to end and gave the lock back in the middle of its work.
    pub(super) gave_back: bool,
}

/// What lock, store and renewals run on while a step waits for them.
#[derive(Clone)]
pub(super) enum Driver {
    /// Threads of their own, which run between the steps too.
    Own(Handle),
    /// The script's own thread, and only while it waits.
    Script(Arc<Runtime>),
}

impl Driver {
    pub(super) fn block_on<F: Future>(&self, future: F) -> F::Output {
        match self {
            Driver::Own(handle) => handle.block_on(future),
            Driver::Script(runtime) => runtime.block_on(future),
        }
    }
}

/// Whether the script goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Step,
    End,
}

impl Script<'_> {
    /// Plays the script to its end. Runs on a thread that may block.
    pub(super) fn play(mut self) {
        let start = format!("{}.start", self.plan.name);
        match &self.plan.start {
            Some(_) => self.stage.wait(start),
            None => self.stage.pass(start),
        }
        for step in &self.plan.script {
            if self.ends_before(step) {
                break;
            }
            let point = |phase: &str| format!("{}.{}.{phase}", self.plan.name, step.name);
            match waits_for_event(&step.action) {
                true => self.stage.wait(point("before")),
                false => self.stage.pass(point("before")),
            }
            let after = point("after");
            self.record.step(Some(&step.name));
            let granted = self.lock.grants();
            let next = self.perform(step);
            self.at_work |= self.lock.grants() > granted;
            self.record.step(None);
            self.stage.pass(after);
            if next == Next::End {
                break;
            }
        }
        let runtime = self.runtime.clone();
        runtime.block_on(self.lock.close());
    }

    fn perform(&mut self, step: &Step) -> Next {
        let runtime = self.runtime.clone();
        match &step.action {
            StepAction::Acquire => {
                let point = format!("{}.{}.armed", self.plan.name, step.name);
                self.stage.arm(Some(point));
                runtime.block_on(async {
                    self.lock.acquire().await;
                    self.seal_if_new().await;
                });
                self.stage.arm(None);
            }
            StepAction::Enter { wait_ms } => runtime.block_on(async {
                let wait = Duration::from_millis(*wait_ms);
                self.lock.enter(wait, &self.asked.cancel).await;
                self.seal_if_new().await;
            }),
            StepAction::Check => {
                self.lock.check();
            }
            StepAction::Write => runtime.block_on(self.write(&step.name, Delivery::default())),
            StepAction::WriteAs {
                job,
                if_pending,
                within_ms,
            } => {
                let delivery = Delivery {
                    job: job.clone(),
                    if_pending: *if_pending,
                    within: within_ms.map(Duration::from_millis),
                };
                runtime.block_on(self.write(&step.name, delivery));
            }
            StepAction::Read => {
                let claim = self.lock.claim();
                runtime.block_on(self.store.look(&step.name, claim, &self.stage));
            }
            StepAction::Publish { job } => {
                runtime.block_on(self.publish(&step.name, Some(job)));
            }
            StepAction::Relay => runtime.block_on(self.publish(&step.name, None)),
            StepAction::Refence => runtime.block_on(self.lock.refence()),
            StepAction::Hold { for_ms } => self.hold(&step.name, Duration::from_millis(*for_ms)),
            StepAction::Burn { for_ms } => self.burn(Duration::from_millis(*for_ms)),
            StepAction::Renew => runtime.block_on(self.lock.renew()),
            StepAction::Release => {
                if !self.gave_back {
                    runtime.block_on(self.lock.release());
                }
                self.at_work = false;
            }
            // The wait was at the point before.
            StepAction::HoldUntil { .. } | StepAction::Await { .. } => {}
            StepAction::StopIfLost if self.lock.is_lost() => return Next::End,
            StepAction::StopIfLost => {}
        }
        Next::Step
    }

    /// Tells the store of a grant that this step has just been answered.
    async fn seal_if_new(&mut self) {
        if let Some(claim) = self.lock.newly_granted() {
            self.store.seal(claim).await;
        }
    }

    /// Writes, unless what the plan asks first says no.
    async fn write(&mut self, step: &str, delivery: Delivery) {
        if self.lock.lets_write(self.plan.gate) {
            let claim = self.lock.claim();
            self.store.write(step, claim, delivery, &self.stage).await;
        }
    }

    /// Publishes one job, or whatever is in the outbox, and takes it out of there.
    async fn publish(&mut self, step: &str, job: Option<&String>) {
        if let Some(queue) = &mut self.queue {
            match job {
                Some(job) => queue.publish(step, job, &mut self.store, &self.stage).await,
                None => queue.relay(step, &mut self.store, &self.stage).await,
            }
        }
    }

    /// Computes, and lets nothing else of this thread run.
    fn burn(&self, work: Duration) {
        let op = self.record.invoke(Call::Hold);
        let until = Instant::now() + work;
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        self.record.answer(op, Outcome::Ok, Answer::Done);
    }

    /// Work goes on to its end, also if the worker is asked to end meanwhile.
    fn hold(&mut self, step: &str, work: Duration) {
        let op = self.record.invoke(Call::Hold);
        if let Some(left) = self.asked.work(work) {
            self.give_back_first(Some(step));
            std::thread::sleep(left);
        }
        self.record.answer(op, Outcome::Ok, Answer::Done);
    }

    /// Whether it was asked to end, and what comes next would begin something new.
    fn ends_before(&mut self, step: &Step) -> bool {
        if !self.asked.to_end() {
            return false;
        }
        self.give_back_first(None);
        !self.at_work || step.action.takes_lock()
    }

    /// The lock is given back although the work is not done, if that is what the plan says.
    fn give_back_first(&mut self, step: Option<&str>) {
        let first = self.plan.on_sigterm == OnSigterm::ReleaseFirst;
        if !first || !self.at_work || self.gave_back {
            return;
        }
        self.gave_back = true;
        // It belongs to no step of the script.
        self.record.step(None);
        let runtime = self.runtime.clone();
        runtime.block_on(self.lock.release());
        self.record.step(step);
    }
}

/// The lab knows the event; the worker only waits for its byte.
fn waits_for_event(action: &StepAction) -> bool {
    matches!(
        action,
        StepAction::Await { .. } | StepAction::HoldUntil { .. }
    )
}
