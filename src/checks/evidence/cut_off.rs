//! Proof that what a server granted stayed with it: its replicas were seen to be cut off, none had a
//! link again before the server was gone or another took over, and by their own streams nothing
//! that it granted meanwhile reached them.

use super::Proof;
use crate::checks::say::{secs, whose};
use crate::plan::FaultPlan;
use crate::timeline::history::{FaultWindow, History, NEVER};

/// Requires everything that shows it.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(onset), Some(server)) = (window.onsets.first(), &window.server) else {
        return;
    };
    let until = over(history, server, onset.effective);
    let mut others = 0;
    for (other, roles) in &history.roles {
        let copies = |primary: bool| (other == server) == primary;
        let before = roles.iter().rfind(|role| role.at <= onset.effective);
        let is_down = before.is_some_and(|role| role.links == 0 && copies(role.primary));
        proof.events.extend(before.map(|role| role.seq));
        proof.require(is_down, || {
            format!("{name}: {other} was not seen to be cut off")
        });
        let again = roles
            .iter()
            .find(|role| role.links > 0 && onset.effective < role.at && role.at < until);
        if let Some(role) = again {
            proof.events.push(role.seq);
            proof.lacks(format!(
                "{name}: {other} had a link again at {}",
                secs(role.at)
            ));
        }
        others += usize::from(other != server);
    }
    proof.require(others > 0, || {
        format!("{name}: {server} had nobody that copies it")
    });
    let meanwhile = history.grants.iter().filter(|grant| {
        grant.server == *server
            && grant.granted.latest > onset.effective
            && grant.granted.earliest < until
    });
    for grant in meanwhile {
        if let Some(copy) = grant.copies.first() {
            proof.events.extend([grant.seq, copy.seq]);
            proof.lacks(format!(
                "{name}: {} reached {}",
                whose(history, grant),
                copy.server
            ));
        }
    }
}

/// When it did not matter any more: the server was gone, or another took over.
fn over(history: &History, server: &str, from: u64) -> u64 {
    let lives = history.servers.get(server).into_iter().flatten();
    let exits = lives.filter_map(|life| life.exit).map(|exit| exit.at);
    let promotions = history.promotions();
    let promoted = promotions.iter().map(|promotion| promotion.at.latest);
    let all = exits.chain(promoted).filter(|at| *at > from);
    all.min().unwrap_or(NEVER)
}
