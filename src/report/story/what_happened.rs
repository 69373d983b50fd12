//! The answers that a stranger looks for first: what was done to whom and when, whether a stale
//! write was accepted, what saved the work.

use super::protection::{most_telling, reached, stale, told};
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
        .event(format!("{}: {}{whom}", mark.name, mark.kind), onset)
        .text(format!(" from {} ", at(mark.effective)));
    let end = mark.healed.or(mark.removed);
    let sentence = match (end, mark.events.get(1)) {
        (Some(end), Some(heal)) => sentence
            .text("to ")
            .event(at(end), *heal)
            .text(format!(", {}", span(end.saturating_sub(mark.effective)))),
        _ => sentence.text("on; its end is not on the record"),
    };
    match faults::find(&mark.kind) {
        Some(kind) => sentence.text(format!(" ({})", kind.summary)),
        None => sentence,
    }
}

/// Was a stale write accepted?
pub fn stale_writes(arm: &ArmModel) -> Vec<Sentence> {
    let scene = &arm.scene;
    let all: Vec<_> = stale(scene).collect();
    let Some(shown) = most_telling(scene) else {
        return vec![Sentence::of(format!(
            "none was tried: {} reached the store, each in order and within its lease",
            count(reached(scene).count(), "write")
        ))];
    };
    let accepted = all
        .iter()
        .copied()
        .filter(|write| write.fate == Fate::Accepted);
    let (older, late): (Vec<&WriteMark>, Vec<&WriteMark>) =
        accepted.partition(|write| write.is_older());
    let tried = count(all.len(), "stale write");
    let head = match (older.len(), late.len()) {
        (0, 0) => format!("no: {tried} tried, none accepted"),
        (0, n) => format!(
            "by the order of the fencing tokens no; but {} accepted after its writer's lease had ended",
            were(n)
        ),
        (n, 0) => format!("yes: {tried} tried, {n} accepted"),
        (n, m) => format!(
            "yes: {tried} tried, {n} accepted out of order and {m} more after their writer's lease had ended"
        ),
    };
    vec![Sentence::of(head), told(scene, shown)]
}

fn were(n: usize) -> String {
    format!(
        "{} {}",
        count(n, "write"),
        if n == 1 { "was" } else { "were" }
    )
}

/// Which protection saved the work, or that none did.
pub fn saved_by(arm: &ArmModel) -> Sentence {
    let fence = arm.plan().map(|plan| plan.store.fence);
    let mode = fence.map_or("", fence_word);
    let sealed = arm.plan().is_some_and(|plan| plan.store.seal);
    match arm.result.protection {
        Protection::KeptByFencing if sealed => Sentence::of(format!(
            "the store's seal and fence ({mode}): each new holder tells the store its fencing token on entry, so what came late was refused even before the new holder had written; the lock alone did not keep the late writer out"
        )),
        Protection::KeptByFencing => Sentence::of(format!(
            "the store's fence ({mode}): it compares fencing tokens and refused what came late; the lock alone did not keep the late writer out"
        )),
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

/// Who held the lock, told as one line: `a 0.43–2.44 s, b 2.44–3.52 s`.
pub fn holders(scene: &Scene) -> Sentence {
    const MAX: usize = 6;
    let mut sentence = Sentence::default();
    for (index, tenure) in scene.tenures.iter().take(MAX).enumerate() {
        let overlaps = index > 0
            && scene.tenures[..index]
                .iter()
                .any(|before| before.until > tenure.from.saturating_add(2 * scene.epsilon));
        let glue = match (index, overlaps) {
            (0, _) => "",
            (_, true) => ", and at the same time ",
            (_, false) => ", then ",
        };
        sentence = sentence
            .text(glue)
            .event(
                tenure.worker.clone().unwrap_or("somebody".to_owned()),
                tenure.granted_by,
            )
            .text(format!(" from {} to {}", at(tenure.from), at(tenure.until)));
    }
    match scene.tenures.len() {
        0 => Sentence::of("nobody, as far as the record shows"),
        n if n > MAX => sentence.text(format!(" and {} more", count(n - MAX, "grant"))),
        _ => sentence,
    }
}
