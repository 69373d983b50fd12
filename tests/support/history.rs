//! Builds literal histories: a line of a test reads like a line of the story. Times are lab
//! milliseconds; an effect happens at the given time, its request one millisecond before and its
//! answer one millisecond after.
//!
//! The record is what a real run would leave: observer in sync, clock samples every 50 ms, workers
//! started, store values and a sweep at the end.
#![allow(dead_code, reason = "each test binary uses its own part")]

use lockdrill::checks::{self, Finding};
use lockdrill::ids::{FencingToken, GrantId, OwnerDigest};
use lockdrill::plan::{
    self, Class, FaultPlan, Heal, LockPlan, Plan, StorePlan, Target, WorkerPlan,
};
use lockdrill::store::{Condition, Fence};
use lockdrill::timeline::event::{
    Answer, AttemptKind, By, Call, Change, ChildChange, Event, Line, Outcome, ThreadLook,
};
use lockdrill::timeline::history::History;

/// The server's clock is this far ahead of lab time, ms.
pub const SERVER_AHEAD_MS: u64 = 1_000_000;
pub const LEASE_MS: u64 = 1000;
pub const SERVER: &str = "lock";
pub const KEY: &str = "job";

/// A grant as its worker knows it.
#[derive(Debug, Clone)]
pub struct Held {
    pub worker: String,
    pub grant: GrantId,
    pub owner: OwnerDigest,
    pub fencing: Option<FencingToken>,
}

#[derive(Debug, Clone)]
pub struct Record {
    pub plan: Plan,
    pub lines: Vec<Line>,
    pos: u64,
    store_n: u64,
    op: u64,
    next_fencing: u64,
    names: u64,
    last_write: Option<String>,
    highest: Option<FencingToken>,
    end: Option<(u64, String)>,
    pub samples: bool,
    /// The observer has lost its place: effects happen and are not on the record.
    pub blind: bool,
}

pub fn ns(ms: u64) -> u64 {
    ms * 1_000_000
}

pub fn plan(workers: &[&str]) -> Plan {
    Plan {
        format: plan::FORMAT,
        drill: "story".to_owned(),
        arm: "main".to_owned(),
        summary: "a literal history".to_owned(),
        class: Class::Correctness,
        seed: 1,
        lock: LockPlan {
            backend: "redis".to_owned(),
            lease_ms: LEASE_MS,
            renew_ms: None,
            flaw: None,
            key: KEY.to_owned(),
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
            resource: "r".to_owned(),
        },
        network: lockdrill::plan::NetworkPlan::default(),
        workers: workers
            .iter()
            .map(|name| WorkerPlan::new(*name, Vec::new()))
            .collect(),
        faults: Vec::new(),
        evidence: Vec::new(),
        required_checks: Vec::new(),
        optional_checks: Vec::new(),
        controls: Vec::new(),
        limit: None,
        control: None,
        patience_ms: 10 * LEASE_MS,
        server: lockdrill::plan::ServerPlan::default(),
        recovery_bound_ms: 500,
    }
}

impl Record {
    /// Workers a, b and c; lease 1 s; recovery bound 0.5 s.
    pub fn new() -> Record {
        let mut record = Record::bare();
        record.push(
            0,
            By::Lab,
            Event::ObserverSynced {
                server: SERVER.to_owned(),
            },
        );
        for (i, worker) in ["a", "b", "c"].iter().enumerate() {
            record.push(
                ns(1),
                By::Lab,
                Event::WorkerStarted {
                    worker: (*worker).to_owned(),
                    pid: 100 + i as i32,
                    start_ticks: 1000 + i as u64,
                },
            );
        }
        record
    }

    /// The same without observer or started workers.
    pub fn bare() -> Record {
        let mut record = Record {
            plan: plan(&["a", "b", "c"]),
            lines: Vec::new(),
            pos: 0,
            store_n: 0,
            op: 0,
            next_fencing: 1,
            names: 0,
            last_write: None,
            highest: None,
            end: None,
            samples: true,
            blind: false,
        };
        let start = Event::Start {
            format: 1,
            drill: record.plan.drill.clone(),
            arm: record.plan.arm.clone(),
            run: "r1".to_owned(),
            isolation: "guard".to_owned(),
        };
        record.push(0, By::Lab, start);
        record
    }

