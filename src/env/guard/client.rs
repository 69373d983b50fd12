//! The director's side of the guard.

use super::protocol::{ChildEvent, Reply, Request, SOCKET, Spawn, Spawned, encode, receive, send};
use nix::fcntl::{FcntlArg, FdFlag, OFlag, fcntl};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

/// Asks the guard to start processes. Clones share one connection.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    socket: AsyncFd<OwnedFd>,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    last_id: u64,
    answers: HashMap<u64, oneshot::Sender<io::Result<Spawned>>>,
    /// The guard is gone: nobody will ever answer.
    closed: bool,
}

impl Client {
    /// Takes over the socket that the guard gave to this process, once, and begins to read it.
    /// The receiver yields every change of every child and ends with the guard.
    ///
    /// # Errors
    /// `NotFound` when this process was not started by a guard; others when it was already
    /// called, or outside a tokio runtime.
    pub fn from_env() -> io::Result<(Client, mpsc::UnboundedReceiver<ChildEvent>)> {
        static TAKEN: AtomicBool = AtomicBool::new(false);
        let number = std::env::var(SOCKET).map_err(|_| {
            let text = format!("{SOCKET} is not set: only a guard starts a director");
            io::Error::new(io::ErrorKind::NotFound, text)
        })?;
        let fd: RawFd = number.parse().map_err(io::Error::other)?;
        if fd < 3 || TAKEN.swap(true, Ordering::SeqCst) {
            return Err(io::Error::other(format!("{SOCKET}={fd} cannot be taken")));
        }
        // SAFETY: the guard left this descriptor open for us and TAKEN lets only one owner be
        // made of it. Were the number a lie, the next line fails on it.
        let socket = unsafe { OwnedFd::from_raw_fd(fd) };
        fcntl(&socket, FcntlArg::F_SETFD(FdFlag::FD_CLOEXEC))?;
        fcntl(&socket, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Client::over(socket)
    }

    fn over(socket: OwnedFd) -> io::Result<(Client, mpsc::UnboundedReceiver<ChildEvent>)> {
        let runtime = tokio::runtime::Handle::try_current().map_err(io::Error::other)?;
        let shared = Arc::new(Shared {
            socket: register(socket)?,
            waiting: Mutex::default(),
        });
        let (events, receiver) = mpsc::unbounded_channel();
        runtime.spawn(read_all(Arc::clone(&shared), events));
        Ok((Client { shared }, receiver))
    }

    /// Starts a process in a group of its own, its standard input and output being `pipes`,
    /// which are closed here. Dropping the future does not undo it.
    ///
    /// # Errors
    /// The guard's reason, or that the guard is gone.
    pub async fn spawn(
        &self,
        spawn: Spawn,
        pipes: Option<(OwnedFd, OwnedFd)>,
    ) -> io::Result<Spawned> {
        let (sender, answer) = oneshot::channel();
        let id = self.shared.enlist(sender)?;
        let request = Request {
            id,
            spawn,
            pipes: pipes.is_some(),
        };
        let bytes = encode(&request)?;
        let fds: Vec<OwnedFd> = pipes.into_iter().flat_map(|(a, b)| [a, b]).collect();
        self.shared
            .socket
            .async_io(Interest::WRITABLE, |socket| {
                send(socket.as_fd(), &bytes, &fds)
            })
            .await?;
        drop(fds);
        answer.await.unwrap_or_else(|_| Err(gone()))
    }
}

impl Shared {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enlist(&self, sender: oneshot::Sender<io::Result<Spawned>>) -> io::Result<u64> {
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(gone());
        }
        waiting.last_id += 1;
        let id = waiting.last_id;
        waiting.answers.insert(id, sender);
        Ok(id)
    }

    fn answer(&self, id: u64, answer: io::Result<Spawned>) {
        if let Some(sender) = self.waiting().answers.remove(&id) {
            // The asker may have given up; what it asked for runs all the same.
            let _ = sender.send(answer);
        }
    }
}

