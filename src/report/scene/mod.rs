//! What there is to draw of one arm: lanes, entitlements, beliefs, writes, faults. Read out of the
//! history once; charts, tables and sentences share it, so that they cannot disagree.
//!
//! A scene is for looking at. It never judges, and no check reads it.

pub mod belief;
pub mod beside;
mod by_client;
mod compared;
pub mod faults;
pub mod frames;
mod known;
pub mod marks;
mod matched;
pub mod rightful;
pub mod server;
pub mod taken;
pub mod tenure;
pub mod waits;
pub mod writes;

use crate::checks::recovers::owed_since;
use crate::ids::GrantId;
use crate::timeline::history::History;
use belief::Belief;
use beside::BesideMark;
use faults::FaultMark;
use frames::FrameMark;
use marks::{LossMark, Park, Renewal};
use server::{Reign, ServerMark};
use std::collections::HashMap;
use tenure::Tenure;
use waits::Death;
use writes::WriteMark;

/// One arm, ready to be drawn. All times are lab time in nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct Scene {
    /// First instant worth showing.
    pub from: u64,
    /// Last instant worth showing, after `from`.
    pub to: u64,
    /// Lanes, in the order of the plan, then any other worker that speaks.
    pub workers: Vec<String>,
    /// Server lanes, in the order in which they first speak.
    pub servers: Vec<String>,
    /// Whom the server entitled, and when.
    pub tenures: Vec<Tenure>,
    /// Whose handle said that it holds, and when.
    pub beliefs: Vec<Belief>,
    /// Writes and seals, joined with the store's log.
    pub writes: Vec<WriteMark>,
    /// Reads, publications, and fencing tokens drawn without the lock.
    pub beside: Vec<BesideMark>,
    /// Renewals.
    pub renewals: Vec<Renewal>,
    /// Losses told.
    pub losses: Vec<LossMark>,
    /// Points at which a worker waited for the lab.
    pub parks: Vec<Park>,
    /// Faults.
    pub faults: Vec<FaultMark>,
    /// Held requests that were sent on.
    pub frames: Vec<FrameMark>,
    /// Faults that could not be injected: name, `seq`, why.
    pub not_injected: Vec<(String, u64, String)>,
    /// The server's effects.
    pub server: Vec<ServerMark>,
    /// When another server took over, as seen by then: server, time, line.
    pub promotions: Vec<(String, u64, u64)>,
    /// Which of several servers was the primary by its own word, and from when to when.
    pub reigns: Vec<Reign>,
    /// When a server's process was gone: server, from, to.
    pub down: Vec<(String, u64, u64)>,
    /// Host stalls as (from, to).
    pub stalls: Vec<(u64, u64)>,
    /// How long each successful acquire or enter took.
    pub waits: Vec<u64>,
    /// Attempts to take the lock that found it busy: worker and time of the attempt.
    pub busy: Vec<(String, u64)>,
    /// When a worker was stopped and could not run: worker, from, to.
    pub stopped: Vec<(String, u64, u64)>,
    /// Workers that were killed and never came back.
    pub deaths: Vec<Death>,
    /// From when on a free lock was owed to whoever waited.
    pub owed: Option<u64>,
    /// When the record ends.
    pub ends: u64,
    /// Times closer than this prove nothing about order.
    pub epsilon: u64,
}

impl Scene {
    /// What there is to draw of a history.
    pub fn of(history: &History) -> Self {
        let tenures = tenure::tenures(history);
        let (from, to) = window(history);
        let over = story(history).map_or(0, |story| story.1);
        Scene {
            from,
            to,
            workers: history
                .workers
                .iter()
                .map(|worker| worker.name.clone())
                .collect(),
            servers: servers(history),
            beliefs: belief::beliefs(history),
            writes: writes::writes(history, &tenures),
            beside: beside::beside(history, &tenures),
            renewals: marks::renewals(history),
            losses: marks::losses(history),
            parks: marks::parks(history),
            faults: faults::faults(history),
            frames: frames::frames(history),
            not_injected: not_injected(history),
            server: server::server(history),
            promotions: server::promotions(history),
            reigns: server::reigns(history, over),
            down: server::down(history, over),
            stalls: history
                .stalls
                .iter()
                .map(|stall| (stall.span.from, stall.span.to))
                .collect(),
            waits: waits::waits(history),
            busy: waits::busy(history),
            stopped: waits::stopped(history),
            deaths: waits::deaths(history),
            owed: owed_since(history),
            ends: history.last_at,
            tenures,
            epsilon: history.epsilon_ns,
        }
    }

