//! Proof that a server was told what a fault says, and did it; that what it was set to was so until
//! the heal; and that what it forgot was missed.

use super::Proof;
use crate::plan::FaultPlan;
use crate::timeline::history::{Asked, FaultWindow};

/// One answer of the server that was hit to each command of the onset, and of the heal, each in its
/// time; a setting that the command changed was read back.
pub(super) fn prove(
    plan: &FaultPlan,
    window: &FaultWindow,
    (words, heals): (&[&str], bool),
    proof: &mut Proof,
) {
    let name = &plan.name;
    let (onset, heal) = (window.onsets.first(), window.heals.first());
    let (time, what) = if heals {
        let time = heal.and_then(|heal| Some((heal.began, heal.removed?)));
        (time, "that it had undone it")
    } else {
        let time = onset.map(|onset| (onset.began, onset.effective));
        (time, "that it did what it was told")
    };
    let Some((from, to)) = time else { return };
    let asked = answers(window, (from, to)).find(|asked| says(&asked.command, words));
    proof.events.extend(asked.map(|asked| asked.seq));
    proof.require(asked.is_some(), || {
        format!("{name}: the server did not answer {what}")
    });
    if let ["CONFIG", "SET", setting, value] = words {
        let lasts = heal.filter(|_| !heals).map(|heal| (to + 1, heal.began));
        for time in [(from, to)].into_iter().chain(lasts) {
            read_back(plan, window, (setting, value, time), proof);
        }
    }
}

/// Whenever the server was asked in this time it said that it was set so; and it was asked.
fn read_back(
    plan: &FaultPlan,
    window: &FaultWindow,
    (setting, value, time): (&str, &str, (u64, u64)),
    proof: &mut Proof,
) {
    let name = &plan.name;
    let mut read = 0;
    for asked in answers(window, time) {
        if says(&asked.command, &["CONFIG", "GET", setting]) {
            read += 1;
            proof.events.push(asked.seq);
            proof.require(asked.answer == value, || {
                let found = &asked.answer;
                format!("{name}: {setting} was to be {value} and was {found}")
            });
        }
    }
    proof.require(read > 0, || {
        format!("{name}: {setting} was not read back when it was to be {value}")
    });
}

/// After the server had forgotten its scripts it told somebody that it does not know one.
pub(super) fn unknown_scripts(plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let Some(onset) = window.onsets.first() else {
        return;
    };
    let counts = |time: (u64, u64)| {
        let counts = answers(window, time);
        counts.filter(|asked| says(&asked.command, &["INFO", "errorstats", "NOSCRIPT"]))
    };
    let first = counts((onset.began, onset.effective)).next();
    let last = counts((onset.effective, u64::MAX)).last();
    proof
        .events
        .extend(first.into_iter().chain(last).map(|asked| asked.seq));
    let number = |asked: Option<&Asked>| asked?.answer.parse::<u64>().ok();
    let more = number(first).zip(number(last));
    proof.require(more.is_some_and(|(first, last)| last > first), || {
        format!("{name}: nobody was told that the server does not know a script")
    });
}

/// The server ended sessions of the worker, and showed none of them afterwards.
pub(super) fn sessions_ended(plan: &FaultPlan, window: &FaultWindow, proof: &mut Proof) {
    let name = &plan.name;
    let Some(onset) = window.onsets.first() else {
        return;
    };
    let time = (onset.began, onset.effective);
    let told = |words: &[&str]| answers(window, time).find(|asked| says(&asked.command, words));
    let ended = told(&["pg_terminate_backend", "{worker}"]);
    let left = told(&["pg_stat_activity", "{worker}"]);
    let number = |asked: Option<&Asked>| asked?.answer.parse::<u64>().ok();
    let both = ended.into_iter().chain(left).map(|asked| asked.seq);
    proof.events.extend(both);
    proof.require(number(ended).is_some_and(|ended| ended > 0), || {
        format!("{name}: it is not shown that the server ended a session")
    });
    proof.require(number(left) == Some(0), || {
        format!("{name}: it is not shown that the sessions are gone")
    });
}

/// Answers of the server that was hit, both ends included.
fn answers(window: &FaultWindow, (from, to): (u64, u64)) -> impl Iterator<Item = &Asked> {
    window.asked.iter().filter(move |asked| {
        let there = window.server.as_ref() == Some(&asked.server);
        asked.ok && there && (from..=to).contains(&asked.at)
    })
}

/// The command is these words; a word in braces stands for a name.
fn says(command: &str, words: &[&str]) -> bool {
    let stands_for = |(said, word): (&str, &&str)| word.starts_with('{') || said == *word;
    command.split(' ').count() == words.len() && command.split(' ').zip(words).all(stands_for)
}
