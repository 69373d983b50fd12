//! A record of as many lines as asked, written in the real format: workers take turns at the
//! lock, two at a time contending, with the server's stream, its clock and the store's log.

use lockdrill::ids::{FencingToken, GrantId, OwnerDigest};
use lockdrill::plan::{Class, LockPlan, MAIN_ARM, Plan, Step, StepAction, StorePlan, WorkerPlan};
use lockdrill::run::recorder::Recorder;
use lockdrill::store::Fence;
use lockdrill::timeline::event::{Answer, AttemptKind, By, Call, Change, Event, FORMAT, Outcome};
use lockdrill::timeline::names;
use std::io::{self, BufWriter, Write};
use std::path::Path;

const KEY: &str = "account";
const SERVER: &str = "redis";
const LEASE_MS: u64 = 1500;
const MS: u64 = 1_000_000;
/// The server's wall clock at lab time 0, milliseconds.
const EPOCH_MS: u64 = 1_795_999_724_000;
const WORKERS: [&str; 3] = ["a", "b", "c"];

/// Writes `plan.json` and `timeline.jsonl` into a folder and returns the plan.
pub fn write(dir: &Path, lines: u64, troubled: bool) -> io::Result<Plan> {
    let plan = plan();
    std::fs::write(dir.join("plan.json"), serde_json::to_vec(&plan)?)?;
    let file = std::fs::File::create(dir.join("timeline.jsonl"))?;
    let mut tape = Tape::new(BufWriter::new(file), troubled);
    tape.begin()?;
    while tape.lines + (tape.log.len() as u64) + 10 < lines {
        tape.round()?;
    }
    tape.end()?;
    Ok(plan)
}

fn plan() -> Plan {
    let enter = StepAction::Enter { wait_ms: 10_000 };
    let script = [
        enter,
        StepAction::Check,
        StepAction::Write,
        StepAction::Release,
    ];
    let script: Vec<Step> = names::number(script);
    let worker = |name: &str| WorkerPlan::new(name, script.clone());
    Plan {
        format: lockdrill::plan::FORMAT,
        drill: "long".to_owned(),
        arm: MAIN_ARM.to_owned(),
        summary: "many rounds".to_owned(),
        class: Class::Correctness,
        seed: 0,
        lock: LockPlan {
            backend: "redis".to_owned(),
            lease_ms: LEASE_MS,
            renew_ms: Some(500),
            flaw: None,
            key: KEY.to_owned(),
            persist: lockdrill::plan::Persist::None,
            renewal: lockdrill::plan::RunsOn::Own,
            copies: 0,
            backups: 0,
            voters: 0,
        },
        store: StorePlan {
            kind: "sqlite".to_owned(),
            fence: Fence::Atomic,
            seal: false,
            once: false,
            idempotent: false,
            condition: lockdrill::store::Condition::Atomic,
            reads: lockdrill::store::Reads::Open,
            outbox: false,
            resource: KEY.to_owned(),
        },
        network: lockdrill::plan::NetworkPlan::default(),
        workers: WORKERS.map(worker).into(),
        faults: Vec::new(),
        evidence: Vec::new(),
        required_checks: vec!["single_holder".to_owned(), "no_stale_write".to_owned()],
        optional_checks: Vec::new(),
        limit: None,
        control: None,
        controls: Vec::new(),
        patience_ms: 15_000,
        server: lockdrill::plan::ServerPlan::default(),
        recovery_bound_ms: 2000,
    }
}

struct Tape<W: Write> {
    out: Recorder<W>,
    lines: u64,
    /// Now, in lab time.
    at: u64,
    pos: u64,
    round: u64,
    ops: [u64; 3],
    attempts: [u64; 3],
    writes: [u64; 3],
    last_write: Option<String>,
    /// The store's log is read at the end.
    log: Vec<Event>,
    troubled: bool,
}

impl<W: Write> Tape<W> {
    fn new(out: W, troubled: bool) -> Self {
        Tape {
            out: Recorder::new(out),
            lines: 0,
            at: 0,
            pos: 0,
            round: 0,
            ops: [0; 3],
            attempts: [0; 3],
            writes: [0; 3],
            last_write: None,
            log: Vec::new(),
            troubled,
        }
    }

    fn say(&mut self, by: By, event: Event) -> io::Result<()> {
        self.at += 37_000;
        self.lines += 1;
        self.out.append(self.at, by, event).map(drop)
    }

