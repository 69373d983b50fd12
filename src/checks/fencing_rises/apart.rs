//! Which grants no order compares: made by two servers, and neither answered before the other was
//! asked for. Lab time alone is no order of operations.

use super::{Answered, in_order};
use crate::timeline::history::{Grant, History};
use foldhash::HashMap;

/// Whether any grant is before another of its key: on one server, or by what workers were told.
pub(super) fn is_compared(history: &History, answered: &[Answered<'_>]) -> bool {
    let mut first: HashMap<_, usize> = HashMap::default();
    let on_one_server = in_order(history).into_iter().any(|(server, index)| {
        let grant = &history.grants[index];
        let known = *first.entry((server, &grant.key)).or_insert(index);
        grant.fencing.is_some() && known != index
    });
    let mut earliest: HashMap<&str, &Answered<'_>> = HashMap::default();
    for one in answered {
        let known = earliest.entry(one.key).or_insert(one);
        if one.answered < known.answered {
            *known = one;
        }
    }
    let after = |one: &Answered<'_>| {
        let first = earliest.get(one.key);
        first.is_some_and(|first| {
            one.grant != first.grant && one.sent > first.answered.saturating_add(history.epsilon_ns)
        })
    };
    on_one_server || answered.iter().any(after)
}

/// Two grants of one key by two servers, the later one in lab time with the token that is not
/// higher. No violation was found, so no order compares them.
pub(super) fn apart(history: &History) -> Option<(&Grant, &Grant)> {
    let mut in_time: Vec<&Grant> = history.grants.iter().collect();
    in_time.sort_by_key(|grant| (grant.granted.middle(), grant.seq));
    let mut highest: HashMap<&str, &Grant> = HashMap::default();
    for grant in in_time {
        let Some(fencing) = grant.fencing else {
            continue;
        };
        let best = highest.entry(&grant.key).or_insert(grant);
        let other = best.server != grant.server && (grant.id.is_none() || best.id != grant.id);
        if other && best.fencing >= Some(fencing) {
            return Some((best, grant));
        }
        if best.fencing < Some(fencing) {
            *best = grant;
        }
    }
    None
}
