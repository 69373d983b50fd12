//! Second pass: what follows from all lines together. Clocks first, since times of grants need
//! them; then what the store and the workers did; then the server's effects.

use super::clock_map::{ClockMap, Sample};
use super::collect::RawEffect;
use super::seen::{Gap, Publication, StoreAttempt};
use super::sequence::Sequence;
use super::time::{Bounds, NEVER, Span, joined};
use super::{Defect, History, effects, forgotten};
use crate::timeline::event::{Call, ChildChange};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// An observer's line that it had lost its place.
#[derive(Debug, Clone)]
pub(super) struct GapLine {
    pub(super) seq: u64,
    pub(super) at: u64,
    pub(super) server: String,
    pub(super) why: String,
}

/// Runs the second pass.
pub(super) fn finish(
    mut history: History,
    effects: BTreeMap<String, Vec<RawEffect>>,
    samples: BTreeMap<String, Vec<Sample>>,
    gaps: Vec<GapLine>,
) -> History {
    history.operations.sort_by_key(|operation| operation.seq);
    history.phases.sort_by_key(|(seq, _, _)| *seq);
    for roles in history.roles.values_mut() {
        roles.sort_by_key(|role| (role.at, role.seq));
    }
    history.clocks = samples
        .into_iter()
        .map(|(server, samples)| (server, ClockMap::new(samples)))
        .collect();
    history.epsilon_ns = history
        .clocks
        .values()
        .map(ClockMap::epsilon_ns)
        .fold(history.epsilon_ns, u64::max);
    place_gaps(&mut history, &effects, gaps);
    stop_workers(&mut history);
    forgotten::read(&mut history, &effects);
    let logs = Logs {
        store: std::mem::take(&mut history.store),
        published: std::mem::take(&mut history.published),
        defects: Vec::new(),
    };
    let (logs, granted) = beside(
        history.operations.len() >= MANY,
        || logs.in_order(&history),
        || effects::derive_grants(&history, effects),
    );
    (history.store, history.published) = (logs.store, logs.published);
    history.defects.extend(logs.defects);
    for Defect { events, what } in granted.defects {
        note(&mut history, events, what);
    }
    (history.grants, history.grant_by_id) = (granted.grants, granted.by_id);
    history
}

/// From so many operations on, it pays to let two processors work.
const MANY: usize = 20_000;