    fn begin(&mut self) -> io::Result<()> {
        let text = |text: &str| text.to_owned();
        self.say(
            By::Lab,
            Event::Start {
                format: FORMAT,
                drill: text("long"),
                arm: text(MAIN_ARM),
                run: text("long"),
                isolation: text("guard"),
            },
        )?;
        let server = text(SERVER);
        self.say(By::Server(text(SERVER)), Event::ObserverSynced { server })?;
        for (pid, worker) in (10..).zip(WORKERS) {
            let worker = text(worker);
            let start_ticks = 1;
            self.say(
                By::Lab,
                Event::WorkerStarted {
                    worker,
                    pid,
                    start_ticks,
                },
            )?;
        }
        self.clock()
    }

    fn end(mut self) -> io::Result<()> {
        self.clock()?;
        for event in std::mem::take(&mut self.log) {
            self.say(By::Store, event)?;
        }
        let highest = Some(FencingToken(self.round));
        let (resource, write) = (KEY.to_owned(), self.last_write.clone());
        self.say(
            By::Store,
            Event::FinalValue {
                resource,
                write,
                highest,
                jobs: std::collections::BTreeMap::new(),
            },
        )?;
        let by = By::Server(SERVER.to_owned());
        let key = Event::FinalKey {
            server: SERVER.to_owned(),
            key: KEY.to_owned(),
            owner: None,
            remaining_ms: None,
            exists: false,
        };
        self.say(by, key)?;
        self.say(By::Lab, Event::Sweep { left: Vec::new() })?;
        let reason = "complete".to_owned();
        self.say(By::Lab, Event::End { reason })?;
        self.out.flush()
    }

    /// One worker enters, checks, renews, writes and releases, while the next asks in vain.
    fn round(&mut self) -> io::Result<()> {
        self.round += 1;
        let me = (self.round % 3) as usize;
        let rival = ((self.round + 1) % 3) as usize;
        self.point(me, "enter", "before")?;
        let enter = self.invoke(me, Some("enter"), Call::Enter { wait_ms: 10_000 })?;
        let (op, grant) = self.attempt(me)?;
        self.effect(Change::Counter {
            value: Some(self.round),
        })?;
        let owner = self.owner(me);
        self.set(owner)?;
        self.answer(me, op, self.granted(&grant))?;
        self.answer(me, enter, self.granted(&grant))?;
        self.point(me, "enter", "after")?;
        let (refused, _) = self.attempt(rival)?;
        self.say(
            worker(rival),
            Event::Return {
                op: refused,
                outcome: Outcome::Fail,
                answer: Answer::Busy,
            },
        )?;
        self.check(me, &grant)?;
        self.write(me, &grant)?;
        self.renew(me, &grant)?;
        self.write(me, &grant)?;
        self.check(me, &grant)?;
        self.release(me, &grant)?;
        if self.troubled {
            self.trouble(me, &grant)?;
        }
        if self.round.is_multiple_of(20) {
            self.clock()?;
        }
        Ok(())
    }

    /// Noise on the host, a renewal whose answer never came, and a loss told late.
    fn trouble(&mut self, me: usize, grant: &GrantId) -> io::Result<()> {
        let (from, to) = (self.at - 10_000, self.at);
        self.say(By::Lab, Event::Stall { from, to })?;
        if self.round.is_multiple_of(4) {
            let grant = grant.clone();
            self.invoke(me, None, Call::Renew { grant, auto: true })?;
        }
        if self.round.is_multiple_of(3) {
            let lost = Event::Lost {
                grant: grant.clone(),
                reason: "absent".to_owned(),
                deadline: self.at,
            };
            self.say(worker(me), lost)?;
        }
        Ok(())
    }

    fn clock(&mut self) -> io::Result<()> {
        let sample = Event::ClockSample {
            server: SERVER.to_owned(),
            before: self.at,
            after: self.at + 30_000,
            server_us: EPOCH_MS * 1000 + (self.at + 15_000) / 1000,
        };
        self.say(By::Server(SERVER.to_owned()), sample)
    }

    fn point(&mut self, me: usize, verb: &str, phase: &str) -> io::Result<()> {
        let point = format!("{}.{verb}.{}.{phase}", WORKERS[me], self.round / 3 + 1);
        self.say(
            worker(me),
            Event::Point {
                point,
                waits: false,
            },
        )
    }

