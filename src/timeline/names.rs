//! The names of events: what a trigger, an `await` or a `hold until` may wait for.
//!
//! One catalogue, [`CATALOGUE`], from which `lockdrill list events` is generated; one function
//! for what a line satisfies, [`Namer::names_of`]; one for what a plan can ever produce,
//! [`possible`]. A name is `<worker or fault>.<what>`; it is satisfied by the first line that
//! yields it and stays satisfied.
//!
//! The trap: a `return` carries only its operation number, so what it means depends on the
//! `invoke` before it. [`Namer`] remembers; feed it every line of one arm, in order.

use crate::ids::GrantId;
use crate::plan::{FaultPlan, Plan, Service, Step, StepAction, Target, WorkerPlan};
use crate::timeline::event::{Answer, By, Call, Event, FrameFate, Line, Outcome};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One form of event name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventName {
    /// The form; `W` stands for a worker, `F` for a fault, `N` for a number from 1, `STEP` for
    /// the first word of a script step.
    pub pattern: &'static str,
    /// When it happens.
    pub meaning: &'static str,
}

/// Every form of event name.
pub const CATALOGUE: &[EventName] = &[
    EventName {
        pattern: "W.started",
        meaning: "the process of worker W exists",
    },
    EventName {
        pattern: "W.acquired",
        meaning: "W was told that it has the lock",
    },
    EventName {
        pattern: "W.acquired.N",
        meaning: "W was told so for the Nth time",
    },
    EventName {
        pattern: "W.lost",
        meaning: "the handle of W said that the lock is lost",
    },
    EventName {
        pattern: "W.released",
        meaning: "a release step of W returned: released, already lost, or unknown",
    },
    EventName {
        pattern: "W.write.accepted",
        meaning: "the store took a write of W",
    },
    EventName {
        pattern: "W.write.rejected",
        meaning: "the store refused a write of W",
    },
    EventName {
        pattern: "W.write.N.accepted",
        meaning: "the store took the Nth write of W",
    },
    EventName {
        pattern: "W.write.N.rejected",
        meaning: "the store refused the Nth write of W",
    },
    EventName {
        pattern: "W.STEP.N.before",
        meaning: "a point: W is about to begin its Nth step of this kind",
    },
    EventName {
        pattern: "W.acquire.N.armed",
        meaning: "a point: the last moment before the last command of the Nth attempt of W leaves",
    },
    EventName {
        pattern: "W.write.N.armed",
        meaning: "a point: the last moment before the Nth write of W changes the store",
    },
    EventName {
        pattern: "W.read.N.armed",
        meaning: "a point: the last moment before the Nth read step of W leaves for the store",
    },
    EventName {
        pattern: "W.publish.N.armed",
        meaning: "a point: the last moment before the Nth publish step of W changes the queue",
    },
    EventName {
        pattern: "W.relay.N.armed",
        meaning: "a point: the Nth relay step of W has published, and nothing is taken out of the outbox yet",
    },
    EventName {
        pattern: "W.STEP.N.after",
        meaning: "a point: W has ended its Nth step of this kind",
    },
    EventName {
        pattern: "W.exited",
        meaning: "the process of W is gone",
    },
    EventName {
        pattern: "F.onset",
        meaning: "fault F was injected and its effect was seen",
    },
    EventName {
        pattern: "F.held",
        meaning: "the request or reply that fault F chose is held, or was dropped",
    },
    EventName {
        pattern: "F.delivered",
        meaning: "what fault F held has been sent on",
    },
    EventName {
        pattern: "F.promoted",
        meaning: "after fault F of the lock server had begun, another server was seen to take writes",
    },
    EventName {
        pattern: "F.healed",
        meaning: "fault F was undone and its end was seen",
    },
];

/// The last words of a point's name.
pub const PHASES: &[&str] = &["before", "armed", "after"];

/// Whether a name is that of a point, `<worker>.<step>.<n>.<phase>`: a worker can be parked there.
pub fn is_point(name: &str) -> bool {
    let parts: Vec<&str> = name.split('.').collect();
    match parts.as_slice() {
        [_, _, number, phase] => number.parse::<u64>().is_ok() && PHASES.contains(phase),
        _ => false,
    }
}

/// Names the lines of one arm as they arrive.
#[derive(Debug, Clone, Default)]
pub struct Namer {
    /// What each open operation of a worker asked.
    open: HashMap<(String, u64), Asked>,
    /// The grants that each worker was told of, in order.
    grants: HashMap<String, Vec<GrantId>>,
    /// Faults of a server that have begun.
    struck: Vec<String>,
    roles: HashMap<String, bool>, // whether each of several servers took writes when last asked
}

/// What an operation asked, as far as names depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Asked {
    Lock,
    Write(String),
    Release,
}

