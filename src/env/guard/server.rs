//! The guard proper: one loop over the lifeline, the signals and the director's socket.

use super::children::Children;
pub use super::children::Left;
use super::protocol::{Change, ChildEvent, ChildRole, Reply, Request, encode};
use super::protocol::{receive, send};
use super::{Ledger, Order, Role, command, signals};
use crate::env::ledger::told;
use nix::libc;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// Exit code of a guard that ended the arm: its conductor died or a signal asked for it.
pub const ENDED: i32 = 130;
/// Exit code of a guard that could not start the director; the log says why.
pub const REFUSED: i32 = 4;
/// The byte on the guard's standard input that makes it send SIGTERM to the director: heal,
/// report what there is, and end.
pub const INTERRUPT: u8 = b'i';
/// In front of the last line on standard output, if the director left processes behind.
const LEFT: &str = "lockdrill-guard left ";

impl Left {
    /// Reads the guard's last line: the processes that the director left behind, which the guard
    /// has killed. None for every other line.
    pub fn parse(line: &str) -> Option<Vec<Left>> {
        serde_json::from_str(line.strip_prefix(LEFT)?).ok()
    }
}

/// Starts the director and serves it until it ends or must end. When this returns, no process of
/// the arm is left.
pub(super) fn serve(order: &Order, ledger: Ledger) -> io::Result<i32> {
    let signals = SignalFd::with_flags(&signals(), SfdFlags::SFD_CLOEXEC | SfdFlags::SFD_NONBLOCK)?;
    let (ours, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
    )?;
    let mut children = Children::new(Arc::new(ledger));
    let command = command::director(order, theirs)?;
    let director = children.spawn("director", Role::Director, command)?.pid;
    let mut serving = Serving {
        children,
        director,
        socket: Some(ours),
        outbox: VecDeque::new(),
    };
    let over = loop {
        match serving.turn(&signals) {
            Ok(None) => {}
            Ok(Some(over)) => break Ok(over),
            Err(error) => break Err(error),
        }
    };
    let left = serving.children.end_all();
    match over? {
        Over::Ended => Ok(ENDED),
        Over::Director(what) => {
            if !left.is_empty() {
                // A conductor that is gone meanwhile cannot be told.
                let _ = writeln!(io::stdout(), "{LEFT}{}", serde_json::to_string(&left)?);
            }
            Ok(match what {
                Change::Exited(code) => code,
                Change::Killed(signal) => 128 + signal,
                Change::Stopped | Change::Continued => REFUSED,
            })
        }
    }
}

/// Why it is over.
enum Over {
    /// The conductor is dead, or a signal said so.
    Ended,
    /// The director ended.
    Director(Change),
}

struct Serving {
    children: Children,
    director: i32,
    /// None once the director has closed its end.
    socket: Option<OwnedFd>,
    /// Replies that the director has not taken yet; never waited for.
    outbox: VecDeque<Vec<u8>>,
}

impl Serving {
    /// Sleeps until something happens and deals with it. The lifeline comes first: nothing is
    /// started for a conductor that is dead.
    fn turn(&mut self, signals: &SignalFd) -> io::Result<Option<Over>> {
        let (lifeline, signalled, asked) = self.sleep(signals)?;
        if lifeline && self.read_lifeline()? {
            return Ok(Some(Over::Ended));
        }
        if signalled {
            let mut end = false;
            while let Some(info) = signals.read_signal()? {
                end |= info.ssi_signo != libc::SIGCHLD.unsigned_abs();
            }
            if end {
                return Ok(Some(Over::Ended));
            }
            for event in self.children.changes() {
                let gone = matches!(event.what, Change::Exited(_) | Change::Killed(_));
                if event.pid == self.director && gone {
                    return Ok(Some(Over::Director(event.what)));
                }
                self.tell(&event)?;
            }
        }
        if asked {
            self.answer()?;
        }
        self.flush();
        Ok(None)
    }

    /// Which of lifeline, signals and socket want attention.
    fn sleep(&self, signals: &SignalFd) -> io::Result<(bool, bool, bool)> {
        let stdin = io::stdin();
        let mut fds = vec![
            PollFd::new(stdin.as_fd(), PollFlags::POLLIN),
            PollFd::new(signals.as_fd(), PollFlags::POLLIN),
        ];
        if let Some(socket) = &self.socket {
            let mut want = PollFlags::POLLIN;
            want.set(PollFlags::POLLOUT, !self.outbox.is_empty());
            fds.push(PollFd::new(socket.as_fd(), want));
        }
        match poll(&mut fds, PollTimeout::NONE) {
            Err(nix::errno::Errno::EINTR) => return Ok((false, false, false)),
            ready => ready?,
        };
        let ready = |n: usize| fds.get(n).and_then(PollFd::any).unwrap_or(false);
        Ok((ready(0), ready(1), ready(2)))
    }

    /// True when the conductor is dead.
    fn read_lifeline(&self) -> io::Result<bool> {
        let mut bytes = [0_u8; 16];
        let count = io::stdin().lock().read(&mut bytes)?;
        if bytes[..count].contains(&INTERRUPT) {
            self.children.ask_to_end(self.director);
        }
        Ok(count == 0)
    }

    fn tell(&mut self, event: &ChildEvent) -> io::Result<()> {
        if event.pid != self.director {
            self.outbox.push_back(encode(&Reply::Child(event.clone()))?);
        }
        Ok(())
    }

    fn answer(&mut self) -> io::Result<()> {
        while let Some(socket) = &self.socket {
            match receive::<Request>(socket) {
                Ok(Some((request, fds))) => {
                    let id = request.id;
                    let reply = match self.start(request, fds) {
                        Ok(reply) => reply,
                        Err(error) => Reply::Refused {
                            id,
                            why: error.to_string(),
                        },
                    };
                    self.outbox.push_back(encode(&reply)?);
                }
                Ok(None) => self.socket = None,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(told(&error, "the director's message")),
            }
        }
        Ok(())
    }

    fn start(&mut self, request: Request, fds: Vec<OwnedFd>) -> io::Result<Reply> {
        let Request { id, spawn, pipes } = request;
        if fds.len() != if pipes { 2 } else { 0 } {
            let text = format!("{} descriptors came with the request", fds.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let role = match spawn.role {
            ChildRole::Worker => Role::Worker,
            ChildRole::Server => Role::Server,
        };
        let name = spawn.name.clone();
        let command = command::child(spawn, fds)?;
        let spawned = self.children.spawn(&name, role, command)?;
        Ok(Reply::Spawned { id, spawned })
    }

    fn flush(&mut self) {
        while let (Some(socket), Some(bytes)) = (&self.socket, self.outbox.front()) {
            match send(socket.as_fd(), bytes, &[]) {
                Ok(()) => {
                    self.outbox.pop_front();
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(_) => self.socket = None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_is_told_from_all_others() {
        let left = Left {
            pid: 7,
            name: "a".to_owned(),
        };
        let line = format!(
            "{LEFT}{}",
            serde_json::to_string(std::slice::from_ref(&left)).unwrap()
        );
        assert_eq!(Left::parse(&line), Some(vec![left]));
        assert_eq!(Left::parse("progress"), None);
    }
}
