//! Builds a timeline line by line, at literal times in milliseconds.

use lockdrill::ids::{FencingToken, GrantId, OwnerDigest};
use lockdrill::timeline::event::{
    Answer, AttemptKind, By, Call, Change, Event, FORMAT, Line, Outcome,
};
use std::collections::HashMap;

/// The server's wall clock at lab time 0, milliseconds since the Unix epoch.
const WALL_MS: u64 = 1_790_000_000_000;

/// A timeline in the making.
#[derive(Default)]
pub struct Tape {
    lines: Vec<Line>,
    ops: HashMap<String, u64>,
    positions: u64,
    attempts: u64,
}

/// Milliseconds to lab time.
pub const fn ms(at: u64) -> u64 {
    at * 1_000_000
}

impl Tape {
    pub fn start(drill: &str, arm: &str, run: &str) -> Self {
        let mut tape = Tape::default();
        tape.lab(
            0,
            Event::Start {
                format: FORMAT,
                drill: drill.to_owned(),
                arm: arm.to_owned(),
                run: run.to_owned(),
                isolation: "guard".to_owned(),
            },
        );
        tape.lab(1, phase("servers"));
        tape.lab(
            180,
            Event::ObserverSynced {
                server: "redis".into(),
            },
        );
        tape.lab(190, phase("workers"));
        for (n, worker) in ["a", "b"].into_iter().enumerate() {
            let event = Event::WorkerStarted {
                worker: worker.to_owned(),
                pid: 4200 + n as i32,
                start_ticks: 99_000 + n as u64,
            };
            tape.lab(200 + n as u64, event);
        }
        tape.lab(400, phase("drill"));
        tape
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

    /// Lines so far.
    pub fn len(&self) -> u64 {
        self.lines.len() as u64
    }

    pub fn lab(&mut self, at: u64, event: Event) -> u64 {
        self.push(ms(at), By::Lab, event)
    }

    pub fn worker(&mut self, at: u64, worker: &str, event: Event) -> u64 {
        self.push(ms(at), By::Worker(worker.to_owned()), event)
    }

    /// `invoke`; answers its operation number.
    pub fn invoke(&mut self, at: u64, worker: &str, step: Option<&str>, call: Call) -> (u64, u64) {
        let next = self.ops.entry(worker.to_owned()).or_default();
        *next += 1;
        let op = *next;
        let step = step.map(str::to_owned);
        (
            op,
            self.worker(at, worker, Event::Invoke { op, step, call }),
        )
    }

    pub fn ret(&mut self, at: u64, worker: &str, op: u64, outcome: Outcome, answer: Answer) -> u64 {
        self.worker(
            at,
            worker,
            Event::Return {
                op,
                outcome,
                answer,
            },
        )
    }

    /// A whole operation; answers the `seq` of its two lines.
    pub fn op(
        &mut self,
        span: (u64, u64),
        worker: &str,
        step: Option<&str>,
        call: Call,
        (outcome, answer): (Outcome, Answer),
    ) -> [u64; 2] {
        let (op, invoke) = self.invoke(span.0, worker, step, call);
        [invoke, self.ret(span.1, worker, op, outcome, answer)]
    }

    pub fn clock(&mut self, at: u64) {
        self.lab(
            at,
            Event::ClockSample {
                server: "redis".into(),
                before: ms(at) - 80_000,
                after: ms(at),
                server_us: (WALL_MS + at) * 1000 - 40,
            },
        );
    }

    pub fn effect(&mut self, at: u64, change: Change) -> u64 {
        let pos = self.positions;
        self.positions += 1;
        self.push(
            ms(at) + 300_000,
            By::Server("redis".into()),
            Event::Effect {
                server: "redis".into(),
                pos,
                key: "orders".into(),
                change,
            },
        )
    }

    /// A grant by the server with its counter.
    pub fn set(&mut self, at: u64, worker: &str, token: u64, lease: u64) -> u64 {
        let seq = self.effect(
            at,
            Change::Set {
                owner: owner(worker, token),
                fencing: Some(FencingToken(token)),
                until_ms: Some(WALL_MS + at + lease),
            },
        );
        self.effect(at, Change::Counter { value: Some(token) });
        seq
    }

    pub fn extend(&mut self, at: u64, lease: u64) -> u64 {
        self.effect(
            at,
            Change::Extended {
                until_ms: Some(WALL_MS + at + lease),
            },
        )
    }

    /// A renewal that worked.
    pub fn renew(&mut self, at: u64, worker: &str, token: u64, lease: u64) {
        let call = Call::Renew {
            grant: grant(worker, token),
            auto: true,
        };
        let (op, _) = self.invoke(at, worker, None, call);
        self.extend(at + 1, lease);
        self.ret(at + 2, worker, op, Outcome::Ok, Answer::Renewed);
    }

    /// A write as the worker asks it: operation number and `seq`.
    pub fn ask_write(&mut self, at: u64, write: &Write<'_>) -> (u64, u64) {
        let call = Call::Write {
            write: format!("{}.write.{}", write.worker, write.n),
            based_on: write.based_on.map(str::to_owned),
            grant: Some(grant(write.worker, write.token)),
            fencing: Some(FencingToken(write.token)),
        };
        self.invoke(at, write.worker, Some(&format!("write.{}", write.n)), call)
    }

    /// The same in the store's log.
    pub fn store(
        &mut self,
        at: u64,
        write: &Write<'_>,
        accepted: bool,
        highest: Option<u64>,
    ) -> u64 {
        self.attempts += 1;
        let n = self.attempts;
        self.push(
            ms(at),
            By::Store,
            Event::StoreAttempt {
                n,
                resource: "orders".into(),
                kind: AttemptKind::Write,
                write: format!("{}.write.{}", write.worker, write.n),
                based_on: write.based_on.map(str::to_owned),
                grant: Some(grant(write.worker, write.token)),
                fencing: Some(FencingToken(write.token)),
                job: None,
                accepted,
                done_before: false,
                highest: highest.map(FencingToken),
                applied: ms(at),
            },
        )
    }

    /// A write that the store takes at once.
    pub fn write(&mut self, at: u64, write: &Write<'_>, highest: Option<u64>) -> u64 {
        let (op, _) = self.ask_write(at, write);
        let seq = self.store(at + 2, write, true, highest);
        self.ret(at + 3, write.worker, op, Outcome::Ok, Answer::Accepted);
        seq
    }

    pub fn finish(mut self, at: u64, standing: &str, highest: u64) -> Vec<Line> {
        self.lab(at, phase("collect"));
        self.lab(
            at + 5,
            Event::FinalValue {
                resource: "orders".into(),
                write: Some(standing.to_owned()),
                highest: Some(FencingToken(highest)),
                jobs: std::collections::BTreeMap::new(),
            },
        );
        self.lab(
            at + 6,
            Event::FinalKey {
                server: "redis".into(),
                key: "orders".into(),
                owner: None,
                remaining_ms: None,
                exists: false,
            },
        );
        self.lab(at + 30, Event::Sweep { left: Vec::new() });
        self.lab(
            at + 31,
            Event::End {
                reason: "complete".into(),
            },
        );
        self.lines
    }
}

/// One write of one worker under one fencing token.
pub struct Write<'a> {
    pub worker: &'a str,
    pub n: u64,
    pub token: u64,
    pub based_on: Option<&'a str>,
}

pub fn phase(name: &str) -> Event {
    Event::Phase {
        name: name.to_owned(),
    }
}

pub fn grant(worker: &str, token: u64) -> GrantId {
    GrantId(format!("{worker}-{token:04}"))
}

pub fn owner(worker: &str, token: u64) -> OwnerDigest {
    OwnerDigest::of(format!("{worker}{token}").as_bytes())
}
