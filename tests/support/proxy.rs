//! A TCP proxy in the test's own process that can hold or swallow what passes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the proxy does to bytes that arrive from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Lets everything pass.
    Pass,
    /// Keeps replies until the mode changes.
    HoldReplies,
    /// Keeps requests until the mode changes.
    HoldRequests,
    /// Lets the request pass and closes the connection in place of the reply.
    CloseAtReply,
}

/// A proxy in front of one server.
pub struct Proxy {
    address: String,
    mode: watch::Sender<Mode>,
    requests: Arc<AtomicUsize>,
    connections: Arc<AtomicUsize>,
    _accepting: JoinSet<()>,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Proxy {
    /// Listens on a port of its own.
    pub async fn before(upstream: String) -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address").to_string();
        let (mode, seen) = watch::channel(Mode::Pass);
        let requests = Arc::<AtomicUsize>::default();
        let arrived = Arc::clone(&requests);
        let connections = Arc::<AtomicUsize>::default();
        let accepted = Arc::clone(&connections);
        let mut accepting = JoinSet::new();
        accepting.spawn(async move {
            let mut pairs = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                accepted.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(&upstream).await else {
                    continue;
                };
                let _ = (client.set_nodelay(true), server.set_nodelay(true));
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                let request = pass(
                    from_client,
                    to_server,
                    seen.clone(),
                    Mode::HoldRequests,
                    Arc::clone(&arrived),
                );
                let reply = pass(
                    from_server,
                    to_client,
                    seen.clone(),
                    Mode::HoldReplies,
                    Arc::default(),
                );
                pairs.spawn(async move {
                    tokio::select! {
                        () = request => {}
                        () = reply => {}
                    }
                });
            }
        });
        Proxy {
            address,
            mode,
            requests,
            connections,
            _accepting: accepting,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> String {
        self.address.clone()
    }

    /// Changes what happens from now on.
    pub fn set(&self, mode: Mode) {
        self.mode.send_replace(mode);
    }

    /// How many connections have been opened so far.
    pub fn connections_so_far(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// How many pieces of requests have arrived so far.
    pub fn requests_so_far(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// One direction of one connection. Ends, and closes both, when it may not go on.
async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    mut mode: watch::Receiver<Mode>,
    held_in: Mode,
    count: Arc<AtomicUsize>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(n @ 1..) = from.read(&mut bytes).await {
        count.fetch_add(1, Ordering::SeqCst);
        if held_in == Mode::HoldReplies && *mode.borrow() == Mode::CloseAtReply {
            return;
        }
        if mode.wait_for(|mode| *mode != held_in).await.is_err() {
            return;
        }
        if to.write_all(&bytes[..n]).await.is_err() {
            return;
        }
    }
}
