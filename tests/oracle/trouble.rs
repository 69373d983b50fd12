//! What goes wrong around the lock of the toy world: handles that say Lost, a nap, an observer that
//! loses its place, a stalled host, a waiter in a hurry, and what is found when all is over.

use super::World;
use crate::support::history::LEASE_MS;
use lockdrill::plan::Evidence;
use lockdrill::timeline::event::{Answer, ChildChange, Event, Line, Outcome, ThreadLook};

/// How the end of the record differs from the best.
#[derive(Debug, Clone, Default)]
pub struct Finals {
    /// The store's value is that of no accepted write.
    pub wrong_value: bool,
    pub no_value: bool,
    pub left: bool,
    pub no_sweep: bool,
    /// The record breaks off before its last line.
    pub broken_off: bool,
    /// A key was still there: (looked at, until; none = without a lease).
    pub key: Option<(u64, Option<u64>)>,
}

impl Finals {
    pub fn apply(&self, mut lines: Vec<Line>) -> Vec<Line> {
        lines.retain_mut(|line| match &mut line.event {
            Event::FinalValue { write, .. } => {
                if self.wrong_value {
                    *write = Some("z.write.1".to_owned());
                }
                !self.no_value
            }
            Event::Sweep { left } => {
                if self.left {
                    left.push("process 4711".to_owned());
                }
                !self.no_sweep
            }
            Event::End { .. } => !self.broken_off,
            _ => true,
        });
        for (seq, line) in lines.iter_mut().enumerate() {
            line.seq = seq as u64;
        }
        lines
    }
}

impl World {
    /// How long after its own deadline the newest grant's handle will say Lost.
    pub(super) fn choose_delay(&mut self) {
        let sound = [Some(0), Some(10), Some(100), Some(480)];
        let unsound = [Some(600), Some(900), None];
        let delay = if self.flaw(25) {
            unsound[self.pick(3)]
        } else {
            sound[self.pick(4)]
        };
        if let Some(grant) = self.grants.last_mut() {
            grant.tells_after = delay;
        }
    }

    /// Handles whose own deadline has passed say so; a stopped process says nothing.
    pub(super) fn tell_losses(&mut self) {
        for worker in 0..3 {
            let (Some(grant), false) = (self.workers[worker].held, self.workers[worker].dead)
            else {
                continue;
            };
            let truth = &self.grants[grant];
            let (Some(delay), true) = (truth.tells_after, truth.lost.is_empty()) else {
                continue;
            };
            let mut at = truth.sent + LEASE_MS;
            let mut left = delay;
            let asleep = |t: u64| {
                self.nap
                    .is_some_and(|(w, from, to)| w == worker && from <= t && t <= to)
            };
            while left > 0 || asleep(at) {
                left = left.saturating_sub(if asleep(at) { 0 } else { 10 });
                at += 10;
            }
            if at <= self.now {
                self.say_lost(worker, grant, at);
            }
        }
    }

    pub(super) fn say_lost(&mut self, worker: usize, grant: usize, at: u64) {
        let held = self.grants[grant].held.clone();
        let deadline = self.grants[grant].sent + LEASE_MS;
        self.record.lost(&held, at, deadline);
        self.grants[grant].lost.push(at);
        if !self.flawed || self.chance(60) {
            self.workers[worker].held = None;
        }
    }

    /// Something goes wrong around the workers, now and then.
    pub(super) fn trouble(&mut self) {
        match self.below(40) {
            0 => self.take_a_nap(),
            1 if !self.clear && self.chance(40) => {
                if self.record.blind {
                    self.record.sees_again(self.now);
                } else {
                    self.record.goes_blind(self.now);
                }
            }
            2 if !self.clear && self.chance(40) => {
                let from = self.now.saturating_sub(10 * (1 + self.below(60)));
                self.record.stalled(from, self.now);
            }
            _ => {}
        }
    }

