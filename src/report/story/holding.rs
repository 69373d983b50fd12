//! Who held the lock, told in one line with its gaps: whoever reads it can say for any second who
//! held it, or that nobody did, or that the record had ended.

use super::free::blur;
pub(super) use super::free::unheard;
pub use super::free::{free_before, still_entitled};
use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::sentence::Sentence;
use crate::report::words::{Clock, at, count, span};

/// More grants than this are summed up, not told.
const MAX: usize = 6;

/// Of more grants than [`MAX`] so many are told.
const FIRST: usize = 3;

/// A gap shorter than this is what it takes to ask and be answered, ns.
const PROMPT: u64 = 20_000_000;

/// The line.
pub fn holders(scene: &Scene) -> Sentence {
    let tenures = &scene.tenures;
    if tenures.is_empty() {
        return Sentence::of(format!(
            "nobody, as far as the record shows; it ends at {}",
            at(scene.ends)
        ));
    }
    let shown = if tenures.len() > MAX { FIRST } else { MAX };
    let free = free_before(scene);
    let gaps = tenures.iter().zip(&free).take(shown);
    let gaps = gaps.filter_map(|(tenure, since)| Some(((*since)?, tenure.from)));
    let line = Line {
        scene,
        clock: clock(&tenures[..shown.min(tenures.len())]).adding_up(&gaps.collect::<Vec<_>>()),
    };
    let mut sentence = Sentence::default();
    let mut held_until = None;
    for (index, free) in free.into_iter().enumerate().take(shown) {
        let tenure = &tenures[index];
        sentence = match (held_until, free) {
            (None, _) => sentence.text(line.unheld(index)),
            (Some(_), Some(since)) => sentence.text(line.nobody(since, index)),
            (Some(until), None) if tenure.from.saturating_add(blur(scene, tenure)) < until => {
                sentence.text(", and at the same time ")
            }
            (Some(_), None) => sentence.text(", then "),
        };
        held_until = held_until.max(Some(tenure.until));
        sentence = line.one(sentence, index);
    }
    if tenures.len() > shown {
        return sentence.text(line.rest(shown));
    }
    sentence.text(line.ending(held_until.unwrap_or(0)))
}

/// A clock that tells every change of hands apart.
fn clock(tenures: &[Tenure]) -> Clock {
    let instants = tenures.iter().flat_map(|tenure| {
        let taken = tenure.key_taken.map(|taken| taken.at);
        [Some(tenure.from), Some(tenure.until), taken]
    });
    let mut instants: Vec<u64> = instants.flatten().collect();
    instants.dedup();
    Clock::telling(&instants)
}

struct Line<'s> {
    scene: &'s Scene,
    clock: Clock,
}

