//! What was broken: each fault with whom it hit, from when to when, what began and ended it, and
//! what became of a request that it held.

use super::points::place;
use crate::checks::say::seen_over;
use crate::faults::{self, FaultKind};
use crate::plan::Service;
use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::faults::FaultMark;
use crate::report::scene::frames::{Did, FrameMark};
use crate::report::scene::tenure::Tenure;
use crate::report::sentence::Sentence;
use crate::report::words::{Clock, at};

/// What was done, one sentence a fault, and one for each held request that was sent on.
pub fn told(arm: &ArmModel) -> Vec<Sentence> {
    let scene = &arm.scene;
    let mut told = Vec::new();
    for mark in &scene.faults {
        told.push(fault(arm, mark));
        let own = scene.frames.iter().filter(|held| held.fault == mark.name);
        told.extend(own.map(|held| sent_on(scene, held)));
    }
    for (name, seq, why) in &scene.not_injected {
        told.push(
            Sentence::of("the fault named ")
                .code(name)
                .event(" was not injected", *seq)
                .text(format!(": {why}")),
        );
    }
    let planned = arm.plan().map_or(0, |plan| plan.faults.len());
    if told.is_empty() {
        told.push(Sentence::of(if planned == 0 {
            "nothing was broken: the drill has no fault"
        } else {
            "nothing is on the record: no fault was injected"
        }));
    }
    told
}

fn fault(arm: &ArmModel, mark: &FaultMark) -> Sentence {
    let onset = mark.events.first().copied().unwrap_or(0);
    let whom = mark.worker.as_ref().or(mark.server.as_ref());
    let whom = whom.map_or_else(String::new, |whom| format!(" of {whom}"));
    let sentence = Sentence::default()
        .event(format!("{}{whom}", mark.kind), onset)
        .text(", the fault named ")
        .code(&mark.name)
        .text(",");
    let sentence = when(sentence, mark);
    let sentence = match faults::find(&mark.kind) {
        Some(kind) => sentence.text(format!(
            " ({}{})",
            summary(arm, kind, mark),
            edge(arm, mark)
        )),
        None => sentence,
    };
    triggers(sentence, mark)
}

/// What its kind does, said of this one: whether it is undone is known here.
fn summary(arm: &ArmModel, kind: &FaultKind, mark: &FaultMark) -> String {
    const OPEN: &str = ", until the heal, if there is one";
    const WHICH: &str = ", of several the one that takes writes";
    let known = match mark.healed {
        Some(_) => ", until the heal",
        None => "; it is not undone",
    };
    let told = kind.summary.replace(OPEN, known);
    // Of a single server, and of several that all take writes, there is nothing to choose.
    let chosen = arm.scene.servers.len() > 1 && !arm.scene.promotions.is_empty();
    if chosen {
        told
    } else {
        told.replace(WHICH, "")
    }
}

/// Which edge a fault of the network hit, and which it left alone.
fn edge(arm: &ArmModel, mark: &FaultMark) -> String {
    let faults = arm.plan().map_or(&[][..], |plan| &plan.faults);
    let edge = |name: &str| faults.iter().find(|fault| fault.name == name)?.edge;
    let Some(hit) = edge(&mark.name) else {
        return String::new();
    };
    let other = match hit {
        Service::Lock => Service::Store,
        Service::Store => Service::Lock,
    };
    let untouched = faults.iter().all(|fault| fault.edge != Some(other));
    let named = |service| match service {
        Service::Lock => "lock service",
        Service::Store => "store",
    };
    let rest = match untouched {
        true => format!(", and the {} stayed in reach", named(other)),
        false => String::new(),
    };
    format!("; the edge is the one to the {}{rest}", named(hit))
}

/// From when to when; where its removal was seen later than its heal began, when that was.
fn when(sentence: Sentence, mark: &FaultMark) -> Sentence {
    let begun = mark.effective;
    let (Some(end), Some(heal)) = (mark.over().filter(|_| mark.lasts), mark.events.get(1)) else {
        let (lasts, begun) = (mark.lasts, at(begun));
        return sentence.text(match mark.begun(at) {
            Some(since) if lasts => {
                format!(" from {begun} (begun at {since}) on; its end is not on the record")
            }
            None if lasts => format!(" from {begun} on; its end is not on the record"),
            Some(since) => format!(" begun at {since} and done by {begun}"),
            None => format!(" done by {begun}"),
        });
    };
    let woken = mark.healed.filter(|_| mark.server.is_some());
    let clock = Clock::telling(&[begun, woken.unwrap_or(end), end]).adding_up(&[(begun, end)]);
    let since = mark.begun(|ns| clock.at(ns));
    let since = since.map_or_else(String::new, |since| format!(" (begun at {since})"));
    let sentence = sentence
        .text(format!(" from {}{since} to ", clock.at(begun)))
        .event(clock.at(end), *heal)
        .text(format!(", for {}", clock.lasted(begun, end)));
    match mark.removed.map(|removed| clock.at(removed)) {
        Some(_) if mark.server.is_some() => match faults::find(&mark.kind) {
            Some(kind) => {
                let woken = clock.at(woken.unwrap_or(end));
                sentence.text(format!(", {}", seen_over(kind, &woken, &clock.at(end))))
            }
            None => sentence,
        },
        Some(removed) if removed != clock.at(end) => {
            sentence.text(format!(", seen to be gone at {removed}"))
        }
        Some(_) | None => sentence,
    }
}

/// What made it begin and end.
fn triggers(sentence: Sentence, mark: &FaultMark) -> Sentence {
    let sentence = sentence
        .text(if mark.lasts {
            "; it began at "
        } else {
            "; its trigger was "
        })
        .code(&mark.trigger)
        .text(place(&mark.trigger));
    match &mark.cause {
        Some(cause) if cause.contains(' ') => {
            sentence.text(format!(" and was undone because of {cause}"))
        }
        Some(cause) => sentence
            .text(" and was undone after ")
            .code(cause)
            .text(place(cause)),
        None => sentence,
    }
}

/// A held request: when it was sent on, who held the lock then, what it did.
fn sent_on(scene: &Scene, held: &FrameMark) -> Sentence {
    let other = holder(scene, held);
    let instants: Vec<u64> = other
        .map(|other| other.from)
        .into_iter()
        .chain([held.at])
        .collect();
    let sentence = Sentence::of(format!("the held {} of {} ", held.what, held.worker))
        .event("was sent on", held.event)
        .text(format!(" at {}", Clock::telling(&instants).at(held.at)));
    let sentence = match other {
        Some(other) => sentence
            .text(format!(
                ", when {} ",
                other.worker.as_deref().unwrap_or("somebody else")
            ))
            .event("held the lock", other.granted_by)
            .text(
                other
                    .fencing
                    .map_or_else(String::new, |token| format!(" with fencing token {token}")),
            ),
        None => sentence.text(", when nobody else held the lock"),
    };
    match &held.did {
        Did::Nothing => {
            sentence.text("; it changed nothing: the server's record shows no effect of it")
        }
        Did::Done(what, seq) => sentence.text("; it ").event(what.as_str(), *seq),
        Did::Unclear => sentence.text("; what it did is not clear from the server's record"),
    }
}

/// Who else held the lock when a held request was sent on.
pub fn holder<'s>(scene: &'s Scene, held: &FrameMark) -> Option<&'s Tenure> {
    scene.tenures.iter().find(|tenure| {
        tenure.from <= held.at
            && held.at < tenure.until
            && tenure.worker.as_ref() != Some(&held.worker)
    })
}