    pub fn push(&mut self, at_ns: u64, by: By, event: Event) -> u64 {
        let seq = self.lines.len() as u64;
        self.lines.push(Line {
            seq,
            at: at_ns,
            by,
            event,
        });
        seq
    }

    pub fn lab(&mut self, at: u64, event: Event) -> u64 {
        self.push(ns(at), By::Lab, event)
    }

    pub fn invoke(&mut self, worker: &str, at: u64, step: Option<&str>, call: Call) -> u64 {
        self.op += 1;
        let op = self.op;
        let step = step.map(str::to_owned);
        let event = Event::Invoke { op, step, call };
        self.push(ns(at), By::Worker(worker.to_owned()), event);
        op
    }

    pub fn ret(&mut self, worker: &str, op: u64, at: u64, outcome: Outcome, answer: Answer) {
        let event = Event::Return {
            op,
            outcome,
            answer,
        };
        self.push(ns(at), By::Worker(worker.to_owned()), event);
    }

    pub fn effect(&mut self, at: u64, change: Change) -> u64 {
        let pos = self.pos;
        self.pos += 1;
        if self.blind {
            return self.lines.len() as u64;
        }
        self.push(
            ns(at),
            By::Server(SERVER.to_owned()),
            Event::Effect {
                server: SERVER.to_owned(),
                pos,
                key: KEY.to_owned(),
                change,
            },
        )
    }

    /// An attempt of a fresh identity is sent.
    pub fn attempt(&mut self, worker: &str, at: u64) -> (Held, u64) {
        self.names += 1;
        let held = Held {
            worker: worker.to_owned(),
            grant: GrantId(format!("{worker}-{}", self.names)),
            owner: OwnerDigest(format!("digest{}", self.names)),
            fencing: None,
        };
        let op = self.resend(&held, at);
        (held, op)
    }

    /// The same attempt is sent once more.
    pub fn resend(&mut self, held: &Held, at: u64) -> u64 {
        let call = Call::Attempt {
            grant: held.grant.clone(),
            owner: held.owner.clone(),
        };
        self.invoke(&held.worker, at, None, call)
    }

    /// The server grants it, with the next fencing token.
    pub fn grant(&mut self, held: &mut Held, at: u64) -> u64 {
        let fencing = FencingToken(self.next_fencing);
        self.next_fencing += 1;
        held.fencing = Some(fencing);
        self.effect(
            at,
            Change::Counter {
                value: Some(fencing.0),
            },
        );
        self.set(held, at)
    }

    /// The server sets the key for this grant as it is.
    pub fn set(&mut self, held: &Held, at: u64) -> u64 {
        self.effect(
            at,
            Change::Set {
                owner: held.owner.clone(),
                fencing: held.fencing,
                until_ms: Some(SERVER_AHEAD_MS + at + LEASE_MS),
            },
        )
    }

    pub fn told_granted(&mut self, held: &Held, op: u64, at: u64) {
        let answer = Answer::Granted {
            grant: held.grant.clone(),
            fencing: held.fencing,
            lease_ms: LEASE_MS,
        };
        self.ret(&held.worker, op, at, Outcome::Ok, answer);
    }

    /// A whole acquisition, granted at `at`.
    pub fn acquire(&mut self, worker: &str, at: u64) -> Held {
        let (mut held, op) = self.attempt(worker, at - 1);
        self.grant(&mut held, at);
        self.told_granted(&held, op, at + 1);
        held
    }

    /// A whole acquisition under a fencing token of the test's choice.
    pub fn acquire_with(&mut self, worker: &str, at: u64, fencing: u64) -> Held {
        self.next_fencing = fencing;
        self.acquire(worker, at)
    }

