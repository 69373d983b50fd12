//! The guard: parent and session leader of every process of one arm.
//!
//! ```text
//! lockdrill run                 the conductor holds the write end of the guard's standard input
//!  └─ lockdrill guard …         (in namespace mode an outer half, and this as process 1 inside)
//!      ├─ lockdrill arm …       the director asks the guard to start things, over a socket
//!      ├─ redis-server …        each in a process group of its own
//!      └─ lockdrill worker …
//! ```
//!
//! It ends everything when the conductor dies (end of file on standard input), when the director
//! ends or dies, and on SIGTERM, SIGINT or SIGHUP. It is small, single-threaded and synchronous
//! because it must not fail, because a namespace is entered before the first thread, and because
//! the kernel's "kill this child when its parent dies" looks at the parent *thread*.
//!
//! Why it, and not the conductor, is the parent: a process group whose last tie to its session
//! dies is *orphaned*, and if it is stopped the kernel sends it SIGHUP and SIGCONT. A stopped
//! late holder would wake up and write. Under the guard no group is orphaned while the guard
//! lives; the guard kills with SIGKILL alone, never SIGCONT; and if the guard itself is killed,
//! the kernel sends each child SIGKILL before it considers orphaned groups.

use crate::env::isolation::Mode;
use crate::env::ledger::{Entry, Ledger, Role};
use crate::env::process::Identity;
use crate::env::root;
use nix::libc;
use nix::sys::prctl;
use nix::sys::signal::{SigSet, Signal};
use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

mod children;
mod client;
mod command;
mod namespace;
mod protocol;
mod server;

pub use client::Client;
pub use command::WEB_PROXIES;
pub use protocol::{Change, ChildEvent, ChildRole, Spawn, Spawned};
pub use server::{ENDED, INTERRUPT, Left, REFUSED};

/// The byte on the guard's standard input that lets it begin: the arm's folder is made.
pub const BEGIN: u8 = b'b';

/// What `lockdrill guard` was told.
#[derive(Debug, Clone)]
pub struct Order {
    /// Own namespaces or not.
    pub mode: Mode,
    /// The arm's folder, with its ledger. Removed at the end.
    pub state: PathBuf,
    /// Where the guard's and the director's standard error go.
    pub log: PathBuf,
    /// The director's program; none = this one.
    pub program: Option<PathBuf>,
    /// The director's arguments.
    pub args: Vec<OsString>,
}

/// Guards one arm until it is over and returns the exit code: the director's own, 128 + n if
/// signal n killed it, [`ENDED`] if the guard ended it, [`REFUSED`] if it was never started.
pub fn run(order: &Order) -> i32 {
    match start(order) {
        Ok(code) => code,
        Err(error) => {
            complain(&error);
            REFUSED
        }
    }
}

/// Enters every namespace in a throw-away child, uses it, and says what was refused.
///
/// # Errors
/// In words: which step, and the kernel's reason.
pub fn probe() -> Result<(), String> {
    namespace::probe()
}

fn start(order: &Order) -> io::Result<i32> {
    let log = OpenOptions::new()
        .create(true)
        .append(true)
        .open(&order.log)?;
    nix::unistd::dup2_stderr(&log)?;
    keep_inherited_files_from_children();
    if !may_begin()? {
        root::remove_begun(&order.state)?;
        return Ok(ENDED);
    }
    let ledger = Ledger::open(&order.state)?;
    block_signals()?;
    lead_session()?;
    match order.mode {
        Mode::Namespace => namespace::run(order, ledger),
        Mode::Guard => {
            prctl::set_child_subreaper(true)?;
            announce(&ledger, "guard", Role::Guard, Identity::me()?)?;
            let code = server::serve(order, ledger);
            root::remove_arm(&order.state)?;
            code
        }
    }
}

/// Whether whoever started us has made the arm's folder, and not died over it.
fn may_begin() -> io::Result<bool> {
    let mut first = [0];
    // Not through the buffer of `stdin()`: what comes next is not for this.
    let mut lifeline = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    match lifeline.read_exact(&mut first) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        read => read.map(|()| first[0] == BEGIN),
    }
}

/// To the log, if that is possible: a full disk must not end the guard before its time.
fn complain(error: &io::Error) {
    let _ = writeln!(io::stderr(), "guard: {error}");
}

/// The signals that the guard reads instead of dying of them. Blocked before the first fork, so
/// that none is lost.
fn signals() -> SigSet {
    [
        Signal::SIGCHLD,
        Signal::SIGTERM,
        Signal::SIGINT,
        Signal::SIGHUP,
        Signal::SIGQUIT,
    ]
    .into_iter()
    .collect()
}

fn block_signals() -> io::Result<()> {
    Ok(signals().thread_block()?)
}

/// What our own caller forgot to close would keep its pipes open for as long as a server lives.
fn keep_inherited_files_from_children() {
    let flags = libc::CLOSE_RANGE_CLOEXEC.cast_signed();
    // SAFETY: only sets a flag on descriptors; none is closed under anybody's feet. On a kernel
    // before 5.11 it fails and the children inherit what they would have anyway.
    unsafe { libc::close_range(3, libc::c_uint::MAX, flags) };
}

/// Becomes the leader of a session of its own; whoever started us may have done so already.
fn lead_session() -> io::Result<()> {
    if nix::unistd::getsid(None)? != nix::unistd::getpid() {
        nix::unistd::setsid()?;
    }
    Ok(())
}

/// Writes one process into the ledger. Must come before the process does anything.
fn announce(ledger: &Ledger, name: &str, role: Role, identity: Identity) -> io::Result<()> {
    let stat = crate::env::procfs::stat(identity.pid)?;
    ledger.note(&Entry::Process {
        name: name.to_owned(),
        role,
        identity,
        group: stat.group,
        session: stat.session,
    })
}
