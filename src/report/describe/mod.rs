//! One line of a timeline in words, for the table of raw events. Exhaustive: a new event cannot
//! be added without saying how it reads.

use super::words::span;
use crate::ids::FencingToken;
use crate::timeline::event::{Answer, By, Event, Line, Outcome};
use crate::timeline::history::{History, Operation};
use std::collections::HashMap;

mod lab;
mod operations;
mod services;
mod worker;

use lab::{fault, lab};
use operations::{answer_text, asked, noun};
use services::{effect, observer, store};
use worker::worker;

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
            Event::Lost { .. }
            | Event::Point { .. }
            | Event::Resumed { .. }
            | Event::Go { .. }
            | Event::WallClock { .. }
            | Event::AskedToEnd
            | Event::Copies { .. } => worker(&line.event),
            Event::FaultOnset { .. }
            | Event::FaultHeal { .. }
            | Event::FaultNotInjected { .. }
            | Event::ServerAsked { .. }
            | Event::Probe { .. }
            | Event::Frame { .. }
            | Event::Look { .. } => ("fault", fault(&line.event)),
            Event::Effect { key, change, .. } => ("server", effect(key, change)),
            Event::StoreAttempt { .. }
            | Event::Published { .. }
            | Event::FinalQueue { .. }
            | Event::FinalValue { .. } => ("store", store(&line.event)),
            Event::ObserverSynced { .. }
            | Event::ObserverGap { .. }
            | Event::ServerRole { .. }
            | Event::ClockSample { .. }
            | Event::FinalKey { .. } => ("observer", observer(&line.event)),
            Event::Start { .. }
            | Event::Phase { .. }
            | Event::WorkerStarted { .. }
            | Event::WorkerExited { .. }
            | Event::ServerStarted { .. }
            | Event::ServerGiven { .. }
            | Event::EdgeOpened { .. }
            | Event::ServerExited { .. }
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

fn token(fencing: Option<FencingToken>) -> String {
    fencing.map_or_else(
        || "no fencing token".to_owned(),
        |token| format!("fencing token {token}"),
    )
}
