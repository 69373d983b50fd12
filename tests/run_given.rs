//! Drills on a lock server that somebody else has started: it is followed and told the truth of, and
//! is afterwards as it was before.

use crate::lab::{Lab, timeline};
use crate::redis_server::RedisServer;
use std::path::Path;
use std::process::Output;

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_pause_drill_on_a_given_server_leaves_it_as_it_was() {
    let lab = Lab::new();
    let server = RedisServer::start();
    let target = format!("redis://{}", server.address());
    let _: () = server.tell("SET lockdrill:another-run:{account}:fence 9");
    let (code, value) = lab.run_json(&["pause", "--no-controls", "--target", &target]);
    assert_eq!(code, Some(0), "{value:#}");
    let drill = &value["drills"][0];
    assert_eq!(drill["protection"], "kept by fencing", "{value:#}");
    lab.assert_nothing_left();

    // Another run's key is another run's, even under the lab's name.
    let keys: Vec<String> = server.tell("KEYS *");
    assert_eq!(keys, ["lockdrill:another-run:{account}:fence"]);
    let asked: String = server.tell("INFO commandstats");
    assert!(asked.contains("cmdstat_sync"), "{asked}");
    for never in [
        "config",
        "flush",
        "debug",
        "monitor",
        "shutdown",
        "replicaof",
    ] {
        assert!(
            !asked.contains(&format!("cmdstat_{never}")),
            "{never}: {asked}"
        );
    }

    let dir = Path::new(drill["dir"].as_str().unwrap());
    let lines = timeline(dir);
    let given = lines
        .iter()
        .find(|line| line["event"]["server_given"].is_object());
    let given = &given.unwrap()["event"]["server_given"];
    assert_eq!(given["address"], server.address());
    assert!(
        lines
            .iter()
            .all(|line| line["event"]["server_started"]["server"] != "redis")
    );
    let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
    assert!(page.contains("given and not started by lockdrill"));
    let env = std::fs::read_to_string(dir.join("env.json")).unwrap();
    assert!(env.contains(&format!("--target {target}")), "{env}");
}

#[test]
fn of_the_suite_what_cannot_be_played_there_is_left_out_with_its_reason() {
    let lab = Lab::new();
    let server = RedisServer::start();
    let target = format!("redis://{}", server.address());
    let junit = lab.out().join("junit.xml");
    let one_of_them = ["--all", "--no-controls", "--shard", "1/40"];
    let there = ["--target", &target, "--junit", junit.to_str().unwrap()];
    let (_, value) = lab.run_json(&[&one_of_them[..], &there[..]].concat());
    assert_eq!(
        value["drills"].as_array().map(Vec::len),
        Some(1),
        "{value:#}"
    );
    let left_out = value["not_applicable"].as_array().unwrap();
    let why = |drill: &str| {
        let out = left_out.iter().find(|out| out["drill"] == drill);
        out.map(|out| out["why"].as_str().unwrap())
    };
    assert!(why("flush").unwrap().contains("its fault `wipe` (flush)"));
    assert!(why("failover").unwrap().contains("redis-sentinel"));
    assert_eq!(why("pause"), None);
    let junit = std::fs::read_to_string(junit).unwrap();
    assert!(junit.contains("not applicable: its fault `wipe` (flush)"));
}

#[test]
fn a_given_server_that_goes_ends_the_drill_and_is_named_as_not_ours() {
    let lab = Lab::new();
    let mut server = RedisServer::start();
    let target = format!("redis://{}", server.address());
    let mut run = lab.start(&["pause", "--no-controls", "--target", &target]);
    run.await_line("fault nap (pause) hit a");
    server.kill();
    let told = run.await_line("error: pause/main");
    assert!(told.contains("given and is not lockdrill's"), "{told}");
    assert_eq!(run.child.wait().unwrap().code(), Some(4));
    lab.assert_nothing_left();
}

#[test]
fn what_cannot_be_played_there_is_refused_before_anything_starts() {
    let lab = Lab::new();
    let refused = |args: &[&str], code: i32, says: &[&str]| {
        let output = lab.run(args);
        let text = said(&output);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {text}");
        for word in says {
            assert!(text.contains(word), "{args:?}: {text}");
        }
        assert!(!lab.out().join("pause").exists(), "{args:?}");
    };
    let nobody = "redis://127.0.0.1:1";
    refused(
        &["flush", "pause", "restart", "evict", "--target", "compose"],
        2,
        &[
            "flush: its fault `wipe` (flush) is done to the lock server",
            "evict: its fault",
            "restart: what the server keeps on disk is not the lab's to say; its fault `crash`",
            "on compose can be played: pause",
        ],
    );
    refused(
        &["failover", "--target", nobody],
        2,
        &["a lock of kind redis-sentinel does not live on one Redis server"],
    );
    refused(
        &["pause", "--target", "redis://192.0.2.1:6379"],
        2,
        &["192.0.2.1:6379 is not on this machine", "--allow-remote"],
    );
    refused(
        &["pause", "--target", nobody, "--isolation", "namespace"],
        2,
        &["--isolation namespace"],
    );
    refused(
        &["pause", "--target", nobody],
        4,
        &["127.0.0.1:1 does not answer"],
    );
}
