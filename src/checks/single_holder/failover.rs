//! Two servers that are one lock service each made a grant: who took over from whom, and when.

use crate::checks::say::secs;
use crate::timeline::history::{Copies, Grant, History, Promotion};

/// Which server made a grant that it should not have made, and since when it ruled, or no more.
pub(super) fn told(history: &History, earlier: &Grant, later: &Grant) -> String {
    let (old, new) = (&earlier.server, &later.server);
    if let Some(took_over) = promotion(history, later) {
        let by = secs(took_over.at.latest);
        let since = lost(history, earlier, took_over.at.latest);
        return format!(
            "{new} made it, which had taken over by {by}{since} and did not know of the grant of \
             {old}{}; {} passed from then to its grant",
            known(history, earlier),
            secs(later.granted.middle().saturating_sub(took_over.at.latest))
        );
    }
    match promotion(history, earlier) {
        Some(took_over) => format!(
            "{new} made it although {old} had taken over by {}",
            secs(took_over.at.latest)
        ),
        None => format!("{new} made it, and {old} the other"),
    }
}

/// Who else had the grant, and how many its holder was told of.
fn known(history: &History, grant: &Grant) -> String {
    let mut said = String::new();
    for copy in &grant.copies {
        said += &format!(", which {} had", copy.server);
    }
    let told = asked(history, grant).and_then(|asked| asked.have);
    if let Some(have) = told {
        said += &format!(" (WAIT answered {have})");
    }
    said
}

/// The replicas were asked whether they have it.
fn asked<'h>(history: &'h History, grant: &Grant) -> Option<&'h Copies> {
    let worker = history.workers.get(grant.worker?)?;
    let id = grant.id.as_ref()?;
    worker.copies.iter().find(|asked| asked.grant == *id)
}

/// The lines that show who took over, and who had the lost grant.
pub(super) fn events(history: &History, earlier: &Grant, later: &Grant) -> Vec<u64> {
    if earlier.server == later.server {
        return Vec::new();
    }
    let both = [promotion(history, earlier), promotion(history, later)];
    let promoted = both.into_iter().flatten().map(|one| one.seq);
    let copied = earlier.copies.iter().map(|copy| copy.seq);
    let asked = asked(history, earlier).map(|asked| asked.seq);
    promoted.chain(copied).chain(asked).collect()
}

/// The promotion under which a grant was made; none if its server ruled from the beginning.
fn promotion<'h>(history: &'h History, grant: &Grant) -> Option<Promotion<'h>> {
    let before =
        |one: &Promotion<'_>| one.server == grant.server && one.at.earliest <= grant.granted.latest;
    history.promotions().into_iter().rfind(before)
}

/// How long before the other server had been lost, and to what.
fn lost(history: &History, earlier: &Grant, by: u64) -> String {
    let hit = history.faults.iter().filter_map(|window| {
        let onset = window.onsets.first()?;
        let is_it = window.server.as_ref() == Some(&earlier.server)
            && onset.began >= earlier.granted.earliest
            && onset.effective <= by;
        is_it.then_some((onset.effective, window))
    });
    match hit.max_by_key(|(at, _)| *at) {
        Some((at, window)) => format!(
            ", {} after {} ({}),",
            secs(by.saturating_sub(at)),
            window.fault,
            window.kind
        ),
        None => String::new(),
    }
}
