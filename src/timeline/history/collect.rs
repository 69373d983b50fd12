//! First pass: every line to its subject. Nothing is concluded here beyond pairing `invoke` with
//! `return`; the second pass (`derive`) reads the server's effects once all operations are known.
//!
//! The trap: lines arrive in the recorder's order, which proves nothing. A return may come before
//! its invoke on a damaged record, and a duplicated line must not count twice.

use super::clock_map::Sample;
use super::seen::{
    ChildSignal, Exited, FinalKey, FinalValue, Healed, Impatience, Life, Look, Loss, Observer,
    Onset, PointSeen, Stall, StoreAttempt,
};
use super::sequence::Sequence;
use super::time::Span;
use super::{Defect, History, Operation, Returned, blank, derive};
use crate::plan::Plan;
use crate::timeline::event::{Answer, By, Call, Change, Event, Line, Outcome};
use std::collections::{BTreeMap, HashMap};

/// One effect as it was recorded.
#[derive(Debug, Clone)]
pub(super) struct RawEffect {
    pub(super) seq: u64,
    pub(super) at: u64,
    pub(super) server: String,
    pub(super) pos: u64,
    pub(super) key: String,
    pub(super) change: Change,
}

/// Where a line stands.
#[derive(Debug, Clone)]
struct Stamp {
    seq: u64,
    at: u64,
    by: By,
}