    /// The lane of a worker.
    pub fn lane(&self, worker: &str) -> Option<usize> {
        self.workers.iter().position(|name| name == worker)
    }

    /// The same scene between two instants: what lies outside is left out, what reaches outside
    /// is cut at the edge by whoever draws.
    #[must_use]
    pub fn between(&self, from: u64, to: u64) -> Scene {
        let inside = |at: u64| from <= at && at <= to;
        let touches = |begin: u64, end: u64| begin <= to && end >= from;
        let mut part = Scene {
            from,
            to,
            ..self.clone()
        };
        part.writes.retain(|write| inside(write.at()));
        part.beside.retain(|mark| inside(mark.at));
        part.renewals.retain(|renewal| inside(renewal.at()));
        part.losses.retain(|loss| inside(loss.at));
        part.parks.retain(|park| inside(park.from));
        part.frames.retain(|frame| inside(frame.at));
        part.server.retain(|mark| inside(mark.at));
        part.stalls.retain(|stall| touches(stall.0, stall.1));
        part.faults
            .retain(|fault| touches(fault.stands(), fault.over().unwrap_or(self.to)));
        part
    }

    /// The entitlement of each grant that could be traced; of several the first.
    pub fn by_grant(&self) -> HashMap<&GrantId, &Tenure> {
        let mut by_grant = HashMap::new();
        for tenure in &self.tenures {
            if let Some(grant) = &tenure.grant {
                by_grant.entry(grant).or_insert(tenure);
            }
        }
        by_grant
    }

    /// There is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.to <= self.from
    }
}

fn not_injected(history: &History) -> Vec<(String, u64, String)> {
    let windows = history.faults.iter();
    windows
        .filter_map(|window| {
            let (seq, why) = window.not_injected.clone()?;
            Some((window.fault.clone(), seq, why))
        })
        .collect()
}

fn servers(history: &History) -> Vec<String> {
    let mut names: Vec<String> = history.observers.keys().cloned().collect();
    for grant in &history.grants {
        if !names.contains(&grant.server) {
            names.push(grant.server.clone());
        }
    }
    names
}

/// From just before the first thing that the drill did to just after the last.
fn window(history: &History) -> (u64, u64) {
    let Some((first, last)) = story(history) else {
        return (0, 0);
    };
    let margin = ((last - first) / 18).max(1_000_000);
    (first.saturating_sub(margin), last.saturating_add(margin))
}

/// From the first thing that the drill did to the last; starting servers and collecting what is
/// left is not part of the story.
fn story(history: &History) -> Option<(u64, u64)> {
    let operations = history.operations.iter().flat_map(|operation| {
        [
            Some(operation.invoked),
            operation.returned.as_ref().map(|back| back.at),
        ]
    });
    let faults = history.faults.iter().flat_map(|window| {
        let onsets = window.onsets.iter().map(|onset| Some(onset.began));
        let heals = window
            .heals
            .iter()
            .map(|heal| Some(heal.removed.unwrap_or(heal.began)));
        onsets.chain(heals)
    });
    let grants = history.grants.iter().map(|grant| Some(grant.seen));
    let store = history.store.iter().map(|attempt| Some(attempt.applied));
    let losses = history.losses.iter().map(|loss| Some(loss.at));
    let all = operations.chain(faults).chain(grants).chain(store);
    all.chain(losses).flatten().fold(None, |range, at| {
        Some(range.map_or((at, at), |(first, last): (u64, u64)| {
            (first.min(at), last.max(at))
        }))
    })
}
