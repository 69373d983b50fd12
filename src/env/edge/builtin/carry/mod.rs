//! One connection of an edge with its sockets: reads, writes and waits for whatever comes first.
//! Nothing here blocks while an order waits, so an injury hits a live connection at once.

mod far;
mod wait;

use far::{Far, dial};
use wait::Woken;

use super::lane::Next;
use super::link::Link;
use super::resp::Sender;
use super::rule::{Count, Rule, Tally};
use crate::clock;
use crate::env::edge::Happening;
use nix::sys::socket::{self, Shutdown};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::oneshot;

/// What a connection is told, and how it says that it has done it.
#[derive(Debug)]
pub struct Order {
    /// The injury, or none from now on.
    pub rule: Option<Rule>,
    /// Answered once the connection has applied it; dropped if the connection is over.
    pub done: oneshot::Sender<()>,
}

/// Where the connection tells what happens to chosen frames.
pub type Tell = Arc<dyn Fn(Vec<Happening>) + Send + Sync>;

/// One connection.
pub struct Carrier {
    client: TcpStream,
    far: Far,
    upstream: SocketAddr,
    link: Link,
    tally: Arc<Tally>,
    tell: Tell,
    bytes: Vec<u8>,
}

impl Carrier {
    /// A connection that has just been accepted, under the edge's injury.
    pub fn new(
        client: TcpStream,
        upstream: SocketAddr,
        link: Link,
        rule: Option<&Rule>,
        tally: Arc<Tally>,
        tell: Tell,
    ) -> Self {
        let _ = client.set_nodelay(true);
        let mut carrier = Carrier {
            client,
            far: dial(upstream),
            upstream,
            link,
            tally,
            tell,
            bytes: vec![0; 64 * 1024],
        };
        if let Some(rule) = rule {
            carrier.injure(rule);
        }
        carrier
    }

    /// Carries until both streams have ended, one was reset, or nobody gives orders any more.
    pub async fn run(mut self, mut orders: UnboundedReceiver<Order>) {
        loop {
            let mut order = orders.try_recv().ok();
            if order.is_none() {
                match self.step() {
                    ControlFlow::Break(()) => break,
                    ControlFlow::Continue(true) => {
                        tokio::task::consume_budget().await;
                        continue;
                    }
                    ControlFlow::Continue(false) => match self.wait(&mut orders).await {
                        Woken::Ordered(Some(new)) => order = Some(new),
                        Woken::Ordered(None) => break,
                        Woken::Ready => {}
                    },
                }
            }
            let Some(Order { rule, done }) = order else {
                continue;
            };
            let lives = self.obey(rule.as_ref());
            if lives {
                let _ = done.send(());
                continue;
            }
            self.reset();
            self.tally.add(Count::ConnectionsReset, 1);
            // The sockets are closed before anybody is told that they are.
            drop(self);
            let _ = done.send(());
            return;
        }
        self.link.abandon();
        self.report();
    }

    /// Whether the connection goes on.
    fn obey(&mut self, rule: Option<&Rule>) -> bool {
        match rule {
            Some(rule) => {
                self.injure(rule);
                !matches!(rule, Rule::Reset)
            }
            None => {
                let lives = self.link.heal(clock::monotonic_ns());
                if matches!(self.far, Far::Waiting) {
                    self.far = dial(self.upstream);
                }
                lives
            }
        }
    }

    fn injure(&mut self, rule: &Rule) {
        self.link.injure(rule);
        let stops_requests = match rule {
            Rule::Silence(way) | Rule::Stall(way) => way.to_server(),
            Rule::Reset | Rule::Delay { .. } | Rule::Chosen(_) => false,
        };
        if stops_requests && matches!(self.far, Far::Dialing(_)) {
            self.far = Far::Waiting;
        }
    }

    /// Tries everything once, without waiting: whether anything moved.
    fn step(&mut self) -> ControlFlow<(), bool> {
        let now_ns = clock::monotonic_ns();
        let mut moved = false;
        for sender in [Sender::Client, Sender::Server] {
            moved |= self.read(sender, now_ns);
            moved |= self.write(sender, now_ns)?;
        }
        self.report();
        if self.link.is_done() {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(moved)
    }

    fn read(&mut self, sender: Sender, now_ns: u64) -> bool {
        let from = match (sender, &self.far) {
            (Sender::Client, _) => &self.client,
            (Sender::Server, Far::Here(server)) => server,
            (Sender::Server, _) => return false,
        };
        if !self.link.wants(sender) {
            return false;
        }
        match from.try_read(&mut self.bytes) {
            Ok(0) => self.link.source_ended(sender, false, now_ns),
            Ok(n) => self.link.arrived(sender, &self.bytes[..n], now_ns),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(_) => self.link.source_ended(sender, true, now_ns),
        }
        true
    }

    /// Writes what may be written of what this side sent. Breaks when the other side was reset.
    fn write(&mut self, sender: Sender, now_ns: u64) -> ControlFlow<(), bool> {
        let next = self.link.next(sender, now_ns);
        let to = match (sender, &self.far) {
            (_, _) if next == Next::Nothing => return ControlFlow::Continue(false),
            (Sender::Server, _) => Some(&self.client),
            (Sender::Client, Far::Here(server)) => Some(server),
            (Sender::Client, Far::Gone) => None,
            (Sender::Client, _) if next == Next::Reset => None,
            (Sender::Client, _) => return ControlFlow::Continue(false),
        };
        match (next, to) {
            (Next::Reset, _) => {
                self.reset();
                return ControlFlow::Break(());
            }
            (Next::Bytes(bytes), Some(to)) => match to.try_write(bytes) {
                Ok(n) => self.link.wrote(sender, n),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return ControlFlow::Continue(false);
                }
                Err(_) => self.link.cannot_write(sender, now_ns),
            },
            (Next::End, Some(to)) => {
                // A peer that is gone needs no end.
                let _ = socket::shutdown(to.as_raw_fd(), Shutdown::Write);
                self.link.wrote_end(sender);
            }
            (_, None) => self.link.cannot_write(sender, now_ns),
            (Next::Nothing, _) => {}
        }
        ControlFlow::Continue(true)
    }

    fn report(&mut self) {
        let events = self.link.take_events();
        if !events.is_empty() {
            (self.tell)(events);
        }
    }

    /// RST instead of FIN when the sockets are closed.
    fn reset(&mut self) {
        self.link.abandon();
        self.report();
        let _ = self.client.set_zero_linger();
        if let Far::Here(server) = &self.far {
            let _ = server.set_zero_linger();
        }
    }
}
