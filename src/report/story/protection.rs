//! What became of the protected work, in one sentence with its events: the write that came late,
//! by how much, and what the store did with it.

use super::{bare, beside, finding, inverted, violated};
use crate::checks::Outcome;
use crate::checks::say::secs;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::scene::writes::{Fate, WriteMark};
use crate::report::sentence::Sentence;
use crate::report::words::{at, count};
use crate::store::Fence;
use crate::verdict::Protection;

/// Why the protection is what it is.
pub fn why(arm: &ArmModel) -> Sentence {
    let scene = &arm.scene;
    let telling = match arm.result.protection {
        Protection::KeptByFencing => first_stale(scene, Fate::Rejected),
        Protection::Lost => first_stale(scene, Fate::Accepted),
        Protection::Kept | Protection::NotTested => None,
    };
    if let Some(write) = telling {
        return told(scene, write);
    }
    let decisive = match arm.result.protection {
        Protection::KeptByFencing => lockless(scene, Fate::Rejected),
        Protection::Lost => lockless(scene, Fate::Accepted),
        Protection::Kept | Protection::NotTested => None,
    };
    if let Some(write) = decisive {
        return without_lock(scene, write);
    }
    let refused = match arm.result.protection {
        Protection::Kept | Protection::Lost => inverted::told(scene),
        Protection::KeptByFencing | Protection::NotTested => None,
    };
    if let Some(refused) = refused {
        return refused;
    }
    match arm.result.protection {
        Protection::Kept => kept(arm),
        Protection::NotTested => match reached(scene).count() {
            0 => Sentence::of("no write reached the store, so nothing was put to the test"),
            n => Sentence::of(format!(
                "{} reached the store, but this run does not show that anything endangered the work",
                count(n, "write")
            )),
        },
        Protection::KeptByFencing => beside::refused_read(scene)
            .unwrap_or_else(|| Sentence::of("a stale write reached the store and was refused")),
        Protection::Lost => violated(arm).last().map_or_else(
            || Sentence::of("something stale was accepted"),
            |finding| {
                let why = Sentence::of(bare(&finding.why));
                finding.events.first().map_or(why.clone(), |seq| {
                    Sentence::default().event(bare(&finding.why), *seq)
                })
            },
        ),
    }
}

fn kept(arm: &ArmModel) -> Sentence {
    let scene = &arm.scene;
    let fence = match arm.plan().map(|plan| plan.store.fence) {
        Some(Fence::Off) => "there is no fence here (fence off)",
        Some(Fence::Atomic | Fence::Racy) | None => "fencing was not put to the test",
    };
    let writes = count(reached(scene).count(), "write");
    match stale(scene).next() {
        Some(late) => Sentence::of(format!(
            "{writes} reached the store in the order of the fencing tokens; yet "
        ))
        .then(told(scene, late)),
        None => Sentence::of(format!(
            "{writes} reached the store{} late or older than one that it had taken; no {}stale write was tried, and {fence}{}",
            match (idle(scene), reached(scene).count()) {
                (Some(idle), _) => format!("; {idle}; no other was"),
                (None, 1) => ", not".to_owned(),
                (None, _) => ", none of them".to_owned(),
            },
            idle(scene).map_or("", |_| "other "),
            jobs(arm)
        )),
    }
}

/// What became of the jobs, where there are any to publish.
fn jobs(arm: &ArmModel) -> String {
    let published = finding(arm, "published_once");
    let kept = published.filter(|found| found.outcome == Outcome::Holds && !found.vacuous);
    kept.map_or_else(String::new, |found| format!("; {}", bare(&found.why)))
}

/// Writes that found their job done: they changed nothing, so that none of them can be stale.
pub fn idle(scene: &Scene) -> Option<String> {
    match reached(scene).filter(|write| write.again).count() {
        0 => None,
        1 => Some("1 found its job done and changed nothing, however late it came".to_owned()),
        n => Some(format!(
            "{n} found their job done and changed nothing, however late they came"
        )),
    }
}

/// Writes (not seals) that reached the store.
pub fn reached(scene: &Scene) -> impl Iterator<Item = &WriteMark> {
    scene
        .writes
        .iter()
        .filter(|write| write.applied.is_some() && !write.seal)
}

