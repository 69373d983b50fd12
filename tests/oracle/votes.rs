//! A toy lock on several servers that know nothing of each other: rivals split the votes, take them
//! back and try again, servers go silent or come back empty, fencing tokens are written back or
//! not. The definitions are read from the truth, vote by vote: a grant is there while a quorum holds
//! its key, and promises what a quorum has leased.

use super::dice::Dice;
use crate::support::history::{Held, KEY, LEASE_MS, Record, SERVER, SERVER_AHEAD_MS, ns};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, By, Change, Event, Line, Outcome};
use lockdrill::timeline::history::History;

const SERVERS: [&str; 5] = [SERVER, "two", "three", "four", "five"];
const WORKERS: [&str; 3] = ["a", "b", "c"];
/// Times closer than this prove nothing, ms.
const EPSILON: u64 = 2;

/// One server's vote for one attempt, as it truly was.
#[derive(Debug)]
struct Vote {
    attempt: usize,
    from: u64,
    /// When its key went: taken back, given back, run out or lost.
    to: u64,
    /// End of the last own lease.
    lease_end: u64,
}

#[derive(Debug)]
struct Attempt {
    held: Held,
    /// The token that it was told, or would have been.
    fencing: u64,
    released: Option<u64>,
}

#[derive(Debug, Default)]
struct Server {
    /// The vote that its key is.
    key: Option<usize>,
    counter: u64,
    silent: bool,
    pos: u64,
}

/// What happened, and the record of it.
#[derive(Debug)]
pub struct Votes {
    record: Record,
    quorum: usize,
    votes: Vec<Vote>,
    attempts: Vec<Attempt>,
    servers: Vec<Server>,
    holds: [Option<usize>; 3],
    now: u64,
    dice: Dice,
    /// Splits in which nobody had a quorum.
    pub splits: u64,
    flawed: bool,
}

