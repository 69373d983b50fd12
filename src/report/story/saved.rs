//! What saved the work: the fence, the comparison of owner tokens, a worker that asks before it
//! writes, the lease of a dead holder, or the lock alone; or that nothing had to be saved, or nothing did.

use super::holding::unheard;
use super::protection::reached;
use super::{beside, faults_done, finding, inverted, needed};
use crate::checks::{EVIDENCE, Outcome};
use crate::plan::Plan;
use crate::report::model::{ArmModel, Model};
use crate::report::scene::Scene;
use crate::report::scene::frames::Did;
use crate::report::scene::tenure::Tenure;
use crate::report::scene::writes::Fate;
use crate::report::sentence::Sentence;
use crate::report::words::{at, count, fence_word};
use crate::store::Fence;
use crate::verdict::Protection;

mod left_out;
mod word;

pub use word::{ASKED, CONDITION, IDEMPOTENCY, word};

/// Which protection saved the work, and every other without which a control of this run lost it.
pub fn told(model: &Model, main: &ArmModel) -> Vec<Sentence> {
    let mut told = vec![by(main)];
    if matches!(
        main.result.protection,
        Protection::Kept | Protection::KeptByFencing
    ) {
        told.extend(needed::told(model));
    }
    told
}

/// Which protection saved the work, or that none did or had to.
pub fn by(arm: &ArmModel) -> Sentence {
    let fence = arm.plan().map(|plan| plan.store.fence);
    let mode = fence.map_or("", fence_word);
    if let Some(told) = by_outbox(arm) {
        return told;
    }
    match arm.result.protection {
        Protection::KeptByFencing => by_fence(arm, mode),
        Protection::Kept => inverted::unsaved(&arm.scene, mode).unwrap_or_else(|| kept(arm, fence)),
        Protection::Lost => match (fence, inverted::unsaved(&arm.scene, mode)) {
            (Some(Fence::Off), _) => {
                Sentence::of("none: the store compares no fencing tokens (fence off)")
            }
            (Some(Fence::Racy), _) => Sentence::of(
                "none: the store reads, compares and then writes in separate steps (fence racy)",
            ),
            (Some(Fence::Atomic) | None, Some(told)) => told,
            (Some(Fence::Atomic) | None, None) => {
                Sentence::of("none: the damage got past the fence")
            }
        },
        Protection::NotTested if !is_shown(arm) && reached(&arm.scene).next().is_some() => {
            Sentence::of(
                "nothing was put to the test: what should have endangered the work is not shown to have happened",
            )
        }
        Protection::NotTested => Sentence::of("nothing was put to the test"),
    }
}

/// Where jobs are published: what held the store and the queue together, or that nothing did.
fn by_outbox(arm: &ArmModel) -> Option<Sentence> {
    let outbox = arm.plan().is_some_and(|plan| plan.store.outbox);
    let published = finding(arm, "published_once").filter(|found| !found.vacuous)?;
    match (arm.result.protection, published.outcome) {
        (Protection::Kept, Outcome::Holds) if outbox => Some(Sentence::of(
            "the outbox kept the job: it stood there, written in the same step as the work, until somebody had published it; no writer came late, so the fence had nothing to refuse",
        )),
        (Protection::Lost, Outcome::Violated) => Some(Sentence::of(
            "none: a lock is no transaction, and nothing holds the store and the queue together",
        )),
        _other => None,
    }
}

fn by_fence(arm: &ArmModel, mode: &str) -> Sentence {
    let refused: Vec<_> = reached(&arm.scene)
        .filter(|write| write.fate == Fate::Rejected)
        .collect();
    let lockless = refused.iter().all(|write| write.is_lockless());
    if let (true, Some(write)) = (lockless, refused.first()) {
        return Sentence::of(format!("the store's fence ({mode}): it refused "))
            .event(format!("a write of {}", write.worker), write.event)
            .text(" that had no fencing token: a write without the lock");
    }
    if beside::refused_read(&arm.scene).is_some() {
        return Sentence::of(format!(
            "the store's fence ({mode}), which compares the fencing tokens of reads, too, and refused the stale read; the lock alone did not keep the reader out"
        ));
    }
    let sealed = arm.plan().is_some_and(|plan| plan.store.seal);
    if sealed {
        return Sentence::of(format!(
            "the store's seal and fence ({mode}): each new holder tells the store its fencing token on entry, so the write with the lower one was refused even before the new holder had written; the lock alone did not keep it out"
        ));
    }
    Sentence::of(format!(
        "the store's fence ({mode}): it compares fencing tokens and refused {}; the lock alone did not keep it out",
        match refused.iter().all(|write| write.twin.is_some()) {
            true => "the write whose token another grant had used",
            false => "the write whose token was lower than one that it knew",
        }
    ))
}

