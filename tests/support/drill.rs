//! A drill for a test that plays the director: a plan, a store of its own, and its workers.
#![allow(dead_code, reason = "each test file uses what it needs")]

use super::played_director::Played;
use lockdrill::plan::{Class, LockPlan, Plan, Step, StepAction, StorePlan, WorkerPlan};
use lockdrill::store::{self, Condition, Fence, Logged, StoreSpec};
use lockdrill::worker::{LockSpec, WorkerSpec};
use std::cell::Cell;

/// One drill: a folder with a store, and what its workers are told.
pub struct Drill {
    dir: tempfile::TempDir,
    pub plan: Plan,
    pub lock: LockSpec,
    pub fence: Fence,
    /// `redis://host:port` of the store, if it is not a file.
    pub store_server: Option<String>,
    created: Cell<bool>,
}

impl Drill {
    /// On the in-process lock: enough for one worker.
    pub fn alone(script: Vec<Step>) -> Drill {
        Drill::with_lock("memory", "", vec![worker("a", script)])
    }

    /// On a real Redis.
    pub fn on_redis(address: &str, workers: Vec<WorkerPlan>) -> Drill {
        Drill::with_lock("redis", address, workers)
    }

    fn with_lock(backend: &str, address: &str, workers: Vec<WorkerPlan>) -> Drill {
        Drill {
            dir: tempfile::tempdir().unwrap(),
            plan: plan(backend, workers),
            lock: LockSpec {
                address: address.to_owned(),
                prefix: "t:".to_owned(),
            },
            fence: Fence::Atomic,
            store_server: None,
            created: Cell::new(false),
        }
    }

    pub fn store_spec(&self) -> StoreSpec {
        let file = || self.dir.path().join("store.db").display().to_string();
        StoreSpec {
            kind: self.store_kind().to_owned(),
            fence: self.fence,
            once: false,
            idempotent: self.plan.store.idempotent,
            condition: self.plan.store.condition,
            reads: self.plan.store.reads,
            outbox: self.plan.store.outbox,
            location: self.store_server.clone().unwrap_or_else(file),
            lab_zero_ns: 0,
        }
    }

    /// Creates the store if this is the first worker, then starts the worker.
    pub fn start(&self, worker: &str, park_at: &[&str]) -> Played {
        let store = self.store_spec();
        if !self.created.replace(true) {
            let created = (store::find(&store.kind).unwrap().create)(&store);
            runtime().block_on(created).unwrap();
        }
        let spec = WorkerSpec {
            worker: worker.to_owned(),
            plan: self.plan.clone(),
            lab_zero_ns: 0,
            lock: self.lock.clone(),
            store,
            queue: None,
            park_at: park_at.iter().map(|point| (*point).to_owned()).collect(),
        };
        let text = serde_json::to_string_pretty(&spec).unwrap();
        Played::start(&self.dir.path().join(worker), &text)
    }

    /// The store's own log.
    pub fn store_log(&self) -> Vec<Logged> {
        let opened = (store::find(self.store_kind()).unwrap().open)(&self.store_spec());
        runtime().block_on(async { opened.await.unwrap().log().await.unwrap() })
    }

    fn store_kind(&self) -> &'static str {
        match &self.store_server {
            Some(_) => "redis",
            None => "sqlite",
        }
    }

    /// Ids in the store's log, each with whether it was accepted.
    pub fn attempts(&self) -> Vec<(String, bool)> {
        let log = self.store_log().into_iter();
        log.map(|line| (line.attempt.write, line.accepted))
            .collect()
    }
}

fn runtime() -> tokio::runtime::Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all();
    runtime.build().unwrap()
}

/// A worker that starts at once.
pub fn worker(name: &str, script: Vec<Step>) -> WorkerPlan {
    WorkerPlan::new(name, script)
}

/// Steps, each numbered among its own kind.
pub fn script(actions: &[StepAction]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    for action in actions {
        let verb = action.verb();
        let same = steps.iter().filter(|step| step.action.verb() == verb);
        let name = format!("{verb}.{}", same.count() + 1);
        let action = action.clone();
        steps.push(Step { name, action });
    }
    steps
}

fn plan(backend: &str, workers: Vec<WorkerPlan>) -> Plan {
    Plan {
        format: lockdrill::plan::FORMAT,
        drill: "test".to_owned(),
        arm: "main".to_owned(),
        summary: "a worker does what its script says".to_owned(),
        class: Class::Correctness,
        seed: 1,
        lock: LockPlan {
            backend: backend.to_owned(),
            lease_ms: 60_000,
            renew_ms: None,
            flaw: None,
            key: "account".to_owned(),
            persist: lockdrill::plan::Persist::None,
            copies: 0,
            backups: 0,
            voters: 0,
            renewal: lockdrill::plan::RunsOn::Own,
        },
        store: StorePlan {
            kind: "sqlite".to_owned(),
            fence: Fence::Atomic,
            seal: false,
            once: false,
            idempotent: false,
            condition: Condition::Atomic,
            reads: lockdrill::store::Reads::Open,
            outbox: false,
            resource: "account".to_owned(),
        },
        network: lockdrill::plan::NetworkPlan::default(),
        workers,
        faults: Vec::new(),
        evidence: Vec::new(),
        required_checks: Vec::new(),
        optional_checks: Vec::new(),
        controls: Vec::new(),
        limit: None,
        control: None,
        patience_ms: 15_000,
        server: lockdrill::plan::ServerPlan::default(),
        recovery_bound_ms: 1_000,
    }
}
