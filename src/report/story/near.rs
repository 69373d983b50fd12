//! How near a run came to losing its lock: what was left of the lease when it was renewed, how soon
//! a holder was told of its loss, how long the work took, and the least lease that this allows.

use crate::report::scene::Scene;
use crate::report::sentence::Sentence;
use crate::report::times::Times;
use crate::report::words::{count, millis, span};
use crate::timeline::history::History;

/// Each question with its answer, without its full stop.
pub fn told(history: &History, scene: &Scene) -> Vec<(&'static str, Sentence)> {
    vec![
        ("lease left at a renewal", margin(scene, history)),
        ("from a loss to its notice", notice(history)),
        (
            "least lease that these times allow",
            Sentence::of(Times::of(history).suggestion()).text(
                ". These are the times of a drill: put the slow tail (p99) of your own work in their place",
            ),
        ),
    ]
}

/// The renewal that was sent with the least of its lease left.
fn margin(scene: &Scene, history: &History) -> Sentence {
    let all = scene.renewals.iter();
    let all: Vec<_> = all
        .filter_map(|renewal| Some((renewal.margin?, renewal)))
        .collect();
    let Some((least, renewal)) = all.iter().min_by_key(|(margin, _)| *margin) else {
        return Sentence::of("no renewal was sent");
    };
    let lease = millis(history.plan.lock.lease_ms);
    let sentence = Sentence::of(format!("of {}, ", count(all.len(), "renewal")))
        .event(format!("one of {}", renewal.worker), renewal.event);
    match u64::try_from(*least) {
        Ok(left) => sentence.text(format!(
            " was the nearest: {} of a lease of {lease} were left when it was sent",
            span(left)
        )),
        Err(_) => sentence.text(format!(
            " came too late: the lease of {lease} had been over for {} when it was sent",
            span(least.unsigned_abs())
        )),
    }
}

/// The loss that was told latest after the worker's own deadline.
fn notice(history: &History) -> Sentence {
    let latest = history
        .losses
        .iter()
        .max_by_key(|loss| loss.at.saturating_sub(loss.deadline));
    let Some(loss) = latest else {
        return Sentence::of("nobody was told of a loss");
    };
    let who = history.worker_name(loss.worker);
    let after = loss.at.saturating_sub(loss.deadline);
    let sentence = Sentence::of(format!("of {}, the latest: ", losses(history.losses.len())))
        .event(format!("{who} was told"), loss.seq);
    if after == 0 {
        return sentence.text(" before its own deadline");
    }
    sentence.text(format!(
        " {} after its own deadline (if it was stopped meanwhile, that is in it)",
        span(after)
    ))
}

fn losses(n: usize) -> String {
    match n {
        1 => "1 loss".to_owned(),
        n => format!("{n} losses"),
    }
}