    fn invoke(&mut self, me: usize, verb: Option<&str>, call: Call) -> io::Result<u64> {
        self.ops[me] += 1;
        let op = self.ops[me];
        let step = verb.map(|verb| format!("{verb}.{}", self.round / 3 + 1));
        self.say(worker(me), Event::Invoke { op, step, call })?;
        Ok(op)
    }

    fn answer(&mut self, me: usize, op: u64, answer: Answer) -> io::Result<()> {
        let outcome = Outcome::Ok;
        self.say(
            worker(me),
            Event::Return {
                op,
                outcome,
                answer,
            },
        )
    }

    fn attempt(&mut self, me: usize) -> io::Result<(u64, GrantId)> {
        self.attempts[me] += 1;
        let grant = GrantId(format!("{}.{}", WORKERS[me], self.attempts[me]));
        let owner = self.owner(me);
        let call = Call::Attempt {
            grant: grant.clone(),
            owner,
        };
        Ok((self.invoke(me, Some("enter"), call)?, grant))
    }

    /// Digest of the newest attempt's owner token.
    fn owner(&self, me: usize) -> OwnerDigest {
        let mixed = (self.attempts[me] * 3 + me as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        OwnerDigest(format!("{:012x}", mixed >> 16))
    }

    fn granted(&self, grant: &GrantId) -> Answer {
        Answer::Granted {
            grant: grant.clone(),
            fencing: Some(FencingToken(self.round)),
            lease_ms: LEASE_MS,
        }
    }

    fn until_ms(&self) -> Option<u64> {
        Some(EPOCH_MS + self.at / MS + LEASE_MS)
    }

    fn effect(&mut self, change: Change) -> io::Result<()> {
        let event = Event::Effect {
            server: SERVER.to_owned(),
            pos: self.pos,
            key: KEY.to_owned(),
            change,
        };
        self.pos += 1;
        self.say(By::Server(SERVER.to_owned()), event)
    }

    fn set(&mut self, owner: OwnerDigest) -> io::Result<()> {
        let (fencing, until_ms) = (Some(FencingToken(self.round)), self.until_ms());
        self.effect(Change::Set {
            owner,
            fencing,
            until_ms,
        })
    }

    fn check(&mut self, me: usize, grant: &GrantId) -> io::Result<()> {
        let grant = Some(grant.clone());
        let op = self.invoke(me, Some("check"), Call::Check { grant })?;
        self.answer(me, op, Answer::Locked { locked: true })
    }

    fn renew(&mut self, me: usize, grant: &GrantId) -> io::Result<()> {
        let grant = grant.clone();
        let op = self.invoke(me, None, Call::Renew { grant, auto: true })?;
        let until_ms = self.until_ms();
        self.effect(Change::Extended { until_ms })?;
        self.answer(me, op, Answer::Renewed)
    }

    fn release(&mut self, me: usize, grant: &GrantId) -> io::Result<()> {
        self.point(me, "release", "before")?;
        let grant = grant.clone();
        let op = self.invoke(me, Some("release"), Call::Release { grant })?;
        self.effect(Change::Deleted)?;
        self.answer(me, op, Answer::Released)?;
        self.point(me, "release", "after")
    }

    fn write(&mut self, me: usize, grant: &GrantId) -> io::Result<()> {
        self.point(me, "write", "before")?;
        self.writes[me] += 1;
        let write = format!("{}.write.{}", WORKERS[me], self.writes[me]);
        let (grant, fencing) = (Some(grant.clone()), Some(FencingToken(self.round)));
        let based_on = self.last_write.replace(write.clone());
        let call = Call::Write {
            write: write.clone(),
            based_on: based_on.clone(),
            grant: grant.clone(),
            fencing,
        };
        let op = self.invoke(me, Some("write"), call)?;
        self.point(me, "write", "armed")?;
        let attempt = Event::StoreAttempt {
            n: self.log.len() as u64 + 1,
            resource: KEY.to_owned(),
            kind: AttemptKind::Write,
            write,
            job: None,
            done_before: false,
            based_on,
            grant,
            fencing,
            accepted: true,
            highest: Some(FencingToken(self.round - 1)),
            applied: self.at + 1000,
        };
        self.log.push(attempt);
        self.answer(me, op, Answer::Accepted)
    }
}

fn worker(index: usize) -> By {
    By::Worker(WORKERS[index].to_owned())
}
