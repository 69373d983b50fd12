//! What the server did to lock keys: grants, moved deadlines, keys that ended.

use crate::timeline::history::{Cause, History, KeyEnd};

/// One effect on the server's lane.
#[derive(Debug, Clone)]
pub struct ServerMark {
    /// Server.
    pub server: String,
    /// When.
    pub at: u64,
    /// What.
    pub kind: ServerKind,
    /// Fencing token of a grant.
    pub fencing: Option<u64>,
    /// The line.
    pub event: u64,
}

/// What a server's effect was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerKind {
    /// The key was set.
    Grant,
    /// Its deadline moved.
    Extended,
    /// It was deleted.
    Deleted,
    /// Everything was.
    Flushed,
}

/// Every time that another server took over: which, by when that was seen, and the line.
pub fn promotions(history: &History) -> Vec<(String, u64, u64)> {
    let all = history.promotions().into_iter();
    all.map(|one| (one.server.to_owned(), one.at.latest, one.seq))
        .collect()
}

/// When a server's process was gone: from each of its ends to its next start, or to the end of the
/// record; not its end when the drill was over, ns.
pub fn down(history: &History, over: u64) -> Vec<(String, u64, u64)> {
    let mut spans = Vec::new();
    for (name, lives) in &history.servers {
        for (index, life) in lives.iter().enumerate() {
            let Some(exit) = life.exit else { continue };
            let next = lives.get(index + 1).map(|life| life.started);
            let to = next.unwrap_or(history.last_at);
            if to > exit.at && exit.at <= over {
                let (from, to) = as_told(history, name, (exit.at, to));
                spans.push((name.clone(), from, to));
            }
        }
    }
    spans
}

/// The same in the times of the fault that did it, as everywhere else: from when its effect was seen
/// to when the server was seen to be back.
fn as_told(history: &History, server: &str, (gone, back): (u64, u64)) -> (u64, u64) {
    let mut windows = history.faults.iter().filter(|window| {
        let mut onsets = window.onsets.iter();
        window.server.as_deref() == Some(server)
            && onsets.any(|onset| onset.began <= gone && gone <= onset.effective)
    });
    let Some(window) = windows.next() else {
        return (gone, back);
    };
    let from = window.onsets.first().map_or(gone, |onset| onset.effective);
    let heal = window.heals.first().filter(|heal| heal.began <= back);
    let seen = heal
        .and_then(|heal| heal.removed)
        .filter(|seen| back <= *seen);
    let to = seen.unwrap_or(back);
    if from < to { (from, to) } else { (gone, back) }
}

/// What the server did to lock keys: grants, moved deadlines, keys that ended.
pub fn server(history: &History) -> Vec<ServerMark> {
    let mut marks = Vec::new();
    for grant in &history.grants {
        let mut mark = |at, kind, fencing, event| {
            marks.push(ServerMark {
                server: grant.server.clone(),
                at,
                kind,
                fencing,
                event,
            });
        };
        let token = grant.fencing.map(|token| token.0);
        mark(grant.granted.middle(), ServerKind::Grant, token, grant.seq);
        for extension in &grant.extensions {
            mark(
                extension.at.middle(),
                ServerKind::Extended,
                None,
                extension.seq,
            );
        }
        match &grant.end {
            KeyEnd::Open => {}
            KeyEnd::Released { seq, at, .. } => {
                mark(at.middle(), ServerKind::Deleted, None, *seq);
            }
            KeyEnd::Expired { seq, seen, .. } => mark(*seen, ServerKind::Deleted, None, *seq),
            KeyEnd::Taken { seq, at, cause, .. } => match cause {
                Cause::Flush => mark(at.latest, ServerKind::Flushed, None, *seq),
                // The new grant on the same line shows it; after a failover another server made it,
                // and this one may be dead.
                Cause::Overwrite(_) | Cause::Failover => {}
                _gone => mark(at.latest, ServerKind::Deleted, None, *seq),
            },
        }
    }
    marks
}
