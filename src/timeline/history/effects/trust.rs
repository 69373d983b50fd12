//! How far a server's stream can be trusted: gaps in its positions, and grants that an observer's
//! own gap touches.

use super::RawEffect;
use crate::timeline::history::derive::note;
use crate::timeline::history::sequence::Sequence;
use crate::timeline::history::{Grant, History, Observer};
use std::collections::BTreeMap;

/// Positions rise by one, except where the observer itself says that it lost its place.
pub(super) fn check_order(history: &mut History, effects: &[RawEffect]) {
    let mut orders: BTreeMap<&str, Sequence> = BTreeMap::new();
    for effect in effects {
        orders
            .entry(&effect.server)
            .or_insert_with(|| Sequence::new("effects of the server's stream", 0))
            .take(effect.pos);
    }
    for (server, order) in orders {
        let gaps = history
            .observers
            .get(server)
            .is_some_and(|observer| !observer.gaps.is_empty());
        if gaps && order.lacks().next().is_some() {
            continue;
        }
        for defect in order.defects() {
            note(history, defect.events, format!("{server}: {}", defect.what));
        }
    }
}

/// Why nothing certain can be said of a grant.
pub(super) fn doubt(grant: &Grant, observer: Option<&Observer>) -> Option<String> {
    let server = &grant.server;
    let synced = observer.and_then(|observer| observer.synced.iter().map(|(_, at)| *at).min());
    match synced {
        None => return Some(format!("the observer of {server} was never in sync")),
        Some(at) if grant.seen < at => {
            return Some(format!("the observer of {server} was not yet in sync"));
        }
        Some(_) => {}
    }
    let gap = observer?.gaps.iter().find(|gap| {
        gap.within.earliest <= grant.possible.to && grant.possible.from <= gap.within.latest
    })?;
    Some(format!(
        "the observer of {server} lost its place: {}",
        gap.why
    ))
}
