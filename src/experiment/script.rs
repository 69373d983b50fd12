//! The steps of a worker's script: one short sentence each.
//!
//! A step whose first word is known but whose rest is wrong is told and still counted, so that
//! the events of the other steps keep their numbers and are not called impossible for it.

use super::duration;
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::shape::{NAME_RULE, is_name};
use crate::plan::StepAction;

/// One word that a script step may begin with.
#[derive(Debug)]
pub(super) struct Verb {
    pub word: &'static str,
    /// As the author writes it.
    pub form: &'static str,
}

/// Every step.
pub(super) const VERBS: &[Verb] = &[
    verb("acquire", "acquire"),
    verb("enter", "enter 10s"),
    verb("check", "check"),
    verb("write", "write` or `write job J if pending within 500ms"),
    verb("read", "read"),
    verb("publish", "publish J"),
    verb("relay", "relay"),
    verb("refence", "refence"),
    verb("hold", "hold 2s` or `hold until a.released"),
    verb("burn", "burn 2s"),
    verb("renew", "renew"),
    verb("await", "await a.released"),
    verb("release", "release"),
    verb("stop_if_lost", "stop_if_lost"),
];

const fn verb(word: &'static str, form: &'static str) -> Verb {
    Verb { word, form }
}

/// A step, and the place of the event that it waits for, if it does.
#[derive(Debug, Clone)]
pub(super) struct Written {
    pub action: StepAction,
    pub event_at: At,
}

/// Reads one step; what is wrong with it is told.
pub(super) fn step(reading: &mut Reading, typed: &Spot<&str>) -> Option<Written> {
    let text = typed.value.trim();
    let (word, rest) = match text.split_once(char::is_whitespace) {
        Some((word, rest)) => (word, rest.trim_start()),
        None => (text, ""),
    };
    let rest_start = typed.value.trim_end().len() - rest.len();
    let rest_at = |from: usize| {
        let part = rest_start + from..rest_start + rest.len();
        reading.sources.inside(&typed.at, typed.value, part)
    };
    let until = rest.strip_prefix("until").filter(|_| word == "hold");
    let (operand, at) = match until.map(str::trim_start) {
        Some(event) => (event, rest_at(rest.len() - event.len())),
        None => (rest, rest_at(0)),
    };
    let operand = Spot { value: operand, at };
    let event_at = operand.at.clone();
    let action = match word {
        "hold" if until.is_some() => {
            wait(reading, &operand, |event| StepAction::HoldUntil { event })
        }
        "await" => wait(reading, &operand, |event| StepAction::Await { event }),
        "enter" => timed(reading, word, &operand, |wait_ms| StepAction::Enter {
            wait_ms,
        }),
        "hold" => timed(reading, word, &operand, |for_ms| StepAction::Hold {
            for_ms,
        }),
        "burn" => timed(reading, word, &operand, |for_ms| StepAction::Burn {
            for_ms,
        }),
        "acquire" => bare(reading, word, &operand, StepAction::Acquire),
        "check" => bare(reading, word, &operand, StepAction::Check),
        "write" => Some(write(reading, &operand)),
        "read" => bare(reading, word, &operand, StepAction::Read),
        "publish" => publish(reading, &operand),
        "relay" => bare(reading, word, &operand, StepAction::Relay),
        "refence" => bare(reading, word, &operand, StepAction::Refence),
        "renew" => bare(reading, word, &operand, StepAction::Renew),
        "release" => bare(reading, word, &operand, StepAction::Release),
        "stop_if_lost" => bare(reading, word, &operand, StepAction::StopIfLost),
        _ => {
            unknown(reading, typed, word);
            None
        }
    }?;
    Some(Written { action, event_at })
}

fn unknown(reading: &mut Reading, typed: &Spot<&str>, word: &str) {
    if word.is_empty() {
        reading.problem(&typed.at, "an empty step");
        return;
    }
    let message = format!("unknown step {}", quote(word));
    let words = VERBS.iter().map(|verb| verb.word);
    reading.unknown(&typed.at, message, word, words);
}

