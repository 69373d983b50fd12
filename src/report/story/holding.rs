//! Who held the lock, told in one line with its gaps: whoever reads it can say for any second who
//! held it, or that nobody did, or that the record had ended.

use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::sentence::Sentence;
use crate::report::words::{at, count, span, stretch};

/// More grants than this are counted, not told.
const MAX: usize = 6;

/// The line.
pub fn holders(scene: &Scene) -> Sentence {
    if scene.tenures.is_empty() {
        return Sentence::of(format!(
            "nobody, as far as the record shows; it ends at {}",
            at(scene.ends)
        ));
    }
    let mut sentence = Sentence::default();
    let mut held_until = None;
    for (tenure, free) in scene.tenures.iter().zip(free_before(scene)).take(MAX) {
        sentence = match (held_until, free) {
            (None, _) => sentence,
            (Some(_), Some(since)) => sentence.text(nobody(scene, since, tenure)),
            (Some(until), None) if tenure.from.saturating_add(blur(scene)) < until => {
                sentence.text(", and at the same time ")
            }
            (Some(_), None) => sentence.text(", then "),
        };
        held_until = held_until.max(Some(tenure.until));
        sentence = one(sentence, tenure);
    }
    if scene.tenures.len() > MAX {
        let more = count(scene.tenures.len() - MAX, "more grant");
        return sentence.text(format!("; and {more}"));
    }
    sentence.text(ending(scene, held_until.unwrap_or(0)))
}

fn one(sentence: Sentence, tenure: &Tenure) -> Sentence {
    let worker = tenure.worker.clone().unwrap_or("somebody".to_owned());
    let sentence = sentence
        .event(worker.as_str(), tenure.granted_by)
        .text(format!(" {}", stretch(tenure.from, tenure.until)));
    let Some(taken) = tenure.key_taken else {
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
        .event(format!("{} at {}", taken.how, at(taken.at)), taken.event)
        .text(format!("{})", promised(tenure, &worker)))
}

/// Until when a worker whose key is gone was still entitled.
fn promised(tenure: &Tenure, worker: &str) -> String {
    if tenure.endless {
        "; it had no lease and would never have ended".to_owned()
    } else if tenure.entitled > tenure.until {
        let until = at(tenure.entitled);
        format!("; {worker} was entitled until {until} all the same")
    } else {
        String::new()
    }
}

/// A gap, and why the next holder did not come sooner.
fn nobody(scene: &Scene, since: u64, next: &Tenure) -> String {
    let gap = span(next.from.saturating_sub(since));
    let asked = next.worker.as_ref().and_then(|worker| {
        let own = scene.busy.iter().filter(|(name, _)| name == worker);
        own.map(|(_, at)| *at).filter(|at| *at < since).max()
    });
    match (asked, &next.worker) {
        (Some(asked), Some(worker)) => format!(
            ", then nobody for {gap} ({worker} was waiting: it had asked last at {} and asks again only after a pause), then ",
            at(asked)
        ),
        _ => format!(", then nobody for {gap}, then "),
    }
}

fn ending(scene: &Scene, held_until: u64) -> String {
    let ends = at(scene.ends);
    let last = scene.tenures.last();
    if last.is_some_and(|tenure| tenure.endless && tenure.ended == Ended::Open) {
        return format!("; the key is still there when the record ends at {ends}");
    }
    if scene.ends > held_until.saturating_add(blur(scene)) {
        format!(", then nobody until the record ends at {ends}")
    } else {
        format!("; the record ends at {ends}")
    }
}

/// Since when the lock was free before each grant, where it was for longer than the record blurs.
pub fn free_before(scene: &Scene) -> Vec<Option<u64>> {
    let mut held_until: Option<u64> = None;
    let free = scene.tenures.iter().map(|tenure| {
        let since = held_until.filter(|until| tenure.from > until.saturating_add(blur(scene)));
        held_until = held_until.max(Some(tenure.until));
        since
    });
    free.collect()
}

fn blur(scene: &Scene) -> u64 {
    scene.epsilon.saturating_mul(2)
}