/// How many seals reached the store.
pub fn seals(scene: &Scene) -> usize {
    let reached = scene.writes.iter();
    reached
        .filter(|write| write.seal && write.applied.is_some())
        .count()
}

/// Stale writes that reached the store.
pub fn stale(scene: &Scene) -> impl Iterator<Item = &WriteMark> {
    reached(scene).filter(|write| write.is_stale())
}

/// The stale write that tells most: the first that was accepted, else the first.
pub fn most_telling(scene: &Scene) -> Option<&WriteMark> {
    first_stale(scene, Fate::Accepted).or_else(|| stale(scene).next())
}

/// The first write without the lock with which the store did this.
fn lockless(scene: &Scene, fate: Fate) -> Option<&WriteMark> {
    reached(scene).find(|write| write.is_lockless() && write.fate == fate)
}

/// It is neither stale nor late: its writer never had the lock.
pub fn without_lock(scene: &Scene, write: &WriteMark) -> Sentence {
    let did = match write.fate {
        Fate::Accepted => "accepted it",
        Fate::Rejected => "refused it",
        Fate::Unknown => "did not say what became of it",
    };
    Sentence::default()
        .event(format!("{} wrote", write.worker), write.event)
        .text(format!(
            " without the lock and without a fencing token at {}{}; the store {did}",
            at(write.at()),
            in_vain(scene, write)
        ))
}

/// Why a worker writes without the lock: its script goes on although nothing was granted.
fn in_vain(scene: &Scene, write: &WriteMark) -> &'static str {
    let asked = |(worker, at): &&(String, u64)| *worker == write.worker && *at < write.at();
    match scene.busy.iter().find(asked) {
        Some(_) => " (it had asked for the lock in vain, and its script goes on all the same)",
        None => "",
    }
}

fn first_stale(scene: &Scene, fate: Fate) -> Option<&WriteMark> {
    stale(scene).find(|write| write.fate == fate)
}

/// One stale write: who, when, how late, after whose grant, what the store did.
pub fn told(scene: &Scene, write: &WriteMark) -> Sentence {
    let token = write
        .fencing
        .map_or("no fencing token".to_owned(), |token| {
            format!("fencing token {token}")
        });
    let mut sentence = Sentence::default()
        .event(format!("{} wrote", write.worker), write.event)
        .text(format!(" with {token} at {}", at(write.at())));
    let mut glue = ", ";
    if let (Some(late), Some(own)) = (write.late, own(scene, write)) {
        let seq = own.ended_by.unwrap_or(own.granted_by);
        sentence = sentence.text(format!("{glue}{} after ", secs(late))).event(
            match own.ended {
                Ended::Released => "its release",
                Ended::Expired | Ended::Open => "its lease ended",
            },
            seq,
        );
        glue = " and ";
    }
    if let Some(next) = successor(scene, write) {
        let granted = match next.fencing {
            Some(token) => format!("was granted {token}"),
            None => "was granted the lock".to_owned(),
        };
        sentence = sentence
            .text(format!(
                "{glue}{} after {} ",
                secs(write.at().saturating_sub(next.from)),
                next.worker.as_deref().unwrap_or("somebody else")
            ))
            .event(granted, next.granted_by);
    }
    sentence.text("; the store ").event(
        match write.fate {
            Fate::Accepted => "accepted it",
            Fate::Rejected => "refused it",
            Fate::Unknown => "did not say what became of it",
        },
        write.event,
    )
}

fn own<'s>(scene: &'s Scene, write: &WriteMark) -> Option<&'s Tenure> {
    scene.tenures.get(write.tenure?)
}

/// The last grant to anybody else before the write: since its writer's own, or with a newer token.
fn successor<'s>(scene: &'s Scene, write: &WriteMark) -> Option<&'s Tenure> {
    let own = own(scene, write);
    let newer = |tenure: &Tenure| write.fencing.is_some() && tenure.fencing > write.fencing;
    scene
        .tenures
        .iter()
        .filter(|tenure| tenure.from < write.at() && tenure.grant != write.grant)
        .filter(|tenure| own.is_none_or(|own| tenure.from >= own.from || newer(tenure)))
        .max_by_key(|tenure| tenure.from)
}
