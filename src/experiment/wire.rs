//! What a fault of the network says beside its target: which edge, and which request on it.

use super::reading::{Reading, Spot};
use super::section::Section;
use crate::env::edge::{self, Chosen};
use crate::faults::{self, FaultKind, Hits};
use crate::plan::{Asks, ChosenCommand, FaultPlan, NetworkPlan, Service};

/// The part of a fault that speaks of the network.
#[derive(Debug, Default)]
pub(super) struct Wire {
    pub edge: Option<Service>,
    pub command: Option<ChosenCommand>,
}

/// Reads `edge`, `command` and `nth`; each belongs to some kinds of fault only.
pub(super) fn read(reading: &mut Reading, kind: &FaultKind, section: &Section<'_>) -> Wire {
    let edge = section.one_of(reading, "edge");
    let command = section.one_of(reading, "command");
    let nth = section.text(reading, "nth");
    let chooses = kind.harm().is_some_and(|harm| harm.chooses());
    let keys = [
        ("edge", kind.hits == Hits::Edge, true),
        ("command", chooses, true),
        ("nth", chooses, false),
    ];
    for (key, fits, needed) in keys {
        if fits && needed && !section.has(key) {
            let message = format!("a `{}` needs `{key}`", kind.name);
            reading.problem(&section.at, message);
        } else if !fits && section.has(key) {
            let message = format!("a `{}` has no `{key}`", kind.name);
            reading.problem(&section.place(key), message);
        }
    }
    if let (true, Some(edge)) = (chooses, &edge)
        && edge.value != Service::Lock.word()
    {
        let message = "requests can be chosen on the edge to the lock only";
        reading.problem(&edge.at, message);
    }
    let nth = nth.map_or(Some(1), |typed| ordinal(reading, &typed));
    let asks = command.map(|command| match command.value {
        "acquire" => Asks::Acquire,
        "renew" => Asks::Renew,
        _ => Asks::Release,
    });
    let command = asks.zip(nth).map(|(asks, nth)| ChosenCommand { asks, nth });
    Wire {
        edge: edge.map(|edge| match edge.value {
            "lock" => Service::Lock,
            _ => Service::Store,
        }),
        command: command.filter(|_| chooses),
    }
}

/// `1st`, `2nd`, `3rd`, `4th`, …
fn ordinal(reading: &mut Reading, typed: &Spot<&str>) -> Option<u64> {
    let digits = typed
        .value
        .trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let number = digits
        .parse::<u64>()
        .ok()
        .filter(|n| (1..=1000).contains(n));
    if number.is_none() {
        let message = "`nth` must be `1st`, `2nd`, `3rd`, …, at most `1000th`";
        reading.problem(&typed.at, message);
    }
    number
}

/// `[network]`: who makes the edges. One that cannot do a fault of this drill is refused.
pub(super) fn network(
    reading: &mut Reading,
    root: &Section<'_>,
    faults: &[FaultPlan],
) -> NetworkPlan {
    let Some(proxy) = root
        .table(reading, "network")
        .and_then(|section| section.one_of(reading, "proxy"))
    else {
        return NetworkPlan::default();
    };
    let provider = edge::find(proxy.value);
    let harms = faults.iter().filter_map(|fault| {
        let harm = faults::find(&fault.kind)?.harm()?;
        Some((fault, harm))
    });
    for (fault, harm) in harms {
        let chosen = Chosen {
            marks: vec!["?".to_owned()],
            nth: 1,
        };
        let can = provider.map_or(Ok(()), |kind| (kind.can)(&harm.injury(chosen)));
        if let Err(why) = can {
            let message = format!("`{}` cannot do `{}`", proxy.value, fault.kind);
            reading.hinted(&proxy.at, message, format!("{why}; `auto` takes what can"));
        }
    }
    NetworkPlan {
        proxy: proxy.value.to_owned(),
    }
}
