//! The checks against a brute-force reading of their definitions, on random small histories.
//!
//! A toy lock server, a toy store and three workers act at random, soundly or not; [`world`] writes
//! the record that a real run would leave and keeps the truth of what happened beside it. [`naive`]
//! reads each definition literally from that truth, pair by pair and tick by tick.
//!
//! A check that says *violated* must be right on every history. On *clear* histories, where every
//! answer arrived, it must also find every violation; *unknown* is allowed there only where two
//! requests overlapped, which is rare and counted.
//!
//! [`failover`] does the same with a lock service of several servers that copy each other, and
//! [`votes`] with one of which a quorum has to agree.
//!
//! `LOCKDRILL_ORACLE_CASES` sets the number of histories.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "oracle/dice.rs"]
mod dice;
#[path = "oracle/failover.rs"]
mod failover;
#[path = "oracle/naive.rs"]
mod naive;
#[path = "oracle/queue.rs"]
mod queue;
#[path = "oracle/votes.rs"]
mod votes;
#[path = "oracle/world.rs"]
mod world;

use failover::Failover;
use lockdrill::checks::{self, Check, Finding, Outcome};
use lockdrill::timeline::history::History;
use std::collections::BTreeMap;
use votes::Votes;
use world::World;

/// How often a check said what.
#[derive(Debug, Default)]
struct Tally {
    violated: u64,
    held: u64,
    vacuous: u64,
    unknown: u64,
}

impl Tally {
    fn add(&mut self, finding: &Finding) {
        *match finding.outcome {
            Outcome::Violated => &mut self.violated,
            Outcome::Unknown => &mut self.unknown,
            Outcome::Holds if finding.vacuous => &mut self.vacuous,
            Outcome::Holds => &mut self.held,
        } += 1;
    }
}

/// What a check never says, and why.
const NEVER: &[(&str, &str, &str)] = &[
    ("evidence", "violated", "what is missing makes it unknown"),
    (
        "records_agree",
        "unknown",
        "the record itself is its subject",
    ),
    (
        "records_agree",
        "vacuous",
        "the record itself is its subject",
    ),
    (
        "honest_belief",
        "unknown",
        "it asks for the worker's own words",
    ),
    (
        "stops_after_loss",
        "unknown",
        "it asks for the worker's own words",
    ),
    ("no_stale_write", "unknown", "the store's log tells all"),
    ("no_lost_update", "unknown", "the store's log tells all"),
    ("no_leftovers", "vacuous", "an empty sweep is a test"),
];

#[derive(Debug, Default)]
struct Book {
    tallies: BTreeMap<&'static str, Tally>,
    wrong: Vec<String>,
}

impl Book {
    /// A check must not say violated of what is not, nor that it holds what, on a clear history,
    /// is violated.
    fn compare(&mut self, (seed, clear): (u64, bool), finding: &Finding, violated: bool) {
        let name = checks::find(&finding.check).unwrap().name();
        self.tallies.entry(name).or_default().add(finding);
        let wrong = match finding.outcome {
            Outcome::Violated => !violated,
            Outcome::Unknown => false,
            Outcome::Holds => violated && clear,
        };
        if wrong {
            let told = format!("seed {seed}, {name}, truth violated: {violated}: {finding:#?}");
            self.wrong.push(told);
        }
    }

    /// It must not say that it holds what is not evident, nor on a clear history miss what is.
    fn compare_evidence(&mut self, seed: u64, world: &World, history: &History) {
        let finding = checks::evidence::EvidenceHolds.judge(history);
        self.tallies.entry("evidence").or_default().add(&finding);
        let evident = naive::evident(world);
        let holds = finding.outcome == Outcome::Holds;
        let wrong = (holds && !evident) || (evident && world.clear && !holds);
        if wrong || finding.vacuous != (holds && world.nap.is_none()) {
            let told = format!("seed {seed}, truth evident: {evident}: {finding:#?}");
            self.wrong.push(told);
        }
    }

    /// The record of a toy world never contradicts itself, unless a line is lost, doubled or moved.
    fn compare_records(&mut self, seed: u64, world: &World, history: &History) {
        let sound = checks::records_agree::RecordsAgree.judge(history);
        self.compare((seed, true), &sound, false);
        let mut lines = world.lines();
        let at = seed as usize % (lines.len() - 1);
        match seed % 3 {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            _ => lines.swap(at, at + 1),
        }
        let damaged = History::from_lines(&world.record.plan, lines);
        let damaged = checks::records_agree::RecordsAgree.judge(&damaged);
        self.compare((seed, true), &damaged, true);
    }

    fn assert_right(&self, cases: u64) {
        let (count, first) = (self.wrong.len(), &self.wrong[..self.wrong.len().min(10)]);
        assert!(self.wrong.is_empty(), "{count} of {cases}: {first:#?}");
    }

