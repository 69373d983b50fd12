//! What servers and the store say, in words.

use super::token;
use crate::report::words::{millis, span};
use crate::timeline::event::{AttemptKind, Change, Event};

pub(super) fn effect(key: &str, change: &Change) -> String {
    match change {
        Change::Set { owner, fencing, .. } => {
            format!("{key} is set for owner digest {owner}, {}", token(*fencing))
        }
        Change::Extended { until_ms: Some(_) } => format!("the deadline of {key} is moved"),
        Change::Extended { until_ms: None } => format!("the lease of {key} is removed"),
        Change::Deleted => format!("{key} is deleted"),
        Change::Flushed => "everything is deleted".to_owned(),
        Change::Restarted { owner: None, .. } => format!("started again, it has no {key}"),
        Change::Restarted {
            owner: Some(owner),
            fencing,
            ..
        } => format!(
            "started again, it still has {key} for owner digest {owner}, {}",
            token(*fencing)
        ),
        Change::Copied { owner: None, .. } => {
            format!("copied anew from another server, it has no {key}")
        }
        Change::Copied {
            owner: Some(owner),
            fencing,
            ..
        } => format!(
            "copied anew from another server, it has {key} for owner digest {owner}, {}",
            token(*fencing)
        ),
        Change::Counter { value } => value.map_or_else(
            || format!("the fencing counter of {key} goes up"),
            |value| format!("the fencing counter of {key} is {value}"),
        ),
    }
}

pub(super) fn store(event: &Event) -> String {
    match event {
        Event::StoreAttempt {
            n,
            resource,
            kind,
            write,
            fencing,
            accepted,
            done_before,
            highest,
            ..
        } => format!(
            "{} {} {write} on {resource} with {} ({n}. attempt; {})",
            match (accepted, done_before, kind) {
                (_, true, _) => "had done the job of",
                (true, false, AttemptKind::Read) => "answers",
                (true, false, _) => "accepts",
                (false, false, _) => "rejects",
            },
            match kind {
                AttemptKind::Write => "write",
                AttemptKind::Seal => "seal",
                AttemptKind::Read => "read",
            },
            token(*fencing),
            highest.map_or_else(
                || "no fencing token known before".to_owned(),
                |highest| format!("highest known before: {highest}")
            ),
        ),
        Event::Published {
            n,
            message,
            publish,
            known_before,
            ..
        } => format!(
            "the queue {} {message} from {publish} ({n}. publication)",
            if *known_before { "had" } else { "takes" }
        ),
        Event::FinalQueue { published } => {
            format!("the queue's log ends after {published} publications")
        }
        Event::FinalValue {
            resource,
            write,
            highest,
            ..
        } => format!(
            "at the end {resource} holds {}; highest known: {}",
            write.as_deref().unwrap_or("nothing"),
            token(*highest)
        ),
        _other => String::new(),
    }
}

pub(super) fn observer(event: &Event) -> String {
    match event {
        Event::ObserverSynced { server } => format!("{server} is followed without a gap from here"),
        Event::ObserverGap { server, why } => {
            format!("the place in {server}'s stream is lost: {why}")
        }
        Event::ServerRole {
            server,
            primary,
            links,
            ..
        } => match (primary, links) {
            (true, links) => format!("{server} takes writes; {links} copy it"),
            (false, 0) => format!("{server} copies another, and its link is down"),
            (false, _) => format!("{server} copies another"),
        },
        Event::ClockSample {
            server,
            before,
            after,
            server_us,
        } => format!(
            "the clock of {server} shows {}.{:06} s (read within {})",
            server_us / 1_000_000,
            server_us % 1_000_000,
            span(after.saturating_sub(*before))
        ),
        Event::FinalKey {
            server,
            key,
            exists,
            remaining_ms,
            ..
        } => match (exists, remaining_ms) {
            (false, _) => format!("at the end {server} has no {key}"),
            (true, Some(left)) => {
                format!("at the end {server} has {key} for {} more", millis(*left))
            }
            (true, None) => format!("at the end {server} has {key} without a lease"),
        },
        _other => String::new(),
    }
}