    fn take_a_nap(&mut self) {
        let worker = self.pick(3);
        let free = &self.workers[worker];
        if self.nap.is_some() || free.dead || free.free >= self.now {
            return;
        }
        let (from, to) = (self.now, self.now + 10 * (10 + self.below(200)));
        let name = Self::name(worker);
        self.nap = Some((worker, from, to));
        self.workers[worker].free = to + 5;
        self.record.fault("nap", "pause", name, (from, to));
        self.record.signal(name, from + 2, ChildChange::Stopped);
        self.record.signal(name, to + 2, ChildChange::Continued);
        let (mut before, mut after) = (threads(worker), threads(worker));
        let fake = self.below(12);
        self.faked = fake < 6;
        match fake {
            0 => before[1].state = 'S',
            1 => after[0].run_ns += 1,
            2 => after[2].switches += 1,
            3 => drop(after.pop()),
            4 => after.iter_mut().for_each(|thread| thread.pid += 50),
            5 => self.record.signal(name, from + 50, ChildChange::Continued),
            _ => {}
        }
        self.record.look("nap", "stopped", from + 3, before);
        self.record.look("nap", "heal", to - 1, after);
        let (worker, fault) = (Self::name(self.pick(3)).to_owned(), "nap".to_owned());
        match self.below(6) {
            0 => self.record.plan.evidence = vec![Evidence::Granted { worker, fault }],
            1 => self.record.plan.evidence = vec![Evidence::LeaseEnded { worker, fault }],
            _ => {}
        }
    }

    /// A waiter tries again and again while the lock is held.
    pub(super) fn hammer(&mut self, worker: usize) {
        let Some((_, until)) = self.key else {
            return;
        };
        let gap = if self.flaw(60) {
            10 * (1 + self.below(30))
        } else {
            350
        };
        let name = Self::name(worker);
        for _ in 0..3 + self.below(3) {
            if self.now >= until {
                return;
            }
            let (_, op) = self.record.attempt(name, self.now);
            self.record
                .ret(name, op, self.now + 1, Outcome::Ok, Answer::Busy);
            self.workers[worker].free = self.now + 1;
            self.now += gap;
        }
    }

    pub(super) fn close(&mut self) {
        let busy = self.workers.iter().map(|worker| worker.free).max();
        self.now = self.now.max(busy.unwrap_or(0)) / 10 * 10 + 10 * (1 + self.below(300));
        self.tell_losses();
        for worker in 0..3 {
            if let Some((_, from)) = self.workers[worker].waits {
                self.waits.push((worker, from, self.now));
            }
        }
        self.end = self.now;
        self.record.ends(self.now, "complete");
        self.expire();
        if let Some((grant, until)) = self.key {
            let held = self.grants[grant].held.clone();
            let until = match self.below(if self.flawed { 6 } else { 1 }) {
                5 => None,
                _ => Some(until),
            };
            let left = until.map(|until| until - self.now);
            self.record.final_key(self.now, left, &held);
            self.finals.key = Some((self.now, until));
        } else if self.flaw(20)
            && !self.trespass
            && let Some(last) = self.grants.last()
            && self.now > last.lease_end + 10
        {
            // A server that forgot to expire a key of a grant that nobody extended.
            let (held, until) = (last.held.clone(), last.lease_end);
            self.record.final_key(self.now, Some(1), &held);
            self.finals.key = Some((self.now, Some(until)));
        }
        self.finals.wrong_value = self.flaw(6);
        self.finals.left = self.flaw(6);
        self.finals.no_value = !self.clear && self.chance(6);
        self.finals.no_sweep = !self.clear && self.chance(6);
        self.finals.broken_off = !self.clear && self.chance(6);
    }
}

/// The threads of a worker, standing still.
fn threads(worker: usize) -> Vec<ThreadLook> {
    let pid = 100 + worker as i32;
    let thread = |i: i32| ThreadLook {
        pid,
        start_ticks: 1000 + worker as u64,
        tid: 1000 * pid + i,
        state: 'T',
        run_ns: 5_000_000,
        switches: 10,
    };
    (0..3).map(thread).collect()
}
