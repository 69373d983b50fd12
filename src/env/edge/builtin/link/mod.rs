//! One connection of an edge, without its sockets: two lanes, the talk on them, and what the
//! injury does to it. Pure: the time comes from outside, ns.

mod chosen;
#[cfg(test)]
mod tests;

use super::lane::{Gate, Lane, Next};
use super::resp::Sender;
use super::rule::{Choice, Count, Rule, Tally};
use super::talk::Talk;
use crate::env::edge::{Happening, ServerProtocol, Way};
use std::sync::Arc;

/// One connection.
#[derive(Debug)]
pub struct Link {
    number: u64,
    /// What flows from the client to the server.
    requests: Lane,
    /// What flows from the server to the client.
    replies: Lane,
    talk: Option<Talk>,
    choice: Option<Arc<Choice>>,
    /// The reply to this request is the chosen one.
    target: Option<u64>,
    /// This request was held; what the server answers tells whether it was refused.
    held: Option<u64>,
    /// This frame began before we looked: the rest of it passes.
    skip: [bool; 2],
    tally: Arc<Tally>,
    events: Vec<Happening>,
}

impl Link {
    /// A new connection of the edge.
    pub fn new(number: u64, protocol: ServerProtocol, tally: Arc<Tally>) -> Self {
        Link {
            number,
            requests: Lane::default(),
            replies: Lane::default(),
            talk: match protocol {
                ServerProtocol::Redis => Some(Talk::new()),
                ServerProtocol::Plain
                | ServerProtocol::Postgres
                | ServerProtocol::Etcd
                | ServerProtocol::Zookeeper
                | ServerProtocol::Gateway => None,
            },
            choice: None,
            target: None,
            held: None,
            skip: [false; 2],
            tally,
            events: Vec::new(),
        }
    }

    /// Applies an injury to what is here and what comes. [`Rule::Reset`] is the caller's.
    pub fn injure(&mut self, rule: &Rule) {
        match rule {
            Rule::Silence(way) => {
                for sender in senders(*way) {
                    let dropped = self.lane(sender).sink_all();
                    self.count_dropped(sender, dropped);
                }
            }
            Rule::Stall(way) => senders(*way).for_each(|sender| self.lane(sender).keep_all()),
            Rule::Delay { way, ns } => {
                let gate = Gate::After(*ns);
                senders(*way).for_each(|sender| self.lane(sender).set_gate(gate));
            }
            Rule::Chosen(choice) => {
                self.choice = Some(Arc::clone(choice));
                self.skip_rest(Sender::Client);
            }
            Rule::Reset => {}
        }
    }

    /// Takes the injury away. Whether the connection may live on: one that lost bytes may not.
    pub fn heal(&mut self, now_ns: u64) -> bool {
        self.choice = None;
        self.target = None;
        self.requests.release(now_ns);
        self.replies.release(now_ns);
        !self.requests.is_torn() && !self.replies.is_torn()
    }

    /// Bytes have been read from this side.
    pub fn arrived(&mut self, sender: Sender, bytes: &[u8], now_ns: u64) {
        self.tally.add(count(sender, Kind::In), bytes.len());
        let mut rest = bytes;
        while !rest.is_empty() {
            let Some(talk) = &mut self.talk else {
                return self.pass(sender, rest, None, now_ns);
            };
            match talk.cut(sender, rest) {
                Ok((used, ended)) => {
                    let (head, tail) = rest.split_at(used);
                    self.place(sender, head, ended, now_ns);
                    rest = tail;
                }
                Err(broken) => self.be_plain(broken.0, now_ns),
            }
        }
    }

    /// This side will send nothing more, in good order or by a reset.
    pub fn source_ended(&mut self, sender: Sender, reset: bool, now_ns: u64) {
        let dropped = self.lane(sender).flush_partial(now_ns);
        self.count_dropped(sender, dropped);
        self.lane(sender).end(reset, now_ns);
    }

    /// What this side sent cannot be written: the other side is gone, which it will be told.
    pub fn cannot_write(&mut self, sender: Sender, now_ns: u64) {
        let dropped = self.lane(sender).give_up();
        self.count_dropped(sender, dropped);
        self.lane(other(sender)).end(true, now_ns);
    }

