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

/// A stretch in which one of several servers was the primary by its own word: the one that takes
/// writes.
#[derive(Debug, Clone)]
pub struct Reign {
    /// Server.
    pub server: String,
    /// By when it had said so.
    pub from: u64,
    /// When it said otherwise or its process was gone; else the end of the record.
    pub to: u64,
    /// It took over from another; else it said so from its first word on.
    pub took_over: bool,
    /// The line that says so.
    pub event: u64,
}

/// Which of several servers took writes, and from when to when, in order of time; the end of one
/// when the drill was over, ns, is none.
pub fn reigns(history: &History, over: u64) -> Vec<Reign> {
    let mut all = Vec::new();
    for (server, roles) in &history.roles {
        let lives = history.servers.get(server).into_iter().flatten();
        let exits = lives.filter_map(|life| Some(life.exit?.at));
        let exits: Vec<u64> = exits.filter(|at| *at <= over).collect();
        let gone = |since: u64| exits.iter().copied().filter(|at| since <= *at).min();
        let mut own: Option<Reign> = None;
        for role in roles {
            // Whoever died is no primary until it says so anew.
            if own.as_ref().is_some_and(|reign| reign.to < role.at) {
                all.extend(own.take());
            }
            match (role.primary, &mut own) {
                (true, None) => {
                    own = Some(Reign {
                        server: server.clone(),
                        from: role.at,
                        to: gone(role.at)
                            .unwrap_or(history.last_at)
                            .min(history.last_at),
                        took_over: role.since.is_some(),
                        event: role.seq,
                    });
                }
                (false, Some(reign)) => {
                    reign.to = reign.to.min(role.at);
                    all.extend(own.take());
                }
                _same => {}
            }
        }
        all.extend(own);
    }
    all.sort_by_key(|reign| (reign.from, reign.event));
    all
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
