//! First pass: every line to its subject. Nothing is concluded here beyond pairing `invoke` with
//! `return`; the second pass (`derive`) reads the server's effects once all operations are known.
//!
//! The trap: lines arrive in the recorder's order, which proves nothing. A return may come before
//! its invoke on a damaged record, and a duplicated line must not count twice.

use super::clock_map::Sample;
use super::sequence::Sequence;
use super::{Defect, History, Returned, blank, derive};
use crate::plan::Plan;
use crate::timeline::event::{By, Change, Event, Line};
use foldhash::HashMap;
use numbers::Numbers;
use std::collections::BTreeMap;

mod faults;
mod numbers;
mod operations;
mod processes;
mod sightings;

/// One effect of a server as it was recorded.
#[derive(Debug, Clone)]
pub(super) struct RawEffect {
    pub(super) seq: u64,
    pub(super) at: u64,
    pub(super) pos: u64,
    pub(super) key: String,
    pub(super) change: Change,
}

/// Most records have no more workers.
const FEW: usize = 4;

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
    /// Of each worker: operation number → index of the newest such operation.
    numbers: Vec<Numbers>,
    /// Returns whose invoke has not come.
    orphans: HashMap<(usize, u64), Returned>,
    effects: BTreeMap<String, Vec<RawEffect>>,
    samples: BTreeMap<String, Vec<Sample>>,
    /// `seq` of each observer gap → lab time of the line.
    gap_lines: Vec<derive::GapLine>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        let history = blank(plan);
        let names = history.workers.iter().enumerate();
        let names = names.map(|(i, worker)| (worker.name.clone(), i)).collect();
        let numbers = history.workers.iter().map(|_| Numbers::default()).collect();
        let faults = history.faults.iter().enumerate();
        let faults = faults.map(|(i, fault)| (fault.fault.clone(), i)).collect();
        Collector {
            plan,
            history,
            lines: Sequence::new("lines", 0),
            names,
            faults,
            numbers,
            orphans: HashMap::default(),
            effects: BTreeMap::new(),
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
        self.sort(&stamp, event);
    }

    /// To its subject. The commonest are unpacked here: each handing on copies the whole event.
    #[inline(always)]
    fn sort(&mut self, stamp: &Stamp, event: Event) {
        match event {
            Event::Invoke { op, step, call } => {
                if let Some(worker) = self.speaker(stamp) {
                    self.invoke(stamp, (worker, op), step, call);
                }
            }
            Event::Return {
                op,
                outcome,
                answer,
            } => {
                if let Some(worker) = self.speaker(stamp) {
                    self.returned(stamp, (worker, op), outcome, answer);
                }
            }
            Event::Start { .. } | Event::Phase { .. } | Event::End { .. } => {
                self.frame(stamp, event);
            }
            Event::WorkerStarted { .. }
            | Event::WorkerExited { .. }
            | Event::ServerStarted { .. }
            | Event::ServerExited { .. }
            | Event::ChildSignal { .. } => self.process(stamp, event),
            Event::Lost { .. }
            | Event::WallClock { .. }
            | Event::AskedToEnd
            | Event::Copies { .. }
            | Event::Point { .. }
            | Event::Resumed { .. }
            | Event::Go { .. } => {
                self.worker_said(stamp, event);
            }
            Event::FaultOnset { .. }
            | Event::FaultHeal { .. }
            | Event::FaultNotInjected { .. }
            | Event::ServerAsked { .. }
            | Event::Probe { .. }
            | Event::Frame { .. }
            | Event::Look { .. } => self.fault(stamp, event),
            Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::ServerRole { .. }
            | Event::Effect { .. }
            | Event::ClockSample { .. }
            | Event::FinalKey { .. } => self.server(stamp, event),
            Event::StoreAttempt { .. } | Event::FinalValue { .. } => self.store(stamp, event),
            Event::Published { .. } | Event::FinalQueue { .. } => self.queue(stamp, event),
            Event::PatienceEnded { .. } | Event::Stall { .. } | Event::Sweep { .. } => {
                self.host(stamp, event);
            }
            Event::EdgeOpened { .. } | Event::ServerGiven { .. } | Event::Note { .. } => {}
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

    fn worker(&mut self, name: &str) -> usize {
        // To compare with the first few names takes less than to hash one.
        let mut first = self.history.workers.iter().take(FEW);
        if let Some(index) = first.position(|worker| worker.name == name) {
            return index;
        }
        if let Some(index) = self.names.get(name) {
            return *index;
        }
        let index = self.history.workers.len();
        self.history.workers.push(super::Worker {
            name: name.to_owned(),
            ..super::Worker::default()
        });
        self.names.insert(name.to_owned(), index);
        self.numbers.push(Numbers::default());
        index
    }

    /// The worker that says so; none, and a defect, if it is not a worker.
    fn speaker(&mut self, stamp: &Stamp) -> Option<usize> {
        match &stamp.by {
            By::Worker(name) => Some(self.worker(name)),
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
                let end = &mut self.history.end;
                end.get_or_insert((stamp.seq, stamp.at, reason));
            }
            _other => {}
        }
    }
}