    /// What may be written now of what this side sent.
    pub fn next(&self, sender: Sender, now_ns: u64) -> Next<'_> {
        match sender {
            Sender::Client => self.requests.next(now_ns),
            Sender::Server => self.replies.next(now_ns),
        }
    }

    /// So many bytes of that have been written.
    pub fn wrote(&mut self, sender: Sender, n: usize) {
        self.tally.add(count(sender, Kind::Out), n);
        if let Some(frame) = self.lane(sender).wrote(n) {
            self.tally.add(Count::Delivered, 1);
            self.events.push(Happening::Delivered {
                way: way_of(sender),
                connection: self.number,
                frame,
            });
        }
    }

    /// The end of what this side sent has been written.
    pub fn wrote_end(&mut self, sender: Sender) {
        self.lane(sender).ended();
    }

    /// Whether more may be read from this side.
    pub fn wants(&self, sender: Sender) -> bool {
        match sender {
            Sender::Client => self.requests.wants(),
            Sender::Server => self.replies.wants(),
        }
    }

    /// When something may be written that may not be now.
    pub fn wake_at(&self, now_ns: u64) -> Option<u64> {
        let due = [self.requests.wake_at(now_ns), self.replies.wake_at(now_ns)];
        due.into_iter().flatten().min()
    }

    /// Whether both streams have ended.
    pub fn is_done(&self) -> bool {
        self.requests.is_done() && self.replies.is_done()
    }

    /// What has happened since the last call.
    pub fn take_events(&mut self) -> Vec<Happening> {
        std::mem::take(&mut self.events)
    }

    /// The connection ends here: what is still in it is counted as thrown away.
    pub fn abandon(&mut self) {
        for sender in [Sender::Client, Sender::Server] {
            let left = self.lane(sender).waiting();
            self.lane(sender).give_up();
            self.count_dropped(sender, left);
        }
    }

    fn pass(&mut self, sender: Sender, bytes: &[u8], tag: Option<u64>, now_ns: u64) {
        let dropped = self.lane(sender).push(bytes, tag, now_ns);
        self.count_dropped(sender, dropped);
    }

    fn be_plain(&mut self, why: &str, now_ns: u64) {
        self.talk = None;
        self.tally.add(Count::Plain, 1);
        self.events.push(Happening::Plain {
            connection: self.number,
            why: why.to_owned(),
        });
        for sender in [Sender::Client, Sender::Server] {
            let dropped = self.lane(sender).flush_partial(now_ns);
            self.count_dropped(sender, dropped);
        }
    }

    fn lane(&mut self, sender: Sender) -> &mut Lane {
        match sender {
            Sender::Client => &mut self.requests,
            Sender::Server => &mut self.replies,
        }
    }

    fn count_dropped(&self, sender: Sender, n: usize) {
        self.tally.add(count(sender, Kind::Dropped), n);
    }
}

enum Kind {
    In,
    Out,
    Dropped,
}

const fn count(sender: Sender, kind: Kind) -> Count {
    match (sender, kind) {
        (Sender::Client, Kind::In) => Count::ToServerIn,
        (Sender::Client, Kind::Out) => Count::ToServerOut,
        (Sender::Client, Kind::Dropped) => Count::ToServerDropped,
        (Sender::Server, Kind::In) => Count::ToClientIn,
        (Sender::Server, Kind::Out) => Count::ToClientOut,
        (Sender::Server, Kind::Dropped) => Count::ToClientDropped,
    }
}

const fn way_of(sender: Sender) -> Way {
    match sender {
        Sender::Client => Way::ToServer,
        Sender::Server => Way::ToClient,
    }
}

const fn other(sender: Sender) -> Sender {
    match sender {
        Sender::Client => Sender::Server,
        Sender::Server => Sender::Client,
    }
}

fn senders(way: Way) -> impl Iterator<Item = Sender> {
    let client = way.to_server().then_some(Sender::Client);
    let server = way.to_client().then_some(Sender::Server);
    client.into_iter().chain(server)
}
