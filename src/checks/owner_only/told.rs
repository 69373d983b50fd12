//! What `owner_only` tells of releases and renewals that are no test of it, and why.

use super::tried::{Tried, is_refused, still_has};
use crate::checks::say::{secs, whose};
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{Grant, History, Operation};

/// What was tried beside what counts, in words that follow it; nothing if that is all.
pub(super) fn beside(history: &History, tried: &Tried<'_>) -> String {
    let mut told: Vec<String> = Vec::new();
    for (fault, n) in cuts(tried) {
        told.push(format!(
            "{n} sent into the cut of {fault} while another grant held the key, and never answered \
             (nothing shows that the server received it)"
        ));
    }
    let others = [
        (
            &tried.unshown,
            "sent while another grant held the key, without an answer that shows that the server executed it",
        ),
        (
            &tried.perhaps,
            "answered while another grant held the key, but perhaps executed just before or after that",
        ),
        (
            &tried.own,
            "that changed its own key while another grant held the key on another server",
        ),
    ];
    let others = others.iter().filter(|(all, _)| !all.is_empty());
    told.extend(others.map(|(all, what)| format!("{} {what}", all.len())));
    if let Some((index, other)) = tried.elsewhere.first() {
        let more = match tried.elsewhere.len() {
            1 => String::new(),
            n => format!(" (and {} more of this kind)", n - 1),
        };
        told.push(elsewhere(history, &history.operations[*index], other) + &more);
    }
    match told.as_slice() {
        [] => String::new(),
        all => format!("; not counted: {}", all.join("; ")),
    }
}

/// How many were sent into the cut of each fault.
fn cuts<'h>(tried: &Tried<'h>) -> Vec<(&'h str, usize)> {
    let mut found: Vec<(&str, usize)> = Vec::new();
    for (_, fault) in &tried.cut {
        match found.iter_mut().find(|(known, _)| known == fault) {
            Some((_, n)) => *n += 1,
            None => found.push((fault, 1)),
        }
    }
    found
}

/// One that was under way while another held the key on another server: what it was answered, and
/// what that says of who answered.
fn elsewhere(history: &History, operation: &Operation, other: &Grant) -> String {
    let verb = match &operation.call {
        Call::Renew { .. } => "renewal",
        _release => "release",
    };
    let own = operation.grant().and_then(|id| history.grant_of(id));
    let refused = is_refused(operation);
    let answer = match operation.answer() {
        _ if refused => "was answered that the lock is not its own",
        Some(Answer::Error { .. }) | None => "got no answer",
        Some(_) => "was answered",
    };
    let by = match own {
        Some(own) if refused && still_has(own, operation) => format!(
            ", although {}, which had granted it, still had its key: another server answered, and \
             the record does not say which",
            own.server
        ),
        Some(_) | None => " (which server it met is not on the record)".to_owned(),
    };
    format!(
        "{}'s {verb} at {} {answer}{by}; meanwhile {} held the key on {}, which was not changed",
        history.worker_name(operation.worker),
        secs(operation.invoked),
        whose(history, other),
        other.server,
    )
}
