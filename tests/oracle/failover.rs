//! A toy lock service of three servers that copy each other, and fail over, soundly or not: copies
//! come late or never, a server takes over without what it had not copied, the one before goes on
//! granting, and is made to copy in its turn. The definitions are read from the truth, pair by pair.

use super::dice::Dice;
use crate::support::history::{Held, KEY, LEASE_MS, Record, SERVER, SERVER_AHEAD_MS, ns};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, By, Change, Event, Line, Outcome};
use lockdrill::timeline::history::History;
use std::collections::VecDeque;

const SERVERS: [&str; 3] = [SERVER, "two", "three"];
const WORKERS: [&str; 3] = ["a", "b", "c"];
/// Times closer than this prove nothing, ms.
const EPSILON: u64 = 2;

/// A grant as it truly was.
#[derive(Debug)]
struct Truth {
    held: Held,
    server: usize,
    fencing: u64,
    at: u64,
    /// End of the last own lease.
    lease_end: u64,
    released: Option<u64>,
    /// When it was asked for, and when its worker was told.
    sent: u64,
    told: Option<u64>,
}

/// What one server does to its key, and another copies.
#[derive(Debug, Clone, Copy)]
enum Step {
    Counter(u64),
    Set(usize, u64),
    Extended(u64),
    Deleted,
}

#[derive(Debug, Default)]
struct Server {
    /// The grant that the key names, and the key's deadline.
    key: Option<(usize, u64)>,
    counter: u64,
    epoch: u64,
    primary: bool,
    dead: bool,
    /// Whom it copies, and how long that takes.
    source: Option<usize>,
    lag: u64,
    coming: VecDeque<(u64, Step)>,
    /// Grants in its own order, made or copied.
    order: Vec<usize>,
    pos: u64,
}

#[derive(Debug, Default)]
struct Worker {
    /// It has no operation under way from here on.
    free: u64,
    held: Option<usize>,
    /// The server that it asks.
    asks: usize,
}

/// What happened, and the record of it.
#[derive(Debug)]
pub struct Failover {
    record: Record,
    /// Every answer arrived, and every change of a role is known to the point.
    pub clear: bool,
    pub promotions: u64,
    grants: Vec<Truth>,
    servers: [Server; 3],
    workers: [Worker; 3],
    /// The server that took over last.
    ruler: usize,
    now: u64,
    dice: Dice,
    flawed: bool,
    /// Fencing tokens of a server that took over begin higher than those of every other.
    epochs: bool,
}

impl Failover {
    pub fn play(seed: u64) -> Failover {
        let mut world = Failover {
            record: Record::new(),
            clear: false,
            promotions: 0,
            grants: Vec::new(),
            servers: std::array::from_fn(|_| Server::default()),
            workers: std::array::from_fn(|_| Worker::default()),
            ruler: 0,
            now: 100,
            dice: Dice::new(seed, 0x7272),
            flawed: false,
            epochs: false,
        };
        world.record.samples = false;
        world.clear = world.chance(60);
        world.flawed = world.chance(30);
        world.epochs = world.chance(60);
        world.begin();
        for _ in 0..6 + world.below(18) {
            let longest = [1, 2, 5, 20, 60, 120][world.pick(6)];
            world.now += 10 * (1 + world.below(longest));
            world.arrive();
            match world.below(10) {
                0 | 1 => world.trouble(),
                _ => world.step(),
            }
        }
        world.close();
        world
    }

    pub fn lines(&self) -> Vec<Line> {
        self.record.finished()
    }

    pub fn history(&self) -> History {
        self.record.history()
    }

