//! The answers that a stranger looks for first: what was done to whom and when, whether a stale
//! write was accepted, what saved the work.

use super::points::place;
use super::protection::{most_telling, reached, seals, stale, told};
use super::{beside, consequence, finding};
use crate::checks::{EVIDENCE, Outcome};
use crate::faults;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::marks::FaultMark;
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::sentence::Sentence;
use crate::report::words::{at, count, fence_word, span};
use crate::store::Fence;
use crate::verdict::Protection;

/// What was done, one sentence a fault.
pub fn faults_done(arm: &ArmModel) -> Vec<Sentence> {
    let scene = &arm.scene;
    let mut told: Vec<Sentence> = scene.faults.iter().map(fault).collect();
    for (name, seq, why) in &scene.not_injected {
        told.push(
            Sentence::default()
                .event(format!("{name} was not injected"), *seq)
                .text(format!(": {why}")),
        );
    }
    let planned = arm.plan().map_or(0, |plan| plan.faults.len());
    if told.is_empty() {
        told.push(Sentence::of(if planned == 0 {
            "nothing was broken: the drill has no fault"
        } else {
            "nothing is on the record: no fault was injected"
        }));
    }
    told
}

fn fault(mark: &FaultMark) -> Sentence {
    let onset = mark.events.first().copied().unwrap_or(0);
    let whom = mark
        .worker
        .as_ref()
        .map_or_else(String::new, |worker| format!(" of {worker}"));
    let sentence = Sentence::default()
        .event(format!("{}{whom}", mark.kind), onset)
        .text(format!(" (fault {})", mark.name));
    let sentence = match (mark.over(), mark.events.get(1)) {
        _ if !mark.lasts => sentence.text(format!(" at {}", at(mark.effective))),
        (Some(end), Some(heal)) => sentence
            .text(format!(" from {} to ", at(mark.effective)))
            .event(at(end), *heal)
            .text(format!(
                ", for {}",
                span(end.saturating_sub(mark.effective))
            )),
        _ => sentence.text(format!(
            " from {} on; its end is not on the record",
            at(mark.effective)
        )),
    };
    let sentence = match faults::find(&mark.kind) {
        Some(kind) => sentence.text(format!(" ({})", kind.summary)),
        None => sentence,
    };
    triggers(sentence, mark)
}

/// What made it begin and end.
fn triggers(sentence: Sentence, mark: &FaultMark) -> Sentence {
    let sentence = sentence
        .text(if mark.lasts {
            "; it began at "
        } else {
            "; it was done at "
        })
        .code(&mark.trigger)
        .text(place(&mark.trigger));
    match &mark.cause {
        Some(cause) if cause.contains(' ') => sentence.text(format!(" and ended ({cause})")),
        Some(cause) => sentence.text(" and ended after ").code(cause),
        None => sentence,
    }
}

/// Was a stale write accepted?
pub fn stale_writes(arm: &ArmModel) -> Vec<Sentence> {
    let scene = &arm.scene;
    let all: Vec<_> = stale(scene).collect();
    let Some(shown) = most_telling(scene) else {
        return vec![Sentence::of(format!(
            "none was tried: {}, each in order and within its lease",
            counted(scene)
        ))];
    };
    let accepted = all
        .iter()
        .copied()
        .filter(|write| write.fate == Fate::Accepted);
    let (older, late): (Vec<&WriteMark>, Vec<&WriteMark>) =
        accepted.partition(|write| write.is_older());
    let tried = format!("{} tried", count(all.len(), "stale or late write"));
    let head = match (older.len(), late.len()) {
        (0, 0) => format!("no: {tried}, none accepted"),
        (0, n) => format!(
            "by the order of the fencing tokens no; but {} accepted after its writer's lease had ended",
            were(n)
        ),
        (n, 0) => format!("yes: {tried}, {n} accepted although stale"),
        (n, m) => format!(
            "yes: {tried}, {n} accepted although stale and {m} more after their writer's lease had ended"
        ),
    };
    let head = format!("{head}; {} in all", counted(scene));
    let mut sentences = vec![Sentence::of(head), told(scene, shown)];
    sentences.extend(consequence::of(scene, shown));
    sentences
}

/// How many writes reached the store; seals change no data and are counted apart.
fn counted(scene: &Scene) -> String {
    let seals = seals(scene);
    let writes = count(reached(scene).count(), "write");
    if seals == 0 {
        format!("{writes} reached the store")
    } else {
        format!("{writes} (and {}) reached the store", count(seals, "seal"))
    }
}

