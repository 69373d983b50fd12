//! A toy world: one lock server, one store, three workers, all of them now and then unsound. Times
//! are multiples of 10 ms, so that nothing lies within ε of anything else by chance.

use super::dice::Dice;
use crate::support::history::{Held, LEASE_MS, Record};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Change, Line, Outcome};
use lockdrill::timeline::history::History;

#[path = "trouble.rs"]
mod trouble;

/// A grant as it truly was.
#[derive(Debug, Clone)]
pub struct Truth {
    pub held: Held,
    pub worker: usize,
    pub at: u64,
    /// End of the last own lease.
    pub lease_end: u64,
    /// When its own release was applied.
    pub released: Option<u64>,
    /// When the key was ended or overwritten by something that had no right to.
    pub taken: Option<u64>,
    /// When its attempt was told as busy or failed.
    pub denied: Option<u64>,
    /// How long after its own deadline its handle says Lost; none = never.
    pub tells_after: Option<u64>,
    /// When the last request was sent that its worker was told to have succeeded.
    pub sent: u64,
    /// When its handle said Lost, each time.
    pub lost: Vec<u64>,
}

/// A write as it truly was.
#[derive(Debug, Clone)]
pub struct Write {
    pub id: String,
    pub grant: usize,
    pub fencing: Option<FencingToken>,
    pub based_on: Option<String>,
    pub accepted: bool,
    pub at: u64,
}

#[derive(Debug, Clone, Default)]
struct Worker {
    /// It has no operation under way from here on.
    free: u64,
    /// Index of the grant that it believes to hold.
    held: Option<usize>,
    /// Operation number and beginning of its `enter`.
    waits: Option<(u64, u64)>,
    dead: bool,
}

/// What happened, and the record of it.
#[derive(Debug)]
pub struct World {
    pub record: Record,
    /// Every answer arrived.
    pub clear: bool,
    pub grants: Vec<Truth>,
    pub writes: Vec<Write>,
    /// Reads under a grant: what was based on it is not known.
    pub reads: Vec<Write>,
    /// A release or renewal of one grant changed another's key.
    pub trespass: bool,
    /// Something was told as done that was not.
    pub boast: bool,
    /// The renewals of those: worker and operation number.
    pub void: Vec<(&'static str, u64)>,
    /// (worker, from, to) of each wait.
    pub waits: Vec<(usize, u64, u64)>,
    pub deaths: Vec<(usize, u64)>,
    /// (worker, from, to) of the one nap that the plan has.
    pub nap: Option<(usize, u64, u64)>,
    /// The nap was faked, or not seen in full.
    pub faked: bool,
    /// The store applied one write twice.
    pub doubled: bool,
    pub finals: trouble::Finals,
    pub end: u64,
    now: u64,
    dice: Dice,
    flawed: bool,
    fenced: bool,
    /// The grant that the key names, and the key's deadline.
    key: Option<(usize, u64)>,
    counter: u64,
    workers: [Worker; 3],
}

/// How an answer travels.
struct Trip {
    sent: u64,
    back: u64,
    executed: bool,
    known: bool,
}

impl World {
    pub fn play(seed: u64) -> World {
        let mut world = World {
            record: Record::new(),
            clear: false,
            grants: Vec::new(),
            writes: Vec::new(),
            reads: Vec::new(),
            trespass: false,
            boast: false,
            void: Vec::new(),
            waits: Vec::new(),
            deaths: Vec::new(),
            nap: None,
            faked: false,
            doubled: false,
            finals: trouble::Finals::default(),
            end: 0,
            now: 100,
            dice: Dice::new(seed, 0x5151),
            flawed: false,
            fenced: true,
            key: None,
            counter: 0,
            workers: std::array::from_fn(|_| Worker {
                free: 10,
                ..Worker::default()
            }),
        };
        world.clear = world.chance(50);
        world.flawed = world.chance(60);
        world.fenced = world.chance(60);
        for _ in 0..4 + world.below(16) {
            let longest = [1, 2, 5, 30, 60, 110][world.pick(6)];
            world.now += 10 * (1 + world.below(longest));
            world.tell_losses();
            world.trouble();
            world.step();
        }
        world.close();
        world
    }

