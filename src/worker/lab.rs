//! The two pipes to the lab: stdout takes events, stdin gives one byte a wait.
//!
//! An event is one `write(2)` of fewer bytes than a pipe takes atomically, unbuffered: what was
//! not written before a stop or a kill was not done either. When the lab is gone (its end of
//! either pipe is closed) this process ends at once, wherever it is.
//!
//! The trap: a stopped group whose parents all died gets SIGCONT from the kernel. Its next
//! instruction may be the one after a byte that is already in the pipe, so a byte counts only
//! while somebody is there who could have sent it.

use super::WorkerLine;
use crate::exit::Exit;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{Stdin, Stdout, stdin, stdout};
use std::os::fd::AsFd;

/// `PIPE_BUF` of Linux: a write of at most this many bytes is never torn.
const ATOMIC_BYTES: usize = 4096;

/// Exit code when the lab is gone.
const LAB_GONE: i32 = 3;

/// Ends this process at once. No destructor runs: nothing is released, renewed or written.
fn lab_is_gone() -> ! {
    std::process::exit(LAB_GONE)
}

/// Starts a thread that ends the process when the lab closes either pipe.
pub(super) fn watch() {
    let thread = std::thread::Builder::new().name("lab-watch".to_owned());
    let watching = thread.spawn(|| {
        let (input, output) = (stdin(), stdout());
        loop {
            if hung_up(&input, &output, PollTimeout::NONE) {
                lab_is_gone();
            }
        }
    });
    if watching.is_err() {
        lab_is_gone();
    }
}

/// Whether the lab's end of a pipe is closed. Asks for no events, so it never wakes for a byte
/// and never takes one.
fn hung_up(input: &Stdin, output: &Stdout, wait: PollTimeout) -> bool {
    let mut ends = [
        PollFd::new(input.as_fd(), PollFlags::empty()),
        PollFd::new(output.as_fd(), PollFlags::empty()),
    ];
    let closed = PollFlags::POLLHUP | PollFlags::POLLERR | PollFlags::POLLNVAL;
    match poll(&mut ends, wait) {
        Ok(_) => ends
            .iter()
            .filter_map(PollFd::revents)
            .any(|found| found.intersects(closed)),
        Err(Errno::EINTR) => false,
        Err(_) => true,
    }
}

/// Tells the lab one thing; returns only once the pipe has it.
pub(super) fn tell(line: &WorkerLine) {
    let Ok(mut bytes) = serde_json::to_vec(line) else {
        std::process::exit(i32::from(Exit::Bug.code()));
    };
    bytes.push(b'\n');
    if bytes.len() > ATOMIC_BYTES {
        tracing::error!(bytes = bytes.len(), "an event does not fit into one write");
        std::process::exit(i32::from(Exit::Bug.code()));
    }
    loop {
        match nix::unistd::write(stdout(), &bytes) {
            Ok(written) if written == bytes.len() => return,
            Err(Errno::EINTR) => {}
            Ok(_) | Err(_) => lab_is_gone(),
        }
    }
}

/// Waits until the lab says go.
pub(super) fn wait_for_go() {
    let mut byte = [0_u8];
    loop {
        match nix::unistd::read(stdin(), &mut byte) {
            Ok(1) if !hung_up(&stdin(), &stdout(), PollTimeout::ZERO) => return,
            Err(Errno::EINTR) => {}
            Ok(_) | Err(_) => lab_is_gone(),
        }
    }
}