impl Namer {
    /// A namer that has seen nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Every name that this line satisfies; often none. Lines of one worker must come in the
    /// order in which the worker wrote them.
    pub fn names_of(&mut self, line: &Line) -> Vec<String> {
        match &line.event {
            Event::WorkerStarted { worker, .. } => vec![format!("{worker}.started")],
            Event::WorkerExited { worker, .. } => vec![format!("{worker}.exited")],
            Event::Point { point, .. } if is_point(point) => vec![point.clone()],
            Event::FaultOnset { fault, server, .. } => self.onset(fault, server.is_some()),
            role @ Event::ServerRole { .. } => self.role(role),
            Event::Frame { fault, what, .. } => frame(fault, *what).into_iter().collect(),
            Event::FaultHeal {
                fault,
                removed: Some(_),
                ..
            } => vec![format!("{fault}.healed")],
            Event::Lost { .. } => lost(&line.by),
            Event::Invoke { op, step, call } => {
                self.invoked(&line.by, *op, step.as_deref(), call);
                Vec::new()
            }
            Event::Return {
                op,
                outcome,
                answer,
            } => self.returned(&line.by, *op, *outcome, answer),
            Event::Start { .. }
            | Event::Phase { .. }
            | Event::ServerStarted { .. }
            | Event::ServerGiven { .. }
            | Event::ServerExited { .. }
            | Event::ServerAsked { .. }
            | Event::EdgeOpened { .. }
            | Event::Probe { .. }
            | Event::ChildSignal { .. }
            | Event::WallClock { .. }
            | Event::AskedToEnd
            | Event::Copies { .. }
            | Event::Point { .. }
            | Event::Resumed { .. }
            | Event::Go { .. }
            | Event::FaultHeal { removed: None, .. }
            | Event::FaultNotInjected { .. }
            | Event::Look { .. }
            | Event::PatienceEnded { .. }
            | Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::Effect { .. }
            | Event::ClockSample { .. }
            | Event::StoreAttempt { .. }
            | Event::Published { .. }
            | Event::FinalQueue { .. }
            | Event::FinalValue { .. }
            | Event::FinalKey { .. }
            | Event::Stall { .. }
            | Event::Sweep { .. }
            | Event::Note { .. }
            | Event::End { .. } => Vec::new(),
        }
    }

    fn onset(&mut self, fault: &str, of_server: bool) -> Vec<String> {
        self.struck.extend(of_server.then(|| fault.to_owned()));
        vec![format!("{fault}.onset")]
    }

    /// A server that ruled before and tells of another number of links was not promoted.
    fn role(&mut self, role: &Event) -> Vec<String> {
        #[rustfmt::skip]
        let Event::ServerRole { server, primary, since, .. } = role else { return Vec::new() };
        let ruled = self.roles.insert(server.clone(), *primary) == Some(true);
        if ruled || !primary || since.is_none() {
            return Vec::new();
        }
        let struck = self.struck.iter();
        struck.map(|fault| format!("{fault}.promoted")).collect()
    }

    fn invoked(&mut self, by: &By, op: u64, step: Option<&str>, call: &Call) {
        let By::Worker(worker) = by else { return };
        let asked = match call {
            Call::Acquire | Call::Enter { .. } | Call::Attempt { .. } => Asked::Lock,
            Call::Write { write, .. } => Asked::Write(write.clone()),
            // The release of a dropped handle belongs to no step and is not the script's.
            Call::Release { .. } if step.is_some() => Asked::Release,
            Call::Release { .. }
            | Call::Renew { .. }
            | Call::Check { .. }
            | Call::Seal { .. }
            | Call::Read
            | Call::ReadUnder { .. }
            | Call::Publish { .. }
            | Call::Relay
            | Call::Refence
            | Call::Hold => return,
        };
        self.open.insert((worker.clone(), op), asked);
    }

    fn returned(&mut self, by: &By, op: u64, outcome: Outcome, answer: &Answer) -> Vec<String> {
        let By::Worker(worker) = by else {
            return Vec::new();
        };
        let Some(asked) = self.open.remove(&(worker.clone(), op)) else {
            return Vec::new();
        };
        match (asked, answer) {
            (Asked::Lock, Answer::Granted { grant, .. }) => self.granted(worker, grant),
            (Asked::Write(write), Answer::Accepted) => {
                vec![
                    format!("{worker}.write.accepted"),
                    format!("{write}.accepted"),
                ]
            }
            (Asked::Write(write), Answer::Rejected { .. }) => {
                vec![
                    format!("{worker}.write.rejected"),
                    format!("{write}.rejected"),
                ]
            }
            // A release that definitely did nothing is not a release.
            (Asked::Release, _) if outcome != Outcome::Fail || *answer == Answer::AlreadyLost => {
                vec![format!("{worker}.released")]
            }
            (Asked::Lock | Asked::Write(_) | Asked::Release, _) => Vec::new(),
        }
    }

