//! Proof that a server was told what a fault says, and did it.

use super::Proof;
use crate::env::action::Action;
use crate::faults::FaultKind;
use crate::plan::FaultPlan;
use crate::timeline::history::FaultWindow;

/// One answer of the server that was hit to each command of the onset, and of the heal, each in its
/// time.
pub(super) fn prove(
    (plan, kind): (&FaultPlan, &FaultKind),
    window: &FaultWindow,
    (words, heals): (&[&str], bool),
    proof: &mut Proof,
) {
    let name = &plan.name;
    // Of several commands, the onset is dated by the last.
    let last = matches!(kind.onset.last(), Some(Action::Ask(last)) if *last == words);
    let (time, what) = if heals {
        let heal = window.heals.first();
        let time = heal.and_then(|heal| Some((heal.began, heal.removed?)));
        (time, "that it had undone it")
    } else {
        let onset = window.onsets.first();
        let time = onset.map(|onset| (if last { onset.began } else { 0 }, onset.effective));
        (time, "that it did what it was told")
    };
    let asked = window.asked.iter().find(|asked| {
        let in_time = time.is_some_and(|(from, to)| (from..=to).contains(&asked.at));
        let there = window.server.as_ref() == Some(&asked.server);
        asked.ok && in_time && there && says(&asked.command, words)
    });
    proof.events.extend(asked.map(|asked| asked.seq));
    proof.require(asked.is_some(), || {
        format!("{name}: the server did not answer {what}")
    });
}

/// The command is these words; a word in braces stands for a name.
fn says(command: &str, words: &[&str]) -> bool {
    let stands_for = |(said, word): (&str, &&str)| word.starts_with('{') || said == *word;
    command.split(' ').count() == words.len() && command.split(' ').zip(words).all(stands_for)
}
