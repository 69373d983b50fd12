//! `lockdrill clean`: undoes what dead runs left, and says what it did.

use crate::env::sweep::{Done, Found, sweep_dead};
use crate::exit::Exit;
use crate::say;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// One JSON object instead of lines.
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    let found = match sweep_dead() {
        Ok(found) => found,
        Err(error) => {
            say::err(format_args!("error: {error}"));
            return Exit::Environment;
        }
    };
    if args.json {
        say::out(format_args!("{}", serde_json::json!({ "arms": found })));
    } else if found.is_empty() {
        say::out(format_args!("nothing to clean"));
    } else {
        for arm in &found {
            say::out(format_args!("{}", line(arm)));
        }
    }
    let failed = |arm: &Found| matches!(arm.done, Done::Failed(_));
    if found.iter().any(failed) {
        Exit::Environment
    } else {
        Exit::Ok
    }
}

fn line(arm: &Found) -> String {
    let name = &arm.arm;
    let mut line = match &arm.done {
        Done::Live => format!("{name}: its run is alive; not touched"),
        Done::Elsewhere => format!("{name}: its run is in another pid namespace; not touched"),
        Done::Removed => format!("{name}: removed {}", arm.folder.display()),
        Done::Failed(why) => format!("{name}: could not be removed: {why}"),
    };
    for (what, names) in [("killed", &arm.killed), ("in force", &arm.faults)] {
        if !names.is_empty() {
            line += &format!("; {what}: {}", names.join(", "));
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_was_done_to_what() {
        let arm = Found {
            arm: "pause-main-01".to_owned(),
            folder: "/x/pause-main-01".into(),
            done: Done::Removed,
            killed: vec!["lockdrill (7)".to_owned()],
            faults: vec!["nap (pause)".to_owned()],
        };
        assert_eq!(
            line(&arm),
            "pause-main-01: removed /x/pause-main-01; killed: lockdrill (7); in force: nap (pause)"
        );
    }
}
