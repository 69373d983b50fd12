//! The plans of the golden runs.

use lockdrill::plan::{
    Class, Control, Evidence, FORMAT, FaultPlan, Heal, Limit, LockPlan, Plan, Step, StepAction,
    StorePlan, Target, WorkerPlan,
};
use lockdrill::store::{Condition, Fence};

/// The pause drill's main arm.
pub fn pause() -> Plan {
    Plan {
        format: FORMAT,
        drill: "pause".into(),
        arm: "main".into(),
        summary: "the holder sleeps through its lease; the store must refuse its late write".into(),
        class: Class::Correctness,
        seed: 7,
        lock: LockPlan {
            backend: "redis".into(),
            lease_ms: 1500,
            renew_ms: Some(500),
            flaw: None,
            key: "orders".into(),
            persist: lockdrill::plan::Persist::None,
            copies: 0,
            backups: 0,
            voters: 0,
            renewal: lockdrill::plan::RunsOn::Own,
        },
        store: StorePlan {
            kind: "sqlite".into(),
            fence: Fence::Atomic,
            seal: false,
            once: false,
            idempotent: false,
            condition: Condition::Atomic,
            reads: lockdrill::store::Reads::Open,
            outbox: false,
            resource: "orders".into(),
        },
        network: lockdrill::plan::NetworkPlan::default(),
        workers: vec![worker_a(), worker_b()],
        faults: vec![FaultPlan {
            name: "nap".into(),
            kind: "pause".into(),
            target: Target::Holder,
            edge: None,
            command: None,
            by_ms: None,
            when: "a.write.2.armed".into(),
            heal: Some(Heal::After("b.write.accepted".into())),
        }],
        evidence: vec![
            Evidence::LeaseEnded {
                worker: "a".into(),
                fault: "nap".into(),
            },
            Evidence::Granted {
                worker: "b".into(),
                fault: "nap".into(),
            },
            Evidence::ReachedAfter {
                late: "a.write.2".into(),
                early: "b.write.1".into(),
            },
        ],
        required_checks: vec!["no_stale_write".into()],
        optional_checks: Vec::new(),
        controls: Vec::new(),
        limit: None,
        control: None,
        patience_ms: 15_000,
        server: lockdrill::plan::ServerPlan::default(),
        recovery_bound_ms: 2_000,
    }
}

fn worker_a() -> WorkerPlan {
    WorkerPlan::new(
        "a",
        vec![
            step("acquire.1", StepAction::Acquire),
            step("write.1", StepAction::Write),
            step("hold.1", StepAction::Hold { for_ms: 690 }),
            step("check.1", StepAction::Check),
            step("write.2", StepAction::Write),
            step("release.1", StepAction::Release),
        ],
    )
}

fn worker_b() -> WorkerPlan {
    let mut worker = WorkerPlan::new(
        "b",
        vec![
            step("enter.1", StepAction::Enter { wait_ms: 10_000 }),
            step("write.1", StepAction::Write),
            step(
                "await.1",
                StepAction::Await {
                    event: "a.released".into(),
                },
            ),
            step("write.2", StepAction::Write),
            step("release.1", StepAction::Release),
        ],
    );
    worker.start = Some("a.acquired".into());
    worker
}

fn step(name: &str, action: StepAction) -> Step {
    Step {
        name: name.into(),
        action,
    }
}

/// The control without a fence.
pub fn unfenced() -> Plan {
    let mut plan = pause();
    plan.arm = "unfenced".into();
    plan.store.fence = Fence::Off;
    plan.control = Some(Control {
        path: "store.fence".into(),
        from: "atomic".into(),
        to: "off".into(),
        check: "no_stale_write".into(),
        by: "a".into(),
        also: vec!["no_lost_update".into()],
    });
    plan
}

/// The flush drill: the server forgets the key, and the design cannot help it.
pub fn flush() -> Plan {
    let mut plan = pause();
    plan.controls = vec!["unfenced".into()];
    plan.drill = "flush".into();
    plan.summary =
        "the server loses its data while a holds; the store must still refuse stale writes".into();
    plan.faults[0].name = "amnesia".into();
    plan.faults[0].kind = "flush".into();
    plan.faults[0].target = Target::Server(lockdrill::plan::Service::Lock);
    plan.faults[0].heal = None;
    plan.faults[0].when = "a.renewed".into();
    plan.evidence = vec![Evidence::Granted {
        worker: "b".into(),
        fault: "amnesia".into(),
    }];
    plan.required_checks = Vec::new();
    plan.limit = Some(Limit {
        checks: vec!["single_holder".into(), "fencing_rises".into()],
        why: "a single server that loses its data forgets who holds and which fencing token was the last".into(),
    });
    plan
}

/// Its control without a fence.
pub fn flush_unfenced() -> Plan {
    let mut plan = flush();
    plan.arm = "unfenced".into();
    plan.limit = None;
    plan.store.fence = Fence::Off;
    plan.control = Some(Control {
        path: "store.fence".into(),
        from: "atomic".into(),
        to: "off".into(),
        check: "no_stale_write".into(),
        by: "b".into(),
        also: [
            "no_lost_update",
            "single_holder",
            "fencing_rises",
            "rightful_served",
        ]
        .map(String::from)
        .to_vec(),
    });
    plan
}
