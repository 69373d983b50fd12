//! Steps of renewals that did not work: a few one by one, many in a row in one sentence.

use super::Step;
use crate::report::scene::Scene;
use crate::report::scene::marks::{Renewal, Renewed};
use crate::report::sentence::Sentence;
use crate::report::words::{at, stretch};

/// So many of one worker in a row are told together.
const ROW: usize = 3;

/// Every renewal that did not work, in the order of each worker.
pub(super) fn steps(scene: &Scene) -> Vec<Step> {
    let mut workers: Vec<&str> = scene.renewals.iter().map(|one| &*one.worker).collect();
    workers.sort_unstable();
    workers.dedup();
    let mut steps = Vec::new();
    for worker in workers {
        let own = scene.renewals.iter().filter(|one| one.worker == worker);
        let own: Vec<&Renewal> = own.collect();
        for row in own.chunk_by(|one, next| one.became == next.became) {
            match row {
                [first, .., last] if row.len() >= ROW => steps.extend(many(row.len(), first, last)),
                few => steps.extend(few.iter().filter_map(|renewal| one(renewal))),
            }
        }
    }
    steps
}

/// Many in a row, by the last of them; that none of them worked is out of the ordinary.
fn many(n: usize, first: &Renewal, last: &Renewal) -> Option<Step> {
    let became = match first.became {
        Renewed::OnlyTold => "it is told that each of them worked; the server shows no such effect",
        Renewed::Failed => "it is told that each of them failed",
        Renewed::Unknown => "it is not told of any of them whether it worked",
        Renewed::Unclear => {
            "it is told that each of them worked; the server shows fewer, and it cannot be told which"
        }
        Renewed::Applied => return None,
    };
    let told = Sentence::default()
        .event(format!("{} sends {n} renewals", last.worker), first.event)
        .text(format!(
            " in a row, {}; {became}",
            stretch(first.sent, last.sent)
        ));
    Some(Step::telling(last.at(), told))
}

/// A renewal that its worker was misled about, or that failed.
fn one(renewal: &Renewal) -> Option<Step> {
    let who = &renewal.worker;
    let told = Sentence::default()
        .event(format!("{who} is told"), renewal.event)
        .text(format!(
            " that the renewal that it sent at {} ",
            at(renewal.sent)
        ));
    match renewal.became {
        Renewed::OnlyTold => Some(Step::telling(
            renewal.at(),
            told.text("worked; the server shows no such effect"),
        )),
        Renewed::Unclear => Some(Step::telling(
            renewal.at(),
            told.text("worked; the server shows fewer than were told, and it cannot be told which"),
        )),
        Renewed::Failed => Some(Step::usual(renewal.at(), told.text("failed"))),
        Renewed::Unknown => {
            renewal.answered?;
            let told = told.text("may have worked or not");
            Some(Step::usual(renewal.at(), told))
        }
        Renewed::Applied => None,
    }
}
