//! The decisive moment of an arm: where to look closely, and how closely. In the main arm it is
//! the stale write that tells most, else a rightful holder's that was refused, else a held request
//! that was sent on; in a red control what its witness did.

use super::protection::most_telling;
use super::{finding, violated};
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::rightful::inverted;
use crate::timeline::event::Event;

/// Fewer marks than this do not crowd each other.
const CROWD: usize = 3;

/// The scene around the decisive moment.
///
/// # Errors
/// Why there is nothing to enlarge, as a sentence without its full stop.
pub fn of(arm: &ArmModel) -> Result<Scene, &'static str> {
    let scene = &arm.scene;
    let Some(focus) = focus(arm) else {
        return Err(
            "No moment stands out: nothing stale was tried, no rightful holder was refused, no held request was sent on, and nothing was violated",
        );
    };
    let whole = scene.to.saturating_sub(scene.from);
    let half = (whole / 80).max(4_000_000);
    let near = scene.between(focus.saturating_sub(half), focus.saturating_add(half));
    let instants = instants(&near);
    let (Some(first), Some(last)) = (instants.iter().min(), instants.iter().max()) else {
        return Err(SHOWN);
    };
    let air = ((last - first) * 3 / 20).max(500_000);
    let (from, to) = (first.saturating_sub(air), last.saturating_add(air));
    if instants.len() < CROWD || to - from > whole / 4 {
        return Err(SHOWN);
    }
    Ok(scene.between(from, to))
}

const SHOWN: &str = "The picture shows the decisive moment without an enlargement";

/// The instant to look at.
fn focus(arm: &ArmModel) -> Option<u64> {
    let witness = arm.plan().and_then(|plan| plan.control.as_ref());
    let named = witness
        .filter(|_| arm.result.red_as_required == Some(true))
        .and_then(|control| finding(arm, &control.check));
    named
        .and_then(|finding| latest(arm, &finding.events))
        .or_else(|| most_telling(&arm.scene).map(|write| write.at()))
        .or_else(|| Some(inverted(&arm.scene)?.refused.at()))
        .or_else(|| arm.scene.frames.first().map(|held| held.at))
        .or_else(|| latest(arm, &violated(arm).next()?.events))
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
    let all = writes
        .chain(losses)
        .chain(server)
        .chain(heals)
        .chain(frames);
    all.filter(|at| scene.from <= *at && *at <= scene.to)
        .collect()
}
