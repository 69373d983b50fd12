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
//! `LOCKDRILL_ORACLE_CASES` sets the number of histories.
#![allow(clippy::unwrap_used, reason = "tests")]

#[path = "oracle/naive.rs"]
mod naive;
#[path = "oracle/world.rs"]
mod world;

use lockdrill::checks::{self, Outcome};
use std::collections::BTreeMap;
use world::World;

#[derive(Debug, Default)]
struct Tally {
    violated: u64,
    held: u64,
    unknown: u64,
}

#[test]
fn checks_agree_with_their_definitions() {
    let cases = std::env::var("LOCKDRILL_ORACLE_CASES");
    let cases: u64 = cases.map_or(4_000, |cases| cases.parse().unwrap());
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut wrong = Vec::new();
    for seed in 0..cases {
        let world = World::play(seed);
        let history = world.record.history();
        assert!(
            history.defects.is_empty(),
            "seed {seed}: {:?}",
            history.defects
        );
        for (name, violated) in naive::read(&world) {
            let finding = checks::find(name).unwrap().judge(&history);
            let told = format!("seed {seed}, {name}, truth violated: {violated}: {finding:#?}");
            let tally = tallies.entry(name).or_default();
            match finding.outcome {
                Outcome::Violated => {
                    if !violated {
                        wrong.push(told);
                    }
                    tally.violated += 1;
                }
                Outcome::Unknown => tally.unknown += 1,
                Outcome::Holds => {
                    if violated && world.clear {
                        wrong.push(told);
                    }
                    tally.held += 1;
                }
            }
        }
    }
    let (count, first) = (wrong.len(), &wrong[..wrong.len().min(10)]);
    assert!(wrong.is_empty(), "{count} of {cases}: {first:#?}");
    for (name, tally) in &tallies {
        println!("{name:<18} {tally:?}");
        let enough = cases / 200;
        assert!(
            tally.violated > enough,
            "{name} was hardly ever violated: {tally:?}"
        );
        assert!(tally.held > enough, "{name} hardly ever held: {tally:?}");
        assert!(
            tally.unknown * 10 < cases,
            "{name} is unknown too often: {tally:?}"
        );
    }
}

/// `LOCKDRILL_ORACLE_SEED=n cargo test --test suite tell -- --ignored --nocapture` tells the story
/// of one history.
#[test]
#[ignore = "prints one history"]
fn tell() {
    let seed = std::env::var("LOCKDRILL_ORACLE_SEED").unwrap();
    let world = World::play(seed.parse().unwrap());
    for line in &world.record.lines {
        let line = serde_json::to_string(line).unwrap();
        println!("{line}");
    }
    for grant in world.record.history().grants {
        println!("{grant:#?}");
    }
}
