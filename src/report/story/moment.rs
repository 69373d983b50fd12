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
use std::collections::HashMap;

/// Fewer marks than this do not crowd each other.
const CROWD: usize = 3;

/// The decisive moment.
pub struct Moment {
    /// When, lab time, ns.
    pub at: u64,
    /// What happens, in words that follow *when*.
    pub what: String,
    /// Something was decided then; else it is only a place to look at.
    pub decides: bool,
    /// The scene around it; none if the whole picture shows it as well.
    pub near: Option<Scene>,
}

/// The decisive moment of an arm; none if nothing in it was broken or out of order.
pub fn of(arm: &ArmModel) -> Option<Moment> {
    let (found, decides) = match focus(arm) {
        Some(found) => (found, true),
        None => (afterwards(&arm.scene)?, false),
    };
    let (at, what) = found;
    Some(Moment {
        decides,
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
    // The moment itself lies inside whatever stands around it.
    let (first, last) = (first.min(&focus), last.max(&focus));
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
        if let Some(death) = unpublished(arm, finding) {
            return Some(death);
        }
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
        .or_else(|| told_of_loss(scene))
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

/// A worker that died with a job which was never published: it is its death that lost it.
fn unpublished(arm: &ArmModel, finding: &Finding) -> Option<(u64, String)> {
    let lines = &arm.record.as_ref()?.lines;
    let mut events = finding.events.iter();
    let published = events.any(|seq| {
        let line = arm.place(*seq).and_then(|place| lines.get(place));
        line.is_some_and(|line| matches!(line.event, Event::Published { .. }))
    });
    let witness = arm.plan()?.control.as_ref().map(|control| &control.by)?;
    let mut deaths = arm.scene.deaths.iter();
    let death = deaths.find(|death| death.worker == *witness)?;
    (finding.check == "published_once" && !published).then(|| {
        let what = format!("{witness} is gone, and nobody publishes its job");
        (death.at, what)
    })
}

/// The first holder that was told of its loss.
fn told_of_loss(scene: &Scene) -> Option<(u64, String)> {
    let loss = scene.losses.first()?;
    let what = format!("{} is told that its lock is lost", loss.worker);
    Some((loss.at, what))
}

/// What came of what was broken: the first grant after a death or a fault, else the fault's own
/// begin.
fn afterwards(scene: &Scene) -> Option<(u64, String)> {
    let deaths = scene.deaths.iter().map(|death| death.at);
    let faults = scene.faults.iter().map(|fault| fault.effective);
    let broken = deaths.chain(faults).min()?;
    let next = scene.tenures.iter().find(|tenure| tenure.from > broken);
    Some(match next {
        Some(next) => {
            let who = next.who();
            (
                next.from,
                format!("{who} is granted the lock, the first after what was broken"),
            )
        }
        None => (broken, "the fault begins to bite".to_owned()),
    })
}

/// When the last of these lines happened; what a server, the store or the queue did counts when it
/// did it, not when its log was read, and what was only read at the end counts for nothing.
fn latest(arm: &ArmModel, seqs: &[u64]) -> Option<u64> {
    let lines = &arm.record.as_ref()?.lines;
    let mut grants = HashMap::new();
    for tenure in &arm.scene.tenures {
        grants.insert(tenure.granted_by, tenure.from);
    }
    let at = seqs.iter().filter_map(|seq| {
        let line = lines.get(arm.place(*seq)?)?;
        match &line.event {
            Event::StoreAttempt { applied, .. } | Event::Published { applied, .. } => {
                Some(*applied)
            }
            Event::FinalValue { .. } | Event::FinalQueue { .. } => None,
            _ => Some(grants.get(seq).copied().unwrap_or(line.at)),
        }
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