    fn assert_sound(&self, cases: u64) {
        self.assert_right(cases);
        assert_eq!(self.tallies.len(), checks::ALL.len(), "every check is read");
        for (name, tally) in &self.tallies {
            println!("{name:<18} {tally:?}");
            if cases < 2_000 {
                continue; // Too few to have seen everything.
            }
            let seen = [
                ("violated", tally.violated, cases / 400),
                ("holds", tally.held, cases / 400),
                ("vacuous", tally.vacuous, 0),
                ("unknown", tally.unknown, 0),
            ];
            for (what, often, enough) in seen {
                let never = NEVER.iter().any(|(n, w, _)| (*n, *w) == (*name, what));
                let told = format!("{name} was {what} {often} times: {tally:?}");
                assert!(if never { often == 0 } else { often > enough }, "{told}");
            }
            let often = tally.unknown * 4 > cases && *name != "evidence";
            assert!(!often, "{name} is unknown too often: {tally:?}");
        }
    }
}

fn cases(default: u64) -> u64 {
    let cases = std::env::var("LOCKDRILL_ORACLE_CASES");
    cases.map_or(default, |cases| cases.parse().unwrap())
}

#[test]
fn checks_agree_with_their_definitions() {
    let cases = cases(4_000);
    let mut book = Book::default();
    for seed in 0..cases {
        let world = World::play(seed);
        let history = world.history();
        book.compare_evidence(seed, &world, &history);
        book.compare_records(seed, &world, &history);
        let queue = queue::play(&world, seed);
        let finding = checks::published_once::PublishedOnce.judge(&queue.history);
        book.compare((seed, queue.clear), &finding, queue.violated);
        for (name, violated) in naive::read(&world) {
            let finding = checks::find(name).unwrap().judge(&history);
            book.compare((seed, world.clear), &finding, violated);
        }
    }
    book.assert_sound(cases);
}

/// What several servers that copy each other have granted, and what a failover makes of it.
#[test]
fn checks_agree_with_their_definitions_across_servers() {
    let cases = cases(2_000);
    let mut book = Book::default();
    let mut promotions = 0;
    for seed in 0..cases {
        let world = Failover::play(seed);
        let history = world.history();
        promotions += world.promotions;
        for (name, violated) in world.read() {
            let finding = checks::find(name).unwrap().judge(&history);
            book.compare((seed, world.clear), &finding, violated);
        }
    }
    println!("{promotions} promotions, {:#?}", book.tallies);
    book.assert_right(cases);
    assert!(promotions > cases / 2, "{promotions}");
    for name in ["single_holder", "fencing_rises"] {
        let tally = &book.tallies[name];
        let least = tally.violated.min(tally.held);
        assert!(least > cases / 20, "{name}: {tally:?}");
        assert!(tally.unknown * 10 < cases, "{name}: {tally:?}");
    }
}

/// What a quorum of servers has granted that know nothing of each other.
#[test]
fn checks_agree_with_their_definitions_of_a_quorum() {
    let cases = cases(1_000);
    let (mut book, mut misread) = (Book::default(), Book::default());
    let mut splits = 0;
    for seed in 0..cases {
        let world = Votes::play(seed);
        let history = world.history();
        splits += world.splits;
        let of_one = world.history_of(1);
        for (name, violated) in world.read() {
            let check = checks::find(name).unwrap();
            book.compare((seed, true), &check.judge(&history), violated);
            misread.compare((seed, true), &check.judge(&of_one), violated);
        }
    }
    println!("{splits} splits, {:#?}", book.tallies);
    book.assert_right(cases);
    assert!(splits > cases / 4, "{splits}");
    assert!(misread.wrong.len() > 10, "one vote is no quorum");
    for name in ["single_holder", "fencing_rises"] {
        let tally = &book.tallies[name];
        let least = tally.violated.min(tally.held);
        assert!(least > cases / 40, "{name}: {tally:?}");
        assert!(tally.unknown * 10 < cases, "{name}: {tally:?}");
    }
}

/// `LOCKDRILL_ORACLE_SEED=n cargo test --test suite tell -- --ignored --nocapture` tells the story
/// of one history.
#[test]
#[ignore = "prints one history"]
fn tell() {
    let seed = std::env::var("LOCKDRILL_ORACLE_SEED").unwrap();
    let world = World::play(seed.parse().unwrap());
    for line in &world.lines() {
        let line = serde_json::to_string(line).unwrap();
        println!("{line}");
    }
    for grant in world.history().grants {
        println!("{grant:#?}");
    }
}

/// The same of a history of several servers.
#[test]
#[ignore = "prints one history"]
fn tell_across_servers() {
    let seed = std::env::var("LOCKDRILL_ORACLE_SEED").unwrap();
    let world = Failover::play(seed.parse().unwrap());
    for line in world.lines() {
        println!("{}", serde_json::to_string(&line).unwrap());
    }
    println!("{:#?}", world.history().grants);
}

/// The same of servers of which a quorum has to agree.
#[test]
#[ignore = "prints one history"]
fn tell_of_a_quorum() {
    let seed = std::env::var("LOCKDRILL_ORACLE_SEED").unwrap();
    let world = Votes::play(seed.parse().unwrap());
    for line in world.lines() {
        println!("{}", serde_json::to_string(&line).unwrap());
    }
    println!("{:#?} {:?}", world.history().grants, world.read());
}
