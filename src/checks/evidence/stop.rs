//! Proof that a process group stood still from onset to heal.
//!
//! A state letter at two moments does not show that nothing ran in between: the scheduler's run
//! time and the count of switches do, for every thread, and the set of threads must be the same.
//! Where the worker was parked at a point, the byte that lets it go on must have been written while
//! it was stopped, so that only the heal can have let it run.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::FaultPlan;
use crate::timeline::event::{ChildChange, ThreadLook};
use crate::timeline::history::{FaultWindow, Healed, History, Life, Look, Onset};

/// Requires everything that shows the stop.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let (Some(onset), Some(heal)) = (window.onsets.first(), window.heals.first()) else {
        return;
    };
    let case = Case {
        history,
        plan,
        window,
        onset,
        heal,
    };
    match (window.worker, &window.server) {
        (Some(worker), _) => {
            let parked = case.parked(worker);
            let go = case.go((worker, parked), proof);
            let moments: &[&str] = match parked {
                Some(_) => &["stopped", "go", "heal"],
                None => &["stopped", "heal"],
            };
            let lives = &history.workers[worker].lives;
            case.stood_still(moments, (history.worker_name(worker), lives), proof);
            case.go_while_stopped(go, proof);
            case.signals(worker, proof);
        }
        (None, Some(server)) => {
            let lives = history.servers.get(server).map_or(&[][..], Vec::as_slice);
            case.stood_still(&["stopped", "heal"], (server, lives), proof);
        }
        (None, None) => proof.lacks(format!("{} stopped nobody", plan.name)),
    }
}

/// One stop and what is to show it.
pub(super) struct Case<'a> {
    pub(super) history: &'a History,
    pub(super) plan: &'a FaultPlan,
    pub(super) window: &'a FaultWindow,
    pub(super) onset: &'a Onset,
    pub(super) heal: &'a Healed,
}

impl Case<'_> {
    /// The looks of these moments show one process group that stands still.
    fn stood_still(&self, moments: &[&str], (who, lives): (&str, &[Life]), proof: &mut Proof) {
        let mut looks = Vec::new();
        for moment in moments {
            match self.window.look(moment) {
                Some(look) => looks.push(look),
                None => proof.lacks(format!(
                    "{}: nobody looked at the moment `{moment}` whether every thread stood still",
                    self.plan.name
                )),
            }
        }
        self.still(&looks, proof);
        self.same_process(&looks, (who, lives), proof);
    }

    /// Every thread is stopped in every look, and none ran between the first and the last.
    fn still(&self, looks: &[&Look], proof: &mut Proof) {
        let name = &self.plan.name;
        for look in looks {
            proof.events.push(look.seq);
            proof.require(!look.threads.is_empty(), || {
                format!("{name}: nobody was seen at the moment `{}`", look.moment)
            });
            if let Some(thread) = look.threads.iter().find(|thread| thread.state != 'T') {
                proof.lacks(format!(
                    "{name}: thread {} of process {} was in state {} at the moment `{}`",
                    thread.tid, thread.pid, thread.state, look.moment
                ));
            }
        }
        for pair in looks.windows(2) {
            let [first, second] = pair else {
                continue;
            };
            proof.require(first.at <= second.at, || {
                format!(
                    "{name}: the look `{}` came after `{}`",
                    first.moment, second.moment
                )
            });
            self.unchanged(first, second, proof);
        }
        let placed = looks
            .iter()
            .all(|look| look.moment != "stopped" || look.at >= self.onset.began)
            && looks
                .iter()
                .all(|look| look.at <= self.heal.removed.unwrap_or(u64::MAX));
        proof.require(placed, || {
            format!("{name}: its looks lie outside its window")
        });
    }

    fn unchanged(&self, first: &Look, second: &Look, proof: &mut Proof) {
        let name = &self.plan.name;
        let (first_threads, second_threads) = (sorted(&first.threads), sorted(&second.threads));
        let same = first_threads.len() == second_threads.len()
            && first_threads
                .iter()
                .zip(&second_threads)
                .all(|(a, b)| identity(a) == identity(b));
        if !same {
            proof.lacks(format!(
                "{name}: the threads seen at `{}` and `{}` are not the same",
                first.moment, second.moment
            ));
            return;
        }
        let ran = first_threads
            .iter()
            .zip(&second_threads)
            .find(|(a, b)| a.run_ns != b.run_ns || a.switches != b.switches);
        if let Some((a, b)) = ran {
            proof.lacks(format!(
                "{name}: thread {} ran between `{}` and `{}` ({} ns on a processor, {} switches)",
                a.tid,
                first.moment,
                second.moment,
                b.run_ns.abs_diff(a.run_ns),
                b.switches.abs_diff(a.switches)
            ));
        }
    }

    /// What was seen stopped is the process that was started under this name, all along.
    fn same_process(&self, looks: &[&Look], (who, lives): (&str, &[Life]), proof: &mut Proof) {
        let name = &self.plan.name;
        let life = lives.iter().rfind(|life| life.started <= self.onset.began);
        let Some(life) = life else {
            proof.lacks(format!("{name}: {who} was not running"));
            return;
        };
        proof.events.push(life.seq);
        let replaced = lives
            .iter()
            .any(|other| other.started > self.onset.began && other.started <= self.heal.began);
        proof.require(!replaced, || format!("{name}: {who} was replaced"));
        let gone = life.exit.is_some_and(|exit| exit.at <= self.heal.began);
        proof.require(!gone, || {
            format!("{name}: {who} was gone before it was woken")
        });
        for look in looks {
            let there = look
                .threads
                .iter()
                .any(|thread| (thread.pid, thread.start_ticks) == (life.pid, life.start_ticks));
            proof.require(there, || {
                format!(
                    "{name}: process {} of {who} was not among those seen at `{}`",
                    life.pid, look.moment
                )
            });
        }
    }

    /// The kernel told of no continuation before the heal.
    fn signals(&self, worker: usize, proof: &mut Proof) {
        let worker = &self.history.workers[worker];
        let early = worker.signals.iter().find(|signal| {
            signal.change == ChildChange::Continued
                && signal.at >= self.onset.began
                && signal.at < self.heal.began
        });
        if let Some(signal) = early {
            proof.events.push(signal.seq);
            proof.lacks(format!(
                "{}: {} was continued at {}, before the heal",
                self.plan.name,
                worker.name,
                secs(signal.at)
            ));
        }
    }
}

fn identity(thread: &ThreadLook) -> (i32, u64, i32) {
    (thread.pid, thread.start_ticks, thread.tid)
}

fn sorted(threads: &[ThreadLook]) -> Vec<&ThreadLook> {
    let mut threads: Vec<&ThreadLook> = threads.iter().collect();
    threads.sort_by_key(|thread| identity(thread));
    threads
}
