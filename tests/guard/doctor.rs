//! `lockdrill doctor`: what is missing is named with the command that brings it, and decides the
//! exit code; what drills can do without does not.

use serde_json::Value;
use std::process::{Command, Output};

fn answer(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finding<'a>(answer: &'a Value, what: &str) -> &'a Value {
    let findings = answer["findings"].as_array().unwrap();
    findings
        .iter()
        .find(|finding| finding["what"] == what)
        .unwrap()
}

#[test]
fn a_missing_server_is_exit_4_with_what_to_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["doctor", "--json"])
        .env("LOCKDRILL_REDIS_SERVER", "/nowhere/redis-server")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    let answer = answer(&output);
    assert_eq!(answer["ready"], false);
    let redis = finding(&answer, "redis-server");
    assert_eq!(redis["level"], "missing");
    assert!(
        redis["todo"].as_str().unwrap().contains("make setup"),
        "{redis}"
    );
}

#[test]
fn refused_namespaces_are_told_with_the_reason_and_are_not_missing() {
    // A user namespace of our own, in which no further pid namespace may be made.
    let forbid = "echo 0 > /proc/sys/user/max_pid_namespaces; exec \"$0\" doctor --json";
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", forbid, env!("CARGO_BIN_EXE_lockdrill")])
        .output()
        .unwrap();
    let machine_refuses_unshare = output.stdout.is_empty();
    if !machine_refuses_unshare {
        let answer = answer(&output);
        let namespaces = finding(&answer, "namespaces");
        assert_eq!(namespaces["level"], "limited");
        let says = namespaces["says"].as_str().unwrap();
        assert!(
            says.contains("No space left") && says.contains("guard mode"),
            "{says}"
        );
    }
}