/// How to write a step, for a hint.
fn form(word: &str) -> String {
    let found = VERBS.iter().find(|verb| verb.word == word);
    let form = found.map_or(word, |verb| verb.form);
    format!("write `{form}`")
}

fn bare(
    reading: &mut Reading,
    word: &str,
    operand: &Spot<&str>,
    action: StepAction,
) -> Option<StepAction> {
    if operand.value.is_empty() {
        return Some(action);
    }
    let message = format!(
        "`{word}` takes nothing behind it, found {}",
        quote(operand.value)
    );
    reading.hinted(&operand.at, message, form(word));
    Some(action)
}

/// `write`, `write job J`, `write job J if pending`, each of them `within D`.
fn write(reading: &mut Reading, operand: &Spot<&str>) -> StepAction {
    let words: Vec<&str> = operand.value.split_whitespace().collect();
    let (job, rest) = match words.as_slice() {
        [] => return StepAction::Write,
        ["job", job, rest @ ..] if *job != "within" => (Some((*job).to_owned()), rest),
        rest => (None, rest),
    };
    let (if_pending, rest) = match rest {
        ["if", "pending", rest @ ..] if job.is_some() => (true, rest),
        rest => (false, rest),
    };
    let within = match rest {
        [] => Ok(None),
        ["within", time] => duration::parse(time).map(Some),
        _ => {
            let message = format!("`write` cannot be followed by {}", quote(operand.value));
            reading.hinted(&operand.at, message, form("write"));
            return StepAction::Write;
        }
    };
    if let Some(job) = job.as_deref().filter(|job| !is_name(job)) {
        let message = format!("{} cannot be the name of a job", quote(job));
        reading.hinted(&operand.at, message, NAME_RULE);
    }
    let within_ms = within.unwrap_or_else(|bad| {
        let message = format!("`write within`: {}", bad.message);
        reading.hinted(&operand.at, message, bad.hint.replace('"', ""));
        None
    });
    if within_ms == Some(0) {
        let message = "`write within` no time at all";
        reading.hinted(&operand.at, message, form("write"));
    }
    StepAction::WriteAs {
        job,
        if_pending,
        within_ms,
    }
}

/// `publish J`: a job by its name.
fn publish(reading: &mut Reading, operand: &Spot<&str>) -> Option<StepAction> {
    if operand.value.is_empty() {
        let message = "`publish` does not say which job";
        reading.hinted(&operand.at, message, form("publish"));
        return None;
    }
    if !is_name(operand.value) {
        let message = format!("{} cannot be the name of a job", quote(operand.value));
        reading.hinted(&operand.at, message, NAME_RULE);
    }
    let job = operand.value.to_owned();
    Some(StepAction::Publish { job })
}

fn timed(
    reading: &mut Reading,
    word: &str,
    operand: &Spot<&str>,
    action: impl FnOnce(u64) -> StepAction,
) -> Option<StepAction> {
    let told = match duration::parse(operand.value) {
        _ if operand.value.is_empty() => (format!("`{word}` does not say how long"), form(word)),
        Ok(0) => (format!("`{word}` for no time at all"), form(word)),
        Ok(ms) => return Some(action(ms)),
        Err(bad) => {
            let message = format!("`{word}`: {}", bad.message);
            (message, bad.hint.replace('"', ""))
        }
    };
    reading.hinted(&operand.at, told.0, told.1);
    Some(action(1))
}

fn wait(
    reading: &mut Reading,
    operand: &Spot<&str>,
    action: impl FnOnce(String) -> StepAction,
) -> Option<StepAction> {
    if operand.value.is_empty() {
        reading.hinted(
            &operand.at,
            "the step does not say which event it waits for",
            "see `lockdrill list events`",
        );
        return None;
    }
    Some(action(operand.value.to_owned()))
}
