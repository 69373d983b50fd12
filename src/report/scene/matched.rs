//! Which of a grant's renewals the server's effects can belong to, where only their order and the
//! bounds of their times say so.
//!
//! Renewals that do not overlap take effect in the order in which they were sent. So the earliest and
//! the latest renewal that each effect can belong to say what is certain, and what cannot be told.

use crate::ids::GrantId;
use crate::timeline::event::Call;
use crate::timeline::history::{Author, Bounds, Grant, History, Span, Told};
use std::collections::{HashMap, HashSet};

/// What can be told of a renewal that was told as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    /// The server applied it, lab time, ns.
    At(u64),
    /// It is one of several, of which the server applied fewer.
    Perhaps,
}

/// What can be told of renewals told as done, by their index into [`History::operations`]; nothing of
/// those that the server's effects do not show, or that cannot be put in order.
pub(super) fn known(history: &History) -> HashMap<usize, Known> {
    let mut renewals: HashMap<&GrantId, Vec<usize>> = HashMap::new();
    for (index, operation) in history.operations.iter().enumerate() {
        if let (Call::Renew { grant, .. }, Told::Done) = (&operation.call, operation.told()) {
            renewals.entry(grant).or_default().push(index);
        }
    }
    let mut found = HashMap::new();
    for (id, mut renewals) in renewals {
        renewals.sort_by_key(|index| history.operations[*index].invoked);
        let grant = history.grant_of(id).filter(|grant| grant.doubt.is_none());
        found.extend(
            grant
                .and_then(|grant| of_grant(history, grant, &renewals))
                .into_iter()
                .flatten(),
        );
    }
    found
}

fn of_grant(history: &History, grant: &Grant, renewals: &[usize]) -> Option<Vec<(usize, Known)>> {
    let is_done = |index: usize| history.operations[index].told() == Told::Done;
    let own = grant
        .extensions
        .iter()
        .filter_map(|extension| match extension.author {
            Author::Own(Some(index)) if is_done(index) => Some((index, extension.at)),
            _ => None,
        });
    let (authors, effects): (Vec<usize>, Vec<Bounds>) = own.unzip();
    // What one renewal did in several effects is not counted by effects.
    if authors.iter().collect::<HashSet<_>>().len() < authors.len() {
        return None;
    }
    let under_way = |index: &usize| Span {
        from: history.operations[*index].invoked,
        to: history.operations[*index].ended(),
    };
    let spans: Vec<Span> = renewals.iter().map(under_way).collect();
    let told = shown(&effects, &spans)?
        .into_iter()
        .zip(renewals.iter().zip(&spans));
    let known = told.filter_map(|(shown, (index, span))| {
        let known = match shown {
            Shown::By(effect) => {
                let at = effects[effect];
                Known::At(Bounds::between(at.earliest.max(span.from), at.latest).middle())
            }
            Shown::Perhaps => Known::Perhaps,
            Shown::Not => return None,
        };
        Some((*index, known))
    });
    Some(known.collect())
}

/// What the effects say of one renewal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    /// This effect is its own, index into the effects.
    By(usize),
    /// One of several renewals, of which the server made fewer than that.
    Perhaps,
    /// Every effect belongs to another.
    Not,
}

/// What the effects, in the server's order, say of each renewal that was told as done, in the order in
/// which they were sent; none if the renewals overlap, or an effect belongs to none of them.
pub(super) fn shown(effects: &[Bounds], renewals: &[Span]) -> Option<Vec<Shown>> {
    if renewals.windows(2).any(|pair| pair[0].to > pair[1].from) {
        return None;
    }
    let earliest = earliest(effects, renewals)?;
    let latest = latest(effects, renewals)?;
    let mut shown = vec![Shown::Not; renewals.len()];
    for (effect, (first, last)) in earliest.into_iter().zip(latest).enumerate() {
        if first == last {
            shown[first] = Shown::By(effect);
        } else {
            shown.get_mut(first..=last)?.fill(Shown::Perhaps);
        }
    }
    Some(shown)
}

fn can_be(effect: &Bounds, renewal: &Span) -> bool {
    renewal.from <= effect.latest && renewal.to >= effect.earliest
}

fn earliest(effects: &[Bounds], renewals: &[Span]) -> Option<Vec<usize>> {
    let mut left = renewals.iter().enumerate();
    let mut first = |effect: &Bounds| left.find(|(_, one)| can_be(effect, one));
    let found = effects.iter().map(|effect| Some(first(effect)?.0));
    found.collect()
}

fn latest(effects: &[Bounds], renewals: &[Span]) -> Option<Vec<usize>> {
    let mut left = renewals.iter().enumerate().rev();
    let mut last = |effect: &Bounds| left.find(|(_, one)| can_be(effect, one));
    let found = effects.iter().rev().map(|effect| Some(last(effect)?.0));
    let mut found: Vec<usize> = found.collect::<Option<_>>()?;
    found.reverse();
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans<const N: usize>(spans: [(u64, u64); N]) -> Vec<Span> {
        spans.map(|(from, to)| Span { from, to }).to_vec()
    }

    fn seen<const N: usize>(bounds: [(u64, u64); N]) -> Vec<Bounds> {
        bounds.map(|(a, b)| Bounds::between(a, b)).to_vec()
    }

    #[test]
    fn as_many_effects_as_renewals_leave_no_doubt_however_late_they_are_seen() {
        let renewals = spans([(10, 12), (20, 22)]);
        let both = Some(vec![Shown::By(0), Shown::By(1)]);
        assert_eq!(shown(&seen([(10, 13), (13, 23)]), &renewals), both);
        assert_eq!(shown(&seen([(0, 25), (0, 26)]), &renewals), both);
    }

    #[test]
    fn nobody_knows_which_of_three_the_two_effects_are() {
        let renewals = spans([(10, 12), (20, 22), (30, 32)]);
        let found = shown(&seen([(10, 23), (20, 33)]), &renewals);
        assert_eq!(found, Some(vec![Shown::Perhaps; 3]));
    }

    #[test]
    fn what_was_answered_before_or_sent_after_every_effect_is_not_shown() {
        let renewals = spans([(10, 12), (20, 22), (30, 32)]);
        let found = shown(&seen([(13, 24)]), &renewals);
        assert_eq!(found, Some(vec![Shown::Not, Shown::By(0), Shown::Not]));
    }

    #[test]
    fn requests_that_overlap_have_no_order_and_an_effect_may_be_nobodys() {
        assert_eq!(shown(&seen([(10, 13)]), &spans([(10, 30), (20, 40)])), None);
        assert_eq!(shown(&seen([(1, 2)]), &spans([(10, 12)])), None);
    }
}