    /// Each check with whether it is truly violated.
    pub fn read(&self) -> [(&'static str, bool); 2] {
        [
            ("single_holder", self.two_hold()),
            ("fencing_rises", self.falls()),
        ]
    }

    fn pairs(&self) -> impl Iterator<Item = (&Truth, &Truth)> {
        let all = &self.grants;
        let each = all.iter().enumerate();
        each.flat_map(|(i, one)| all[i + 1..].iter().map(move |other| (one, other)))
    }

    /// Two entitlements overlap by more than ε, whichever servers made them.
    fn two_hold(&self) -> bool {
        let entitled = |grant: &Truth| {
            let end = grant.lease_end.min(grant.released.unwrap_or(u64::MAX));
            (grant.at, end)
        };
        self.pairs().any(|(one, other)| {
            let ((a_from, a_to), (b_from, b_to)) = (entitled(one), entitled(other));
            a_to.min(b_to) > a_from.max(b_from) + EPSILON
        })
    }

    /// A grant's token is not higher than that of a grant that its server had made or copied
    /// before, nor than that of one that was told before it was asked for.
    fn falls(&self) -> bool {
        let known_before = |index: usize| {
            let order = &self.servers[self.grants[index].server].order;
            let made = order.iter().position(|other| *other == index).unwrap();
            &order[..made]
        };
        (0..self.grants.len()).any(|index| {
            let mut before = known_before(index).iter();
            let higher = |other: &Truth| other.fencing >= self.grants[index].fencing;
            before.any(|other| higher(&self.grants[*other]))
        }) || self.grants.iter().any(|later| {
            self.grants.iter().any(|before| {
                let told = before.told.is_some_and(|at| at + EPSILON < later.sent);
                told && later.told.is_some() && later.fencing <= before.fencing
            })
        })
    }

    fn pick(&mut self, n: u64) -> usize {
        self.below(n) as usize
    }

    fn below(&mut self, n: u64) -> u64 {
        self.dice.below(n)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One in so many, and only in an unsound world.
    fn flaw(&mut self, percent: u64) -> bool {
        self.flawed && self.chance(percent)
    }

    fn begin(&mut self) {
        for (index, name) in SERVERS.iter().enumerate() {
            if index > 0 {
                let server = (*name).to_owned();
                self.record.lab(0, Event::ObserverSynced { server });
            }
            let links = if index == 0 { 2 } else { 1 };
            self.say_role(index, (0, None), index == 0, links);
            self.servers[index].primary = index == 0;
            self.servers[index].source = (index > 0).then_some(0);
            self.servers[index].lag = [0, 0, 10, 30][self.pick(4)];
        }
    }

    fn say_role(&mut self, index: usize, when: (u64, Option<u64>), primary: bool, links: u64) {
        let (at, since) = when;
        let (server, since) = (SERVERS[index].to_owned(), since.map(ns));
        self.record.lab(
            at,
            Event::ServerRole {
                server,
                primary,
                links,
                since,
            },
        );
    }

    /// When a server said that its role is another, and when it still had not.
    fn seen(&mut self) -> (u64, Option<u64>) {
        let wide = if self.clear { 0 } else { 10 * self.below(3) };
        (self.now + 4 + wide, Some(self.now - 5 - wide))
    }

    fn tell(&mut self, server: usize, at: u64, change: Change) {
        let pos = self.servers[server].pos;
        self.servers[server].pos += 1;
        let server = SERVERS[server].to_owned();
        let event = Event::Effect {
            server: server.clone(),
            pos,
            key: KEY.to_owned(),
            change,
        };
        self.record.push(ns(at), By::Server(server), event);
    }

    /// A server changes its key, and the observer reads it.
    fn apply(&mut self, index: usize, step: Step, at: u64) {
        let server = &mut self.servers[index];
        let change = match step {
            Step::Counter(value) => {
                server.counter = value;
                Change::Counter { value: Some(value) }
            }
            Step::Set(grant, until) => {
                server.key = Some((grant, until));
                server.order.push(grant);
                let truth = &self.grants[grant];
                Change::Set {
                    owner: truth.held.owner.clone(),
                    fencing: Some(FencingToken(truth.fencing)),
                    until_ms: Some(SERVER_AHEAD_MS + until),
                }
            }
            Step::Extended(until) => {
                server.key = server.key.map(|(grant, _)| (grant, until));
                Change::Extended {
                    until_ms: Some(SERVER_AHEAD_MS + until),
                }
            }
            Step::Deleted => {
                server.key = None;
                Change::Deleted
            }
        };
        self.tell(index, at, change);
    }

    /// A primary changes its key; whoever copies it will do the same.
    fn lead(&mut self, index: usize, steps: &[Step]) {
        let now = self.now;
        for step in steps {
            self.apply(index, *step, now);
        }
        for copier in 0..SERVERS.len() {
            if self.servers[copier].source != Some(index) {
                continue;
            }
            // What is copied at once may be read there before it is read where it was made.
            let early = self.pick(3) as u64;
            let server = &mut self.servers[copier];
            let last = server.coming.back().map_or(0, |(due, _)| *due);
            let due = (now + server.lag - 1 + early).max(last);
            server.coming.extend(steps.iter().map(|step| (due, *step)));
            if due <= now + 1 {
                self.copy_until(copier, due);
            }
        }
    }

    fn copy_until(&mut self, index: usize, until: u64) {
        while let Some((due, step)) = self.servers[index].coming.front().copied()
            && due <= until
        {
            self.servers[index].coming.pop_front();
            self.apply(index, step, due);
        }
    }

    fn arrive(&mut self) {
        for index in 0..SERVERS.len() {
            self.copy_until(index, self.now - 6);
        }
    }

    /// Links and servers fail, and somebody takes over.
    fn trouble(&mut self) {
        let index = self.pick(3);
        match self.below(6) {
            0 => self.servers[index].lag = [0, 10, 30, 200][self.pick(4)],
            1 if self.servers[index].source.is_some() => self.cut(index),
            2 => self.join(index),
            _ => self.promote(index),
        }
    }

    fn cut(&mut self, index: usize) {
        self.servers[index].source = None;
        self.servers[index].coming.clear();
        let when = self.seen();
        self.say_role(index, when, false, 0);
    }

    fn promote(&mut self, index: usize) {
        let old = self.ruler;
        if index == old || self.servers[index].dead || self.servers[index].primary {
            return;
        }
        self.promotions += 1;
        let when = self.seen();
        self.say_role(index, when, true, 0);
        let server = &mut self.servers[index];
        server.primary = true;
        server.source = None;
        server.coming.clear();
        server.epoch = self.promotions;
        self.ruler = index;
        if self.chance(50) {
            self.servers[old].dead = true;
            self.servers[old].primary = false;
        }
    }

    /// A server throws away what it has and copies the one that took over last.
    fn join(&mut self, index: usize) {
        let ruler = self.ruler;
        if index == ruler || self.servers[index].dead || self.servers[index].source == Some(ruler) {
            return;
        }
        let when = self.seen();
        self.say_role(index, when, false, 1);
        let now = when.0 + 1;
        let (key, counter) = (self.servers[ruler].key, self.servers[ruler].counter);
        let server = &mut self.servers[index];
        server.primary = false;
        server.source = Some(ruler);
        server.coming.clear();
        server.counter = counter;
        server.key = key;
        server.order.extend(key.map(|(grant, _)| grant));
        let named = key.map(|(grant, _)| &self.grants[grant]);
        let change = Change::Copied {
            owner: named.map(|grant| grant.held.owner.clone()),
            fencing: named.map(|grant| FencingToken(grant.fencing)),
            until_ms: key.map(|(_, until)| SERVER_AHEAD_MS + until),
        };
        self.tell(index, now, change);
        self.now = now.next_multiple_of(10) + 10;
    }

    fn step(&mut self) {
        let worker = self.pick(3);
        if self.workers[worker].free >= self.now {
            return;
        }
        if self.chance(70) || self.servers[self.workers[worker].asks].dead {
            self.workers[worker].asks = self.ruler;
        }
        match (self.workers[worker].held, self.below(5)) {
            (None, _) => self.acquire(worker),
            (Some(grant), 0 | 1) => self.renew(worker, grant),
            (Some(grant), 2 | 3) => self.release(worker, grant),
            (Some(_), _) => self.workers[worker].held = None,
        }
    }

    /// When a request left, when its answer came if it did, and whether it was executed.
    fn trip(&mut self, worker: usize) -> (u64, Option<u64>, bool) {
        let free = self.workers[worker].free;
        let (early, late) = (10 * self.below(3), 10 * self.below(3));
        let sent = (self.now - 1).saturating_sub(early).max(free + 1);
        let lost = !self.clear && self.chance(15);
        let primary = self.servers[self.workers[worker].asks].primary;
        let executed = primary && (!lost || self.chance(60));
        self.workers[worker].free = self.now + 1 + late;
        (sent, (!lost).then_some(self.now + 1 + late), executed)
    }

    /// The server that a worker asks notices that the key has expired.
    fn expire(&mut self, server: usize) {
        let until = self.servers[server].key.map(|(_, until)| until);
        if until.is_some_and(|until| until <= self.now) {
            self.lead(server, &[Step::Deleted]);
        }
    }

    fn acquire(&mut self, worker: usize) {
        let (sent, back, executed) = self.trip(worker);
        let (mut held, op) = self.record.attempt(WORKERS[worker], sent);
        let server = self.workers[worker].asks;
        if executed {
            self.expire(server);
            if self.servers[server].key.is_none() || self.flaw(10) {
                let grant = self.grants.len();
                let counter = self.servers[server].counter + u64::from(!self.flaw(10));
                let epoch = if self.epochs {
                    self.servers[server].epoch
                } else {
                    0
                };
                let fencing = 1000 * epoch + counter;
                held.fencing = Some(FencingToken(fencing));
                let until = self.now + LEASE_MS;
                self.grants.push(Truth {
                    held: held.clone(),
                    server,
                    fencing,
                    at: self.now,
                    lease_end: until,
                    released: None,
                    sent,
                    told: back,
                });
                self.lead(server, &[Step::Counter(counter), Step::Set(grant, until)]);
                if let Some(back) = back {
                    self.record.told_granted(&held, op, back);
                    self.workers[worker].held = Some(grant);
                }
                return;
            }
        }
        self.answer(worker, op, back, (executed, Answer::Busy));
    }

    fn renew(&mut self, worker: usize, grant: usize) {
        let (sent, back, executed) = self.trip(worker);
        let op = self.record.send_renewal(&self.grants[grant].held, sent);
        let server = self.workers[worker].asks;
        let mut answer = Answer::Lost {
            reason: "absent".to_owned(),
        };
        if executed {
            self.expire(server);
            if self.servers[server].key.is_some_and(|(of, _)| of == grant) {
                let until = self.now + LEASE_MS;
                self.grants[grant].lease_end = until;
                self.lead(server, &[Step::Extended(until)]);
                answer = Answer::Renewed;
            }
        }
        self.answer(worker, op, back, (executed, answer));
    }

    fn release(&mut self, worker: usize, grant: usize) {
        let (sent, back, executed) = self.trip(worker);
        self.workers[worker].held = None;
        let op = self.record.send_release(&self.grants[grant].held, sent);
        let server = self.workers[worker].asks;
        let mut answer = Answer::AlreadyLost;
        if executed {
            self.expire(server);
            let of = self.servers[server].key.map(|(of, _)| of);
            if of == Some(grant) {
                self.grants[grant].released = Some(self.now);
            }
            if of == Some(grant) || (of.is_some() && self.flaw(30)) {
                self.lead(server, &[Step::Deleted]);
                answer = Answer::Released;
            }
        }
        self.answer(worker, op, back, (executed, answer));
    }

    /// The answer, or that of a server that only copies; or none.
    fn answer(&mut self, worker: usize, op: u64, back: Option<u64>, told: (bool, Answer)) {
        let Some(back) = back else {
            return;
        };
        let (executed, answer) = told;
        let message = "READONLY".to_owned();
        let (outcome, answer) = match executed {
            true => (Outcome::Ok, answer),
            false => (Outcome::Fail, Answer::Error { message }),
        };
        self.record.ret(WORKERS[worker], op, back, outcome, answer);
    }

    fn close(&mut self) {
        let busy = self.workers.iter().map(|worker| worker.free).max();
        self.now = self.now.max(busy.unwrap_or(0)) + 1000;
        self.arrive();
        for server in SERVERS {
            for at in (0..=self.now).step_by(500) {
                let sample = Event::ClockSample {
                    server: server.to_owned(),
                    before: ns(at),
                    after: ns(at),
                    server_us: (SERVER_AHEAD_MS + at) * 1000,
                };
                self.record.lab(at, sample);
            }
        }
        self.record.ends(self.now, "complete");
    }
}
