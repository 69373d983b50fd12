//! How far a server's stream can be trusted: gaps in its positions, and grants that an observer's
//! own gap touches.

use super::RawEffect;
use crate::timeline::history::sequence::Sequence;
use crate::timeline::history::{Defect, Gap, Grant, History, Observer};
use foldhash::HashMap;
use std::collections::BTreeMap;

/// Positions of one server rise by one, except where the observer itself says that it lost its
/// place. What is wrong with them.
pub(super) fn check_order(history: &History, server: &str, effects: &[RawEffect]) -> Vec<Defect> {
    let mut order = Sequence::new("effects of the server's stream", 0);
    for effect in effects {
        order.take(effect.pos);
    }
    let observer = history.observers.get(server);
    let gaps = observer.is_some_and(|observer| !observer.gaps.is_empty());
    if gaps && order.lacks().next().is_some() {
        return Vec::new();
    }
    let mut defects = order.defects();
    for defect in &mut defects {
        defect.what = format!("{server}: {}", defect.what);
    }
    defects
}

/// When each server's observer first was in sync, and where it lost its place.
pub(super) struct Trust<'a>(HashMap<&'a str, Watched<'a>>);

struct Watched<'a> {
    synced: Option<u64>,
    gaps: &'a [Gap],
}

impl<'a> Trust<'a> {
    pub(super) fn new(observers: &'a BTreeMap<String, Observer>) -> Self {
        let watched = |observer: &'a Observer| Watched {
            synced: observer.synced.iter().map(|(_, at)| *at).min(),
            gaps: &observer.gaps,
        };
        let each = observers.iter();
        Trust(
            each.map(|(name, one)| (name.as_str(), watched(one)))
                .collect(),
        )
    }

    /// Why nothing certain can be said of a grant.
    pub(super) fn doubt(&self, grant: &Grant) -> Option<String> {
        let server = &grant.server;
        let watched = self.0.get(server.as_str());
        match watched.and_then(|watched| watched.synced) {
            None => return Some(format!("the observer of {server} was never in sync")),
            Some(at) if grant.seen < at => {
                return Some(format!("the observer of {server} was not yet in sync"));
            }
            Some(_) => {}
        }
        let gap = watched?.gaps.iter().find(|gap| {
            gap.within.earliest <= grant.possible.to && grant.possible.from <= gap.within.latest
        })?;
        Some(format!(
            "the observer of {server} lost its place: {}",
            gap.why
        ))
    }
}