impl Votes {
    pub fn play(seed: u64) -> Votes {
        let mut world = Votes {
            record: Record::new(),
            quorum: 0,
            votes: Vec::new(),
            attempts: Vec::new(),
            servers: Vec::new(),
            holds: [None; 3],
            now: 100,
            dice: Dice::new(seed, 0x9393),
            splits: 0,
            flawed: false,
        };
        let count = 3 + world.below(3) as usize;
        world.quorum = count / 2 + 1;
        world.flawed = world.chance(60);
        world.record.plan.lock.voters = count as u64;
        world.record.samples = false;
        world.servers.resize_with(count, Server::default);
        for name in &SERVERS[1..count] {
            let server = (*name).to_owned();
            world.record.lab(0, Event::ObserverSynced { server });
        }
        for _ in 0..5 + world.below(14) {
            let longest = [1, 2, 5, 20, 60, 120][world.below(6) as usize];
            world.now += 10 * (1 + world.below(longest));
            world.step();
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

    /// The same, read as if so many servers had a vote.
    pub fn history_of(&self, voters: u64) -> History {
        let mut record = self.record.clone();
        record.plan.lock.voters = voters;
        record.history()
    }

    /// Each check with whether it is truly violated.
    pub fn read(&self) -> [(&'static str, bool); 2] {
        let grants: Vec<(u64, u64, u64)> = self.grants();
        let mut pairs = grants.iter().enumerate().flat_map(|(i, one)| {
            let later = grants[i + 1..].iter();
            later.map(move |other| (one, other))
        });
        let (mut two_hold, mut falls) = (false, false);
        for (one, other) in &mut pairs {
            two_hold |= one.1.min(other.1) > one.0.max(other.0) + EPSILON;
            falls |= other.2 <= one.2;
        }
        [("single_holder", two_hold), ("fencing_rises", falls)]
    }

    /// From when to when each grant was promised, and its token, in order: looked for tick by tick.
    fn grants(&self) -> Vec<(u64, u64, u64)> {
        let mut found = Vec::new();
        for (index, attempt) in self.attempts.iter().enumerate() {
            let votes: Vec<&Vote> = self
                .votes
                .iter()
                .filter(|vote| vote.attempt == index)
                .collect();
            let holds = |at: u64| {
                votes
                    .iter()
                    .filter(|vote| vote.from <= at && at < vote.to)
                    .count()
            };
            let Some(at) = (0..self.now)
                .step_by(10)
                .find(|at| holds(*at) >= self.quorum)
            else {
                continue;
            };
            let there = votes.iter().filter(|vote| vote.to > at);
            let mut ends: Vec<u64> = there.map(|vote| vote.lease_end).collect();
            ends.sort_unstable_by(|one, other| other.cmp(one));
            let end = ends[self.quorum - 1].min(attempt.released.unwrap_or(u64::MAX));
            found.push((at, end, attempt.fencing));
        }
        found.sort_unstable();
        found
    }

    fn below(&mut self, n: u64) -> u64 {
        self.dice.below(n)
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    fn step(&mut self) {
        let worker = self.below(3) as usize;
        match (self.holds[worker], self.below(8)) {
            (_, 0) => self.trouble(),
            (_, 1 | 2) if self.flawed => self.trouble(),
            (None, _) => self.contend(),
            (Some(attempt), 1..=4) => self.renew(worker, attempt),
            (Some(attempt), 5) => self.release(worker, attempt),
            // It forgets that it holds.
            (Some(_), _) => self.holds[worker] = None,
        }
    }

    /// A server goes silent, answers again, or forgets everything.
    fn trouble(&mut self) {
        let server = self.below(self.servers.len() as u64) as usize;
        if !self.flawed || self.chance(25) {
            self.servers[server].silent ^= true;
        } else {
            self.expire(server);
            self.tell(server, Change::Flushed);
            self.drop_key(server);
            self.servers[server].counter = 0;
        }
    }

    fn tell(&mut self, server: usize, change: Change) {
        let pos = self.servers[server].pos;
        self.servers[server].pos += 1;
        let name = SERVERS[server].to_owned();
        let event = Event::Effect {
            server: name.clone(),
            pos,
            key: KEY.to_owned(),
            change,
        };
        self.record.push(ns(self.now), By::Server(name), event);
    }

    fn drop_key(&mut self, server: usize) {
        if let Some(vote) = self.servers[server].key.take() {
            self.votes[vote].to = self.now.min(self.votes[vote].lease_end);
        }
    }

    fn expire(&mut self, server: usize) {
        let key = self.servers[server].key;
        if key.is_some_and(|vote| self.votes[vote].lease_end <= self.now) {
            self.tell(server, Change::Deleted);
            self.drop_key(server);
        }
    }

    /// Those that answer, in an order of chance; time goes on between two.
    fn answering(&mut self) -> Vec<usize> {
        let mut all: Vec<usize> = (0..self.servers.len()).collect();
        for i in (1..all.len()).rev() {
            all.swap(i, self.below(i as u64 + 1) as usize);
        }
        all.retain(|server| !self.servers[*server].silent);
        all
    }

    fn of(&self, server: usize, attempt: usize) -> Option<usize> {
        let vote = self.servers[server].key?;
        (self.votes[vote].attempt == attempt).then_some(vote)
    }

    fn mine(&self, attempt: usize) -> Vec<usize> {
        let all = 0..self.servers.len();
        all.filter(|server| self.of(*server, attempt).is_some())
            .collect()
    }

    /// One or two attempts at once; who has no quorum takes back what it has, and may try again.
    fn contend(&mut self) {
        let free: Vec<usize> = (0..3)
            .filter(|worker| self.holds[*worker].is_none())
            .collect();
        let rivals = 1 + usize::from(free.len() > 1 && self.chance(60));
        let mut open = Vec::new();
        for worker in free.into_iter().take(rivals) {
            let (held, op) = self.record.attempt(WORKERS[worker], self.now - 1);
            open.push((worker, self.attempts.len(), op));
            self.attempts.push(Attempt {
                held,
                fencing: 0,
                released: None,
            });
        }
        for _try in 0..2 {
            self.now += 10;
            for server in self.answering() {
                let first = self.below(open.len() as u64) as usize;
                self.vote(server, open[first].1);
                self.now += 10 * self.below(2);
            }
            let mut lost = Vec::new();
            for (worker, attempt, op) in std::mem::take(&mut open) {
                if self.mine(attempt).len() >= self.quorum {
                    self.granted(worker, attempt, op);
                } else {
                    lost.push((worker, attempt, op));
                }
            }
            self.splits += u64::from(lost.len() == rivals);
            self.now += 10;
            for (_, attempt, _) in &lost {
                for server in self.mine(*attempt) {
                    self.tell(server, Change::Deleted);
                    self.drop_key(server);
                }
            }
            open = lost;
            if open.is_empty() || self.chance(50) {
                break;
            }
            self.now += 20;
        }
        for (worker, _, op) in open {
            let at = self.now + 1;
            self.record
                .ret(WORKERS[worker], op, at, Outcome::Ok, Answer::Busy);
        }
    }

    fn vote(&mut self, server: usize, attempt: usize) {
        self.expire(server);
        if self.servers[server].key.is_some() {
            return;
        }
        let skips = self.flawed && self.chance(10);
        self.servers[server].counter += u64::from(!skips);
        let counter = self.servers[server].counter;
        self.tell(
            server,
            Change::Counter {
                value: Some(counter),
            },
        );
        self.servers[server].key = Some(self.votes.len());
        self.votes.push(Vote {
            attempt,
            from: self.now,
            to: u64::MAX,
            lease_end: self.now + LEASE_MS,
        });
        self.set(server, attempt, (counter, self.now + LEASE_MS));
    }

    fn set(&mut self, server: usize, attempt: usize, (fencing, until): (u64, u64)) {
        let change = Change::Set {
            owner: self.attempts[attempt].held.owner.clone(),
            fencing: Some(FencingToken(fencing)),
            until_ms: Some(SERVER_AHEAD_MS + until),
        };
        self.tell(server, change);
    }

    /// The highest token of the quorum is written to the rest of it, then told.
    fn granted(&mut self, worker: usize, attempt: usize, op: u64) {
        let mine = self.mine(attempt);
        let counters = mine.iter().map(|server| self.servers[*server].counter);
        let token = counters.max().unwrap_or(0);
        self.now += 10;
        for server in mine {
            if self.servers[server].counter < token {
                self.servers[server].counter = token;
                self.tell(server, Change::Counter { value: Some(token) });
                let vote = self.of(server, attempt).unwrap();
                let until = self.votes[vote].lease_end;
                self.set(server, attempt, (token, until));
            }
        }
        self.attempts[attempt].fencing = token;
        self.attempts[attempt].held.fencing = Some(FencingToken(token));
        let held = self.attempts[attempt].held.clone();
        self.record.told_granted(&held, op, self.now + 1);
        self.holds[worker] = Some(attempt);
    }

    fn renew(&mut self, worker: usize, attempt: usize) {
        let held = self.attempts[attempt].held.clone();
        let op = self.record.send_renewal(&held, self.now - 1);
        let mut renewed = 0;
        for server in self.answering() {
            self.expire(server);
            if let Some(vote) = self.of(server, attempt) {
                let until = self.now + LEASE_MS;
                self.votes[vote].lease_end = until;
                let until_ms = Some(SERVER_AHEAD_MS + until);
                self.tell(server, Change::Extended { until_ms });
                renewed += 1;
            }
            self.now += 10 * self.below(2);
        }
        let at = self.now + 1;
        let message = "no quorum".to_owned();
        match renewed >= self.quorum {
            true => self
                .record
                .ret(WORKERS[worker], op, at, Outcome::Ok, Answer::Renewed),
            false => self.record.ret(
                WORKERS[worker],
                op,
                at,
                Outcome::Info,
                Answer::Error { message },
            ),
        }
    }

    fn release(&mut self, worker: usize, attempt: usize) {
        self.holds[worker] = None;
        let held = self.attempts[attempt].held.clone();
        let op = self.record.send_release(&held, self.now - 1);
        let before = self.mine(attempt).len();
        let mut gone = 0;
        for server in self.answering() {
            self.expire(server);
            if self.of(server, attempt).is_some() {
                self.tell(server, Change::Deleted);
                self.drop_key(server);
                gone += 1;
            }
            if before >= self.quorum && before - gone < self.quorum {
                self.attempts[attempt].released.get_or_insert(self.now);
            }
            self.now += 10 * self.below(2);
        }
        let answer = match gone >= self.quorum {
            true => Answer::Released,
            false => Answer::Error {
                message: "no quorum".to_owned(),
            },
        };
        let outcome = match gone >= self.quorum {
            true => Outcome::Ok,
            false => Outcome::Info,
        };
        self.record
            .ret(WORKERS[worker], op, self.now + 1, outcome, answer);
    }

    fn close(&mut self) {
        self.now += 1000 + LEASE_MS;
        for server in 0..self.servers.len() {
            self.expire(server);
            self.now += 10;
        }
        for vote in &mut self.votes {
            vote.to = vote.to.min(vote.lease_end);
        }
        for server in &SERVERS[..self.servers.len()] {
            for at in (0..=self.now).step_by(500) {
                let sample = Event::ClockSample {
                    server: (*server).to_owned(),
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