    /// The record as a real run would leave it.
    pub fn lines(&self) -> Vec<Line> {
        self.finals.apply(self.record.finished())
    }

    pub fn history(&self) -> History {
        History::from_lines(&self.record.plan, self.lines())
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

    fn name(worker: usize) -> &'static str {
        ["a", "b", "c"][worker]
    }

    fn step(&mut self) {
        let worker = self.below(3) as usize;
        if self.workers[worker].dead || self.workers[worker].free >= self.now {
            return;
        }
        if self.flaw(4) {
            self.flush();
            return;
        }
        if self.workers[worker].held.is_none() {
            match self.below(10) {
                0..2 if self.workers[worker].waits.is_none() => self.begin_wait(worker),
                2..4 if self.workers[worker].waits.is_some() => self.give_up(worker),
                4 if self.key.is_some_and(|(_, until)| until > self.now) => self.hammer(worker),
                _ => self.acquire(worker),
            }
            return;
        }
        match self.below(22) {
            0..4 => self.renew(worker),
            4..7 => self.release(worker),
            7..11 => self.check(worker),
            11..17 => self.write(worker, self.now),
            17 => self.lose(worker),
            18 => self.die(worker),
            19 | 20 => self.read(worker),
            _ => {}
        }
    }

    fn trip(&mut self, worker: usize) -> Trip {
        let free = self.workers[worker].free;
        let early = 10 * [0, 0, 0, 1, 2][self.pick(5)];
        let late = 10 * [0, 0, 0, 1, 3][self.pick(5)];
        let lost = !self.clear && self.chance(15);
        let trip = Trip {
            sent: (self.now - 1).saturating_sub(early).max(free + 1),
            back: self.now + 1 + late,
            executed: !lost || self.chance(60),
            known: !lost,
        };
        self.workers[worker].free = trip.back;
        trip
    }

    /// The server notices that the key has expired.
    fn expire(&mut self) {
        if self.key.is_some_and(|(_, until)| until <= self.now) {
            self.key = None;
            self.record.delete(self.now);
        }
    }

    /// Something without a right ends the key.
    fn take(&mut self) {
        if let Some((grant, _)) = self.key.take() {
            self.grants[grant].taken = Some(self.now);
        }
    }

    fn flush(&mut self) {
        self.expire();
        if self.key.is_some() {
            self.record.effect(self.now, Change::Flushed);
            self.take();
        }
    }

    fn lost_answer(&mut self, worker: usize, op: u64, at: u64) {
        if self.chance(70) {
            let message = "timed out".to_owned();
            let name = Self::name(worker);
            self.record
                .ret(name, op, at, Outcome::Info, Answer::Error { message });
        }
    }

