//! Operations in words: what a worker asks and what it is answered.

use super::token;
use crate::report::words::millis;
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::Operation;

pub(super) fn noun(operation: &Operation) -> String {
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
            | Call::ReadUnder { .. }
            | Call::Publish { .. }
            | Call::Relay
            | Call::Refence
            | Call::Hold => "request".to_owned(),
        })
}

pub(super) fn asked(step: Option<&str>, call: &Call) -> String {
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
        Call::Read => "reads what its write will build on".to_owned(),
        Call::ReadUnder { fencing, .. } => format!("reads the store with {}", token(*fencing)),
        Call::Publish { message, .. } => format!("publishes {message} to the queue"),
        Call::Relay => "publishes what is in the outbox".to_owned(),
        Call::Refence => {
            "draws a fencing token from the lock's counter, without the lock".to_owned()
        }
        Call::Hold => "works".to_owned(),
    };
    step.map_or(what.clone(), |step| format!("{step}: {what}"))
}

pub(super) fn answer_text(answer: &Answer) -> String {
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
        Answer::Drawn { fencing } => format!("drew fencing token {fencing}, without the lock"),
        Answer::Done => "done".to_owned(),
        Answer::TimedOut => "the wait ended without the lock".to_owned(),
        Answer::Error { message } => format!("error: {message}"),
    }
}