/// Reads until the guard is gone, then lets everybody who waits know.
async fn read_all(shared: Arc<Shared>, events: mpsc::UnboundedSender<ChildEvent>) {
    loop {
        let read = |socket: &OwnedFd| receive::<Reply>(socket);
        match shared.socket.async_io(Interest::READABLE, read).await {
            Ok(Some((Reply::Spawned { id, spawned }, _))) => shared.answer(id, Ok(spawned)),
            Ok(Some((Reply::Refused { id, why }, _))) => {
                shared.answer(id, Err(io::Error::other(why)));
            }
            Ok(Some((Reply::Child(event), _))) => {
                let _ = events.send(event);
            }
            Ok(None) => break,
            Err(error) => {
                tracing::error!(%error, "the guard is not understood");
                break;
            }
        }
    }
    let mut waiting = shared.waiting();
    waiting.closed = true;
    waiting.answers.clear();
}

fn register(socket: OwnedFd) -> io::Result<AsyncFd<OwnedFd>> {
    // SAFETY: an OwnedFd is one open descriptor for as long as it lives, and is moved in.
    unsafe { AsyncFd::register(socket) }.map_err(|error| error.into_parts().1)
}

fn gone() -> io::Error {
    io::Error::new(io::ErrorKind::BrokenPipe, "the guard is gone")
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{Change, ChildRole};
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};

    fn anything() -> Spawn {
        Spawn {
            name: "a".to_owned(),
            role: ChildRole::Worker,
            program: "/bin/true".into(),
            arg0: None,
            args: Vec::new(),
            env: Vec::new(),
            cwd: "/".into(),
            log: "/dev/null".into(),
        }
    }

    fn pair() -> (OwnedFd, OwnedFd) {
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        socketpair(AddressFamily::Unix, SockType::SeqPacket, None, flags).unwrap()
    }

    #[tokio::test]
    async fn answers_find_their_askers_in_any_order() {
        let (guard, director) = pair();
        let (client, mut events) = Client::over(director).unwrap();
        let other = client.clone();
        let first = tokio::spawn(async move { other.spawn(anything(), None).await });
        let second = tokio::spawn(async move { client.spawn(anything(), None).await });
        let guard = register(guard).unwrap();
        let mut ids = Vec::new();
        while ids.len() < 2 {
            let read = |socket: &OwnedFd| receive::<Request>(socket);
            let asked = guard.async_io(Interest::READABLE, read).await.unwrap();
            ids.push(asked.unwrap().0.id);
        }
        let spawned = Spawned {
            pid: 9,
            start_ticks: 1,
        };
        let event = ChildEvent {
            pid: 9,
            name: "a".to_owned(),
            at_monotonic_ns: 5,
            what: Change::Stopped,
        };
        let why = "no such file".to_owned();
        for reply in [
            Reply::Child(event.clone()),
            Reply::Refused { id: 2, why },
            Reply::Spawned { id: 1, spawned },
        ] {
            send(guard.get_ref().as_fd(), &encode(&reply).unwrap(), &[]).unwrap();
        }
        let (first, second) = (first.await.unwrap(), second.await.unwrap());
        let (granted, refused) = if first.is_ok() {
            (first, second)
        } else {
            (second, first)
        };
        assert_eq!(granted.unwrap(), spawned);
        assert_eq!(refused.unwrap_err().to_string(), "no such file");
        assert_eq!(events.recv().await, Some(event));
    }

    #[tokio::test]
    async fn a_guard_that_is_gone_is_told_to_who_waits_and_who_comes_later() {
        let (guard, director) = pair();
        let (client, mut events) = Client::over(director).unwrap();
        let other = client.clone();
        let waiting = tokio::spawn(async move { other.spawn(anything(), None).await });
        let guard = register(guard).unwrap();
        let read = |socket: &OwnedFd| receive::<Request>(socket);
        guard.async_io(Interest::READABLE, read).await.unwrap();
        drop(guard);
        assert_eq!(
            waiting.await.unwrap().unwrap_err().kind(),
            io::ErrorKind::BrokenPipe
        );
        assert_eq!(events.recv().await, None);
        assert!(client.spawn(anything(), None).await.is_err());
    }
}
