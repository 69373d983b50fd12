//! A drill's result in the last lines of a run, or why there is none.

use crate::exit::Exit;
use crate::report::past::file;
use crate::say;
use crate::verdict::{DrillResult, RunDirError};
use serde::Serialize;
use std::path::Path;

/// The last lines of a drill: verdict, protection, why, controls, report.
pub(super) fn told(result: &DrillResult) -> String {
    let mut lines = vec![
        format!(
            "{}: {} — protection of the work: {}",
            result.drill, result.verdict, result.protection
        ),
        format!("  {}", result.why),
    ];
    for arm in result.arms.iter().skip(1) {
        let how = match (arm.verdict, arm.red_as_required) {
            (None, _) => format!("{}: {}", arm.status, arm.why),
            (Some(_), Some(true)) => "red, as required".to_owned(),
            // Why not, it says itself.
            (Some(verdict), _) => format!("{verdict}, {}", arm.why),
        };
        lines.push(format!("  control {}: {how}", arm.arm));
    }
    for arm in &result.arms {
        for attempt in &arm.earlier_attempts {
            lines.push(format!("  {} was repeated: {attempt}", arm.arm));
        }
    }
    lines.push(format!("  report: {}/report.html", result.dir));
    lines.join("\n")
}

/// Why a run that has ended cannot be judged, and whose doing that is. We wrote its files; if they
/// are not there any more, somebody took them away.
pub(super) fn unjudged(dir: &Path, error: &RunDirError) -> (String, Exit) {
    match error {
        RunDirError::NotARun(_) | RunDirError::Io { .. } => {
            let dir = dir.display();
            let what = format!(
                "the run directory {dir} was deleted or moved while the drill ran ({error}); \
                 what it recorded is lost: run it again"
            );
            (what, Exit::Environment)
        }
        RunDirError::Plan { .. } | RunDirError::Timeline { .. } => (error.to_string(), Exit::Bug),
    }
}

/// Prints one JSON object.
pub(super) fn json(made: &impl Serialize) -> Exit {
    match serde_json::to_string(made) {
        Ok(json) => {
            say::out(format_args!("{json}"));
            Exit::Ok
        }
        Err(error) => {
            say::err(format_args!("error: {error}"));
            Exit::Bug
        }
    }
}

/// Says which lines of a folder's history count nothing, if there are any.
pub(super) fn lost_lines(root: &Path) {
    // One that cannot be read at all is told by whoever writes into it.
    let Ok(past) = file::read(root) else { return };
    if past.lost_count == 0 {
        return;
    }
    let numbers: Vec<String> = past.lost.iter().map(ToString::to_string).collect();
    let more = if past.lost_count > numbers.len() {
        ", …"
    } else {
        ""
    };
    say::err(format_args!(
        "{}: {} of {} lines cannot be read and count nothing: line {}{more}",
        root.join(file::FILE).display(),
        past.lost_count,
        past.lost_count + past.entries.len(),
        numbers.join(", "),
    ));
}
