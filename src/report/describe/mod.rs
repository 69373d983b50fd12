//! One line of a timeline in words, for the table of raw events. Exhaustive: a new event cannot
//! be added without saying how it reads.

use crate::ids::FencingToken;
use crate::report::words::{at, millis, span};
use crate::timeline::event::{Answer, By, Call, Event, Line, Outcome};
use crate::timeline::history::{History, Operation};
use std::collections::HashMap;

mod world;

use world::{effect, fault, lab, observer, store};

/// A line in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Who says so: a worker, a server, `store` or `lab`.
    pub who: String,
    /// Kind of the event, one or two words.
    pub kind: &'static str,
    /// What happened.
    pub text: String,
}

/// Knows which operation each line belongs to.
pub struct Teller<'h> {
    operations: HashMap<u64, &'h Operation>,
}

impl<'h> Teller<'h> {
    /// A teller of this history's lines.
    pub fn new(history: &'h History) -> Self {
        let lines = history.operations.iter().flat_map(|operation| {
            operation
                .seqs()
                .into_iter()
                .map(move |seq| (seq, operation))
        });
        Teller {
            operations: lines.collect(),
        }
    }

    /// A line in words.
    pub fn say(&self, line: &Line) -> Said {
        let who = match &line.by {
            By::Lab => "lab".to_owned(),
            By::Worker(name) | By::Server(name) => name.clone(),
            By::Store => "store".to_owned(),
        };
        let (kind, text) = self.event(line);
        Said { who, kind, text }
    }

    fn event(&self, line: &Line) -> (&'static str, String) {
        match &line.event {
            Event::Invoke { step, call, .. } => ("asks", asked(step.as_deref(), call)),
            Event::Return {
                outcome, answer, ..
            } => ("answer", self.answered(line.seq, *outcome, answer)),
            Event::Lost {
                reason, deadline, ..
            } => (
                "lost",
                format!(
                    "is told that the lock is lost: {reason} (own deadline {})",
                    at(*deadline)
                ),
            ),
            Event::Point { point, waits } => (
                "point",
                format!(
                    "stands at {point}{}",
                    if *waits { " and waits for the lab" } else { "" }
                ),
            ),
            Event::Resumed { point } => ("point", format!("goes on from {point}")),
            Event::Go { worker, point } => (
                "point",
                format!("lets {worker} go on from {point}, as soon as it can run"),
            ),
            Event::FaultOnset { .. }
            | Event::FaultHeal { .. }
            | Event::FaultNotInjected { .. }
            | Event::Look { .. } => ("fault", fault(&line.event)),
            Event::Effect { key, change, .. } => ("server", effect(key, change)),
            Event::StoreAttempt { .. } | Event::FinalValue { .. } => ("store", store(&line.event)),
            Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::ClockSample { .. }
            | Event::FinalKey { .. } => ("observer", observer(&line.event)),
            Event::Start { .. }
            | Event::Phase { .. }
            | Event::WorkerStarted { .. }
            | Event::WorkerExited { .. }
            | Event::ChildSignal { .. }
            | Event::PatienceEnded { .. }
            | Event::Stall { .. }
            | Event::Sweep { .. }
            | Event::Note { .. }
            | Event::End { .. } => ("lab", lab(&line.event)),
        }
    }

    fn answered(&self, seq: u64, outcome: Outcome, answer: &Answer) -> String {
        let to = self
            .operations
            .get(&seq)
            .map_or_else(String::new, |operation| {
                let took = operation
                    .returned
                    .as_ref()
                    .map_or(0, |back| back.at.saturating_sub(operation.invoked));
                format!("to its {}, after {}: ", noun(operation), span(took))
            });
        let doubt = match outcome {
            Outcome::Ok | Outcome::Fail => "",
            Outcome::Info => " (whether it took effect is unknown)",
        };
        format!("{to}{}{doubt}", answer_text(answer))
    }
}

fn noun(operation: &Operation) -> String {
    operation
        .step
        .clone()
        .unwrap_or_else(|| match operation.call {
            Call::Attempt { .. } => "acquire command".to_owned(),
            Call::Renew { .. } => "renewal".to_owned(),
            Call::Release { .. } => "release command".to_owned(),
            Call::Seal { .. } => "seal".to_owned(),
            Call::Acquire
            | Call::Enter { .. }
            | Call::Check { .. }
            | Call::Write { .. }
            | Call::Read
            | Call::Hold => "request".to_owned(),
        })
}

fn token(fencing: Option<FencingToken>) -> String {
    fencing.map_or_else(
        || "no fencing token".to_owned(),
        |token| format!("fencing token {token}"),
    )
}

fn asked(step: Option<&str>, call: &Call) -> String {
    let what = match call {
        Call::Acquire => "tries to take the lock".to_owned(),
        Call::Enter { wait_ms } => format!("waits for the lock, at most {}", millis(*wait_ms)),
        Call::Attempt { grant, owner } => {
            format!("sends an acquire command (attempt {grant}, owner digest {owner})")
        }
        Call::Renew { grant, auto } => format!(
            "sends a renewal of {grant}{}",
            if *auto { ", by its timer" } else { "" }
        ),
        Call::Release { grant } => format!("sends a release of {grant}"),
        Call::Check { .. } => "asks its handle whether it holds".to_owned(),
        Call::Write {
            write,
            based_on,
            fencing,
            ..
        } => format!(
            "writes {write} with {}, {}",
            token(*fencing),
            based_on.as_ref().map_or_else(
                || "based on nothing".to_owned(),
                |base| format!("based on {base}")
            )
        ),
        Call::Seal { fencing, .. } => format!("tells the store its {}", token(*fencing)),
        Call::Read => "reads the store".to_owned(),
        Call::Hold => "works".to_owned(),
    };
    step.map_or(what.clone(), |step| format!("{step}: {what}"))
}

fn answer_text(answer: &Answer) -> String {
    match answer {
        Answer::Granted {
            grant,
            fencing,
            lease_ms,
        } => format!(
            "granted as {grant} with {}, lease {}",
            token(*fencing),
            millis(*lease_ms)
        ),
        Answer::Busy => "busy, somebody else holds it".to_owned(),
        Answer::Renewed => "renewed".to_owned(),
        Answer::Lost { reason } => format!("lost: {reason}"),
        Answer::Released => "released".to_owned(),
        Answer::AlreadyLost => "there was nothing of its own to give back".to_owned(),
        Answer::Locked { locked: true } => "the handle says that it holds".to_owned(),
        Answer::Locked { locked: false } => "the handle says that it does not hold".to_owned(),
        Answer::Accepted => "accepted".to_owned(),
        Answer::Rejected { highest } => format!("rejected; the store knows {}", token(*highest)),
        Answer::Value { write } => write.as_ref().map_or_else(
            || "nothing was written yet".to_owned(),
            |write| format!("the store holds {write}"),
        ),
        Answer::Done => "done".to_owned(),
        Answer::TimedOut => "the wait ended without the lock".to_owned(),
        Answer::Error { message } => format!("error: {message}"),
    }
}
