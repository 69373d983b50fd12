//! Faults of a lock service of several servers, live: a cut of the replicas that ends is shown to have
//! ended, and one that somebody undid behind the lab's back shows nothing.

use crate::lab::Lab;
use crate::meddling::{files, meddled};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// A drill of its own: `[lock]` and `[store]` stand before.
fn drill(lab: &Lab, name: &str, rest: &str) -> String {
    let head = r#"
        summary = "who has what was granted?"
        class = "correctness"
        [lock]
        backend = "redis-sentinel"
        lease = "20s"
        [store]
        kind = "sqlite"
        fence = "atomic"
        [fault.alone]
        kind = "cut-replication"
        target = "lock-server"
        when = { at = "a.acquire.1.before" }
    "#;
    let file = lab.folder.path().join(format!("{name}.toml"));
    std::fs::write(&file, format!("{head}{rest}")).unwrap();
    file.display().to_string()
}

#[test]
fn a_cut_of_the_replicas_that_ends() {
    let lab = Lab::new();
    let rest = r#"
        for = "500ms"
        [worker.a]
        script = ["acquire", "write", "hold until alone.healed", "write", "release"]
        [worker.b]
        start = { after = "alone.healed" }
        script = ["enter 20s", "write", "release"]
        [evidence]
        require = ["a granted while alone", "a copied while alone"]
    "#;
    let file = drill(&lab, "healed", rest);
    let (code, value) = lab.run_json(&[&file]);
    assert_eq!(code, Some(0), "{value:#}");
    let checks = value["drills"][0]["arms"][0]["checks"].as_array().unwrap();
    let evidence = checks.iter().find(|check| check["check"] == "evidence");
    let why = evidence.unwrap()["why"].as_str().unwrap();
    assert!(why.contains("alone (cut-replication redis-"), "{why}");
    lab.assert_nothing_left();
}

/// Somebody of every kind is lost and comes back: a replica, a sentinel, and the primary, which finds
/// that another has taken over.
#[test]
fn members_that_are_killed_come_back() {
    let lab = Lab::new();
    let text = r#"
        summary = "who comes back?"
        class = "correctness"
        [lock]
        backend = "redis-sentinel"
        lease = "20s"
        [store]
        kind = "sqlite"
        fence = "atomic"
        [worker.a]
        script = ["acquire", "write", "await primary.healed", "write", "release"]
        [worker.b]
        start = { after = "primary.healed" }
        script = ["enter 30s", "write", "release"]
        [fault.replica]
        kind = "kill-server"
        target = "redis-3"
        when = { after = "a.write.1.accepted" }
        for = "100ms"
        [fault.sentinel]
        kind = "kill-server"
        target = "sentinel-2"
        when = { after = "a.write.1.accepted" }
        for = "400ms"
        [fault.primary]
        kind = "kill-server"
        target = "lock-server"
        when = { after = "sentinel.healed" }
        heal = { after = "primary.promoted" }
    "#;
    let file = crate::meddling::file(&lab, "back", text);
    let (code, value) = lab.run_json(&[&file, "--isolation", "guard"]);
    assert_eq!(code, Some(0), "{value:#}");
    let checks = value["drills"][0]["arms"][0]["checks"].as_array().unwrap();
    let evidence = checks.iter().find(|check| check["check"] == "evidence");
    let why = evidence.unwrap()["why"].as_str().unwrap();
    for hit in [
        "replica (kill-server redis-3)",
        "sentinel (kill-server sentinel-2)",
        "primary (kill-server redis-1)",
    ] {
        let told = why.split("; ").find(|part| part.starts_with(hit));
        assert!(
            told.is_some_and(|told| told.contains("to be back")),
            "{hit}: {why}"
        );
    }
    lab.assert_nothing_left();
}

#[test]
fn replicas_that_somebody_let_in_again() {
    let home = Lab::new();
    let rest = r#"
        [worker.a]
        script = ["acquire", "hold 2500ms", "write"]
        [fault.crash]
        kind = "lose-server"
        target = "lock-server"
        when = { after = "a.write.1.accepted" }
    "#;
    let file = drill(&home, "let-in", rest);
    let end = meddled(&file, "fault alone (cut-replication) began", |lab| {
        for socket in files(lab, ".sock") {
            if let Ok(mut stream) = UnixStream::connect(socket) {
                let _ = stream.write_all(b"ACL SETUSER repl on\r\n");
                let _ = stream.read(&mut [0; 256]);
            }
        }
    });
    end.is_inconclusive("had a link again");
}
