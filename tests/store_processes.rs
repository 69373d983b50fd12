//! Several real processes write to one store at once: the log has no gaps, the accepted writes
//! form one chain, and the mark only rises.
#![allow(clippy::unwrap_used)]

use lockdrill::ids::{FencingToken, GrantId};
use lockdrill::store::{
    self, Attempt, Condition, Fence, Logged, ProtectedStore, StoreAnswer, StoreSpec,
};
use std::collections::HashSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const PROCESSES: u64 = 5;
/// Attempts of each process, at least.
const WRITES: u64 = 60;
/// Attempts of a process if nobody ever meets another.
const WRITES_MAX: u64 = 20_000;
const ROLE: &str = "STORE_TEST_WRITER";

fn spec(location: &str) -> StoreSpec {
    StoreSpec {
        kind: "sqlite".to_owned(),
        fence: Fence::Atomic,
        once: true,
        idempotent: false,
        condition: Condition::Atomic,
        reads: lockdrill::store::Reads::Open,
        outbox: false,
        location: location.to_owned(),
        lab_zero_ns: 0,
    }
}

/// Not a test by itself: the body of each writer process, which is this binary run again.
#[test]
fn writer_process() {
    let Ok(role) = std::env::var(ROLE) else {
        return;
    };
    let [writer, writers, location] = role.splitn(3, ' ').collect::<Vec<_>>()[..] else {
        panic!("{role}");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let opened = (store::find("sqlite").unwrap().open)(&spec(location));
    let mut store = runtime.block_on(opened).unwrap();
    wait_for_all(location, writer, writers.parse().unwrap());
    let somebody_lost = format!("{location}.lost");
    let writer = writer.parse().unwrap();
    runtime.block_on(write_all(&mut *store, writer, Path::new(&somebody_lost)));
}

/// Reads, then writes with a token one higher than what it saw: of the processes that saw the
/// same value exactly one can win. Goes on until somebody has lost, so that the record always
/// shows contention.
async fn write_all(store: &mut dyn ProtectedStore, writer: u64, somebody_lost: &Path) {
    for i in 1..=WRITES_MAX {
        if i > WRITES && somebody_lost.exists() {
            return;
        }
        let seen = store.read("account").await.unwrap();
        let next = seen.highest.map_or(1, |token| token.0 + 1);
        let attempt = Attempt {
            job: None,
            if_pending: false,
            resource: "account".to_owned(),
            write: format!("w{writer}.write.{i}"),
            based_on: seen.write,
            grant: Some(GrantId(format!("w{writer}.{i}"))),
            fencing: Some(FencingToken(next)),
        };
        std::thread::yield_now();
        match store.write(&attempt, &|| ()).await {
            StoreAnswer::Accepted => {}
            StoreAnswer::Rejected { .. } => std::fs::write(somebody_lost, "").unwrap(),
            other => panic!("{other:?}"),
        }
    }
}

/// Waits until every writer has opened the store.
fn wait_for_all(location: &str, writer: &str, writers: u64) {
    std::fs::write(format!("{location}.ready.{writer}"), "").unwrap();
    let ready = |w: u64| std::fs::exists(format!("{location}.ready.{w}")).unwrap();
    while !(0..writers).all(ready) {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

fn start_writer(writer: u64, writers: u64, location: &str) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "writer_process", "--nocapture"])
        .env(ROLE, format!("{writer} {writers} {location}"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn many_processes_write_at_once() {
    let dir = TempDir::new().unwrap();
    let location = dir.path().join("store.db").display().to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let created = (store::find("sqlite").unwrap().create)(&spec(&location));
    let mut store = runtime.block_on(created).unwrap();
    let writers: Vec<Child> = (0..PROCESSES)
        .map(|w| start_writer(w, PROCESSES, &location))
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }

    let log = runtime.block_on(store.log()).unwrap();
    let standing = runtime.block_on(store.read("account")).unwrap();

    assert!(
        log.len() as u64 >= PROCESSES * WRITES,
        "{} lines",
        log.len()
    );
    assert!(log.iter().zip(1..).all(|(line, n)| line.n == n), "no gaps");
    let ids: HashSet<&str> = log.iter().map(|line| line.attempt.write.as_str()).collect();
    assert_eq!(ids.len(), log.len(), "each attempt is logged once");
    assert!(
        log.iter().any(|line| !line.accepted),
        "no contention: this run shows nothing"
    );
    assert_one_chain(&log);
    let last = log.iter().rfind(|line| line.accepted).unwrap();
    assert_eq!(standing.write.as_ref(), Some(&last.attempt.write));
    assert_eq!(standing.highest, last.attempt.fencing);
}

fn assert_one_chain(log: &[Logged]) {
    let mut standing: Option<String> = None;
    let mut highest: Option<FencingToken> = None;
    let mut applied_ns = 0;
    for line in log {
        assert_eq!(
            line.highest, highest,
            "n {}: the mark it was judged by",
            line.n
        );
        assert_eq!(
            line.accepted,
            line.attempt.fencing > highest,
            "n {}",
            line.n
        );
        assert!(line.applied_ns >= applied_ns, "log order is time order");
        applied_ns = line.applied_ns;
        if line.accepted {
            assert_eq!(line.attempt.based_on, standing, "n {}: one chain", line.n);
            standing = Some(line.attempt.write.clone());
            highest = line.attempt.fencing;
        }
    }
}

/// A lone writer meets nobody and writes on and on; each is killed in the middle of it.
#[test]
fn a_killed_writer_leaves_no_gap_and_blocks_nobody() {
    let dir = TempDir::new().unwrap();
    let location = dir.path().join("store.db").display().to_string();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let created = (store::find("sqlite").unwrap().create)(&spec(&location));
    let mut store = runtime.block_on(created).unwrap();
    let mut lines = 0;
    for _ in 0..8 {
        let mut writer = start_writer(0, 1, &location);
        let enough = lines + 20;
        while lines < enough {
            assert!(writer.try_wait().unwrap().is_none(), "ended by itself");
            lines = runtime.block_on(store.log()).unwrap().len();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        lines = runtime.block_on(store.log()).unwrap().len();
    }
    let log = runtime.block_on(store.log()).unwrap();
    assert!(log.iter().zip(1..).all(|(line, n)| line.n == n), "no gaps");
    assert_one_chain(&log);
}
