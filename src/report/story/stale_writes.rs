//! Whether a stale write was accepted, and what the store did with those that should not have been
//! tried or should have been taken.

use super::protection::{idle, most_telling, reached, seals, stale, told, without_lock};
use super::{consequence, inverted};
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::sentence::Sentence;
use crate::report::words::count;

/// Was a stale write accepted?
pub fn stale_writes(arm: &ArmModel) -> Vec<Sentence> {
    let scene = &arm.scene;
    let all: Vec<_> = stale(scene).collect();
    let Some(shown) = most_telling(scene) else {
        return none(scene);
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
    sentences.extend(inverted::told(scene));
    sentences
}

/// No stale write was tried; what else was not as it should be.
fn none(scene: &Scene) -> Vec<Sentence> {
    let inverted = inverted::told(scene);
    let lockless = reached(scene).find(|write| write.is_lockless());
    let many = reached(scene).nth(1).is_some();
    let reached = counted(scene);
    let mut sentences = vec![Sentence::of(match (&inverted, lockless) {
        (None, None) if idle(scene).is_some() => {
            format!("none that could change anything was tried: {reached}")
        }
        (None, None) => {
            let each = if many { "each " } else { "" };
            format!("none was tried: {reached}, {each}in order and within its lease")
        }
        (Some(_), _) => format!(
            "by the fencing tokens none; but here the tokens were wrong, not the writers: {reached}"
        ),
        (None, Some(_)) => format!("none with a fencing token was tried: {reached}"),
    })];
    sentences.extend(idle(scene).map(Sentence::of));
    sentences.extend(inverted);
    sentences.extend(lockless.map(|write| without_lock(scene, write)));
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