    fn acquire(&mut self, worker: usize) {
        let mut trip = self.trip(worker);
        if trip.known && self.chance(4) {
            // The answer comes when its lease is over.
            trip.back = self.now + LEASE_MS + 10 * (1 + self.below(9));
            self.workers[worker].free = trip.back;
        }
        let too_late = trip.back > self.now + LEASE_MS;
        let name = Self::name(worker);
        let (mut held, op) = self.record.attempt(name, trip.sent);
        let mut granted = None;
        if trip.executed {
            self.expire();
            if self.key.is_none() || self.flaw(15) {
                self.take();
                let lower = self.flaw(12);
                self.counter = if lower {
                    self.counter.max(1)
                } else {
                    self.counter + 1
                };
                held.fencing = Some(FencingToken(self.counter));
                self.record.set(&held, self.now);
                granted = Some(self.grants.len());
                self.key = Some((self.grants.len(), self.now + LEASE_MS));
                self.grants.push(Truth {
                    held: held.clone(),
                    worker,
                    at: self.now,
                    lease_end: self.now + LEASE_MS,
                    released: None,
                    taken: None,
                    denied: None,
                    tells_after: None,
                    sent: trip.sent,
                    lost: Vec::new(),
                });
                self.choose_delay();
            }
        }
        if !trip.known {
            self.lost_answer(worker, op, trip.back);
            return;
        }
        match granted {
            Some(grant) if too_late || self.flaw(6) => {
                self.grants[grant].denied = Some(trip.back);
                self.record
                    .ret(name, op, trip.back, Outcome::Ok, Answer::Busy);
            }
            Some(grant) => {
                self.record.told_granted(&held, op, trip.back);
                self.workers[worker].held = Some(grant);
                if let Some((wait, from)) = self.workers[worker].waits.take() {
                    self.record.told_granted(&held, wait, trip.back);
                    self.waits.push((worker, from, trip.back));
                }
                if trip.back == self.now + 1 && self.chance(25) {
                    self.write(worker, trip.back);
                }
            }
            None => self
                .record
                .ret(name, op, trip.back, Outcome::Ok, Answer::Busy),
        }
    }

    fn begin_wait(&mut self, worker: usize) {
        let op = self.record.enter(Self::name(worker), self.now);
        self.workers[worker].waits = Some((op, self.now));
        self.workers[worker].free = self.now;
    }

    fn give_up(&mut self, worker: usize) {
        if let Some((op, from)) = self.workers[worker].waits.take() {
            // `fail` would claim that no attempt within took effect; that is told by attempts.
            let (name, answer) = (Self::name(worker), Answer::TimedOut);
            self.record.ret(name, op, self.now, Outcome::Info, answer);
            self.waits.push((worker, from, self.now));
            self.workers[worker].free = self.now;
        }
    }

    fn renew(&mut self, worker: usize) {
        let Some(grant) = self.workers[worker].held else {
            return;
        };
        let trip = self.trip(worker);
        let held = self.grants[grant].held.clone();
        let op = self.record.send_renewal(&held, trip.sent);
        let mut done = false;
        if trip.executed {
            self.expire();
            if let Some((holder, _)) = self.key
                && (holder == grant || self.flaw(30))
            {
                done = true;
                self.record.extend(self.now);
                self.key = Some((holder, self.now + LEASE_MS));
                if holder == grant {
                    self.grants[grant].lease_end = self.now + LEASE_MS;
                } else {
                    self.trespass = true;
                }
            }
        }
        if !trip.known {
            return self.lost_answer(worker, op, trip.back);
        }
        let boast = !done && self.flaw(10);
        self.boast |= boast;
        if boast {
            self.void.push((Self::name(worker), op));
        }
        if done || boast {
            self.grants[grant].sent = trip.sent;
        }
        let answer = if done || boast {
            Answer::Renewed
        } else {
            let reason = "not the owner".to_owned();
            Answer::Lost { reason }
        };
        self.record
            .ret(Self::name(worker), op, trip.back, Outcome::Ok, answer);
    }

    fn release(&mut self, worker: usize) {
        let Some(grant) = self.workers[worker].held.take() else {
            return;
        };
        let trip = self.trip(worker);
        let held = self.grants[grant].held.clone();
        let op = self.record.send_release(&held, trip.sent);
        let mut done = false;
        if trip.executed {
            self.expire();
            if let Some((holder, _)) = self.key
                && (holder == grant || self.flaw(40))
            {
                done = true;
                self.record.delete(self.now);
                if holder == grant {
                    self.grants[grant].released = Some(self.now);
                    self.key = None;
                } else {
                    self.take();
                    self.trespass = true;
                }
            }
        }
        if !trip.known {
            return self.lost_answer(worker, op, trip.back);
        }
        let answer = if done {
            Answer::Released
        } else {
            Answer::AlreadyLost
        };
        self.record
            .ret(Self::name(worker), op, trip.back, Outcome::Ok, answer);
    }