impl Line<'_> {
    fn one(&self, sentence: Sentence, index: usize) -> Sentence {
        let tenure = &self.scene.tenures[index];
        let worker = tenure.who();
        let sentence = sentence.event(worker, tenure.granted_by).text(format!(
            "{} {}",
            self.again(index),
            self.stretch(tenure)
        ));
        let sentence = sentence.text(self.both(index)).text(unheard(tenure));
        let (Some(taken), Some(how)) = (tenure.key_taken, tenure.taken()) else {
            return sentence.text(match tenure.ended {
                _ if tenure.endless && tenure.ended != Ended::Released => {
                    " (a key without a lease, it never ends)"
                }
                Ended::Open => "",
                Ended::Released => " (then it released)",
                Ended::Expired => " (then its lease ran out)",
            });
        };
        sentence
            .text(" (its key was ")
            .event(format!("{how} at {}", self.clock.at(taken.at)), taken.event)
            .text(format!("{})", self.promised(tenure, worker)))
    }

    /// From when to when; of a grant that the record does not see end, from when on.
    fn stretch(&self, tenure: &Tenure) -> String {
        if tenure.ended == Ended::Open && tenure.key_taken.is_none() && !tenure.endless {
            let from = self.clock.at(tenure.from);
            return format!("from {from} on (its lease still runs when the record ends)");
        }
        self.clock.stretch(tenure.from, tenure.until)
    }

    /// By which step a worker that had the lock before has it again.
    fn again(&self, index: usize) -> String {
        let (before, rest) = self.scene.tenures.split_at(index);
        let Some(tenure) = rest.first() else {
            return String::new();
        };
        match &tenure.step {
            Some(step) if before.iter().any(|other| other.worker == tenure.worker) => {
                format!(" again (by its later step {step})")
            }
            Some(_) | None => String::new(),
        }
    }

    /// Who was entitled at the same time, because its key was taken and not its entitlement.
    fn both(&self, index: usize) -> String {
        let (before, rest) = self.scene.tenures.split_at(index);
        let Some(tenure) = rest.first() else {
            return String::new();
        };
        let mut others = before.iter().filter(|other| {
            other.key_taken.is_some()
                && other.entitled > tenure.from.saturating_add(blur(self.scene, tenure))
        });
        others.next_back().map_or_else(String::new, |other| {
            let who = other.who();
            if other.entitled >= tenure.until {
                return format!(", all of it while {who} was entitled too");
            }
            let until = self.clock.at(other.entitled);
            format!(", until {until} while {who} was entitled too")
        })
    }

    /// Until when a worker whose key is gone was still entitled.
    fn promised(&self, tenure: &Tenure, worker: &str) -> String {
        if tenure.endless {
            "; it had no lease and would never have ended".to_owned()
        } else if tenure.entitled > tenure.until {
            let until = self.clock.at(tenure.entitled);
            format!("; {worker} was entitled until {until} all the same")
        } else {
            String::new()
        }
    }

    /// What the record shows before the first grant.
    fn unheld(&self, index: usize) -> String {
        let Some(first) = self.scene.tenures.get(index) else {
            return String::new();
        };
        let far = match first.by_client {
            true => ", as far as the workers were told,",
            false => "",
        };
        format!("nobody{far} until {}, then ", self.clock.at(first.from))
    }

    /// A gap, and when the next holder had asked before and asked again.
    fn nobody(&self, since: u64, index: usize) -> String {
        let (before, rest) = self.scene.tenures.split_at(index);
        let Some(next) = rest.first() else {
            return String::new();
        };
        let gap = next.from.saturating_sub(since);
        let told = self.clock.lasted(since, next.from);
        let still = before.iter().rfind(|other| other.entitled > next.from);
        if let Some(still) = still {
            let who = still.who();
            return format!(", then no key for {told}, while {who} was still entitled, then ");
        }
        let asked = next.worker.as_ref().and_then(|worker| {
            let own = self.scene.busy.iter().filter(|(name, _)| name == worker);
            own.map(|(_, at)| *at).filter(|at| *at < since).max()
        });
        match (asked, next.asked, &next.worker) {
            (Some(asked), Some(again), Some(worker)) if gap >= PROMPT => format!(
                ", then nobody for {told} ({worker} was waiting: it had asked in vain at {} and asked next at {}), then ",
                self.clock.at(asked),
                self.clock.at(again)
            ),
            _ => format!(", then nobody for {told}, then "),
        }
    }

    /// What is summed up: how many grants of whom, until when, how long the lock was free.
    fn rest(&self, shown: usize) -> String {
        let rest = self.scene.tenures.get(shown..).unwrap_or_default();
        let mut each: Vec<(&str, usize)> = Vec::new();
        for tenure in rest {
            let name = tenure.who();
            match each.iter_mut().find(|(known, _)| *known == name) {
                Some((_, n)) => *n += 1,
                None => each.push((name, 1)),
            }
        }
        each.sort();
        let each: Vec<String> = each.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let until = rest.iter().map(|tenure| tenure.until).max().unwrap_or(0);
        let gaps = self.scene.tenures.iter().zip(free_before(self.scene));
        let gaps = gaps.filter_map(|(tenure, since)| Some(tenure.from.saturating_sub(since?)));
        let (all, longest) = gaps.fold((0_u64, 0), |(all, longest), gap| {
            (all.saturating_add(gap), gap.max(longest))
        });
        format!(
            "; then {} until {} ({}). In all {}, and between them nobody held it for {} altogether, {} at the longest{}",
            count(rest.len(), "more grant"),
            at(until),
            each.join(", "),
            count(self.scene.tenures.len(), "grant"),
            span(all),
            span(longest),
            self.ending(until)
        )
    }

    fn ending(&self, held_until: u64) -> String {
        let (scene, ends) = (self.scene, self.clock.at(self.scene.ends));
        let endless = |last: &Tenure| last.endless && last.ended == Ended::Open;
        if scene.tenures.last().is_some_and(endless) {
            return format!("; the key is still there when the record ends at {ends}");
        }
        let shown = |from: u64| scene.ends > from.saturating_add(scene.epsilon.saturating_mul(2));
        match still_entitled(scene, held_until).filter(|_| shown(held_until)) {
            Some(still) if shown(still.entitled) => format!(
                ", then no key, while {} was entitled until {}, then nobody until the record ends at {ends}",
                still.who(),
                self.clock.at(still.entitled)
            ),
            Some(still) => format!(
                ", then no key until the record ends at {ends}, while {} was still entitled",
                still.who()
            ),
            None if shown(held_until) => format!(", then nobody until the record ends at {ends}"),
            None => format!("; the record ends at {ends}"),
        }
    }
}