    /// A grant is told by its attempt and again by the step around it; it counts once.
    fn granted(&mut self, worker: &str, grant: &GrantId) -> Vec<String> {
        let told = self.grants.entry(worker.to_owned()).or_default();
        if told.contains(grant) {
            return Vec::new();
        }
        told.push(grant.clone());
        let name = format!("{worker}.acquired");
        vec![name.clone(), format!("{name}.{}", told.len())]
    }
}

/// Every name that one arm can ever satisfy.
pub fn possible(plan: &Plan) -> BTreeSet<String> {
    possible_of(&plan.workers, &plan.faults)
}

/// Every name that these workers and faults can ever satisfy.
pub fn possible_of(workers: &[WorkerPlan], faults: &[FaultPlan]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for worker in workers {
        names.extend([
            format!("{}.started", worker.name),
            format!("{}.exited", worker.name),
        ]);
        let mut grants = 0;
        for step in &worker.script {
            grants += usize::from(step.action.takes_lock());
            names.insert(format!("{}.{}.before", worker.name, step.name));
            names.extend(yields(&worker.name, step, grants));
        }
    }
    for fault in faults {
        names.insert(format!("{}.onset", fault.name));
        if fault.target == Target::Server(Service::Lock) {
            names.insert(format!("{}.promoted", fault.name));
        }
        if fault.heal.is_some() {
            names.insert(format!("{}.healed", fault.name));
        }
        if fault.command.is_some() {
            names.insert(format!("{}.held", fault.name));
            names.insert(format!("{}.delivered", fault.name));
        }
    }
    names
}

/// What a step may satisfy from its beginning on, its `before` point aside. `grants` is the
/// number of grants that the script can have been told of by the end of the step.
pub fn yields(worker: &str, step: &Step, grants: usize) -> Vec<String> {
    let mut names = vec![format!("{worker}.{}.after", step.name)];
    match &step.action {
        StepAction::Acquire | StepAction::Enter { .. } => {
            if step.action == StepAction::Acquire {
                names.push(format!("{worker}.{}.armed", step.name));
            }
            names.extend([
                format!("{worker}.acquired"),
                format!("{worker}.acquired.{grants}"),
                format!("{worker}.lost"),
            ]);
        }
        StepAction::Write | StepAction::WriteAs { .. } => names.extend([
            format!("{worker}.{}.armed", step.name),
            format!("{worker}.write.accepted"),
            format!("{worker}.write.rejected"),
            format!("{worker}.{}.accepted", step.name),
            format!("{worker}.{}.rejected", step.name),
        ]),
        StepAction::Release => names.push(format!("{worker}.released")),
        StepAction::Read | StepAction::Publish { .. } | StepAction::Relay => {
            names.push(format!("{worker}.{}.armed", step.name));
        }
        StepAction::Check
        | StepAction::Refence
        | StepAction::Hold { .. }
        | StepAction::HoldUntil { .. }
        | StepAction::Burn { .. }
        | StepAction::Renew
        | StepAction::Await { .. }
        | StepAction::StopIfLost => {}
    }
    names
}

/// Numbers the steps of a script: `write.1`, `write.2`, each word by itself.
pub fn number(actions: impl IntoIterator<Item = StepAction>) -> Vec<Step> {
    let mut counts: BTreeMap<&'static str, u64> = BTreeMap::new();
    actions
        .into_iter()
        .map(|action| {
            let count = counts.entry(action.verb()).or_default();
            *count += 1;
            Step {
                name: format!("{}.{count}", action.verb()),
                action,
            }
        })
        .collect()
}

fn frame(fault: &str, what: FrameFate) -> Option<String> {
    match what {
        FrameFate::Held | FrameFate::Dropped => Some(format!("{fault}.held")),
        FrameFate::Delivered => Some(format!("{fault}.delivered")),
        FrameFate::Refused => None,
    }
}