fn were(n: usize) -> String {
    format!(
        "{} {}",
        count(n, "write"),
        if n == 1 { "was" } else { "were" }
    )
}

/// What the fence refused, if the writer was not late: it was entitled, or never had the lock.
fn unusual(scene: &Scene) -> Option<Sentence> {
    let refused = || reached(scene).filter(|write| write.fate == Fate::Rejected);
    if refused().any(|write| write.late.is_some()) {
        return None;
    }
    if let Some(write) = refused().find(|write| is_entitled(scene, write)) {
        let (name, token) = (&write.worker, write.fencing.unwrap_or(0));
        let seen = match write.highest {
            Some(highest) if highest != token => {
                format!("when the store had already seen {highest}")
            }
            _ => "which the store had already seen".to_owned(),
        };
        let sentence = Sentence::of("it refused ").event(format!("{name}'s write"), write.event);
        return Some(sentence.text(format!(
            ", which had fencing token {token} {seen}; {name} was entitled by the lock server, so the lock, not {name}, was wrong"
        )));
    }
    let write = refused().find(|write| write.is_lockless())?;
    Some(
        Sentence::of("it refused ")
            .event(format!("a write of {}", write.worker), write.event)
            .text(" that had no fencing token: a write without the lock"),
    )
}

/// The lock server had promised the writer the lock when its write reached the store.
fn is_entitled(scene: &Scene, write: &WriteMark) -> bool {
    let own = write.tenure.and_then(|tenure| scene.tenures.get(tenure));
    own.is_some_and(|own| own.from <= write.at() && write.at() <= own.entitled)
}

/// All that the drill needs is shown to have happened.
fn is_shown(arm: &ArmModel) -> bool {
    finding(arm, EVIDENCE).is_none_or(|finding| finding.outcome == Outcome::Holds)
}

/// Which protection saved the work, or that none did.
pub fn saved_by(arm: &ArmModel) -> Sentence {
    let fence = arm.plan().map(|plan| plan.store.fence);
    let mode = fence.map_or("", fence_word);
    let sealed = arm.plan().is_some_and(|plan| plan.store.seal);
    if arm.result.protection == Protection::KeptByFencing
        && let Some(told) = unusual(&arm.scene)
    {
        return Sentence::of(format!("the store's fence ({mode}): ")).then(told);
    }
    let outbox = arm.plan().is_some_and(|plan| plan.store.outbox);
    let published = finding(arm, "published_once").filter(|found| !found.vacuous);
    match (arm.result.protection, published.map(|found| found.outcome)) {
        (Protection::Kept, Some(Outcome::Holds)) if outbox => {
            return Sentence::of(
                "the lock kept the writers apart, and the outbox kept the job: it stood there, written in the same step as the work, until somebody had published it",
            );
        }
        (Protection::Lost, Some(Outcome::Violated)) => {
            return Sentence::of(
                "none: the lock did its work, but a lock is no transaction, and nothing holds the store and the queue together",
            );
        }
        _ => {}
    }
    let refused_read = beside::refused_read(&arm.scene).is_some();
    match arm.result.protection {
        Protection::KeptByFencing if refused_read => Sentence::of(format!(
            "the store's fence ({mode}), which compares the fencing tokens of reads, too, and refused what came late; the lock alone did not keep the late reader out"
        )),
        Protection::KeptByFencing if sealed => Sentence::of(format!(
            "the store's seal and fence ({mode}): each new holder tells the store its fencing token on entry, so what came late was refused even before the new holder had written; the lock alone did not keep the late writer out"
        )),
        Protection::KeptByFencing => Sentence::of(format!(
            "the store's fence ({mode}): it compares fencing tokens and refused what came late; the lock alone did not keep the late writer out"
        )),
        Protection::Kept if !is_shown(arm) => Sentence::of(
            "nothing had to be saved: nobody wrote without being entitled, and what should have endangered the work is not shown to have happened",
        ),
        Protection::Kept => Sentence::of(
            "the lock: nobody wrote without being entitled, and the fence had nothing to refuse",
        ),
        Protection::Lost => Sentence::of(match fence {
            Some(Fence::Off) => "none: the store compares no fencing tokens (fence off)",
            Some(Fence::Racy) => {
                "none: the store reads, compares and then writes in separate steps (fence racy)"
            }
            Some(Fence::Atomic) | None => "none: the damage got past the fence",
        }),
        Protection::NotTested => Sentence::of("none was put to the test"),
    }
}
