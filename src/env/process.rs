//! Who a process is, for certain.
//!
//! A pid alone names nobody: numbers are reused, across reboots and across pid namespaces. An
//! [`Identity`] is pid + start time + boot + pid namespace. Nothing here finds a process by the
//! name of its program; names are only ever shown.

use crate::env::procfs;
use nix::libc;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

/// One process of one boot of one machine, told apart from every other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// Process id in the namespace `pid_ns`.
    pub pid: i32,
    /// Start time in clock ticks since boot: field 22 of `/proc/PID/stat`, the same in every pid
    /// namespace.
    pub start_ticks: u64,
    /// `/proc/sys/kernel/random/boot_id`.
    pub boot_id: String,
    /// Number of the pid namespace that `pid` is meant in.
    pub pid_ns: u64,
}

/// What has become of an [`Identity`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It exists and is not a zombie.
    Alive,
    /// It is gone, or waits only to be reaped.
    Gone,
    /// It belongs to another pid namespace of this boot: nothing can be said from here.
    Elsewhere,
}

impl Identity {
    /// This process.
    ///
    /// # Errors
    /// When `/proc` cannot be read.
    pub fn me() -> io::Result<Self> {
        Identity::of(own_pid())
    }

    /// The process that has this pid now.
    ///
    /// # Errors
    /// `NotFound` when there is none; others when `/proc` cannot be read.
    pub fn of(pid: i32) -> io::Result<Self> {
        Ok(Identity {
            pid,
            start_ticks: procfs::stat(pid)?.start_ticks,
            boot_id: boot_id()?,
            pid_ns: pid_ns()?,
        })
    }

    /// What has become of it.
    ///
    /// # Errors
    /// When `/proc` cannot be read; a missing process is an answer, not an error.
    pub fn fate(&self) -> io::Result<Fate> {
        if self.boot_id != boot_id()? {
            return Ok(Fate::Gone);
        }
        if self.pid_ns != pid_ns()? {
            return Ok(Fate::Elsewhere);
        }
        match procfs::stat(self.pid) {
            Ok(now) if now.start_ticks == self.start_ticks && !now.is_dead() => Ok(Fate::Alive),
            Ok(_) => Ok(Fate::Gone),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Fate::Gone),
            Err(error) => Err(error),
        }
    }

    /// Sends SIGKILL if, and only if, this very process still exists; says whether it was sent.
    /// A stopped process dies of it without running.
    ///
    /// # Errors
    /// When the kernel refuses; a process that is gone is `Ok(false)`.
    pub fn kill(&self) -> io::Result<bool> {
        // The descriptor pins the process before the identity is compared, so that the number
        // cannot be given to somebody else between the comparison and the signal.
        let Some(pinned) = pidfd_open(self.pid)? else {
            return Ok(false);
        };
        if self.fate()? != Fate::Alive {
            return Ok(false);
        }
        pidfd_kill(pinned.as_raw_fd())
    }
}

/// Pid of this process.
pub fn own_pid() -> i32 {
    nix::unistd::getpid().as_raw()
}

fn boot_id() -> io::Result<String> {
    Ok(fs::read_to_string("/proc/sys/kernel/random/boot_id")?
        .trim()
        .to_owned())
}

/// Number of this process's pid namespace, from a link that reads `pid:[4026531836]`.
fn pid_ns() -> io::Result<u64> {
    let link = fs::read_link("/proc/self/ns/pid")?;
    let text = link.to_string_lossy();
    text.trim_start_matches("pid:[")
        .trim_end_matches(']')
        .parse()
        .map_err(|_| bad(format!("/proc/self/ns/pid is not understood: {text}")))
}

fn bad(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}

fn pidfd_open(pid: i32) -> io::Result<Option<OwnedFd>> {
    // SAFETY: the system call takes two integers and touches no memory of ours.
    let answer = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    if answer < 0 {
        let error = io::Error::last_os_error();
        return if error.raw_os_error() == Some(libc::ESRCH) {
            Ok(None)
        } else {
            Err(error)
        };
    }
    let fd = RawFd::try_from(answer).map_err(|_| bad(format!("pidfd {answer}")))?;
    // SAFETY: the kernel has just made this descriptor for us; nothing else owns it.
    Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) }))
}

fn pidfd_kill(fd: RawFd) -> io::Result<bool> {
    let nothing = std::ptr::null::<libc::siginfo_t>();
    // SAFETY: a null siginfo is allowed and means "as kill(2) would fill it".
    let answer =
        unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, libc::SIGKILL, nothing, 0) };
    if answer == 0 {
        return Ok(true);
    }
    let error = io::Error::last_os_error();
    if error.raw_os_error() == Some(libc::ESRCH) {
        Ok(false)
    } else {
        Err(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn this_process_is_alive_and_another_of_its_number_is_not() {
        let me = Identity::me().unwrap();
        assert_eq!(me.fate().unwrap(), Fate::Alive);
        let reused = Identity {
            start_ticks: me.start_ticks + 1,
            ..me.clone()
        };
        assert_eq!(reused.fate().unwrap(), Fate::Gone);
        assert!(!reused.kill().unwrap(), "we are still here to say so");
        let before_reboot = Identity {
            boot_id: "another".to_owned(),
            ..me.clone()
        };
        assert_eq!(before_reboot.fate().unwrap(), Fate::Gone);
        let container = Identity { pid_ns: 1, ..me };
        assert_eq!(container.fate().unwrap(), Fate::Elsewhere);
    }

    #[test]
    fn a_process_is_known_by_its_environment_and_dies_of_kill() {
        let mut child = Command::new("sleep")
            .arg("600")
            .env("LOCKDRILL_TEST_MARK", "x1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let identity = Identity::of(pid).unwrap();
        // The kernel shows the new environment a little after exec has taken its file.
        while !procfs::started_with(pid, "LOCKDRILL_TEST_MARK=x1") {
            assert_eq!(child.try_wait().unwrap(), None);
        }
        assert!(!procfs::started_with(pid, "LOCKDRILL_TEST_MARK=x"));
        assert!(identity.kill().unwrap());
        child.wait().unwrap();
        assert_eq!(identity.fate().unwrap(), Fate::Gone);
        assert!(!identity.kill().unwrap());
    }
}
