//! The words for what the lab, the servers and the store say.

use super::token;
use crate::report::words::{at, count, millis, span};
use crate::timeline::event::{AttemptKind, Change, ChildChange, Event, ThreadLook};

pub(super) fn fault(event: &Event) -> String {
    match event {
        Event::FaultOnset {
            fault,
            kind,
            worker,
            trigger,
            began,
            effective,
            ..
        } => format!(
            "{fault} begins: {kind}{} at {}, in full effect {} later, triggered by {trigger}",
            worker
                .as_ref()
                .map_or_else(String::new, |worker| format!(" of {worker}")),
            at(*began),
            span(effective.saturating_sub(*began)),
        ),
        Event::FaultHeal {
            fault,
            cause,
            began,
            removed,
        } => format!(
            "{fault} is healed at {} ({cause}); {}",
            at(*began),
            removed.map_or_else(
                || "its removal was not seen".to_owned(),
                |removed| format!("gone {} later", span(removed.saturating_sub(*began)))
            )
        ),
        Event::FaultNotInjected { fault, why } => format!("{fault} was not injected: {why}"),
        Event::Look {
            fault,
            moment,
            threads,
        } => format!("look at {fault} ({moment}): {}", look(threads)),
        _other => String::new(),
    }
}

pub(super) fn look(threads: &[ThreadLook]) -> String {
    let stopped = threads.iter().filter(|thread| thread.state == 'T').count();
    format!("{} of {} stopped", stopped, count(threads.len(), "thread"))
}

pub(super) fn effect(key: &str, change: &Change) -> String {
    match change {
        Change::Set { owner, fencing, .. } => {
            format!("{key} is set for owner digest {owner}, {}", token(*fencing))
        }
        Change::Extended { until_ms: Some(_) } => format!("the deadline of {key} is moved"),
        Change::Extended { until_ms: None } => format!("the lease of {key} is removed"),
        Change::Deleted => format!("{key} is deleted"),
        Change::Flushed => "everything is deleted".to_owned(),
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
            highest,
            ..
        } => format!(
            "{} {} {write} on {resource} with {} ({n}. attempt; {})",
            if *accepted { "accepts" } else { "rejects" },
            match kind {
                AttemptKind::Write => "write",
                AttemptKind::Seal => "seal",
            },
            token(*fencing),
            highest.map_or_else(
                || "no fencing token known before".to_owned(),
                |highest| format!("highest known before: {highest}")
            ),
        ),
        Event::FinalValue {
            resource,
            write,
            highest,
        } => format!(
            "at the end {resource} holds {}, {}",
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

pub(super) fn lab(event: &Event) -> String {
    match event {
        Event::Start {
            drill,
            arm,
            run,
            isolation,
            ..
        } => format!("record of {drill}, arm {arm}, run {run}, isolation {isolation}"),
        Event::Phase { name } => format!("phase {name}"),
        Event::WorkerStarted { worker, pid, .. } => format!("{worker} is process {pid}"),
        Event::WorkerExited {
            worker,
            code,
            signal,
        } => match (code, signal) {
            (Some(code), _) => format!("{worker} exits with {code}"),
            (None, Some(signal)) => format!("{worker} is killed by signal {signal}"),
            (None, None) => format!("{worker} is gone"),
        },
        Event::ChildSignal { worker, change } => match change {
            ChildChange::Stopped => format!("the kernel says that {worker} is stopped"),
            ChildChange::Continued => format!("the kernel says that {worker} is continued"),
        },
        Event::PatienceEnded { awaited, by } => format!("{by} waited in vain for {awaited}"),
        Event::Stall { from, to } => format!(
            "the host kept the lab from running for {} at {}",
            span(to.saturating_sub(*from)),
            at(*from)
        ),
        Event::Sweep { left } if left.is_empty() => "nothing was left behind".to_owned(),
        Event::Sweep { left } => format!("left behind: {}", left.join(", ")),
        Event::Note { text } => text.clone(),
        Event::End { reason } => format!("end: {reason}"),
        _other => String::new(),
    }
}
