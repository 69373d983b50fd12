//! Proof of what a server forgot, refused or never wrote to its disk: by its own stream, and so that
//! what somebody put back is not taken for forgotten.

use super::Proof;
use crate::checks::say::{secs, whose};
use crate::plan::FaultPlan;
use crate::timeline::history::{Cause, FaultWindow, Grant, History, KeyEnd, Memory};

/// The server forgot a counter of fencing tokens, or was emptied, which no lock ever makes it do; and
/// nothing that it forgot then was put back.
pub(super) fn prove(history: &History, plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let (Some(onset), Some(server)) = (window.onsets.first(), &window.server) else {
        return;
    };
    let in_time = onset.began..=onset.effective;
    let then = history.forgotten.iter();
    let then = then.filter(|lost| lost.server == *server && in_time.contains(&lost.at));
    let mut shown = false;
    for lost in then {
        proof.events.push(lost.seq);
        let what = match lost.what {
            Memory::Owner(_) => "the owner",
            Memory::Counter(_) => {
                shown = true;
                "the counter"
            }
            Memory::Everything => {
                shown = true;
                "everything"
            }
        };
        if let Some(back) = lost.back {
            proof.events.push(back);
            let key = &lost.key;
            proof.lacks(format!("{name}: somebody put back {what} of {key}"));
        }
    }
    proof.require(shown, || {
        format!("{name}: {server} was not seen to forget a counter of fencing tokens")
    });
}

/// Nobody was granted the lock, and no lease was extended, while the server was to refuse all of it.
pub(super) fn nothing_written(
    history: &History,
    plan: &FaultPlan,
    window: &FaultWindow,
    proof: &mut Proof,
) {
    let (Some(span), Some(server)) = (window.certain(), &window.server) else {
        return;
    };
    let name = &plan.name;
    for grant in history
        .grants
        .iter()
        .filter(|grant| grant.server == *server)
    {
        let extended = grant
            .extensions
            .iter()
            .map(|extended| (extended.seq, extended.at));
        let written = [(grant.seq, grant.granted)].into_iter().chain(extended);
        let within = |at: u64| span.contains(at);
        for (seq, at) in written.filter(|(_, at)| within(at.earliest) && within(at.latest)) {
            proof.events.push(seq);
            proof.lacks(format!(
                "{name}: {server} wrote for {} at {}",
                whose(history, grant),
                secs(at.middle())
            ));
        }
    }
}

/// The server was started again and had lost a lock that it had granted since the onset, although
/// its lease ran on.
pub(super) fn lost_by_restart(
    history: &History,
    plan: &FaultPlan,
    window: &FaultWindow,
    proof: &mut Proof,
) {
    let name = &plan.name;
    let (Some(onset), Some(server)) = (window.onsets.first(), &window.server) else {
        return;
    };
    let since = |grant: &&Grant| {
        grant.server == *server
            && grant.granted.earliest >= onset.effective
            && grant.doubt.is_none()
    };
    let lost = history
        .grants
        .iter()
        .filter(since)
        .find_map(|grant| match &grant.end {
            KeyEnd::Taken {
                seq,
                cause: Cause::Restart,
                ..
            } => Some([grant.seq, *seq]),
            _other => None,
        });
    proof.events.extend(lost.into_iter().flatten());
    proof.require(lost.is_some(), || {
        format!(
            "{name}: what {server} granted from then on is not shown to have been in memory alone"
        )
    });
}
