//! How fast a long record is judged: from memory (history and every check), from its file, and by
//! `lockdrill recheck`, with the memory that takes at its peak.
//!
//! `cargo bench --bench judge`, or with a number of lines: `cargo bench --bench judge -- 100000`.
#![allow(clippy::unwrap_used, reason = "a bench")]

mod long_record;

use lockdrill::checks;
use lockdrill::plan::Plan;
use lockdrill::timeline::event::Line;
use lockdrill::timeline::history::History;
use lockdrill::timeline::reader;
use lockdrill::verdict::judge_history;
use nix::sys::resource::{UsageWho, getrusage};
use std::fs::File;
use std::hint::black_box;
use std::io::BufReader;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SAMPLES: usize = 5;

fn main() {
    // `cargo bench` adds `--bench`; a number is the number of lines.
    let lines = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(1_000_000);
    let records =
        [("a calm record", false), ("a troubled record", true)].map(|(name, troubled)| {
            let dir = tempfile::tempdir().unwrap();
            let plan = long_record::write(dir.path(), lines, troubled).unwrap();
            (name, dir, plan)
        });
    for (name, dir, _) in &records {
        let size = std::fs::metadata(dir.path().join("timeline.jsonl")).unwrap();
        let megabytes = size.len() / 1_000_000;
        println!("{name}: {lines} lines, {megabytes} MB, median of {SAMPLES}");
        recheck(dir.path());
    }
    // A child inherits the high mark of its parent's memory, so all of them come before this.
    for (name, dir, plan) in &records {
        println!("{name}, inside this process");
        judge(plan, dir.path());
    }
}

fn recheck(dir: &Path) {
    let program = env!("CARGO_BIN_EXE_lockdrill");
    let times = sample(
        || (),
        |()| {
            let mut command = Command::new(program);
            let run = command.arg("recheck").arg(dir).stdout(Stdio::null());
            assert!(run.status().unwrap().code().is_some_and(|code| code < 4));
        },
    );
    let peak = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss() / 1024;
    println!("  recheck from disk    {times}   (aim: 3 s or less)");
    println!("  its memory, at most  {peak:>6} MB   (aim: 500 MB or less)");
}

fn judge(plan: &Plan, dir: &Path) {
    let open =
        || BufReader::with_capacity(1 << 16, File::open(dir.join("timeline.jsonl")).unwrap());
    let read = sample(open, |input| {
        let mut lines = 0;
        reader::read(input, |line| {
            lines += 1;
            black_box(line);
        })
        .unwrap();
        lines
    });
    println!("  lines read           {read}");
    let mut lines: Vec<Line> = Vec::new();
    reader::read(open(), |line| lines.push(line)).unwrap();
    let built = sample(|| lines.clone(), |lines| History::from_lines(plan, lines));
    println!("  history built        {built}");
    let history = History::from_lines(plan, lines);
    let judged = sample(|| (), |()| judge_history(plan, &history));
    println!("  every check          {judged}");
    let both = Took {
        wall: built.wall + judged.wall,
        processor: built.processor + judged.processor,
    };
    println!("  history and checks   {both}   (aim: 1 s or less)");
    for check in checks::ALL {
        let took = sample(|| (), |()| check.judge(&history));
        if took.processor * 20 > judged.processor {
            println!("    {:<18} {took}", check.name());
        }
    }
    let arm = judge_history(plan, &history);
    println!("  verdict: {:?}, {}", arm.verdict, arm.why);
}

/// What something took: by the clock on the wall, and of the processors.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Took {
    wall: Duration,
    processor: Duration,
}

impl std::fmt::Display for Took {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [wall, processor] = [self.wall, self.processor].map(|time| time.as_millis());
        write!(f, "{wall:>6} ms ({processor:>5} ms of processors)")
    }
}

/// Processor time of this process and of the children that it has waited for.
fn processors() -> Duration {
    let of = |who| {
        let usage = getrusage(who).unwrap();
        let micros = |time: nix::sys::time::TimeVal| {
            time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs()
        };
        Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
    };
    of(UsageWho::RUSAGE_SELF) + of(UsageWho::RUSAGE_CHILDREN)
}

/// Median by the wall of `work`; what it is given is made, and what it returns dropped, off the
/// clock.
fn sample<I, O>(mut given: impl FnMut() -> I, mut work: impl FnMut(I) -> O) -> Took {
    let mut times: Vec<Took> = (0..SAMPLES)
        .map(|_| {
            let input = given();
            let (began, used) = (Instant::now(), processors());
            let output = black_box(work(input));
            let took = Took {
                wall: began.elapsed(),
                processor: processors() - used,
            };
            drop(output);
            took
        })
        .collect();
    times.sort_unstable();
    times[SAMPLES / 2]
}
