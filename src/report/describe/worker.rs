//! What a worker says of itself beside its operations, in words; and what lets it go on.

use crate::report::words::{at, span};
use crate::timeline::event::Event;

pub(super) fn worker(event: &Event) -> (&'static str, String) {
    match event {
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
        Event::WallClock {
            before,
            after,
            wall_us,
        } => (
            "clock",
            format!(
                "its wall clock shows {}.{:06} s (read within {})",
                wall_us / 1_000_000,
                wall_us % 1_000_000,
                span(after.saturating_sub(*before))
            ),
        ),
        Event::Copies {
            grant,
            wanted,
            have,
        } => (
            "copies",
            match have {
                Some(have) => format!("{have} replicas have {grant} ({wanted} had to)"),
                None => format!("who has {grant} is not known ({wanted} had to)"),
            },
        ),
        Event::AskedToEnd => ("signal", "is asked to end (SIGTERM)".to_owned()),
        _other => ("", String::new()),
    }
}