    /// A renewal, applied at `at`, that moves whatever key there is.
    pub fn renew(&mut self, held: &Held, at: u64) {
        let op = self.send_renewal(held, at - 1);
        self.extend(at);
        self.ret(&held.worker, op, at + 1, Outcome::Ok, Answer::Renewed);
    }

    pub fn send_renewal(&mut self, held: &Held, at: u64) -> u64 {
        let grant = held.grant.clone();
        self.invoke(&held.worker, at, None, Call::Renew { grant, auto: true })
    }

    pub fn extend(&mut self, at: u64) -> u64 {
        self.effect(
            at,
            Change::Extended {
                until_ms: Some(SERVER_AHEAD_MS + at + LEASE_MS),
            },
        )
    }

    /// A release that deletes whatever key there is, and says so.
    pub fn release(&mut self, held: &Held, at: u64) {
        let op = self.send_release(held, at - 1);
        self.delete(at);
        self.ret(&held.worker, op, at + 1, Outcome::Ok, Answer::Released);
    }

    /// A release that finds nothing of its own.
    pub fn release_in_vain(&mut self, held: &Held, at: u64) {
        let op = self.send_release(held, at - 1);
        self.ret(&held.worker, op, at + 1, Outcome::Ok, Answer::AlreadyLost);
    }

    pub fn send_release(&mut self, held: &Held, at: u64) -> u64 {
        let grant = held.grant.clone();
        self.invoke(&held.worker, at, Some("release.1"), Call::Release { grant })
    }

    /// The server deletes the key; also how an expiry is seen.
    pub fn delete(&mut self, at: u64) -> u64 {
        self.effect(at, Change::Deleted)
    }

    /// `is_locked` is asked at `at` and answered a millisecond later.
    pub fn check(&mut self, held: &Held, at: u64, locked: bool) {
        let grant = Some(held.grant.clone());
        let op = self.invoke(&held.worker, at, Some("check.1"), Call::Check { grant });
        let answer = Answer::Locked { locked };
        self.ret(&held.worker, op, at + 1, Outcome::Ok, answer);
    }

    /// A write that the store applies at `at`, based on the last accepted one.
    pub fn write(&mut self, held: &Held, at: u64, accepted: bool) -> String {
        let based_on = self.last_write.clone();
        self.write_on(held, at, accepted, based_on)
    }

    /// The same, based on a write of the test's choice.
    pub fn write_on(
        &mut self,
        held: &Held,
        at: u64,
        accepted: bool,
        based_on: Option<String>,
    ) -> String {
        let id = self.write_id(&held.worker);
        let op = self.ask_write(held, at - 1, &id, based_on.clone());
        self.log(held, at, (&id, based_on), accepted);
        let answer = if accepted {
            Answer::Accepted
        } else {
            Answer::Rejected { highest: None }
        };
        self.ret(&held.worker, op, at + 1, Outcome::Ok, answer);
        id
    }

    pub fn write_id(&mut self, worker: &str) -> String {
        self.names += 1;
        format!("{worker}.write.{}", self.names)
    }

    /// The last accepted write.
    pub fn last_write(&self) -> Option<String> {
        self.last_write.clone()
    }

    pub fn ask_write(&mut self, held: &Held, at: u64, id: &str, based_on: Option<String>) -> u64 {
        let call = Call::Write {
            write: id.to_owned(),
            based_on,
            grant: Some(held.grant.clone()),
            fencing: held.fencing,
        };
        self.invoke(&held.worker, at, Some("write.1"), call)
    }

    /// The store's own entry of an attempt.
    pub fn log(
        &mut self,
        held: &Held,
        at: u64,
        (id, based_on): (&str, Option<String>),
        accepted: bool,
    ) {
        self.logged(AttemptKind::Write, held, at, (id, based_on), accepted);
        if accepted {
            self.last_write = Some(id.to_owned());
            self.highest = self.highest.max(held.fencing);
        }
    }