    fn check(&mut self, worker: usize) {
        let Some(grant) = self.workers[worker].held else {
            return;
        };
        let truth = &self.grants[grant];
        let (held, honest) = (truth.held.clone(), truth.lease_end > self.now + 50);
        let locked = if self.flaw(30) { !honest } else { honest };
        self.record.check(&held, self.now, locked);
        self.workers[worker].free = self.now + 1;
    }

    /// A write at a time; at the very moment at which its writer was told of its grant, in a hurry.
    fn write(&mut self, worker: usize, at: u64) {
        let Some(grant) = self.workers[worker].held else {
            return;
        };
        let mut held = self.grants[grant].held.clone();
        if self.flaw(10) {
            held.fencing = Some(FencingToken(self.counter));
        }
        let stale = self.chance(10);
        let last = self.record.last_write();
        let based_on = if stale { None } else { last };
        let accepted_before = self.writes.iter().filter(|write| write.accepted);
        let highest = accepted_before.filter_map(|write| write.fencing).max();
        let accepted = if self.fenced && !self.flaw(10) {
            held.fencing >= highest
        } else {
            !self.flaw(10)
        };
        let hurry = at > self.now;
        let id = if hurry {
            self.hasty_write(&held, at, accepted, based_on.clone())
        } else {
            self.record.write_on(&held, at, accepted, based_on.clone())
        };
        self.workers[worker].free = if hurry { at } else { at + 1 };
        let write = Write {
            id,
            grant,
            fencing: held.fencing,
            based_on,
            accepted,
            at,
        };
        self.writes.push(write.clone());
        if accepted && self.flaw(6) {
            self.doubled = true;
            let entry = (&*write.id, write.based_on.clone());
            self.record.log(&held, at, entry, true);
            self.writes.push(write);
        }
    }

    /// Begun, applied and answered in less time than the server's clock can tell.
    fn hasty_write(
        &mut self,
        held: &Held,
        at: u64,
        accepted: bool,
        based_on: Option<String>,
    ) -> String {
        let id = self.record.write_id(&held.worker);
        let op = self.record.ask_write(held, at, &id, based_on.clone());
        self.record.log(held, at, (&id, based_on), accepted);
        let answer = match accepted {
            true => Answer::Accepted,
            false => Answer::Rejected { highest: None },
        };
        self.record.ret(&held.worker, op, at, Outcome::Ok, answer);
        id
    }

    /// A store that fences reads refuses those that are older than an accepted write.
    fn read(&mut self, worker: usize) {
        let Some(grant) = self.workers[worker].held else {
            return;
        };
        let held = self.grants[grant].held.clone();
        let accepted = self.writes.iter().filter(|write| write.accepted);
        let highest = accepted.filter_map(|write| write.fencing).max();
        let accepted = self.chance(70) || held.fencing >= highest;
        let id = self.record.read(&held, self.now, accepted);
        self.workers[worker].free = self.now + 1;
        self.reads.push(Write {
            id,
            grant,
            fencing: held.fencing,
            based_on: None,
            accepted,
            at: self.now,
        });
    }

    /// A handle says Lost of its own accord; a sound one only when the key was taken from it.
    fn lose(&mut self, worker: usize) {
        let Some(grant) = self.workers[worker].held else {
            return;
        };
        let truth = &self.grants[grant];
        let (gone, told) = (truth.taken.is_some(), !truth.lost.is_empty());
        if self.flaw(50) || (gone && !told) {
            self.say_lost(worker, grant, self.now);
            self.workers[worker].free = self.now;
        }
    }

    fn die(&mut self, worker: usize) {
        self.workers[worker].dead = true;
        self.record.died(Self::name(worker), self.now);
        self.deaths.push((worker, self.now));
    }
}
