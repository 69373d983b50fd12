//! What is awaited in vain is named once, and everybody may go on from there.

use crate::lab::{Lab, timeline};
use std::path::PathBuf;

/// Nobody loses the lock, and a awaits that three times in a row.
const VAIN: &str = r#"summary = "a awaits what does not come"
class = "correctness"
[lock]
backend = "redis"
lease = "400ms"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "await b.lost", "await b.lost", "release", "await b.lost"]
[worker.b]
start = { after = "a.acquired" }
script = ["acquire", "release"]
[bounds]
patience = "500ms"
"#;

/// A worker that awaits more after patience has ended is not kept until the arm's own limit.
#[test]
fn after_patience_has_ended_nobody_is_kept_waiting() {
    let lab = Lab::new();
    let file = lab.folder.path().join("vain.toml");
    std::fs::write(&file, VAIN).unwrap();
    let (code, value) = lab.run_json(&[file.to_str().unwrap()]);
    assert_eq!(code, Some(3), "{value:#}");
    let dir = PathBuf::from(value["drills"][0]["dir"].as_str().unwrap());
    let lines = timeline(&dir);
    let ended = lines.iter().filter_map(|line| {
        let ended = line["event"].get("patience_ended")?;
        Some(format!("{} {}", ended["by"], ended["awaited"]))
    });
    let ended: Vec<String> = ended.collect();
    assert_eq!(ended, [r#""a" "b.lost""#]);
    let last = |line: &serde_json::Value| line["event"]["point"]["point"] == "a.await.3.after";
    assert!(lines.iter().any(last), "a did not go on: {lines:#?}");
    lab.assert_nothing_left();
}