/// Takes lines, one at a time; see [`History::collector`].
pub struct Collector<'a> {
    plan: &'a Plan,
    history: History,
    lines: Sequence,
    names: HashMap<String, usize>,
    faults: HashMap<String, usize>,
    /// (worker, operation number) → index of the newest such operation.
    open: HashMap<(usize, u64), usize>,
    /// Returns whose invoke has not come.
    orphans: HashMap<(usize, u64), Returned>,
    effects: Vec<RawEffect>,
    samples: BTreeMap<String, Vec<Sample>>,
    /// `seq` of each observer gap → lab time of the line.
    gap_lines: Vec<derive::GapLine>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let history = blank(plan);
        let names = history.workers.iter().enumerate();
        let names = names.map(|(i, worker)| (worker.name.clone(), i)).collect();
        let faults = history.faults.iter().enumerate();
        let faults = faults.map(|(i, fault)| (fault.fault.clone(), i)).collect();
        Collector {
            plan,
            history,
            lines: Sequence::new("lines", 0),
            names,
            faults,
            open: HashMap::new(),
            orphans: HashMap::new(),
            effects: Vec::new(),
            samples: BTreeMap::new(),
            gap_lines: Vec::new(),
        }
    }

    /// Takes one line.
    pub fn push(&mut self, line: Line) {
        let Line { seq, at, by, event } = line;
        if !self.lines.take(seq) {
            return;
        }
        self.history.last_at = self.history.last_at.max(at);
        if let Some((end, _, _)) = &self.history.end
            && seq > *end
        {
            let what = format!("line {seq} comes after the last line, {end}");
            self.defect(vec![*end, seq], what);
        }
        let stamp = Stamp { seq, at, by };
        match &event {
            Event::Start { .. } | Event::Phase { .. } | Event::End { .. } => {
                self.frame(&stamp, event);
            }
            Event::WorkerStarted { .. }
            | Event::WorkerExited { .. }
            | Event::ChildSignal { .. } => self.process(&stamp, event),
            Event::Invoke { .. } | Event::Return { .. } => self.operation(&stamp, event),
            Event::Lost { .. } | Event::Point { .. } | Event::Resumed { .. } | Event::Go { .. } => {
                self.worker_said(&stamp, event);
            }
            Event::FaultOnset { .. }
            | Event::FaultHeal { .. }
            | Event::FaultNotInjected { .. }
            | Event::Look { .. } => self.fault(&stamp, event),
            Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::Effect { .. }
            | Event::ClockSample { .. }
            | Event::FinalKey { .. } => self.server(&stamp, event),
            Event::StoreAttempt { .. } | Event::FinalValue { .. } => self.store(&stamp, event),
            Event::PatienceEnded { .. } | Event::Stall { .. } | Event::Sweep { .. } => {
                self.host(&stamp, event);
            }
            Event::Note { .. } => {}
        }
    }

    /// Ends the first pass and runs the second.
    pub fn finish(mut self) -> History {
        self.history.defects.extend(self.lines.defects());
        let mut unpaired: Vec<u64> = self.orphans.values().map(|ret| ret.seq).collect();
        unpaired.sort_unstable();
        if let Some(first) = unpaired.first() {
            let what = format!(
                "{} returns without an invoke, the first at line {first}",
                unpaired.len()
            );
            unpaired.truncate(5);
            self.defect(unpaired, what);
        }
        if self.history.started.is_none() {
            self.defect(Vec::new(), "the record has no first line".to_owned());
        }
        derive::finish(self.history, self.effects, self.samples, self.gap_lines)
    }

    fn defect(&mut self, events: Vec<u64>, what: String) {
        if self.history.defects.len() < 100 {
            self.history.defects.push(Defect { events, what });
        }
    }

    fn worker(&mut self, name: String) -> usize {
        if let Some(index) = self.names.get(&name) {
            return *index;
        }
        let index = self.history.workers.len();
        self.history.workers.push(super::Worker {
            name: name.clone(),
            ..super::Worker::default()
        });
        self.names.insert(name, index);
        index
    }

    /// The worker that says so; none, and a defect, if it is not a worker.
    fn speaker(&mut self, stamp: &Stamp) -> Option<usize> {
        match &stamp.by {
            By::Worker(name) => Some(self.worker(name.clone())),
            By::Lab | By::Server(_) | By::Store => {
                let what = format!("line {} is a worker's but none said it", stamp.seq);
                self.defect(vec![stamp.seq], what);
                None
            }
        }
    }

    fn frame(&mut self, stamp: &Stamp, event: Event) {
        match event {
            Event::Start { drill, arm, .. } => {
                if (drill.as_str(), arm.as_str()) != (&*self.plan.drill, &*self.plan.arm) {
                    let what = "the record is of another drill or arm than the plan".to_owned();
                    self.defect(vec![stamp.seq], what);
                }
                if self.history.started.replace(stamp.seq).is_some() || stamp.seq != 0 {
                    let what = format!("line {} begins a record a second time", stamp.seq);
                    self.defect(vec![stamp.seq], what);
                }
            }
            Event::Phase { name } => self.history.phases.push((stamp.seq, stamp.at, name)),
            Event::End { reason } => {
                if self.history.end.is_none() {
                    self.history.end = Some((stamp.seq, stamp.at, reason));
                }
            }
            _other => {}
        }
    }

    fn process(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::WorkerStarted {
                worker,
                pid,
                start_ticks,
            } => {
                let index = self.worker(worker);
                self.history.workers[index].lives.push(Life {
                    seq,
                    started: at,
                    pid,
                    start_ticks,
                    exit: None,
                });
            }
            Event::WorkerExited {
                worker,
                code,
                signal,
            } => {
                let index = self.worker(worker);
                let lives = &mut self.history.workers[index].lives;
                match lives.iter_mut().find(|life| life.exit.is_none()) {
                    Some(life) => {
                        life.exit = Some(Exited {
                            seq,
                            at,
                            code,
                            signal,
                        });
                    }
                    None => self.defect(vec![seq], format!("line {seq}: nobody was there to exit")),
                }
            }
            Event::ChildSignal { worker, change } => {
                let index = self.worker(worker);
                let signals = &mut self.history.workers[index].signals;
                signals.push(ChildSignal { seq, at, change });
            }
            _other => {}
        }
    }

    fn operation(&mut self, stamp: &Stamp, event: Event) {
        let Some(worker) = self.speaker(stamp) else {
            return;
        };
        match event {
            Event::Invoke { op, step, call } => self.invoke(stamp, (worker, op), step, call),
            Event::Return {
                op,
                outcome,
                answer,
            } => self.returned(stamp, (worker, op), outcome, answer),
            _other => {}
        }
    }

    fn invoke(&mut self, stamp: &Stamp, id: (usize, u64), step: Option<String>, call: Call) {
        let index = self.history.operations.len();
        let (worker, op) = id;
        self.history.operations.push(Operation {
            worker,
            op,
            step,
            call,
            seq: stamp.seq,
            invoked: stamp.at,
            returned: self.orphans.remove(&id),
        });
        if let Some(earlier) = self.open.insert(id, index)
            && self.history.workers[worker].lives.len() < 2
        {
            let events = vec![self.history.operations[earlier].seq, stamp.seq];
            let name = self.history.worker_name(worker);
            let what = format!("{name} numbered two operations {op}");
            self.defect(events, what);
        }
    }

    fn returned(&mut self, stamp: &Stamp, id: (usize, u64), outcome: Outcome, answer: Answer) {
        let returned = Returned {
            seq: stamp.seq,
            at: stamp.at,
            outcome,
            answer,
        };
        let Some(index) = self.open.get(&id) else {
            self.orphans.insert(id, returned);
            return;
        };
        let operation = &mut self.history.operations[*index];
        let invoked = operation.seq;
        let wrong = if operation.returned.is_some() {
            "returned twice"
        } else if stamp.at < operation.invoked {
            "returned before it was invoked"
        } else {
            operation.returned = Some(returned);
            return;
        };
        let name = self.history.worker_name(id.0);
        let what = format!("operation {} of {name} {wrong}", id.1);
        self.defect(vec![invoked, stamp.seq], what);
    }

    fn worker_said(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        if let Event::Go { worker, point } = event {
            let worker = self.worker(worker);
            self.history.gos.push(PointSeen {
                seq,
                at,
                worker,
                point,
                waits: false,
            });
            return;
        }
        let Some(worker) = self.speaker(stamp) else {
            return;
        };
        match event {
            Event::Lost {
                grant,
                reason,
                deadline,
            } => self.history.losses.push(Loss {
                seq,
                at,
                worker,
                grant,
                reason,
                deadline,
            }),
            Event::Point { point, waits } => self.history.points.push(PointSeen {
                seq,
                at,
                worker,
                point,
                waits,
            }),
            Event::Resumed { point } => self.history.resumed.push(PointSeen {
                seq,
                at,
                worker,
                point,
                waits: false,
            }),
            _other => {}
        }
    }

    fn fault(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        let name = match &event {
            Event::FaultOnset { fault, .. }
            | Event::FaultHeal { fault, .. }
            | Event::FaultNotInjected { fault, .. }
            | Event::Look { fault, .. } => fault.clone(),
            _other => return,
        };
        let Some(index) = self.faults.get(&name).copied() else {
            self.defect(
                vec![seq],
                format!("line {seq}: the plan has no fault `{name}`"),
            );
            return;
        };
        match event {
            Event::FaultOnset {
                worker,
                grant,
                trigger,
                began,
                effective,
                ..
            } => {
                let worker = worker.map(|name| self.worker(name));
                let window = &mut self.history.faults[index];
                if window.onsets.is_empty() {
                    window.worker = worker;
                    window.grant = grant;
                }
                window.onsets.push(Onset {
                    seq,
                    began,
                    effective,
                    trigger,
                });
            }
            Event::FaultHeal {
                cause,
                began,
                removed,
                ..
            } => self.history.faults[index].heals.push(Healed {
                seq,
                cause,
                began,
                removed,
            }),
            Event::FaultNotInjected { why, .. } => {
                self.history.faults[index].not_injected = Some((seq, why));
            }
            Event::Look {
                moment, threads, ..
            } => self.history.faults[index].looks.push(Look {
                seq,
                at,
                moment,
                threads,
            }),
            _other => {}
        }
    }

    fn server(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::ObserverSynced { server } => {
                self.observer(server).synced.push((seq, at));
            }
            Event::ObserverGap { server, why } => {
                self.gap_lines.push(derive::GapLine {
                    seq,
                    at,
                    server,
                    why,
                });
            }
            Event::Effect {
                server,
                pos,
                key,
                change,
            } => self.effects.push(RawEffect {
                seq,
                at,
                server,
                pos,
                key,
                change,
            }),
            Event::ClockSample {
                server,
                before,
                after,
                server_us,
            } => self.samples.entry(server).or_default().push(Sample {
                seq,
                before,
                after,
                server_us,
            }),
            Event::FinalKey {
                server,
                key,
                owner,
                remaining_ms,
                exists,
            } => self.history.final_keys.push(FinalKey {
                seq,
                at,
                server,
                key,
                owner,
                remaining_ms,
                exists,
            }),
            _other => {}
        }
    }

    fn observer(&mut self, server: String) -> &mut Observer {
        self.history.observers.entry(server).or_default()
    }

    fn store(&mut self, stamp: &Stamp, event: Event) {
        let seq = stamp.seq;
        match event {
            Event::StoreAttempt {
                n,
                resource,
                kind,
                write,
                based_on,
                grant,
                fencing,
                accepted,
                highest,
                applied,
            } => self.history.store.push(StoreAttempt {
                seq,
                n,
                resource,
                kind,
                write,
                worker: None,
                operation: None,
                based_on,
                grant,
                fencing,
                accepted,
                highest,
                applied,
            }),
            Event::FinalValue {
                resource,
                write,
                highest,
            } => self.history.final_values.push(FinalValue {
                seq,
                resource,
                write,
                highest,
            }),
            _other => {}
        }
    }

    fn host(&mut self, stamp: &Stamp, event: Event) {
        let (seq, at) = (stamp.seq, stamp.at);
        match event {
            Event::PatienceEnded { awaited, by } => self.history.impatience.push(Impatience {
                seq,
                at,
                awaited,
                by,
            }),
            Event::Stall { from, to } => {
                if let Some(span) = Span::new(from, to) {
                    self.history.stalls.push(Stall { seq, span });
                }
            }
            Event::Sweep { left } => self.history.sweep = Some((seq, left)),
            _other => {}
        }
    }
}
