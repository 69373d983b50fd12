//! The children of the guard: started, waited for, and ended in the one safe order.

use super::protocol::{Change, ChildEvent, Spawned};
use super::{Ledger, Role, announce};
use crate::clock::monotonic_ns;
use crate::env::ledger::{MARK, told};
use crate::env::process::{Identity, own_pid};
use crate::env::procfs;
use nix::errno::Errno;
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::{SigHandler, SigSet, Signal, kill, killpg, signal};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::Arc;

/// A process that was still there when it should not have been.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Left {
    /// Process id inside the arm.
    pub pid: i32,
    /// Its name in the plan, or that of its program.
    pub name: String,
}

/// Everything that this guard has started and not yet reaped.
pub(super) struct Children {
    ledger: Arc<Ledger>,
    known: BTreeMap<i32, (Role, String)>,
}

impl Children {
    pub(super) fn new(ledger: Arc<Ledger>) -> Self {
        let known = BTreeMap::new();
        Children { ledger, known }
    }

    /// Starts a program as the leader of its own process group. It is in the ledger before it
    /// runs, and it cannot outlive this thread.
    pub(super) fn spawn(
        &mut self,
        name: &str,
        role: Role,
        mut command: Command,
    ) -> io::Result<Spawned> {
        let guard = own_pid();
        let ledger = Arc::clone(&self.ledger);
        let child_name = name.to_owned();
        let arm = self.ledger.folder().file_name().unwrap_or_default();
        command.env(MARK, arm).process_group(0);
        let prepare = move || {
            default_signals()?;
            prctl::set_pdeathsig(Signal::SIGKILL)?;
            if nix::unistd::getppid().as_raw() != guard {
                return Err(Errno::ESRCH.into());
            }
            announce(&ledger, &child_name, role, Identity::me()?)
        };
        // SAFETY: the guard has one thread, so its copy after the fork may do whatever a process
        // may do: no lock can be held by a thread that was not copied.
        unsafe { command.pre_exec(prepare) };
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .spawn()
            .map_err(|error| told(&error, format_args!("cannot start {program}")))?;
        let pid = i32::try_from(child.id()).map_err(io::Error::other)?;
        // Not reaped before this thread asks for it, so the number is its own and /proc has it.
        let start_ticks = procfs::stat(pid)?.start_ticks;
        self.known.insert(pid, (role, name.to_owned()));
        Ok(Spawned { pid, start_ticks })
    }

    /// Every change that the kernel has to tell, without waiting. Orphans that were handed to us
    /// are reaped in silence.
    pub(super) fn changes(&mut self) -> Vec<ChildEvent> {
        let mut events = Vec::new();
        while let Some((pid, what)) = wait(libc::WNOHANG | libc::WUNTRACED | libc::WCONTINUED) {
            let name = match what {
                Change::Exited(_) | Change::Killed(_) => self.known.remove(&pid),
                Change::Stopped | Change::Continued => self.known.get(&pid).cloned(),
            };
            if let Some((_, name)) = name {
                events.push(ChildEvent {
                    pid,
                    name,
                    at_monotonic_ns: monotonic_ns(),
                    what,
                });
            }
        }
        events
    }

    /// SIGTERM to one child.
    pub(super) fn ask_to_end(&self, pid: i32) {
        if self.known.contains_key(&pid) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        }
    }

    /// Kills and reaps everything, orphans included, and says who was still alive.
    ///
    /// Workers and strays first, because they can write; then the director, then the servers. Only
    /// SIGKILL: it needs no SIGCONT, and a stopped process dies of it where it stands. No number
    /// signalled here can have been reused: each is that of our own child, not yet reaped.
    pub(super) fn end_all(&mut self) -> Vec<Left> {
        let mut left: Vec<Left> = Vec::new();
        for role in [Role::Worker, Role::Director, Role::Server] {
            for (pid, (_, name)) in self.known.iter().filter(|(_, (is, _))| *is == role) {
                if procfs::stat(*pid).is_ok_and(|stat| !stat.is_dead()) {
                    let name = name.clone();
                    left.push(Left { pid: *pid, name });
                }
                let _ = killpg(Pid::from_raw(*pid), Signal::SIGKILL);
            }
            self.kill_strays(&mut left);
        }
        while let Some((pid, _)) = wait(0) {
            self.known.remove(&pid);
            self.kill_strays(&mut left);
        }
        left
    }

    /// Children that we did not start: their own parent, one of ours, has died.
    fn kill_strays(&self, left: &mut Vec<Left>) {
        let me = own_pid();
        for stat in procfs::all().unwrap_or_default() {
            if stat.parent == me && !stat.is_dead() && !self.known.contains_key(&stat.pid) {
                let _ = kill(Pid::from_raw(stat.pid), Signal::SIGKILL);
                if !left.iter().any(|seen| seen.pid == stat.pid) {
                    let (pid, name) = (stat.pid, stat.name);
                    left.push(Left { pid, name });
                }
            }
        }
    }
}

/// A child starts with what the guard blocks or ignores set back: above all SIGHUP, which the
/// kernel sends to a stopped group that is orphaned, together with SIGCONT.
fn default_signals() -> io::Result<()> {
    for number in 1..=libc::SIGSYS {
        if let Ok(which) = Signal::try_from(number)
            && !matches!(which, Signal::SIGKILL | Signal::SIGSTOP)
        {
            // SAFETY: the default action is no function of ours.
            unsafe { signal(which, SigHandler::SigDfl) }?;
        }
    }
    Ok(SigSet::empty().thread_set_mask()?)
}

/// One change of any child; none when there is none, or no child at all.
fn wait(flags: libc::c_int) -> Option<(i32, Change)> {
    loop {
        let mut status = 0;
        // nix's own waitpid fails on a death by a real-time signal, after having reaped it.
        // SAFETY: `status` is a valid place for the answer.
        match unsafe { libc::waitpid(-1, &raw mut status, flags) } {
            pid if pid > 0 => return Some((pid, change(status)?)),
            0 => return None,
            _ if Errno::last() == Errno::EINTR => {}
            _ => return None,
        }
    }
}

fn change(status: libc::c_int) -> Option<Change> {
    if libc::WIFEXITED(status) {
        Some(Change::Exited(libc::WEXITSTATUS(status)))
    } else if libc::WIFSIGNALED(status) {
        Some(Change::Killed(libc::WTERMSIG(status)))
    } else if libc::WIFSTOPPED(status) {
        Some(Change::Stopped)
    } else if libc::WIFCONTINUED(status) {
        Some(Change::Continued)
    } else {
        None
    }
}
