//! The command line: one file a subcommand, no logic of its own.

use clap::{Parser, Subcommand};
use std::process::ExitCode;

mod arm;
mod clean;
mod doctor;
mod gateway;
mod guard;
mod inspect;
mod list;
mod matrix;
mod merge;
mod recheck;
mod report;
mod run;
mod told;
mod validate;
mod worker;

/// A fault-injection lab for distributed locks.
#[derive(Debug, Parser)]
#[command(name = "lockdrill", version, about, propagate_version = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run drills with their controls.
    Run(run::Args),
    /// Check experiment files; starts nothing.
    Validate(validate::Args),
    /// List what can be named in an experiment file.
    List(list::Args),
    /// Say who holds a lock on a Redis server; only reads.
    Inspect(inspect::Args),
    /// Judge recorded runs again.
    Recheck(recheck::Args),
    /// Draw the reports of recorded runs again.
    Report(report::Args),
    /// Bring the runs of several shards together under one index.
    Merge(merge::Args),
    /// Show drills against lock back ends, from recorded runs; plays nothing.
    Matrix(matrix::Args),
    /// Say what this machine has, what is missing, and the command that brings it.
    Doctor(doctor::Args),
    /// Undo what a dead run left; never touches a live one.
    Clean(clean::Args),
    /// One worker process.
    #[command(hide = true)]
    Worker(worker::Args),
    /// The parent of every process of one arm.
    #[command(hide = true)]
    Guard(guard::Args),
    /// The director of one arm.
    #[command(hide = true)]
    Arm(arm::Args),
    /// The gateway of one store.
    #[command(hide = true)]
    Gateway(gateway::Args),
}

/// Parses the command line and runs it.
pub fn main() -> ExitCode {
    let exit = match Cli::parse().command {
        Command::Run(args) => run::exec(args),
        Command::Validate(args) => validate::exec(&args),
        Command::List(args) => list::exec(&args),
        Command::Inspect(args) => inspect::exec(&args),
        Command::Recheck(args) => recheck::exec(&args),
        Command::Report(args) => report::exec(&args),
        Command::Merge(args) => merge::exec(&args),
        Command::Matrix(args) => matrix::exec(&args),
        Command::Doctor(args) => doctor::exec(&args),
        Command::Clean(args) => clean::exec(&args),
        Command::Worker(args) => worker::exec(&args),
        Command::Guard(args) => guard::exec(&args),
        Command::Arm(args) => arm::exec(&args),
        Command::Gateway(args) => gateway::exec(&args),
    };
    ExitCode::from(exit.code())
}
