//! Which grants no order compares: made by two servers, and neither answered before the other was
//! asked for. Lab time alone is no order of operations: two requests that are under way at once may
//! count in either order.

use super::{Answered, in_order};
use crate::checks::say::{secs, token, who};
use crate::timeline::history::{Grant, History, NEVER, Operation};
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

/// What the table of grants shows of these two, and why that is no breach.
pub(super) fn told(history: &History, (first, second): (&Grant, &Grant)) -> String {
    format!(
        "{} granted {} {} at {}, and {} granted {} {} at {}. The later one is not higher; that \
         alone is no breach, because {}{}",
        first.server,
        who(history, first),
        token(first.fencing),
        secs(first.granted.middle()),
        second.server,
        who(history, second),
        token(second.fencing),
        secs(second.granted.middle()),
        under_way(history, first, second),
        replaced(history, second),
    )
}

/// Why the second counts not as asked for after the first was answered.
fn under_way(history: &History, first: &Grant, second: &Grant) -> String {
    let attempt = |grant: &Grant| history.operations.get(grant.attempt?);
    let answered = attempt(first).map_or(NEVER, Operation::ended);
    let asked = attempt(second).map_or(0, |asked| asked.invoked);
    let (one, other) = (who(history, first), who(history, second));
    if answered != NEVER && asked != 0 && asked <= answered {
        return format!(
            "{other} had asked at {}, before {one} was answered at {}: both requests were under way \
             at once, so either may count as the earlier. A token has to be higher only than those \
             of grants that had been answered before it was asked for, or that its own server knew",
            secs(asked),
            secs(answered)
        );
    }
    format!(
        "the record does not show that {one} was answered before {other} asked, and no server knew \
         both grants: nothing but the time says which came first"
    )
}

/// Another server had taken over from the one that made it: what it grants counts as of before.
fn replaced(history: &History, second: &Grant) -> String {
    let by = history.replaced_by(&second.server, second.granted.earliest);
    by.map_or_else(String::new, |by| {
        format!(
            ". {} had taken over from {} by {}: a token that the old server gives after that is \
             lower, and a store that compares tokens refuses its holder",
            by.server,
            second.server,
            secs(by.at.latest)
        )
    })
}