/// Nothing stale was tried: what kept it from being tried, as far as the record shows.
fn kept(arm: &ArmModel, fence: Option<Fence>) -> Sentence {
    let fence = match fence {
        Some(Fence::Off) => "there was no fence (fence off)",
        Some(Fence::Atomic | Fence::Racy) | None => "the fence had nothing to refuse",
    };
    let scene = &arm.scene;
    if scene.faults.is_empty() {
        return Sentence::of(format!(
            "nothing was broken, so nothing had to be saved: the lock kept the workers apart ({}), and {fence}",
            count(scene.tenures.len(), "grant")
        ));
    }
    let told = taken_once(arm).or_else(|| Some(saver(arm)?.1));
    match told {
        Some(told) => told.text(format!("; {fence}")),
        None => Sentence::of(format!(
            "the lock: nobody wrote without being entitled, and {fence}"
        )),
    }
}

/// What kept a late writer away, in a word or two and in a sentence.
fn saver(arm: &ArmModel) -> Option<(&'static str, Sentence)> {
    let scene = &arm.scene;
    let owners = || owners_compared(scene).map(|told| ("owner check", told));
    let lease = || dead_holder(scene).map(|told| ("lease", told));
    owners()
        .or_else(|| left_out::stopped_itself(arm))
        .or_else(lease)
}

/// A job came more than once, and the store took it once.
fn taken_once(arm: &ArmModel) -> Option<Sentence> {
    let scene = &arm.scene;
    let again = scene.writes.iter().filter(|write| write.again);
    let first = again.clone().next()?;
    let job = first.job.as_deref()?;
    let (head, tail) = match arm.plan().is_some_and(Plan::has_conditions) {
        true => (
            "a write changes its job only while that is pending",
            ", and nothing changed, whoever had the lock",
        ),
        false => (
            "the store takes a job once, however often it comes",
            ", and nothing changed; the lock kept the workers apart",
        ),
    };
    let told = Sentence::of(format!("{head}: {job} came again with "))
        .event(first.write.as_str(), first.event);
    let others = again.filter(|write| write.write != first.write && write.job == first.job);
    let told = others.fold(told, |told, write| {
        told.text(" and ").event(write.write.as_str(), write.event)
    });
    Some(told.text(tail))
}

/// A held request arrived while another held the lock, and changed nothing.
fn owners_compared(scene: &Scene) -> Option<Sentence> {
    let (held, other) = scene.frames.iter().find_map(|held| {
        let other = faults_done::holder(scene, held).filter(|_| held.did == Did::Nothing)?;
        Some((held, other))
    })?;
    Some(
        Sentence::of("the comparison of owner tokens at the lock server: the held ")
            .event(format!("{} of {}", held.what, held.worker), held.event)
            .text(format!(
                " arrived while {} ",
                other.worker.as_deref().unwrap_or("another")
            ))
            .event("held the lock", other.granted_by)
            .text(" and changed nothing of it"),
    )
}

/// Goes on to the one who was let in.
fn let_in(sentence: Sentence, so: &str, next: &Tenure) -> Sentence {
    let who = next.worker.as_deref().unwrap_or("the next holder");
    sentence
        .text(format!("{so} {who} "))
        .event("was granted the lock", next.granted_by)
        .text(format!(" at {}{}", at(next.from), unheard(next)))
}

/// A holder died; its lease gave the lock back.
fn dead_holder(scene: &Scene) -> Option<Sentence> {
    let (death, own, next) = scene.deaths.iter().find_map(|death| {
        let own = scene.tenures.iter().find(|tenure| {
            tenure.worker.as_ref() == Some(&death.worker)
                && tenure.from < death.at
                && death.at < tenure.until
        })?;
        let next = scene.tenures.iter().find(|next| next.from >= own.until)?;
        Some((death, own, next))
    })?;
    let died = Sentence::of(format!(
        "nothing had to be saved from a late writer: {} ",
        death.worker
    ))
    .event("died", death.event)
    .text(" while it ")
    .event("held the lock", own.granted_by);
    let so = format!(
        " and wrote nothing more. What let the work go on is the lease: it ran out at {}, and",
        at(own.until)
    );
    Some(let_in(died, &so, next))
}

/// All that the drill needs is shown to have happened.
fn is_shown(arm: &ArmModel) -> bool {
    finding(arm, EVIDENCE).is_none_or(|finding| finding.outcome == Outcome::Holds)
}