    fn logged(
        &mut self,
        kind: AttemptKind,
        held: &Held,
        at: u64,
        (id, based_on): (&str, Option<String>),
        accepted: bool,
    ) {
        self.store_n += 1;
        let event = Event::StoreAttempt {
            n: self.store_n,
            resource: "r".to_owned(),
            kind,
            write: id.to_owned(),
            based_on,
            grant: Some(held.grant.clone()),
            fencing: held.fencing,
            job: None,
            accepted,
            done_before: false,
            highest: self.highest,
            applied: ns(at),
        };
        self.push(ns(at), By::Store, event);
    }

    /// A `read` step that reaches the store at `at`; it is shown the last accepted write.
    pub fn read(&mut self, held: &Held, at: u64, accepted: bool) -> String {
        self.names += 1;
        let id = format!("{}.read.{}", held.worker, self.names);
        let call = Call::ReadUnder {
            read: id.clone(),
            grant: Some(held.grant.clone()),
            fencing: held.fencing,
        };
        let op = self.invoke(&held.worker, at - 1, Some("read.1"), call);
        let shown = self.last_write.clone().filter(|_| accepted);
        self.logged(AttemptKind::Read, held, at, (&id, shown.clone()), accepted);
        let (outcome, answer) = match accepted {
            true => (Outcome::Ok, Answer::Value { write: shown }),
            false => (Outcome::Fail, Answer::Rejected { highest: None }),
        };
        self.ret(&held.worker, op, at + 1, outcome, answer);
        id
    }

    /// An `enter` around whatever stands between.
    pub fn enter(&mut self, worker: &str, from: u64) -> u64 {
        self.invoke(
            worker,
            from,
            Some("enter.1"),
            Call::Enter { wait_ms: 60_000 },
        )
    }

    pub fn lost(&mut self, held: &Held, at: u64, deadline: u64) {
        let event = Event::Lost {
            grant: held.grant.clone(),
            reason: "deadline passed".to_owned(),
            deadline: ns(deadline),
        };
        self.push(ns(at), By::Worker(held.worker.clone()), event);
    }

    pub fn died(&mut self, worker: &str, at: u64) {
        self.lab(
            at,
            Event::WorkerExited {
                worker: worker.to_owned(),
                code: None,
                signal: Some(9),
            },
        );
    }

    pub fn stalled(&mut self, from: u64, to: u64) {
        self.lab(
            to,
            Event::Stall {
                from: ns(from),
                to: ns(to),
            },
        );
    }

    /// A fault of the plan that hits a worker, with its onset and heal; no looks.
    pub fn fault(&mut self, name: &str, kind: &str, worker: &str, (from, to): (u64, u64)) {
        self.plan.faults.push(FaultPlan {
            name: name.to_owned(),
            kind: kind.to_owned(),
            target: Target::Worker(worker.to_owned()),
            edge: None,
            command: None,
            by_ms: None,
            when: format!("{worker}.acquired"),
            heal: Some(Heal::For(to - from)),
        });
        self.onset(name, worker, None, from);
        self.heal(name, to);
    }

    pub fn onset(&mut self, fault: &str, worker: &str, grant: Option<GrantId>, at: u64) {
        self.lab(
            at + 2,
            Event::FaultOnset {
                fault: fault.to_owned(),
                kind: "pause".to_owned(),
                worker: Some(worker.to_owned()),
                server: None,
                grant,
                trigger: "t".to_owned(),
                began: ns(at),
                effective: ns(at + 2),
            },
        );
    }

    pub fn heal(&mut self, fault: &str, at: u64) {
        self.lab(
            at + 2,
            Event::FaultHeal {
                fault: fault.to_owned(),
                cause: "b.write.accepted".to_owned(),
                began: ns(at),
                removed: Some(ns(at + 2)),
            },
        );
    }

    pub fn look(&mut self, fault: &str, moment: &str, at: u64, threads: Vec<ThreadLook>) {
        self.lab(
            at,
            Event::Look {
                fault: fault.to_owned(),
                moment: moment.to_owned(),
                threads,
            },
        );
    }

