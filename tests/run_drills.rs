//! The drills of this repository, end to end: the main arm passes, or reaches the limit that it
//! declares, and each control is red for its own reason.

use crate::lab;

use lab::Lab;

/// All but `pause`, which has tests of its own.
const DRILLS: &[&str] = &[
    "ask-first",
    "black-holed-session",
    "clock-back",
    "clock-jump",
    "cluster-failover",
    "copies",
    "counter-reset",
    "downstream",
    "duplicate",
    "evict",
    "expiry",
    "failover",
    "flush",
    "held-renew",
    "held-reply",
    "herd",
    "kill",
    "late-first",
    "late-release",
    "late-renew",
    "late-token",
    "lost-release",
    "mutex",
    "noscript",
    "old-primary",
    "outage",
    "partition",
    "partition-reply",
    "partition-reset",
    "paused-in-transaction",
    "redlock-amnesia",
    "redlock-clock",
    "redlock-hung",
    "redlock-majority",
    "redlock-minority",
    "refuse-writes",
    "renew",
    "restart",
    "session-is-the-lock",
    "session-killed",
    "shutdown",
    "starved-renewal",
    "state-machine",
    "stop-server",
    "worker-clock",
    "zk-session",
];

#[test]
fn every_drill_is_as_expected_and_so_is_each_of_its_controls() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&[DRILLS, &["--jobs", "4"]].concat());
    let mut wrong = Vec::new();
    for drill in value["drills"].as_array().unwrap() {
        for arm in drill["arms"].as_array().unwrap() {
            let red = &arm["red_as_required"];
            if arm["verdict"] != arm["expected"] || *red == false {
                wrong.push(format!("{} {}: {}", drill["drill"], arm["arm"], arm["why"]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(code, Some(0), "{value:#}");
    assert_eq!(value["drills"].as_array().unwrap().len(), DRILLS.len());
    lab.assert_nothing_left();
}

#[test]
fn every_round_of_every_worker_enters_and_completes() {
    let lab = Lab::new();
    let (code, value) = lab.run_json(&["mutex", "--no-controls"]);
    assert_eq!(code, Some(0), "{value:#}");
    let dir = value["drills"][0]["dir"].as_str().unwrap();
    let lines = lab::timeline(std::path::Path::new(dir));
    let accepted = lines.iter().filter(|line| {
        let attempt = &line["event"]["store_attempt"];
        attempt["kind"] == "write" && attempt["accepted"] == true
    });
    assert_eq!(accepted.count(), 4 * 8);
}
