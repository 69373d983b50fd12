//! What the director tells the conductor while it works: one JSON line each on stdout.

use super::truth::Truth;
use crate::timeline::event::{Answer, By, Call, Change, Event, Line};
use serde::{Deserialize, Serialize};
use std::io::Write;

/// One line of progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Progress {
    /// Something that a person would want to see happen.
    Said {
        /// Lab time, ns.
        at: u64,
        /// One short sentence.
        text: String,
    },
    /// The arm could not go on.
    Error {
        /// What is wrong.
        what: String,
        /// What to do about it.
        todo: String,
    },
}

/// Writes one line; a conductor that no longer listens is not the director's problem (the guard
/// ends the arm then).
pub fn tell(progress: &Progress) {
    if let Ok(mut line) = serde_json::to_vec(progress) {
        line.push(b'\n');
        let mut out = std::io::stdout().lock();
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}

/// The sentence for a line that is worth a person's attention; none for the others. `before` is
/// what was known before it.
pub fn sentence(line: &Line, before: &Truth) -> Option<String> {
    let who = match &line.by {
        By::Worker(name) | By::Server(name) => name.as_str(),
        By::Lab => "lab",
        By::Store => "store",
    };
    match &line.event {
        Event::Phase { name } => Some(format!("phase {name}")),
        Event::PatienceEnded { awaited, by } => Some(format!("{by} waited for {awaited} in vain")),
        Event::Lost { grant, reason, .. } => {
            Some(format!("{who} was told that {grant} is lost: {reason}"))
        }
        Event::AskedToEnd => Some(format!("{who} is asked to end")),
        Event::Effect { key, change, .. } => granted(before.said_of_a_set(), (who, key), change),
        Event::Return { answer, .. } => answered(who, answer),
        Event::Invoke { call, .. } => leaving(call),
        Event::ServerRole {
            server,
            primary: true,
            since: Some(_),
            ..
        } => (!before.is_primary(server))
            .then(|| format!("{server} was promoted: it takes writes now")),
        other => of_fault(other),
    }
}

fn of_fault(event: &Event) -> Option<String> {
    match event {
        Event::FaultOnset {
            fault,
            kind,
            worker,
            ..
        } => Some(match worker {
            Some(worker) => format!("fault {fault} ({kind}) hit {worker}"),
            None => format!("fault {fault} ({kind}) began"),
        }),
        Event::FaultHeal { fault, cause, .. } => {
            Some(format!("fault {fault} healed after {cause}"))
        }
        Event::FaultNotInjected { fault, why } => {
            Some(format!("fault {fault} not injected: {why}"))
        }
        _ => None,
    }
}

fn granted(did: &str, (who, key): (&str, &str), change: &Change) -> Option<String> {
    let Change::Set { fencing, .. } = change else {
        return None;
    };
    Some(match fencing {
        Some(fencing) => format!("{who} {did} {key} with fencing token {fencing}"),
        None => format!("{who} {did} {key}"),
    })
}

fn answered(who: &str, answer: &Answer) -> Option<String> {
    match answer {
        Answer::Accepted => Some(format!("{who}: the store accepted")),
        Answer::Rejected { .. } => Some(format!("{who}: the store rejected")),
        _ => None,
    }
}

fn leaving(call: &Call) -> Option<String> {
    let Call::Write { write, fencing, .. } = call else {
        return None;
    };
    Some(match fencing {
        Some(fencing) => format!("{write} leaves with fencing token {fencing}"),
        None => format!("{write} leaves without a fencing token"),
    })
}
