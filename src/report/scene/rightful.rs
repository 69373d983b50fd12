//! Writes of rightful holders that the store refused for their fencing token, and the writes of
//! older holders that it took all the same: a fence that works, on numbers that are wrong.

use super::Scene;
use super::tenure::Tenure;
use super::writes::{Fate, WriteMark};
use crate::checks::rightful_served::rightful;
use crate::timeline::event::AttemptKind;
use crate::timeline::history::{History, StoreAttempt};
use std::collections::HashSet;

/// Marks every refused write whose writer was rightful and whose token the store knew of another
/// grant, or knew a higher one.
pub(super) fn find(marks: &mut [WriteMark], history: &History) {
    let is_refused = |attempt: &&StoreAttempt| {
        let writes = attempt.kind == AttemptKind::Write;
        writes && !attempt.accepted
    };
    let refused = rightful(history, history.store.iter().filter(is_refused));
    let refused: HashSet<&str> = refused.map(|(attempt, _)| &*attempt.write).collect();
    let found: Vec<usize> = marks
        .iter()
        .enumerate()
        .filter(|(_, mark)| refused.contains(&*mark.write) && is_outnumbered(mark, marks))
        .map(|(index, _)| index)
        .collect();
    for index in found {
        marks[index].rightful = true;
    }
}

/// Accepted writes under a fencing token for which another grant's rightful write had been refused.
pub(super) fn reused(marks: &mut [WriteMark]) {
    let refused: Vec<_> = marks
        .iter()
        .filter(|mark| mark.rightful)
        .map(|mark| (mark.at(), mark.grant.clone(), mark.fencing))
        .collect();
    for mark in marks {
        let of_another = refused.iter().any(|(at, grant, fencing)| {
            *at < mark.at() && *grant != mark.grant && *fencing == mark.fencing
        });
        mark.reused = of_another && !mark.seal && mark.fate == Fate::Accepted;
    }
}

/// The store knew a higher token, or had taken this one of another grant.
fn is_outnumbered(mark: &WriteMark, all: &[WriteMark]) -> bool {
    let same = |other: &WriteMark| {
        other.fate == Fate::Accepted
            && other.at() < mark.at()
            && other.grant != mark.grant
            && other.fencing == mark.fencing
    };
    mark.fencing.is_some() && (mark.is_older() || all.iter().any(same))
}

/// A rightful holder that was refused, and what the store took of an older holder.
#[derive(Debug, Clone, Copy)]
pub struct Inverted<'s> {
    /// The refused write.
    pub refused: &'s WriteMark,
    /// Its writer's entitlement.
    pub own: &'s Tenure,
    /// The first write of an older grant that the store took after this one was made.
    pub accepted: Option<(&'s WriteMark, &'s Tenure)>,
}

/// The first rightful holder that was refused; of several the one after which an older holder's
/// write was taken.
pub fn inverted(scene: &Scene) -> Option<Inverted<'_>> {
    let all = scene.writes.iter().filter(|write| write.rightful);
    let told = all.filter_map(|refused| {
        let own = scene.tenures.get(refused.tenure?)?;
        Some(Inverted {
            refused,
            own,
            accepted: older(scene, own),
        })
    });
    told.min_by_key(|told| told.accepted.is_none())
}

fn older<'s>(scene: &'s Scene, newer: &Tenure) -> Option<(&'s WriteMark, &'s Tenure)> {
    let taken = scene
        .writes
        .iter()
        .filter(|write| write.fate == Fate::Accepted && !write.seal && write.at() > newer.from);
    taken
        .filter_map(|write| Some((write, scene.tenures.get(write.tenure?)?)))
        .find(|(_, tenure)| tenure.from < newer.from)
}
