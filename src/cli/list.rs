//! `lockdrill list`: what can be named in an experiment file or on the command line, generated
//! from the registries, as text, JSON or a Markdown table.

use crate::exit::Exit;
use crate::experiment::{self, Listed};
use crate::lock::backends::{self, LockKind};
use crate::lock::promises;
use serde_json::json;
use std::io::Write;

/// Arguments.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to list.
    #[arg(value_enum)]
    what: What,
    /// One JSON array of `{"name", "summary"}`.
    #[arg(long, conflicts_with = "markdown")]
    json: bool,
    /// A Markdown table.
    #[arg(long)]
    markdown: bool,
}

/// Everything that can be listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Experiments here and built in.
    Drills,
    /// What can be broken on purpose.
    Faults,
    /// What is judged.
    Checks,
    /// Lock back ends.
    Locks,
    /// What each lock back end promises.
    Promises,
    /// Protected stores.
    Stores,
    /// Defects that a lock can be given on purpose.
    Flaws,
    /// What a trigger, an `await` or a `hold until` may wait for.
    Events,
}

/// Runs the subcommand.
pub(super) fn exec(args: &Args) -> Exit {
    let entries = match args.what {
        What::Drills => experiment::drills(std::path::Path::new(".")),
        What::Faults => experiment::faults(),
        What::Checks => experiment::checks(),
        What::Locks => experiment::locks(),
        What::Promises => promised(),
        What::Stores => experiment::stores(),
        What::Flaws => experiment::flaws(),
        What::Events => experiment::events(),
    };
    let shown = if args.json {
        as_json(&entries)
    } else if args.markdown && args.what == What::Promises {
        promises::table()
    } else if args.markdown {
        as_markdown(&entries)
    } else {
        as_text(&entries)
    };
    // A reader that has seen enough (`| head`) is no error.
    let _ = std::io::stdout().write_all(shown.as_bytes());
    Exit::Ok
}

fn promised() -> Vec<Listed> {
    let promised = |kind: &LockKind| Listed {
        name: kind.name.into(),
        summary: kind.capabilities.told(),
    };
    backends::ALL.iter().map(promised).collect()
}

fn as_json(entries: &[Listed]) -> String {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| json!({ "name": entry.name, "summary": entry.summary }))
        .collect();
    format!("{:#}\n", serde_json::Value::Array(rows))
}

fn as_markdown(entries: &[Listed]) -> String {
    let mut table = "| name | meaning |\n|---|---|\n".to_owned();
    for entry in entries {
        let summary = entry.summary.replace('|', "\\|");
        table.push_str(&format!("| `{}` | {summary} |\n", entry.name));
    }
    table
}

fn as_text(entries: &[Listed]) -> String {
    let width = entries.iter().map(|entry| entry.name.chars().count()).max();
    let width = width.unwrap_or(0);
    let rows = entries
        .iter()
        .map(|entry| format!("{:width$}  {}\n", entry.name, entry.summary));
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Vec<Listed> {
        let entry = |name: &str, summary: &str| Listed {
            name: name.into(),
            summary: summary.into(),
        };
        vec![entry("pause", "stops"), entry("reset", "a|b")]
    }

    #[test]
    fn text_is_two_columns() {
        assert_eq!(as_text(&two()), "pause  stops\nreset  a|b\n");
    }

    #[test]
    fn markdown_is_a_table_that_no_bar_breaks() {
        assert_eq!(
            as_markdown(&two()),
            "| name | meaning |\n|---|---|\n| `pause` | stops |\n| `reset` | a\\|b |\n"
        );
    }

    #[test]
    fn json_is_an_array() {
        let value: serde_json::Value = serde_json::from_str(&as_json(&two())).unwrap();
        assert_eq!(value[1]["name"], "reset");
    }
}
