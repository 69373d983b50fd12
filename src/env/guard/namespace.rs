//! Own pid, network and mount namespaces for one arm, without privileges where the kernel lets
//! ordinary users make a user namespace.
//!
//! The outer half stays outside and waits; the inner half is process 1 inside, so that its death
//! takes everything with it. The outer half's death kills process 1. Only doing the whole
//! sequence tells whether it is allowed here: sysctls, seccomp profiles and masked parts of
//! `/proc` each refuse another step.

use super::{Ledger, Order, REFUSED, Role, announce, complain, server, signals};
use crate::env::ledger::{Entry, told};
use crate::env::process::Identity;
use crate::env::{procfs, root};
use nix::libc;
use nix::mount::{MsFlags, mount};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl;
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getegid, geteuid, pipe2, setsid};
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd};

/// Runs one arm in namespaces of its own; returns the exit code.
pub(super) fn run(order: &Order, ledger: Ledger) -> io::Result<i32> {
    let outer = Identity::me()?;
    announce(&ledger, "guard", Role::Guard, outer.clone())?;
    let (gate, opener) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
    leave_pid_namespace()?;
    match fork_once()? {
        ForkResult::Child => {
            drop(opener);
            let code = inner(order, ledger, File::from(gate)).unwrap_or_else(|error| {
                complain(&error);
                REFUSED
            });
            std::process::exit(code)
        }
        ForkResult::Parent { child } => {
            drop(gate);
            let opener = File::from(opener);
            let opened = admit(&ledger, &outer, child, &opener);
            if opened.is_err() {
                kill(child, Signal::SIGKILL)?;
            }
            let code = wait_for(child);
            root::remove_arm(&order.state)?;
            opened.and(code)
        }
    }
}

/// Enters process 1 into the ledger under the number that it has outside, then lets it begin.
fn admit(ledger: &Ledger, outer: &Identity, child: Pid, mut opener: &File) -> io::Result<()> {
    let stat = procfs::stat(child.as_raw())?;
    ledger.note(&Entry::Process {
        name: "init".to_owned(),
        role: Role::Init,
        identity: Identity {
            pid: stat.pid,
            start_ticks: stat.start_ticks,
            ..outer.clone()
        },
        group: stat.group,
        session: stat.session,
    })?;
    opener.write_all(b"!")
}

/// Waits for process 1, and hands every request to end on to it.
fn wait_for(child: Pid) -> io::Result<i32> {
    loop {
        match waitpid(child, Some(WaitPidFlag::WNOHANG))? {
            WaitStatus::Exited(_, code) => return Ok(code),
            WaitStatus::Signaled(_, signal, _) => return Ok(128 + signal as i32),
            // Every other answer is "not yet": only ends are waited for.
            _ => {}
        }
        if signals().wait()? != Signal::SIGCHLD {
            kill(child, Signal::SIGTERM)?;
        }
    }
}

/// Process 1: from its first instruction to the end of the arm.
fn inner(order: &Order, ledger: Ledger, mut gate: File) -> io::Result<i32> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // Its parent is outside and has no number here, so getppid() cannot tell whether it died
    // before the line above; the pipe can: the outer half holds its other end for life.
    let mut byte = [0_u8; 1];
    gate.read_exact(&mut byte)
        .map_err(|error| told(&error, "the outer half"))?;
    let mut fds = [PollFd::new(gate.as_fd(), PollFlags::POLLIN)];
    if poll(&mut fds, PollTimeout::ZERO)? != 0 {
        return Err(io::Error::other("the outer half died"));
    }
    setsid()?;
    furnish()?;
    server::serve(order, ledger)
}

/// A new pid namespace for the next child. Root needs nothing else; others, and a root without
/// the capability, get a user namespace first, in which they are root.
fn leave_pid_namespace() -> io::Result<()> {
    let (uid, gid) = (geteuid(), getegid());
    if uid.is_root() && unshare(CloneFlags::CLONE_NEWPID).is_ok() {
        return Ok(());
    }
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWPID)
        .map_err(|errno| told(&errno.into(), "a user and a pid namespace"))?;
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {uid} 1")),
        ("gid_map", format!("0 {gid} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).map_err(|error| told(&error, file))?;
    }
    Ok(())
}

/// Network and mounts of process 1: a loopback device that is up, its own `/proc`, and nothing
/// that spreads to the outside.
fn furnish() -> io::Result<()> {
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS)
        .map_err(|errno| told(&errno.into(), "a network and a mount namespace"))?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)
        .map_err(|errno| told(&errno.into(), "private mounts"))?;
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount(Some("proc"), "/proc", Some("proc"), flags, none)
        .map_err(|errno| told(&errno.into(), "a /proc of its own"))?;
    loopback_up().map_err(|error| told(&error, "the loopback device"))
}

fn loopback_up() -> io::Result<()> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0")?;
    // SAFETY: an all-zero ifreq is a valid value of this plain C structure.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = libc::c_char::from_ne_bytes([*from]);
    }
    let wanted = libc::IFF_UP | libc::IFF_RUNNING;
    request.ifr_ifru.ifru_flags = libc::c_short::try_from(wanted).map_err(io::Error::other)?;
    // SAFETY: `request` is a live ifreq with a name and flags, as SIOCSIFFLAGS reads it.
    match unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// See [`super::probe`].
pub(super) fn probe() -> Result<(), String> {
    let attempt = || -> io::Result<String> {
        let (reader, writer) = pipe2(nix::fcntl::OFlag::O_CLOEXEC)?;
        leave_pid_namespace()?;
        match fork_once()? {
            ForkResult::Child => {
                let told = furnish().and_then(|()| inhabit());
                let mut writer = File::from(writer);
                let said = match told {
                    Ok(()) => writer.write_all(b"ok"),
                    Err(error) => write!(writer, "{error}"),
                };
                std::process::exit(i32::from(said.is_err()))
            }
            ForkResult::Parent { child } => {
                drop(writer);
                let mut said = String::new();
                File::from(reader).read_to_string(&mut said)?;
                waitpid(child, None)?;
                Ok(said)
            }
        }
    };
    match attempt() {
        Ok(said) if said == "ok" => Ok(()),
        Ok(said) => Err(said),
        Err(error) => Err(error.to_string()),
    }
}

/// Uses what was made: process 1 with a `/proc` of its own, and any loopback address.
fn inhabit() -> io::Result<()> {
    let me = procfs::stat(1)?;
    if me.pid != std::process::id().cast_signed() || procfs::all()?.len() != 1 {
        return Err(io::Error::other("/proc is not that of the new namespace"));
    }
    let listener = TcpListener::bind("127.0.0.2:6379")?;
    TcpStream::connect("127.0.0.2:6379")?;
    drop(listener);
    Ok(())
}

/// Forks a process that has one thread, as both sides rely on.
fn fork_once() -> io::Result<ForkResult> {
    let threads = fs::read_dir("/proc/self/task")?.count();
    if threads != 1 {
        let text = format!("a guard with {threads} threads cannot fork");
        return Err(io::Error::other(text));
    }
    // SAFETY: there is no other thread (checked above), so the child may do everything.
    Ok(unsafe { fork() }?)
}
