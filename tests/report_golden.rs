//! The six golden runs, rendered: what every report must say and must never say, where its links
//! lead, how large it is, that it needs nothing from outside.
#![allow(clippy::unwrap_used)]

use crate::support::golden;

use golden::Golden;
use lockdrill::report::words::FORBIDDEN;
use lockdrill::report::{self, Written};
use std::fs;
use std::path::PathBuf;

/// Renders one run into a fresh folder that stays for a look: `target/tmp/golden/<test>/…`.
fn render(test: &str, golden: &Golden) -> (PathBuf, Written) {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("golden")
        .join(test);
    let dir = root.join(&golden.result.drill).join(golden.name);
    let _ = fs::remove_dir_all(&dir);
    fs::create_dir_all(&dir).unwrap();
    golden.write(&dir);
    let written = report::write_all(&dir, &golden.result).unwrap();
    assert!(written.failed.is_empty(), "{:?}", written.failed);
    (dir, written)
}

#[test]
fn every_golden_run_is_rendered_without_a_forbidden_word() {
    for run in golden::all() {
        let (dir, written) = render(run.name, &run);
        assert_eq!(written.page, dir.join("report.html"));
        for file in &written.files {
            let text = String::from_utf8_lossy(&fs::read(file).unwrap()).to_lowercase();
            for word in FORBIDDEN {
                assert!(!text.contains(word), "{} says {word:?}", file.display());
            }
        }
    }
}

/// Left for a look: `target/tmp/golden/long/…`.
#[test]
fn a_long_run_is_rendered() {
    let run = golden::long::run(10_000);
    let (dir, _) = render("long", &run);
    assert!(dir.join("timeline.png").is_file());
}
