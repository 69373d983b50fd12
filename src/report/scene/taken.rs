//! What took a key before its holder's time: when, how, and the line that shows it.

use super::tenure::Tenure;
use crate::checks::say::worker_names;
use crate::timeline::history::{Cause, Grant, History, KeyEnd};

/// Something else than the holder took the key before its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// When, lab time, ns.
    pub at: u64,
    /// What became of it, in a word: `flushed`.
    pub how: &'static str,
    /// The line that shows it.
    pub event: u64,
}

impl Taken {
    /// Why, until when at the latest, and by which line the key of this grant was gone.
    pub fn of(history: &History, grant: &Grant, (cause, at, event): (&Cause, u64, u64)) -> Taken {
        match cause {
            Cause::Failover => failed_over(history, grant, at, event),
            _other => Taken {
                at,
                how: how(history, grant, cause, at),
                event,
            },
        }
    }
}

/// Where a grant ceased to exist that the next primary did not have: with its server's death, else
/// when another server took over from it, else when its own server copied another.
fn failed_over(history: &History, grant: &Grant, seen: u64, seq: u64) -> Taken {
    let since = |at: u64| grant.granted.earliest <= at && at <= seen;
    let lives = history.servers.get(&grant.server).into_iter().flatten();
    let died = lives
        .filter_map(|life| life.exit)
        .find(|exit| since(exit.at))
        .map(|exit| Taken {
            at: exit.at,
            how: "lost with its server, which died",
            event: exit.seq,
        });
    let promotions = || history.promotions().into_iter();
    let replaced = || {
        let other = promotions().find(|one| one.server != grant.server && since(one.at.latest))?;
        Some(Taken {
            at: other.at.latest,
            how: "left behind when another server took over",
            event: other.seq,
        })
    };
    died.or_else(replaced).unwrap_or(Taken {
        at: seen,
        how: "dropped when its server copied another",
        event: seq,
    })
}

impl Tenure {
    /// What became of the key that something took, in words that follow *was*; none if nothing did.
    pub fn taken(&self) -> Option<String> {
        let how = self.key_taken?.how;
        Some(match self.deleted_by.as_slice() {
            [] => how.to_owned(),
            [one] => format!("deleted by a release of {one}"),
            some => format!(
                "deleted by a release of {}, the record cannot tell whose",
                some.join(" or ")
            ),
        })
    }
}

/// Whose release deleted the key of a grant; one of these, where the record cannot tell.
pub fn deleted_by(history: &History, grant: &Grant) -> Vec<String> {
    let KeyEnd::Taken { cause, .. } = &grant.end else {
        return Vec::new();
    };
    let (Cause::BlindDelete(all) | Cause::Unclear(all)) = cause else {
        return Vec::new();
    };
    let names = worker_names(history, all).into_iter();
    names.map(str::to_owned).collect()
}

/// Faults under which a server drops keys by itself, and how its keys are then told.
const DROPS: [(&str, &str); 1] = [("evict", "evicted by its server")];

/// The fault of a server that was in effect when a key was gone, if it makes servers drop keys.
fn dropped(history: &History, grant: &Grant, gone: u64) -> Option<&'static str> {
    let mut began = history.faults.iter().filter(|window| {
        let mut onsets = window.onsets.iter();
        window.server.as_ref() == Some(&grant.server) && onsets.any(|onset| onset.began <= gone)
    });
    began.find_map(|window| {
        let mut known = DROPS.iter();
        known
            .find(|(kind, _)| *kind == window.kind)
            .map(|(_, how)| *how)
    })
}

fn how(history: &History, grant: &Grant, cause: &Cause, gone: u64) -> &'static str {
    match cause {
        Cause::BlindDelete(_) => "deleted by another's release",
        Cause::Overwrite(_) => "overwritten by another's acquire command",
        Cause::Flush => "flushed",
        Cause::Restart => "lost when its server was started again",
        Cause::Failover => "lost in a failover, in which another server took over",
        Cause::Clock => "dropped because the server's clock moved",
        Cause::Unclear(_) => "deleted",
        Cause::Unexplained => {
            dropped(history, grant, gone).unwrap_or("gone without any command on the record")
        }
    }
}
