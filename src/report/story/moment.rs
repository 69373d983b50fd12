//! The decisive moment of an arm: what it is, where to look closely, and how closely. In the main
//! arm it is the stale write that tells most, else a rightful holder's that was refused, else a held
//! request that was sent on, else the first of what else went another way than it was meant to; in
//! a red control what its witness did.

use super::protection::most_telling;
use super::{finding, violated};
use crate::checks::Finding;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::rightful::inverted;
use crate::report::scene::writes::{Fate, WriteMark};
use crate::timeline::event::Event;

/// Fewer marks than this do not crowd each other.
const CROWD: usize = 3;

/// The decisive moment.
pub struct Moment {
    /// When, lab time, ns.
    pub at: u64,
    /// What happens, in words that follow *when*.
    pub what: String,
    /// The scene around it; none if the whole picture shows it as well.
    pub near: Option<Scene>,
}

/// The decisive moment of an arm; none if nothing in it was broken or out of order.
pub fn of(arm: &ArmModel) -> Option<Moment> {
    let (at, what) = focus(arm)?;
    Some(Moment {
        at,
        what,
        near: near(&arm.scene, at),
    })
}

fn near(scene: &Scene, focus: u64) -> Option<Scene> {
    let whole = scene.to.saturating_sub(scene.from);
    let half = (whole / 80).max(4_000_000);
    let near = scene.between(focus.saturating_sub(half), focus.saturating_add(half));
    let instants = instants(&near);
    let (first, last) = (instants.iter().min()?, instants.iter().max()?);
    let air = ((last - first) * 3 / 20).max(500_000);
    let (from, to) = (first.saturating_sub(air), last.saturating_add(air));
    (instants.len() >= CROWD && to - from <= whole / 4).then(|| scene.between(from, to))
}

/// The instant to look at, and what happens then.
fn focus(arm: &ArmModel) -> Option<(u64, String)> {
    let scene = &arm.scene;
    let witness = arm.plan().and_then(|plan| plan.control.as_ref());
    let named = witness
        .filter(|_| arm.result.red_as_required == Some(true))
        .and_then(|control| finding(arm, &control.check));
    let violation = |finding: &Finding| {
        let at = latest(arm, &finding.events)?;
        Some((at, format!("{} is violated", finding.check)))
    };
    named
        .and_then(violation)
        .or_else(|| most_telling(scene).map(reaches))
        .or_else(|| Some(reaches(inverted(scene)?.refused)))
        .or_else(|| {
            let held = scene.frames.first()?;
            let what = format!("the held {} of {} is sent on", held.what, held.worker);
            Some((held.at, what))
        })
        .or_else(|| violation(violated(arm).next()?))
        .or_else(|| late_read(scene))
        .or_else(|| afterwards(scene))
}

fn reaches(write: &WriteMark) -> (u64, String) {
    let did = did(write.fate);
    (
        write.at(),
        format!("{} reaches the store, {did}", write.write),
    )
}

fn did(fate: Fate) -> &'static str {
    match fate {
        Fate::Accepted => "which accepts it",
        Fate::Rejected => "which refuses it",
        Fate::Unknown => "and what becomes of it is not on the record",
    }
}

/// A read that came after its reader's time.
fn late_read(scene: &Scene) -> Option<(u64, String)> {
    let read = scene.beside.iter().find(|mark| mark.stale.is_some())?;
    let what = format!("{} reaches the store, {}", read.step, did(read.fate));
    Some((read.at, what))
}

/// What came of what was broken: the first holder that was told of its loss, else the first grant
/// after a death or a fault, else the fault's own begin.
fn afterwards(scene: &Scene) -> Option<(u64, String)> {
    if let Some(loss) = scene.losses.first() {
        return Some((
            loss.at,
            format!("{} is told that its lock is lost", loss.worker),
        ));
    }
    let deaths = scene.deaths.iter().map(|death| death.at);
    let faults = scene.faults.iter().map(|fault| fault.effective);
    let broken = deaths.chain(faults).min()?;
    let next = scene.tenures.iter().find(|tenure| tenure.from > broken);
    Some(match next {
        Some(next) => {
            let who = next.worker.as_deref().unwrap_or("somebody");
            (
                next.from,
                format!("{who} is granted the lock, the first after what was broken"),
            )
        }
        None => (broken, "the fault begins to bite".to_owned()),
    })
}

/// When the last of these lines happened; what the store did counts when it did it, not when its
/// log was read.
fn latest(arm: &ArmModel, seqs: &[u64]) -> Option<u64> {
    let lines = &arm.record.as_ref()?.lines;
    let at = seqs.iter().filter_map(|seq| {
        let line = lines.get(arm.place(*seq)?)?;
        Some(match &line.event {
            Event::StoreAttempt { applied, .. } => *applied,
            _ => line.at,
        })
    });
    at.max()
}

/// When each mark of a scene stands, as far as it lies inside.
fn instants(scene: &Scene) -> Vec<u64> {
    let writes = scene.writes.iter().map(|write| write.at());
    let losses = scene.losses.iter().map(|loss| loss.at);
    let server = scene.server.iter().map(|mark| mark.at);
    let heals = scene.faults.iter().filter_map(|fault| fault.healed);
    let frames = scene.frames.iter().map(|held| held.at);
    let beside = scene.beside.iter().map(|mark| mark.at);
    let all = writes
        .chain(losses)
        .chain(server)
        .chain(heals)
        .chain(frames)
        .chain(beside);
    all.filter(|at| scene.from <= *at && *at <= scene.to)
        .collect()
}
