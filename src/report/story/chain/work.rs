//! Steps of the work: what reached the store and the queue, and what they did with it.

use super::Step;
use crate::report::scene::Scene;
use crate::report::scene::beside::{BesideMark, Deed, Queued};
use crate::report::scene::writes::{Fate, Harm, WriteMark};
use crate::report::sentence::Sentence;
use crate::report::words::{Clock, span};

/// Writes and seals that reached the store.
pub(super) fn writes(scene: &Scene) -> Vec<Step> {
    let mut steps = Vec::new();
    for write in scene.writes.iter().filter(|write| write.applied.is_some()) {
        steps.extend(compared(write));
        steps.push(one(write));
    }
    steps
}

/// A racy store's comparison, where its write did harm long after.
fn compared(write: &WriteMark) -> Option<Step> {
    let compared = write.compared.filter(|_| write.harm().is_some())?;
    let clock = Clock::telling(&[compared, write.at()]).adding_up(&[(compared, write.at())]);
    let told = Sentence::of("the store has compared the fencing token of ")
        .event(write.write.as_str(), write.event)
        .text(format!(
            "{} with the newest that it knew, and let it pass; the write itself comes {} later",
            write
                .fencing
                .map_or(String::new(), |token| format!(" ({token})")),
            clock.lasted(compared, write.at())
        ));
    Some(Step::telling(compared, told))
}

fn one(write: &WriteMark) -> Step {
    if write.seal {
        return seal(write);
    }
    let token = match write.fencing {
        Some(token) => format!(" with fencing token {token}"),
        None if write.is_lockless() => " without the lock and without a fencing token".to_owned(),
        None => " without a fencing token".to_owned(),
    };
    let job = write.job.as_deref();
    let job = job.map_or(String::new(), |job| format!(", which does {job},"));
    let told = Sentence::default()
        .event(write.write.as_str(), write.event)
        .text(format!(
            "{job} reaches the store{token} and is {}",
            fate(write)
        ));
    let lost = write
        .overwrites
        .as_deref()
        .filter(|_| write.fate == Fate::Accepted);
    let told = match lost {
        Some(victim) => told.text(format!(
            "; it replaces {victim} without having read it: that update is lost"
        )),
        None => told,
    };
    Step {
        at: write.at(),
        told,
        telling: write.marked().is_some()
            || write.fate != Fate::Accepted
            || lost.is_some()
            || write.again
            || write.is_lockless(),
    }
}

/// What the store did, in words that follow *is*.
fn fate(write: &WriteMark) -> String {
    let knew = || match (&write.twin, write.highest) {
        (Some(twin), _) => format!("the store had taken {twin} of another grant under that number"),
        (None, Some(highest)) if Some(highest) != write.fencing => {
            format!("the store knew {highest}")
        }
        (None, Some(_)) => "the store knew that number of another grant".to_owned(),
        (None, None) => "the store asks for one".to_owned(),
    };
    match (write.fate, write.harm()) {
        (Fate::Accepted, Some(Harm::Stale)) => format!("accepted, although {}", knew()),
        (Fate::Accepted, Some(Harm::Borrowed)) => {
            "accepted, although the lock never gave that number to its writer".to_owned()
        }
        (Fate::Accepted, Some(Harm::Late)) => format!(
            "accepted, {} after its writer's lease had ended",
            span(write.late.unwrap_or(0))
        ),
        (Fate::Accepted, None) if write.again => {
            "answered as done: its job had been done, and nothing changes".to_owned()
        }
        (Fate::Accepted, None) if write.reused => {
            "accepted, under a number that another grant had, too".to_owned()
        }
        (Fate::Accepted, None) => "accepted".to_owned(),
        (Fate::Rejected, _) if write.rightful => {
            format!("refused, although {} is entitled: {}", write.worker, knew())
        }
        (Fate::Rejected, _) => format!("refused: {}", knew()),
        (Fate::Unknown, _) => "not answered: what became of it is not on the record".to_owned(),
    }
}

fn seal(write: &WriteMark) -> Step {
    let token = write
        .fencing
        .map_or("none".to_owned(), |token| token.to_string());
    let told = Sentence::default()
        .event(format!("{} tells the store", write.worker), write.event)
        .text(format!(" its fencing token {token}"));
    match write.fate {
        Fate::Rejected => Step::telling(write.at(), told.text(" and is refused")),
        Fate::Accepted | Fate::Unknown => Step::usual(write.at(), told.text(" on entry")),
    }
}

/// Late reads, publications, drawn tokens.
pub(super) fn beside(scene: &Scene) -> Vec<Step> {
    let told = scene.beside.iter().filter_map(|mark| {
        let told = Sentence::default().event(mark.step.as_str(), mark.event);
        Some(Step::telling(mark.at, told.text(deed(mark)?)))
    });
    told.collect()
}

fn deed(mark: &BesideMark) -> Option<String> {
    Some(match (&mark.deed, mark.fate) {
        (Deed::Read(_), _) if mark.stale.is_none() => return None,
        (Deed::Read(_), Fate::Rejected) => {
            " reads after its lease has ended and another was granted, and is refused".to_owned()
        }
        (Deed::Read(_), _) => {
            " reads after its lease has ended and another was granted, and is answered".to_owned()
        }
        (Deed::Published(job, Queued::First), _) => format!(" puts {job} into the queue"),
        (Deed::Published(job, Queued::Known), _) => {
            format!(" puts {job} into the queue, which knows it and keeps it once")
        }
        (Deed::Published(job, Queued::Again), _) => {
            format!(" puts {job} into the queue a second time, and the queue takes it again")
        }
        (Deed::Drew(token), _) => {
            format!(" draws fencing token {token} from the lock's counter, without the lock")
        }
    })
}