/// Does two things that do not need each other; of a long record, side by side.
fn beside<A: Send, B>(
    many: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B,
) -> (A, B) {
    if !many {
        return (one(), other());
    }
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        match one.join() {
            Ok(one) => (one, other),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// A gap reaches from the last thing that the observer read to when it was in sync again.
fn place_gaps(
    history: &mut History,
    effects: &BTreeMap<String, Vec<RawEffect>>,
    gaps: Vec<GapLine>,
) {
    if gaps.is_empty() {
        return;
    }
    let read = latest_read(history, effects);
    for gap in gaps {
        let before = read.get(&gap.server).map_or(&[][..], Vec::as_slice);
        let upto = before.partition_point(|(seq, _)| *seq < gap.seq);
        let from = upto.checked_sub(1).map_or(0, |last| before[last].1);
        let observer = history.observers.entry(gap.server.clone()).or_default();
        let again = observer.synced.iter().filter(|(seq, _)| *seq > gap.seq);
        let to = again.map(|(_, at)| *at).min().unwrap_or(NEVER);
        observer.gaps.push(Gap {
            seq: gap.seq,
            within: Bounds::between(from.min(gap.at), to),
            why: gap.why,
        });
    }
}

/// Of each observer: the `seq` of every line that shows what it had read, with the latest lab
/// time of any up to there, ns.
fn latest_read(
    history: &History,
    effects: &BTreeMap<String, Vec<RawEffect>>,
) -> HashMap<String, Vec<(u64, u64)>> {
    let observers = history.observers.iter();
    let mut read: HashMap<String, Vec<(u64, u64)>> = observers
        .map(|(server, observer)| (server.clone(), observer.synced.clone()))
        .collect();
    for (server, effects) in effects {
        let lines = read.entry(server.clone()).or_default();
        lines.extend(effects.iter().map(|effect| (effect.seq, effect.at)));
    }
    for lines in read.values_mut() {
        lines.sort_unstable();
        let mut latest = 0;
        for (_, at) in lines {
            latest = latest.max(*at);
            *at = latest;
        }
    }
    read
}

/// The logs of the store and of the queue.
struct Logs {
    store: Vec<StoreAttempt>,
    published: Vec<Publication>,
    defects: Vec<Defect>,
}

impl Logs {
    /// Puts each into its own order and finds who made each entry.
    fn in_order(mut self, history: &History) -> Logs {
        self.store.sort_by_key(|attempt| (attempt.n, attempt.seq));
        let mut order = Sequence::new("entries of the store's log", 1);
        for attempt in &self.store {
            order.take(attempt.n);
        }
        self.defects.extend(order.defects());
        let names = history.workers.iter().enumerate();
        let names: HashMap<&str, usize> = names.map(|(i, worker)| (&*worker.name, i)).collect();
        let mut by_write: HashMap<&str, usize> = HashMap::default();
        by_write.reserve(self.store.len());
        for (index, operation) in history.operations.iter().enumerate() {
            if let Call::Write { write: id, .. } | Call::ReadUnder { read: id, .. } =
                &operation.call
            {
                by_write.insert(id, index);
            }
        }
        for attempt in &mut self.store {
            attempt.operation = by_write.get(&*attempt.write).copied();
            attempt.worker = writer(&attempt.write).and_then(|name| names.get(name).copied());
        }
        self.published.sort_by_key(|line| (line.n, line.seq));
        let mut order = Sequence::new("entries of the queue's log", 1);
        for line in &mut self.published {
            order.take(line.n);
            line.worker = writer(&line.publish).and_then(|name| names.get(name).copied());
        }
        self.defects.extend(order.defects());
        self
    }
}

/// The worker's name in front of `<worker>.write.<n>`, `<worker>.publish.<n>` and the like.
fn writer(write: &str) -> Option<&str> {
    let (front, _number) = write.rsplit_once('.')?;
    front.rsplit_once('.').map(|(worker, _verb)| worker)
}

/// When each worker was stopped, rather too long than too short.
fn stop_workers(history: &mut History) {
    let mut stopped: Vec<Vec<Span>> = vec![Vec::new(); history.workers.len()];
    for window in &history.faults {
        let (Some(worker), Some(onset)) = (window.worker, window.onsets.first()) else {
            continue;
        };
        let seen = window.looks.iter().any(|look| {
            !look.threads.is_empty() && look.threads.iter().all(|thread| thread.state == 'T')
        });
        if !seen {
            continue;
        }
        let until = window.heals.first().and_then(|heal| heal.removed);
        stopped[worker].extend(Span::new(onset.began, until.unwrap_or(NEVER)));
    }
    for (worker, spans) in history.workers.iter_mut().zip(stopped) {
        worker.signals.sort_by_key(|signal| signal.seq);
        worker.stopped = joined([spans, signalled(worker)].concat());
    }
}

/// The spans between the kernel's words `stopped` and `continued`.
fn signalled(worker: &super::Worker) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut since = None;
    for signal in &worker.signals {
        match signal.change {
            ChildChange::Stopped => {
                since.get_or_insert(signal.at);
            }
            ChildChange::Continued => {
                let from = since.take();
                spans.extend(from.and_then(|from| Span::new(from, signal.at)));
            }
        }
    }
    let died = worker
        .lives
        .iter()
        .filter_map(|life| life.exit)
        .map(|exit| exit.at)
        .max();
    spans.extend(since.and_then(|from| Span::new(from, died.unwrap_or(NEVER))));
    spans
}

/// Notes what is wrong with the record, a hundred times at most.
fn note(history: &mut History, events: Vec<u64>, what: String) {
    if history.defects.len() < 100 {
        history.defects.push(Defect { events, what });
    }
}
