//! What the lab does and sees of processes, in words: faults, phases, workers.

use crate::report::words::{at, count, span};
use crate::timeline::event::{ChildChange, Event, FrameFate, Seen, ThreadLook};

pub(super) fn fault(event: &Event) -> String {
    match event {
        Event::FaultOnset {
            fault,
            kind,
            worker,
            server,
            trigger,
            began,
            effective,
            ..
        } => format!(
            "{fault} begins: {kind}{} at {}, in full effect {} later, triggered by {trigger}",
            worker
                .as_ref()
                .or(server.as_ref())
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
        Event::Probe { .. } | Event::Frame { .. } | Event::ServerAsked { .. } => shown(event),
        Event::FaultNotInjected { fault, why } => format!("{fault} was not injected: {why}"),
        Event::Look {
            fault,
            moment,
            threads,
        } => format!("look at {fault} ({moment}): {}", look(threads)),
        _other => String::new(),
    }
}

/// What shows that a fault did what it says.
fn shown(event: &Event) -> String {
    match event {
        Event::Probe {
            fault,
            moment,
            edge,
            fresh,
            ..
        } if moment == "past" => format!(
            "{fault}: by the kernel there is {} past {edge}",
            match fresh {
                Seen::NeverArrived => "no connection",
                Seen::Answered => "a connection",
                _other => "nobody knows what",
            }
        ),
        Event::Probe {
            fault,
            moment,
            edge,
            fresh,
            old,
            ..
        } => format!(
            "{fault}, {moment}: {edge} tried on a new connection: {}{}",
            seen(*fresh),
            old.map_or_else(String::new, |old| format!(
                "; on one from before: {}",
                seen(old)
            ))
        ),
        Event::Frame {
            fault,
            edge,
            what,
            reply,
        } => format!(
            "{fault}: the chosen {} on {edge} {}",
            if *reply { "reply" } else { "request" },
            match what {
                FrameFate::Held => "is held",
                FrameFate::Delivered => "is sent on",
                FrameFate::Dropped => "is dropped",
                FrameFate::Refused if *reply => "is an error: it passes, and another is chosen",
                FrameFate::Refused => "was refused by the server",
            }
        ),
        Event::ServerAsked {
            fault,
            server,
            command,
            answer,
            ok,
        } => format!(
            "{fault} tells {server}: {command}; it {} {answer}",
            if *ok { "answers" } else { "refuses:" }
        ),
        _other => String::new(),
    }
}

const fn seen(seen: Seen) -> &'static str {
    match seen {
        Seen::Answered => "answered",
        Seen::Silent => "no answer",
        Seen::ReplyLost => "executed, but no answer",
        Seen::NeverArrived => "not executed, no answer",
        Seen::Refused => "refused",
        Seen::Broken => "the connection broke",
        Seen::Unknown => "it could not be found out",
    }
}

fn look(threads: &[ThreadLook]) -> String {
    let stopped = threads.iter().filter(|thread| thread.state == 'T').count();
    format!("{} of {} stopped", stopped, count(threads.len(), "thread"))
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
        Event::EdgeOpened { edge, provider } => format!("edge {edge} is open ({provider})"),
        Event::ServerStarted { server, pid, .. } => {
            format!("server {server} is process {pid} and answers")
        }
        Event::ServerGiven {
            server,
            address,
            version,
        } => format!("server {server} was given, version {version} at {address}, and answers"),
        Event::ServerExited {
            server: worker,
            code,
            signal,
            ..
        }
        | Event::WorkerExited {
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
