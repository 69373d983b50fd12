//! `fencing_rises`: each grant's fencing token is higher than that of every grant before it.
//!
//! *Before* means in the server's order, or in real time: one grant had been answered before the
//! other was asked for. Two grants that overlap in time and share no server prove nothing.

use super::say::{secs, whose};
use super::{Check, Finding};
use crate::ids::{FencingToken, GrantId};
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, Told};
use foldhash::HashMap;
use std::collections::BTreeSet;

mod apart;

use apart::is_compared;

/// The check.
#[derive(Debug, Clone, Copy)]
pub struct FencingRises;

/// A grant as its worker was told of it.
struct Answered<'a> {
    grant: &'a GrantId,
    key: &'a str,
    fencing: FencingToken,
    sent: u64,
    answered: u64,
    operation: usize,
}

impl Check for FencingRises {
    fn name(&self) -> &'static str {
        "fencing_rises"
    }

    fn claim(&self) -> &'static str {
        "each grant's fencing token is higher than that of every grant that its server knew, or that \
         was answered before it was asked for"
    }

    fn judge(&self, history: &History) -> Finding {
        if let Some(violated) = self.by_server(history) {
            return violated;
        }
        let answered = answered(history);
        let keys: BTreeSet<&str> = answered.iter().map(|one| one.key).collect();
        for key in keys {
            let of_key = answered.iter().filter(|one| one.key == key);
            if let Some(violated) = self.by_real_time(history, of_key.collect()) {
                return violated;
            }
        }
        // Without any observer the workers' own words are judged.
        let observed = history.observers.values().any(|o| !o.synced.is_empty());
        if observed && let Some(unseen) = Finding::unseen(self, history) {
            return unseen;
        }
        let by_server = history
            .grants
            .iter()
            .filter(|grant| grant.fencing.is_some())
            .count();
        let tokens = by_server.max(answered.len());
        if tokens < 2 {
            return Finding::vacuous(self, "fewer than two grants had a fencing token");
        }
        self.in_order(history, tokens, is_compared(history, &answered))
    }
}

impl FencingRises {
    /// No token fell; two that no order compares are told, because the numbers alone look otherwise.
    fn in_order(&self, history: &History, tokens: usize, compared: bool) -> Finding {
        let rising = format!("{tokens} fencing tokens, each higher than those before it");
        let Some(pair) = apart::apart(history) else {
            let why = match compared {
                true => rising,
                false => format!(
                    "{tokens} fencing tokens that rise in the order of time; none of these grants \
                     was answered before another was asked for"
                ),
            };
            return Finding::holds(self, why);
        };
        let told = apart::told(history, pair);
        // Where the numbers fall and nothing compares them, nothing was put to the test.
        let finding = match compared {
            true => Finding::holds(self, format!("{rising}; two are not compared: {told}")),
            false => Finding::vacuous(self, format!("no order compares these grants: {told}")),
        };
        finding.resting_on([pair.0.seq, pair.1.seq])
    }

    /// In the server's order.
    fn by_server(&self, history: &History) -> Option<Finding> {
        let mut highest: HashMap<_, usize> = HashMap::default();
        for (server, index) in in_order(history) {
            let grant = &history.grants[index];
            let Some(fencing) = grant.fencing else {
                continue;
            };
            let best = highest.entry((server, &grant.key)).or_insert(index);
            let before = &history.grants[*best];
            if before.fencing < Some(fencing) {
                *best = index;
                continue;
            }
            // A copy shows that the server knew of the grant from then on. That it was made by
            // another, perhaps long before, is for that one's order.
            let copied = server != grant.server;
            if *best == index || copied || (before.id.is_some() && before.id == grant.id) {
                continue;
            }
            let why = format!(
                "{} was made at {}, after {} at {}: the later token is not higher",
                whose(history, grant),
                secs(grant.granted.middle()),
                whose(history, before),
                secs(before.granted.middle()),
            );
            let finding = Finding::violated(self, why).resting_on([before.seq, grant.seq]);
            let workers = grant.worker.into_iter().chain(before.worker);
            return Some(finding.witnessed_by(history, workers));
        }
        None
    }

    /// In real time, by what the workers were told.
    fn by_real_time(&self, history: &History, answered: Vec<&Answered<'_>>) -> Option<Finding> {
        let mut by_answer = answered.clone();
        by_answer.sort_by_key(|one| (one.answered, one.operation));
        let mut by_sent = answered;
        by_sent.sort_by_key(|one| (one.sent, one.operation));
        let mut ended = by_answer.into_iter().peekable();
        let mut highest: Option<&Answered<'_>> = None;
        // The highest of another attempt than `highest`: a resent command is not a second grant.
        let mut other: Option<&Answered<'_>> = None;
        for later in by_sent {
            let clearly_before =
                |one: &&Answered<'_>| one.answered.saturating_add(history.epsilon_ns) < later.sent;
            while let Some(one) = ended.next_if(clearly_before) {
                match highest {
                    Some(best) if one.fencing <= best.fencing => {
                        if one.grant != best.grant && other.is_none_or(|o| one.fencing > o.fencing)
                        {
                            other = Some(one);
                        }
                    }
                    best => {
                        if best.is_some_and(|best| best.grant != one.grant) {
                            other = best;
                        }
                        highest = Some(one);
                    }
                }
            }
            let before = [highest, other].into_iter().flatten();
            let before = before
                .filter(|one| one.grant != later.grant && later.fencing <= one.fencing)
                .max_by_key(|one| one.fencing);
            if let Some(before) = before {
                return Some(self.told_lower(history, before, later));
            }
        }
        None
    }

    fn told_lower(&self, history: &History, before: &Answered, later: &Answered) -> Finding {
        let operations = [later.operation, before.operation].map(|i| &history.operations[i]);
        let [second, first] = operations.map(|operation| history.worker_name(operation.worker));
        let why = format!(
            "{second} asked at {} and was granted fencing token {}, after {first} had been granted \
             {} at {}: the later token is not higher",
            secs(later.sent),
            later.fencing,
            before.fencing,
            secs(before.answered),
        );
        Finding::violated(self, why)
            .resting_on(operations.iter().flat_map(|operation| operation.seqs()))
            .witnessed_by(history, operations.map(|operation| operation.worker))
    }
}

/// Grants in each server's order, by server; those that a server copied stand in its order, too.
fn in_order(history: &History) -> Vec<(&str, usize)> {
    let mut order = Vec::new();
    let mut copied = false;
    for (index, grant) in history.grants.iter().enumerate() {
        order.push((&*grant.server, grant.pos, index));
        let copies = grant.copies.iter();
        order.extend(copies.map(|copy| (&*copy.server, copy.pos, index)));
        copied |= !grant.copies.is_empty();
    }
    if copied {
        order.sort_unstable();
    }
    order
        .into_iter()
        .map(|(server, _, index)| (server, index))
        .collect()
}

fn answered(history: &History) -> Vec<Answered<'_>> {
    let told = history.operations.iter().enumerate();
    told.filter_map(|(index, operation)| {
        let Call::Attempt { grant, .. } = &operation.call else {
            return None;
        };
        match (operation.told(), operation.answer()) {
            (
                Told::Done,
                Some(Answer::Granted {
                    fencing: Some(fencing),
                    ..
                }),
            ) => Some(Answered {
                grant,
                key: history.key_of(operation.worker),
                fencing: *fencing,
                sent: operation.invoked,
                answered: operation.ended(),
                operation: index,
            }),
            _other => None,
        }
    })
    .collect()
}
