//! What the director and the guard say to each other: one JSON message a packet, over a socket
//! pair that keeps packets apart. Descriptors travel beside the message that speaks of them.

use nix::cmsg_space;
use nix::errno::Errno;
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, UnixAddr, recvmsg, sendmsg};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::path::PathBuf;

/// Environment variable with the number of the director's end of the socket.
pub(super) const SOCKET: &str = "LOCKDRILL_GUARD_FD";
/// Longest message in bytes; well below what a socket takes at once.
const LONGEST: usize = 64 * 1024;

/// A process that the director wants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawn {
    /// Name in the plan; comes back in every [`ChildEvent`].
    pub name: String,
    /// What it is; workers are the first to be killed.
    pub role: ChildRole,
    /// The program.
    pub program: PathBuf,
    /// What it is told to be called; none = its path.
    pub arg0: Option<String>,
    /// Its arguments, without the name.
    pub args: Vec<String>,
    /// Variables beyond the arm's mark, `PATH`, `HOME`, `TMPDIR` and `RUST_BACKTRACE`; nothing
    /// else is inherited.
    pub env: Vec<(String, String)>,
    /// Working folder.
    pub cwd: PathBuf,
    /// Appended to: standard error, and standard output where there are no pipes.
    pub log: PathBuf,
}

/// What a process under the director is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildRole {
    /// Contends for the lock and writes to the store.
    Worker,
    /// A lock server, a store or a proxy.
    Server,
}

/// A process that runs, the leader of a process group of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spawned {
    /// Process id, as the director sees it; also its process group.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start_ticks: u64,
}

/// What the kernel told the guard of a child.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildEvent {
    /// Process id, as the director sees it.
    pub pid: i32,
    /// Its name in [`Spawn`].
    pub name: String,
    /// When the guard learned of it, `CLOCK_MONOTONIC`, ns.
    pub at_monotonic_ns: u64,
    /// What happened.
    pub what: Change,
}

/// A change in the state of a child.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It ended by itself with this code.
    Exited(i32),
    /// This signal killed it.
    Killed(i32),
    /// It was stopped.
    Stopped,
    /// It was continued.
    Continued,
}

/// From the director. `pipes`: two descriptors come along, standard input and output.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) id: u64,
    pub(super) spawn: Spawn,
    pub(super) pipes: bool,
}

/// From the guard.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    Spawned { id: u64, spawned: Spawned },
    Refused { id: u64, why: String },
    Child(ChildEvent),
}

/// A message as it goes over the wire.
pub(super) fn encode(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let bytes = serde_json::to_vec(message)?;
    if bytes.len() > LONGEST {
        let text = format!("a message of {} bytes is too long", bytes.len());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    Ok(bytes)
}

/// Sends one message; never blocks and never raises SIGPIPE.
///
/// # Errors
/// `WouldBlock` when the other side is slow; `BrokenPipe` when it is gone.
pub(super) fn send(socket: BorrowedFd<'_>, bytes: &[u8], fds: &[OwnedFd]) -> io::Result<()> {
    let raw: Vec<RawFd> = fds.iter().map(AsRawFd::as_raw_fd).collect();
    let rights = [ControlMessage::ScmRights(&raw)];
    let beside = if raw.is_empty() { &[][..] } else { &rights[..] };
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_NOSIGNAL;
    let parts = [IoSlice::new(bytes)];
    sendmsg::<UnixAddr>(socket.as_raw_fd(), &parts, beside, flags, None)?;
    Ok(())
}

/// Receives one message and its descriptors, without blocking; none = the other side is gone.
///
/// # Errors
/// `WouldBlock` when there is nothing; `InvalidData` when it is not understood.
pub(super) fn receive<T: DeserializeOwned>(
    socket: &impl AsFd,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut buffer = vec![0_u8; LONGEST];
    let mut beside = cmsg_space!([RawFd; 4]);
    let flags = MsgFlags::MSG_DONTWAIT | MsgFlags::MSG_CMSG_CLOEXEC;
    let mut parts = [IoSliceMut::new(&mut buffer)];
    let socket = socket.as_fd().as_raw_fd();
    let received = match recvmsg::<UnixAddr>(socket, &mut parts, Some(&mut beside), flags) {
        Err(Errno::ECONNRESET) => return Ok(None),
        received => received?,
    };
    let mut fds = Vec::new();
    for message in received.cmsgs()? {
        if let ControlMessageOwned::ScmRights(raw) = message {
            // SAFETY: the kernel has just installed these descriptors for this message; each is
            // taken over exactly once.
            fds.extend(
                raw.into_iter()
                    .map(|fd| unsafe { OwnedFd::from_raw_fd(fd) }),
            );
        }
    }
    let (length, cut) = (received.bytes, received.flags.contains(MsgFlags::MSG_TRUNC));
    if length == 0 {
        return Ok(None);
    }
    if cut {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "a message was cut",
        ));
    }
    Ok(Some((serde_json::from_slice(&buffer[..length])?, fds)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
    use std::fs::File;
    use std::io::{Read, Write};

    fn pair() -> (OwnedFd, OwnedFd) {
        let flags = SockFlag::SOCK_CLOEXEC;
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap()
    }

    #[test]
    fn a_message_arrives_whole_with_its_descriptors() {
        let (a, b) = pair();
        let (reader, writer) = nix::unistd::pipe().unwrap();
        let sent = Reply::Refused {
            id: 7,
            why: "x".repeat(1000),
        };
        send(a.as_fd(), &encode(&sent).unwrap(), &[writer]).unwrap();
        let (reply, mut fds) = receive::<Reply>(&b).unwrap().unwrap();
        assert!(matches!(reply, Reply::Refused { id: 7, why } if why.len() == 1000));
        File::from(fds.remove(0)).write_all(b"hi").unwrap();
        let mut text = String::new();
        File::from(reader).read_to_string(&mut text).unwrap();
        assert_eq!(text, "hi", "and both other copies of the writer are closed");
    }

    #[test]
    fn an_empty_socket_would_block_and_a_closed_one_is_none() {
        let (a, b) = pair();
        let error = receive::<Reply>(&b).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        drop(a);
        assert!(receive::<Reply>(&b).unwrap().is_none());
        let error = send(b.as_fd(), b"{}", &[]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }

    #[test]
    fn nonsense_and_giants_are_refused() {
        let (a, b) = pair();
        send(a.as_fd(), b"nonsense", &[]).unwrap();
        assert!(receive::<Reply>(&b).is_err());
        assert!(encode(&"x".repeat(LONGEST)).is_err());
    }
}
