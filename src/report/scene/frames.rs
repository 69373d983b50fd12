//! Requests to the lock service that a fault held on their way: when each was sent on, who held
//! the lock then, and what it did by the server's own record.

use crate::timeline::event::{Call, FrameFate};
use crate::timeline::history::{Author, Cause, FaultWindow, FrameSeen, Grant, History, KeyEnd};

/// A held request that was sent on.
#[derive(Debug, Clone)]
pub struct FrameMark {
    /// The fault that held it.
    pub fault: String,
    /// Whose request.
    pub worker: String,
    /// What it asks for, in a word: `renewal`.
    pub what: &'static str,
    /// When it was sent on, lab time, ns.
    pub at: u64,
    /// The line that says so.
    pub event: u64,
    /// What it did.
    pub did: Did,
}

/// What a request did at the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Did {
    /// The server's record shows no effect of it.
    Nothing,
    /// What, in words that follow `it`, and the line that shows it.
    Done(String, u64),
    /// The record cannot tell.
    Unclear,
}

/// Every held request to a lock server that was sent on.
pub fn frames(history: &History) -> Vec<FrameMark> {
    let windows = history.faults.iter();
    windows
        .flat_map(|window| {
            let sent = window.frames.iter();
            sent.filter(|frame| frame.what == FrameFate::Delivered && !frame.reply)
                .filter_map(move |frame| one(history, window, frame))
        })
        .collect()
}

fn one(history: &History, window: &FaultWindow, sent: &FrameSeen) -> Option<FrameMark> {
    let (worker, server) = sent.edge.split_once('>')?;
    history.observers.get(server)?;
    let held = window
        .frames
        .iter()
        .find(|frame| frame.what == FrameFate::Held && frame.edge == sent.edge)?;
    let operation = history.held_operation(held)?;
    Some(FrameMark {
        fault: window.fault.clone(),
        worker: worker.to_owned(),
        what: noun(&history.operations[operation].call)?,
        at: sent.at,
        event: sent.seq,
        did: did(history, operation),
    })
}

const fn noun(call: &Call) -> Option<&'static str> {
    match call {
        Call::Attempt { .. } => Some("acquire command"),
        Call::Renew { .. } => Some("renewal"),
        Call::Release { .. } => Some("release"),
        _other => None,
    }
}

fn did(history: &History, operation: usize) -> Did {
    if history.grants.iter().any(|grant| grant.doubt.is_some()) {
        return Did::Unclear;
    }
    let effects = history.grants.iter();
    let mut effects = effects.filter_map(|grant| on(history, grant, operation));
    effects.next().unwrap_or(Did::Nothing)
}

/// What an operation did to one grant.
fn on(history: &History, grant: &Grant, operation: usize) -> Option<Did> {
    let whose = || match grant.worker {
        Some(worker) => format!("{}'s", history.worker_name(worker)),
        None => "another's".to_owned(),
    };
    if grant.attempt == Some(operation) {
        return Some(Did::Done("was granted the lock".to_owned(), grant.seq));
    }
    for extension in &grant.extensions {
        let done = || Did::Done(format!("extended {} lease", whose()), extension.seq);
        match &extension.author {
            Author::Own(Some(author)) if *author == operation => return Some(done()),
            Author::Foreign(all) if all.contains(&operation) => return Some(done()),
            Author::Unclear(all) if all.contains(&operation) => return Some(Did::Unclear),
            Author::Own(_) | Author::Foreign(_) | Author::Unclear(_) => {}
        }
    }
    let done = |seq| {
        Some(Did::Done(
            format!("deleted the key of {} grant", whose()),
            seq,
        ))
    };
    match &grant.end {
        KeyEnd::Released {
            operation: own,
            seq,
            ..
        } if *own == operation => done(*seq),
        KeyEnd::Taken { cause, seq, .. } => match cause {
            Cause::BlindDelete(all) if all.contains(&operation) => done(*seq),
            Cause::Unclear(all) if all.contains(&operation) => Some(Did::Unclear),
            _other => None,
        },
        _other => None,
    }
}