    /// The observer loses its place.
    pub fn goes_blind(&mut self, at: u64) {
        let (server, why) = (SERVER.to_owned(), "replica was cut off".to_owned());
        self.lab(at, Event::ObserverGap { server, why });
        self.blind = true;
    }

    /// It is in sync again.
    pub fn sees_again(&mut self, at: u64) {
        self.blind = false;
        let server = SERVER.to_owned();
        self.lab(at, Event::ObserverSynced { server });
    }

    /// What the server holds for the key at the end.
    pub fn final_key(&mut self, at: u64, remaining_ms: Option<u64>, held: &Held) {
        self.lab(
            at,
            Event::FinalKey {
                server: SERVER.to_owned(),
                key: KEY.to_owned(),
                owner: Some(held.owner.clone()),
                remaining_ms,
                exists: true,
            },
        );
    }

    pub fn signal(&mut self, worker: &str, at: u64, change: ChildChange) {
        let worker = worker.to_owned();
        self.lab(at, Event::ChildSignal { worker, change });
    }

    /// How the record ends, if not by `complete` 10 ms after the last line.
    pub fn ends(&mut self, at: u64, reason: &str) {
        self.end = Some((at, reason.to_owned()));
    }

    /// All lines, with clock samples, final values, sweep and end.
    pub fn finished(&self) -> Vec<Line> {
        let mut record = self.clone();
        let last = record.lines.iter().map(|line| line.at).max().unwrap_or(0) / 1_000_000;
        let (end, reason) = record
            .end
            .take()
            .unwrap_or((last + 10, "complete".to_owned()));
        if record.samples {
            for at in (0..=end).step_by(50) {
                record.lab(
                    at,
                    Event::ClockSample {
                        server: SERVER.to_owned(),
                        before: ns(at),
                        after: ns(at),
                        server_us: (SERVER_AHEAD_MS + at) * 1000,
                    },
                );
            }
        }
        let value = Event::FinalValue {
            resource: "r".to_owned(),
            write: record.last_write.clone(),
            highest: record.highest,
            jobs: std::collections::BTreeMap::new(),
        };
        record.lab(end, value);
        record.lab(end, Event::Sweep { left: Vec::new() });
        record.lab(end, Event::End { reason });
        record.lines
    }

    pub fn history(&self) -> History {
        History::from_lines(&self.plan, self.finished())
    }

    pub fn judge(&self, check: &str) -> Finding {
        judge(&self.history(), check)
    }
}

pub fn judge(history: &History, check: &str) -> Finding {
    let check = checks::find(check).unwrap_or_else(|| panic!("no check {check}"));
    check.judge(history)
}

/// The threads of worker a, standing still.
pub fn stopped_threads() -> Vec<ThreadLook> {
    (0..3)
        .map(|i| ThreadLook {
            pid: 100,
            start_ticks: 1000,
            tid: 100 + i,
            state: 'T',
            run_ns: 5_000_000 + i as u64,
            switches: 10 + i as u64,
        })
        .collect()
}

#[track_caller]
pub fn assert_holds(finding: &Finding) {
    let is_so = finding.outcome == checks::Outcome::Holds && !finding.vacuous;
    assert!(is_so, "{finding:#?}");
}

#[track_caller]
pub fn assert_vacuous(finding: &Finding) {
    let is_so = finding.outcome == checks::Outcome::Holds && finding.vacuous;
    assert!(is_so, "{finding:#?}");
}

#[track_caller]
pub fn assert_violated(finding: &Finding, by: &str) {
    let is_so = finding.outcome == checks::Outcome::Violated && finding.by.iter().any(|w| w == by);
    assert!(is_so, "by {by}: {finding:#?}");
    assert!(!finding.events.is_empty(), "{finding:#?}");
}

#[track_caller]
pub fn assert_unknown(finding: &Finding, because: &str) {
    let is_so = finding.outcome == checks::Outcome::Unknown && finding.why.contains(because);
    assert!(is_so, "because {because}: {finding:#?}");
}
