//! `make matrix` in small, through its script and the program: two drills, two lock back ends and one
//! on which nothing can be played.

use crate::lab;

use lab::{CALM, Lab, said};
use serde_json::Value;
use std::fs;

/// Means something where one Redis server has the lock.
const FORGOTTEN: &str = r#"summary = "can the lock be taken from a server that has forgotten every script?"
class   = "correctness"
[lock]
backend = "redis"
lease   = "2s"
[store]
kind    = "sqlite"
fence   = "atomic"
[worker.a]
script  = ["acquire", "write", "hold until loss.onset", "release"]
[worker.b]
start   = { after = "a.released" }
script  = ["enter 10s", "write", "release"]
[fault.loss]
kind    = "forget-scripts"
target  = "lock-server"
when    = { after = "a.write.1.accepted" }
"#;

fn cell<'v>(matrix: &'v Value, drill: &str, lock: &str) -> &'v Value {
    let rows = matrix["drills"].as_array().unwrap();
    let row = rows.iter().find(|row| row["drill"] == drill).unwrap();
    let cells = row["cells"].as_array().unwrap();
    cells.iter().find(|cell| cell["lock"] == lock).unwrap()
}

#[test]
fn two_drills_on_two_back_ends_are_played_and_shown_in_one_table() {
    let lab = Lab::with_drills(&[("calm", CALM), ("forgotten", FORGOTTEN)]);
    let folder = lab.folder.path();
    let mut played = lab.script("matrix");
    let played = played
        .env("LOCKS", "memory redis redlock")
        .output()
        .unwrap();
    assert_eq!(played.status.code(), Some(0), "{}", said(&played));
    let text = said(&played);
    assert!(text.contains("memory: nothing was played"), "{text}");
    assert!(
        text.contains("forgotten: not applicable: no one server"),
        "{text}"
    );
    assert!(text.contains("redlock: 1 pass, 1 not applicable"), "{text}");
    lab.assert_nothing_left();

    let mut again = lab.command(&["matrix", "--out", "reports", "--json"]);
    let output = again.current_dir(folder).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let matrix: Value = serde_json::from_slice(&output.stdout).unwrap();
    for (drill, lock, state) in [
        ("calm", "redis", "pass"),
        ("calm", "redlock", "pass"),
        ("forgotten", "redis", "pass"),
        ("forgotten", "redlock", "not applicable"),
        ("calm", "etcd", "not played"),
        ("calm", "memory", "not applicable"),
    ] {
        let cell = cell(&matrix, drill, lock);
        assert_eq!(cell["state"], state, "{drill} on {lock}: {cell:#}");
    }
    let calm = cell(&matrix, "calm", "redlock");
    assert_eq!((&calm["k"], &calm["n"]), (&1.into(), &1.into()));
    let report = calm["report"].as_str().unwrap();
    assert!(folder.join("reports").join(report).is_file());
    let page = fs::read_to_string(folder.join("reports/matrix.html")).unwrap();
    assert!(page.contains(&format!("href=\"{report}\"")));
    assert!(folder.join("reports/matrix.png").is_file());
    let nowhere = lab
        .command(&["matrix", "--out", "nowhere"])
        .output()
        .unwrap();
    assert_eq!(nowhere.status.code(), Some(2), "{}", said(&nowhere));
}
