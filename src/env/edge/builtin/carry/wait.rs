//! What a connection waits for when nothing moves.

use super::far::{Far, reached};
use super::{Carrier, Order};
use crate::clock;
use crate::env::edge::builtin::lane::Next;
use crate::env::edge::builtin::resp::Sender;
use std::time::Duration;
use tokio::io::Interest;
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedReceiver;

/// What ended a wait.
pub enum Woken {
    /// Something may move.
    Ready,
    /// An order, or the end of all orders.
    Ordered(Option<Order>),
}

impl Carrier {
    /// Waits for an order, or until a step may move something.
    pub(super) async fn wait(&mut self, orders: &mut UnboundedReceiver<Order>) -> Woken {
        let now_ns = clock::monotonic_ns();
        let due = self.link.wake_at(now_ns);
        let reads = |sender| self.link.wants(sender);
        let (from_client, from_server) = (reads(Sender::Client), reads(Sender::Server));
        let writes = |sender| self.link.next(sender, now_ns) != Next::Nothing;
        let (to_server, to_client) = (writes(Sender::Client), writes(Sender::Server));
        let (dialing, server) = match &mut self.far {
            Far::Dialing(dial) => (Some(dial), None),
            Far::Here(server) => (None, Some(&*server)),
            Far::Waiting | Far::Gone => (None, None),
        };
        let sleep = Duration::from_nanos(due.unwrap_or(now_ns).saturating_sub(now_ns));
        let reached = tokio::select! {
            biased;
            order = orders.recv() => return Woken::Ordered(order),
            reached = reached(dialing) => reached,
            () = tokio::time::sleep(sleep), if due.is_some() => return Woken::Ready,
            _ = self.client.readable(), if from_client => return Woken::Ready,
            _ = self.client.writable(), if to_client => return Woken::Ready,
            () = ready(server, Interest::READABLE), if from_server => return Woken::Ready,
            () = ready(server, Interest::WRITABLE), if to_server => return Woken::Ready,
        };
        match reached {
            Ok(server) => {
                let _ = server.set_nodelay(true);
                self.far = Far::Here(server);
            }
            Err(_) => {
                self.far = Far::Gone;
                self.link
                    .cannot_write(Sender::Client, clock::monotonic_ns());
            }
        }
        Woken::Ready
    }
}

/// Ready for it, or broken, which the next step finds out. Nobody is never ready.
async fn ready(stream: Option<&TcpStream>, interest: Interest) {
    match stream {
        Some(stream) => {
            let _ = stream.ready(interest).await;
        }
        None => std::future::pending().await,
    }
}
