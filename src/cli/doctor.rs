//! `lockdrill doctor`: what this machine has, what is missing, and the command that brings it.

use crate::env::machine::{self, Finding, Level};
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
    let mut findings = Vec::new();
    for look in machine::ALL {
        let finding = look();
        if !args.json {
            say::out(format_args!("{}", lines(&finding)));
        }
        findings.push(finding);
    }
    let ready = findings
        .iter()
        .all(|finding| finding.level != Level::Missing);
    if args.json {
        let answer = serde_json::json!({ "ready": ready, "findings": findings });
        say::out(format_args!("{answer}"));
    } else {
        say::out(format_args!(
            "{}",
            if ready { "ready" } else { "not ready" }
        ));
    }
    if ready { Exit::Ok } else { Exit::Environment }
}

fn lines(finding: &Finding) -> String {
    let word = match finding.level {
        Level::Ready => "ok",
        Level::Limited => "limited",
        Level::Missing => "MISSING",
    };
    let mut lines = format!("{word:<8} {:<14} {}", finding.what, finding.says);
    if let Some(todo) = &finding.todo {
        lines += &format!("\n{:23} → {todo}", "");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_stands_out_with_the_way_to_get_it() {
        let finding = Finding {
            what: "redis-server",
            level: Level::Missing,
            says: "no redis-server found".to_owned(),
            todo: Some("run `make setup`".to_owned()),
        };
        let shown = lines(&finding);
        assert!(shown.starts_with("MISSING  redis-server   no redis-server found\n"));
        assert!(shown.ends_with("→ run `make setup`"));
    }
}
