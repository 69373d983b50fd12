//! Proof that one wall clock jumped by what the plan says, stayed there, and was set right, by what
//! its owner said when it was asked.
//!
//! Asked is the owner before the jump, after it, just before the heal and after it; a server all
//! through the arm. Every reading between counts: a clock that somebody put back has not jumped.

use super::Proof;
use crate::checks::say::secs;
use crate::plan::FaultPlan;
use crate::timeline::history::clock_map::Sample;
use crate::timeline::history::{FaultWindow, Healed, History, Onset};

/// What a jump and its measure may differ by beside the time that asking took, ns.
const TOLERANCE_NS: i128 = 5_000_000;

/// Requires everything that shows the jump.
pub(super) fn jumped(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let (Some(onset), Some(heal)) = (window.onsets.first(), window.heals.first()) else {
        return;
    };
    let (who, samples) = match (window.worker, &window.server) {
        (Some(worker), _) => {
            let worker = &history.workers[worker];
            (worker.name.as_str(), worker.clock.as_slice())
        }
        (None, Some(server)) => {
            let clock = history.clocks.get(server);
            let samples = clock.map_or(&[][..], |clock| clock.samples.as_slice());
            (server.as_str(), samples)
        }
        (None, None) => return proof.lacks(format!("{} moved nobody's clock", plan.name)),
    };
    let mut samples: Vec<&Sample> = samples.iter().collect();
    samples.sort_by_key(|sample| sample.before);
    let case = Case {
        plan,
        onset,
        heal,
        who,
        samples: &samples,
    };
    case.prove(proof);
}

struct Case<'a> {
    plan: &'a FaultPlan,
    onset: &'a Onset,
    heal: &'a Healed,
    who: &'a str,
    samples: &'a [&'a Sample],
}

impl Case<'_> {
    fn prove(&self, proof: &mut Proof) {
        let (name, who) = (&self.plan.name, self.who);
        let wanted = i128::from(self.plan.by_ms.unwrap_or(0)) * 1_000_000;
        let mut before = self.samples.iter();
        let Some(home) = before.rfind(|sample| sample.after <= self.onset.began) else {
            return proof.lacks(format!(
                "{name}: {who} was not asked for the time before the jump"
            ));
        };
        proof.events.push(home.seq);
        let (from, to) = (self.onset.began, self.heal.began);
        let within = |sample: &&&Sample| sample.before >= from && sample.after <= to;
        let during: Vec<&&Sample> = self.samples.iter().filter(within).collect();
        let first = during.first().filter(|s| s.after <= self.onset.effective);
        let last = during.last().filter(|s| s.before >= self.onset.effective);
        let (Some(first), Some(last)) = (first, last) else {
            return proof.lacks(format!(
                "{name}: {who} was not asked for the time at both ends of the jump"
            ));
        };
        proof.events.extend([first.seq, last.seq]);
        for sample in &during {
            self.shows(proof, (home, sample), wanted);
        }
        let removed = self.heal.removed.unwrap_or(0);
        let back = |sample: &&&Sample| sample.before >= to && sample.after <= removed;
        match self.samples.iter().find(back) {
            Some(back) => self.shows(proof, (home, back), 0),
            None => proof.lacks(format!(
                "{name}: {who} was not asked for the time after it was set right"
            )),
        }
        proof.shown.push(format!(
            "the wall clock of {who} was to jump by {} and jumped by {}",
            signed(wanted),
            signed(moved(home, first).middle())
        ));
    }

    /// One reading has moved by so much against another.
    fn shows(&self, proof: &mut Proof, (home, sample): (&Sample, &Sample), wanted: i128) {
        let moved = moved(home, sample);
        if moved.low - TOLERANCE_NS <= wanted && wanted <= moved.high + TOLERANCE_NS {
            return;
        }
        proof.events.push(sample.seq);
        proof.lacks(format!(
            "{}: the clock of {} was to be ahead by {} at {}, and was by {}",
            self.plan.name,
            self.who,
            signed(wanted),
            secs(sample.after),
            signed(moved.middle())
        ));
    }
}

/// Bounds of how far a clock moved between two readings, ns.
struct Moved {
    low: i128,
    high: i128,
}

impl Moved {
    const fn middle(&self) -> i128 {
        i128::midpoint(self.low, self.high)
    }
}

fn moved(from: &Sample, to: &Sample) -> Moved {
    // The most and the least that the clock can have been ahead of lab time.
    let most = |s: &Sample| i128::from(s.server_us) * 1000 + 999 - i128::from(s.before);
    let least = |s: &Sample| i128::from(s.server_us) * 1000 - i128::from(s.after);
    Moved {
        low: least(to) - most(from),
        high: most(to) - least(from),
    }
}

/// `+31.000 s`.
fn signed(ns: i128) -> String {
    format!("{:+.3} s", ns as f64 / 1e9)
}
