//! The command lines of the guard's children: what each gets to see and to hold, and no more.

use super::Order;
use super::protocol::{SOCKET, Spawn};
use crate::env::ledger::told;
use nix::fcntl::{FcntlArg, FdFlag, fcntl};
use std::fs::OpenOptions;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

/// What a child inherits beyond the arm's mark.
const INHERITED: [&str; 4] = ["PATH", "HOME", "TMPDIR", "RUST_BACKTRACE"];

/// Variables that send the requests of HTTP clients through a proxy of the machine's.
pub const WEB_PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

/// The director: the guard's own output and environment, and one end of the socket.
pub(super) fn director(order: &Order, socket: OwnedFd) -> io::Result<Command> {
    let program = match &order.program {
        Some(program) => program.clone(),
        None => std::env::current_exe()?,
    };
    let mut command = Command::new(program);
    command
        .args(&order.args)
        .stdin(Stdio::null())
        .env(SOCKET, socket.as_raw_fd().to_string());
    // An arm speaks to its own servers only, and nobody is to stand between.
    for name in WEB_PROXIES {
        command.env_remove(name);
    }
    // The one descriptor that the director, and nobody else, is to have.
    let hand_over = move || {
        fcntl(&socket, FcntlArg::F_SETFD(FdFlag::empty()))?;
        Ok(())
    };
    // SAFETY: one system call on a descriptor that the closure owns.
    unsafe { command.pre_exec(hand_over) };
    Ok(command)
}

/// A worker or server: `fds` are none, or its standard input and output.
pub(super) fn child(spawn: Spawn, fds: Vec<OwnedFd>) -> io::Result<Command> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&spawn.log)
        .map_err(|error| told(&error, spawn.log.display()))?;
    let mut command = Command::new(&spawn.program);
    if let Some(name) = &spawn.arg0 {
        command.arg0(name);
    }
    command
        .args(&spawn.args)
        .current_dir(&spawn.cwd)
        .env_clear();
    command.envs(
        INHERITED
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?))),
    );
    command.envs(spawn.env);
    let mut fds = fds.into_iter().map(Stdio::from);
    command.stdin(fds.next().unwrap_or_else(Stdio::null));
    command.stdout(match fds.next() {
        Some(pipe) => pipe,
        None => Stdio::from(log.try_clone()?),
    });
    command.stderr(Stdio::from(log));
    Ok(command)
}
