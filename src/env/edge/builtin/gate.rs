//! One edge: it listens, carries every connection in a task of its own, and has an injury applied
//! by all of them before it says so.
//!
//! The port stays open during a reset, so that nobody else can be given it: a new connection is
//! accepted and reset.

use super::carry::{Carrier, Order, Tell};
use super::link::Link;
use super::rule::{Count, Rule, Tally};
use crate::clock;
use crate::env::edge::{EdgeError, EdgeEvent, EdgeId, Happening, Upstream};
use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};

/// Everybody who watches the provider's edges.
#[derive(Debug, Clone, Default)]
pub struct Watchers(Arc<Mutex<Vec<UnboundedSender<EdgeEvent>>>>);

impl Watchers {
    /// One more.
    pub fn join(&self) -> UnboundedReceiver<EdgeEvent> {
        let (sender, receiver) = unbounded_channel();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push(sender);
        receiver
    }

    /// Nobody watches any more.
    pub fn clear(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }

    /// Tells everybody who still listens.
    fn tell(&self, edge: &EdgeId, what: Vec<Happening>) {
        let at_ns = clock::monotonic_ns();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for what in what {
            let edge = edge.clone();
            let event = EdgeEvent { edge, at_ns, what };
            all.retain(|watcher| watcher.send(event.clone()).is_ok());
        }
    }
}

/// What the edge is told; answered with the number of connections that applied it.
struct Ask {
    rule: Option<Rule>,
    done: oneshot::Sender<usize>,
}

/// The handle of one edge. Dropping it ends the edge and closes its connections.
#[derive(Debug)]
pub struct Gate {
    /// Where it listens.
    pub address: SocketAddr,
    /// What it counts.
    pub tally: Arc<Tally>,
    asks: UnboundedSender<Ask>,
    task: JoinHandle<()>,
}

impl Gate {
    /// Listens on a loopback port of its own.
    ///
    /// # Errors
    /// When there is no port.
    pub async fn open(
        edge: EdgeId,
        upstream: Upstream,
        watchers: Watchers,
    ) -> Result<Gate, EdgeError> {
        let failed = || EdgeError::io(format!("listening for edge {edge}"));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.map_err(failed())?;
        let address = listener.local_addr().map_err(failed())?;
        let tally = Arc::<Tally>::default();
        let (asks, asked) = unbounded_channel();
        let tell: Tell = Arc::new(move |what| watchers.tell(&edge, what));
        let keeper = Keeper {
            listener,
            upstream,
            rule: None,
            opened: 0,
            orders: HashMap::new(),
            tasks: JoinSet::new(),
            tally: Arc::clone(&tally),
            tell,
        };
        Ok(Gate {
            address,
            tally,
            asks,
            task: tokio::spawn(keeper.run(asked)),
        })
    }

    /// Applies an injury, or takes it away: when it returns, every live connection has done so and
    /// every new one will. How many have.
    ///
    /// # Errors
    /// When the edge's task is gone.
    pub async fn set(&self, rule: Option<Rule>) -> Result<usize, EdgeError> {
        let gone = || EdgeError::Refused("the edge's task has ended".to_owned());
        let (done, answer) = oneshot::channel();
        self.asks.send(Ask { rule, done }).map_err(|_| gone())?;
        answer.await.map_err(|_| gone())
    }

    /// Ends it; every connection is closed when this returns.
    pub async fn close(self) {
        drop(self.asks);
        // Only a panic makes this an error, and the task is gone then, too.
        let _ = self.task.await;
    }
}

/// The task of one edge.
struct Keeper {
    listener: TcpListener,
    upstream: Upstream,
    rule: Option<Rule>,
    opened: u64,
    orders: HashMap<u64, UnboundedSender<Order>>,
    tasks: JoinSet<u64>,
    tally: Arc<Tally>,
    tell: Tell,
}

impl Keeper {
    async fn run(mut self, mut asks: UnboundedReceiver<Ask>) {
        loop {
            tokio::select! {
                biased;
                ask = asks.recv() => match ask {
                    Some(Ask { rule, done }) => {
                        self.rule.clone_from(&rule);
                        let _ = done.send(self.order(rule).await);
                    }
                    None => break,
                },
                Some(ended) = self.tasks.join_next() => match ended {
                    Ok(number) => {
                        self.orders.remove(&number);
                    }
                    Err(_) => self.orders.retain(|_, orders| !orders.is_closed()),
                },
                accepted = self.listener.accept() => match accepted {
                    Ok((client, _)) => self.accept(client),
                    // Out of descriptors, as a rule: others must end first.
                    Err(_) => tokio::time::sleep(Duration::from_millis(10)).await,
                },
            }
        }
        self.tasks.shutdown().await;
    }

    /// Has every live connection apply it, and waits for them.
    async fn order(&self, rule: Option<Rule>) -> usize {
        let mut waiting = Vec::new();
        for orders in self.orders.values() {
            let (done, answer) = oneshot::channel();
            let rule = rule.clone();
            if orders.send(Order { rule, done }).is_ok() {
                waiting.push(answer);
            }
        }
        let mut applied = 0;
        for answer in waiting {
            // A connection that ended in between has nothing to apply.
            applied += usize::from(answer.await.is_ok());
        }
        applied
    }

    fn accept(&mut self, client: TcpStream) {
        self.tally.add(Count::Connections, 1);
        if matches!(self.rule, Some(Rule::Reset)) {
            self.tally.add(Count::ConnectionsReset, 1);
            let _ = client.set_zero_linger();
            return;
        }
        self.opened += 1;
        let number = self.opened;
        let (orders, ordered) = unbounded_channel();
        let link = Link::new(number, self.upstream.protocol, Arc::clone(&self.tally));
        let carrier = Carrier::new(
            client,
            self.upstream.address,
            link,
            self.rule.as_ref(),
            Arc::clone(&self.tally),
            Arc::clone(&self.tell),
        );
        self.orders.insert(number, orders);
        self.tasks.spawn(async move {
            carrier.run(ordered).await;
            number
        });
    }
}
