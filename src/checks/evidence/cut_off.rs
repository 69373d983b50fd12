//! Proof that what a server granted stayed with it: its replicas were seen to be cut off, none had a
//! link again before the heal, before the server was gone or another took over, and by their own
//! streams nothing that it granted meanwhile reached them. A replica that never takes over keeps
//! its link. And that a heal brought them back: all have links, and what was written last.

use super::Proof;
use crate::checks::say::{secs, whose};
use crate::env::deployment;
use crate::plan::FaultPlan;
use crate::timeline::history::{FaultWindow, History, NEVER};

/// Requires everything that shows it.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(onset), Some(server)) = (window.onsets.first(), &window.server) else {
        return;
    };
    let healed = window.heals.first().map_or(NEVER, |heal| heal.began);
    let until = over(history, server, onset.effective).min(healed);
    let backups = deployment::backups(&history.plan.lock);
    let stay = backups.iter().filter(|backup| *backup != server);
    let stay = stay.count() as u64;
    let mut others = 0;
    for (other, roles) in &history.roles {
        if other != server && backups.contains(&other.as_str()) {
            continue;
        }
        let links = if other == server { stay } else { 0 };
        let copies = |primary: bool| (other == server) == primary;
        let before = roles.iter().rfind(|role| role.at <= onset.effective);
        let is_down = before.is_some_and(|role| role.links == links && copies(role.primary));
        proof.events.extend(before.map(|role| role.seq));
        proof.require(is_down, || {
            format!("{name}: {other} was not seen to be cut off")
        });
        let again = roles
            .iter()
            .find(|role| role.links > links && onset.effective < role.at && role.at < until);
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
        let reached = grant
            .copies
            .iter()
            .find(|copy| copy.seen < until && !backups.contains(&copy.server.as_str()));
        if let Some(copy) = reached {
            proof.events.extend([grant.seq, copy.seq]);
            proof.lacks(format!(
                "{name}: {} reached {}",
                whose(history, grant),
                copy.server
            ));
        }
    }
}

/// Requires that everybody copied it again when the heal was over, and had what was written last.
pub(super) fn healed(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(heal), Some(server)) = (window.heals.first(), &window.server) else {
        return;
    };
    let removed = heal.removed.unwrap_or(0);
    let others = history.roles.len().saturating_sub(1) as u64;
    for (other, roles) in &history.roles {
        let is_it = other == server;
        let last = roles.iter().rfind(|role| role.at <= removed);
        let links = if is_it { others } else { 1 };
        let copies = last.is_some_and(|role| role.primary == is_it && role.links == links);
        proof.events.extend(last.map(|role| role.seq));
        proof.require(copies, || {
            format!("{name}: {other} was not seen to be linked again")
        });
    }
    let answer = format!("int({others})");
    let asked = window.asked.iter().find(|asked| {
        let in_time = (heal.began..=removed).contains(&asked.at);
        let waits = asked.command.starts_with(&format!("WAIT {others} "));
        in_time && waits && asked.server == *server && asked.answer == answer
    });
    proof.events.extend(asked.map(|asked| asked.seq));
    proof.require(asked.is_some(), || {
        format!("{name}: it is not shown that the {others} replicas have all that {server} has")
    });
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