fn lost(by: &By) -> Vec<String> {
    match by {
        By::Worker(worker) => vec![format!("{worker}.lost")],
        By::Lab | By::Server(_) | By::Store => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by_a(event: Event) -> Line {
        Line {
            seq: 0,
            at: 0,
            by: By::Worker("a".into()),
            event,
        }
    }

    fn invoke(op: u64, step: &str, call: Call) -> Line {
        by_a(Event::Invoke {
            op,
            step: Some(step.into()),
            call,
        })
    }

    fn returned(op: u64, outcome: Outcome, answer: Answer) -> Line {
        by_a(Event::Return {
            op,
            outcome,
            answer,
        })
    }

    fn granted(grant: &str) -> Answer {
        Answer::Granted {
            grant: GrantId(grant.into()),
            fencing: None,
            lease_ms: 1500,
        }
    }

    fn write(id: &str) -> Call {
        Call::Write {
            write: id.into(),
            based_on: None,
            grant: None,
            fencing: None,
        }
    }

    #[test]
    fn a_grant_told_by_attempt_and_step_counts_once() {
        let mut namer = Namer::new();
        assert!(
            namer
                .names_of(&invoke(1, "acquire.1", Call::Acquire))
                .is_empty()
        );
        let attempt = Call::Attempt {
            grant: GrantId("g1".into()),
            owner: crate::ids::OwnerDigest("d".into()),
        };
        namer.names_of(&invoke(2, "acquire.1", attempt));
        assert_eq!(
            namer.names_of(&returned(2, Outcome::Ok, granted("g1"))),
            ["a.acquired", "a.acquired.1"]
        );
        assert!(
            namer
                .names_of(&returned(1, Outcome::Ok, granted("g1")))
                .is_empty()
        );
        namer.names_of(&invoke(3, "acquire.2", Call::Acquire));
        assert_eq!(
            namer.names_of(&returned(3, Outcome::Ok, granted("g2"))),
            ["a.acquired", "a.acquired.2"]
        );
    }

    #[test]
    fn a_write_is_named_by_its_answer() {
        let mut namer = Namer::new();
        namer.names_of(&invoke(1, "write.1", write("a.write.1")));
        assert_eq!(
            namer.names_of(&returned(1, Outcome::Ok, Answer::Accepted)),
            ["a.write.accepted", "a.write.1.accepted"]
        );
        namer.names_of(&invoke(2, "write.2", write("a.write.2")));
        let refused = Answer::Rejected { highest: None };
        assert_eq!(
            namer.names_of(&returned(2, Outcome::Fail, refused)),
            ["a.write.rejected", "a.write.2.rejected"]
        );
    }

    #[test]
    fn an_accepted_seal_is_not_an_accepted_write() {
        let mut namer = Namer::new();
        let seal = Call::Seal {
            grant: GrantId("g1".into()),
            fencing: None,
        };
        namer.names_of(&invoke(1, "acquire.1", seal));
        assert!(
            namer
                .names_of(&returned(1, Outcome::Ok, Answer::Accepted))
                .is_empty()
        );
    }

    #[test]
    fn released_is_told_unless_nothing_was_done() {
        let cases = [
            (Outcome::Ok, Answer::Released, true),
            (Outcome::Ok, Answer::AlreadyLost, true),
            (Outcome::Fail, Answer::AlreadyLost, true),
            (
                Outcome::Info,
                Answer::Error {
                    message: "reply lost".into(),
                },
                true,
            ),
            (
                Outcome::Fail,
                Answer::Error {
                    message: "refused".into(),
                },
                false,
            ),
        ];
        for (outcome, answer, told) in cases {
            let mut namer = Namer::new();
            let release = Call::Release {
                grant: GrantId("g1".into()),
            };
            namer.names_of(&invoke(1, "release.1", release));
            let names = namer.names_of(&returned(1, outcome, answer.clone()));
            assert_eq!(names == ["a.released"], told, "{answer:?}");
        }
    }

    #[test]
    fn points_faults_and_processes_name_themselves() {
        let mut namer = Namer::new();
        let point = |name: &str| {
            by_a(Event::Point {
                point: name.into(),
                waits: true,
            })
        };
        assert_eq!(
            namer.names_of(&point("a.write.2.armed")),
            ["a.write.2.armed"]
        );
        assert!(namer.names_of(&point("a.start")).is_empty());
        let heal = |removed| Event::FaultHeal {
            fault: "nap".into(),
            cause: "b.acquired".into(),
            began: 1,
            removed,
        };
        assert_eq!(namer.names_of(&by_a(heal(Some(2)))), ["nap.healed"]);
        assert!(namer.names_of(&by_a(heal(None))).is_empty(), "not seen");
    }

    #[test]
    fn a_plan_yields_what_its_steps_yield_and_no_more() {
        let script = number([
            StepAction::Acquire,
            StepAction::Write,
            StepAction::Write,
            StepAction::Release,
        ]);
        let worker = WorkerPlan::new("a", script);
        let names = possible_of(&[worker], &[]);
        for name in [
            "a.started",
            "a.acquired",
            "a.acquired.1",
            "a.acquire.1.armed",
            "a.write.2.armed",
            "a.write.2.accepted",
            "a.released",
            "a.lost",
            "a.release.1.after",
        ] {
            assert!(names.contains(name), "{name}");
        }
        for name in [
            "a.acquired.2",
            "a.write.3.armed",
            "a.release.1.armed",
            "b.started",
        ] {
            assert!(!names.contains(name), "{name}");
        }
    }
}
