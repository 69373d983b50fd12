//! How large a page of ten thousand events is, and how long it takes: from a run directory on disk
//! to the text of the page, and to every file beside it. Prints both; the bounds are two megabytes
//! and one second.
#![allow(clippy::unwrap_used, missing_docs, reason = "a bench")]

#[path = "../tests/support/golden/mod.rs"]
mod golden;

use lockdrill::report::{html, model::Model, write_all};
use std::time::{Duration, Instant};

const EVENTS: [u64; 3] = [1_000, 10_000, 30_000];

/// Each figure is the least of so many.
const TIMES: usize = 5;

fn main() {
    for events in EVENTS {
        let run = golden::long::run(events);
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join(&run.result.drill).join(run.name);
        std::fs::create_dir_all(&dir).unwrap();
        run.write(&dir);
        let mut bytes = 0;
        let page = least(|| {
            let model = Model::read(&dir, &run.result).unwrap();
            bytes = html::page(&model).unwrap().len();
        });
        let all = least(|| {
            let written = write_all(&dir, &run.result).unwrap();
            assert!(written.failed.is_empty(), "{:?}", written.failed);
        });
        println!("{events} events: {bytes} bytes, page {page:?}, every file {all:?}");
    }
}

fn least(mut work: impl FnMut()) -> Duration {
    let once = |_| {
        let begun = Instant::now();
        work();
        begun.elapsed()
    };
    (0..TIMES).map(once).min().unwrap_or_default()
}
