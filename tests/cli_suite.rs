//! A suite as a night runs it, through the program: in shards that are merged, kept and removed,
//! remembered over many nights, judged again, and by the script of the night.

use crate::lab;

use lab::{Lab, said};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

/// Nothing is broken, and the job is done once.
const ONE: &str = r#"summary = "does one come after the other?"
class   = "correctness"
[lock]
backend = "redis"
lease   = "2s"
[store]
kind    = "sqlite"
fence   = "atomic"
idempotent = true
[worker.a]
script  = ["acquire", "write job invoice-7", "release"]
[worker.b]
start   = { after = "a.acquired" }
script  = ["enter 10s", "write", "release"]
"#;

/// b has a lock of its own for the same account, and nothing compares tokens.
const BAD: &str = r#"summary = "does a lock that nobody else takes protect anything?"
class   = "correctness"
[lock]
backend = "redis"
lease   = "2s"
[store]
kind    = "sqlite"
fence   = "off"
[worker.a]
script  = ["acquire", "read", "await b.released", "write", "release"]
[worker.b]
key     = "acount"
start   = { after = "a.read.1.after" }
script  = ["acquire", "write", "release"]
"#;

/// Has no worker b.
const TWO: &str = r#"summary = "does one worker alone get the lock twice?"
class   = "correctness"
[lock]
backend = "redis"
lease   = "2s"
[store]
kind    = "sqlite"
fence   = "atomic"
[worker.a]
script  = ["acquire", "write", "release", "acquire", "write", "release"]
"#;

struct Suite {
    lab: Lab,
}

impl Suite {
    fn of(drills: &[(&str, &str)]) -> Suite {
        Suite {
            lab: Lab::with_drills(drills),
        }
    }

    fn folder(&self) -> &Path {
        self.lab.folder.path()
    }

    /// The program in the folder of these drills.
    fn lockdrill(&self, words: &str) -> Output {
        let words: Vec<&str> = words.split_whitespace().collect();
        let mut command = self.lab.command(&words);
        command.current_dir(self.folder()).output().unwrap()
    }

    /// The same, and its exit code is this.
    fn ends(&self, code: i32, words: &str) -> String {
        let output = self.lockdrill(words);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{words}\n{}",
            said(&output)
        );
        said(&output)
    }

    /// Runs of each drill in a folder of runs.
    fn runs(&self, out: &str) -> BTreeMap<String, Vec<PathBuf>> {
        let drills = folders(&self.folder().join(out));
        let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_owned();
        drills
            .iter()
            .map(|drill| (name(drill), folders(drill)))
            .collect()
    }

    fn counts(&self, out: &str) -> Vec<(String, usize)> {
        let runs = self.runs(out).into_iter();
        runs.map(|(drill, runs)| (drill, runs.len())).collect()
    }

    fn text(&self, file: &str) -> String {
        fs::read_to_string(self.folder().join(file)).unwrap()
    }

    fn history(&self, out: &str) -> Vec<String> {
        let text = self.text(&format!("{out}/history.jsonl"));
        text.lines().map(str::to_owned).collect()
    }
}

fn folders(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

fn pairs(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
    let owned = expected.iter().map(|(name, n)| ((*name).to_owned(), *n));
    owned.collect()
}

#[test]
fn shards_are_merged_and_what_is_removed_is_remembered() {
    let suite = Suite::of(&[("bad", BAD), ("one", ONE), ("two", TWO)]);
    suite.ends(1, "run --all --no-controls --seed 7 --shard 1/2 --out s1");
    suite.ends(0, "run --all --no-controls --seed 7 --shard 2/2 --out s2");
    assert_eq!(suite.counts("s1"), pairs(&[("bad", 1), ("two", 1)]));
    assert_eq!(suite.counts("s2"), pairs(&[("one", 1)]));
    let whole = pairs(&[("bad", 1), ("one", 1), ("two", 1)]);
    // A second time changes nothing, and turns nothing green.
    for new in ["s1: 2 new", "s1: 0 new"] {
        let told = suite.ends(1, "merge s1 s2 --out all --junit all.xml");
        assert!(told.contains(new), "{told}");
        assert_eq!(suite.counts("all"), whole);
        assert_eq!(suite.history("all").len(), 3);
        let index = suite.text("all/index.html");
        for drill in ["bad", "one", "two"] {
            let page = format!("{drill}/{}/report.html", newest(&suite, "all", drill));
            assert!(index.contains(&page), "{page} is not in the index");
        }
        assert_eq!(suite.text("all.xml").matches("<testsuite ").count(), 3);
    }
    fs::create_dir(suite.folder().join("empty")).unwrap();
    suite.ends(3, "merge empty --out all");
    suite.ends(2, "merge nowhere --out all");

    // Half a line, as one that died while writing leaves it.
    let history = suite.folder().join("all/history.jsonl");
    let torn = fs::read_to_string(&history).unwrap() + "{\"format\":1,\"id\":\"ha";
    fs::write(&history, torn).unwrap();
    // What is asked of the suite fits two of the three; the newest green run stays, and
    // every red one.
    let words = "run --all --no-controls --keep 1 --out all --json \
                 --set worker.b.rounds=1";
    let output = suite.lockdrill(words);
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let lost = "1 of 6 lines cannot be read and count nothing: line 4";
    assert!(said(&output).contains(lost), "{}", said(&output));
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["drills"].as_array().unwrap().len(), 2);
    assert_eq!(value["not_applicable"][0]["drill"], "two");
    let why = value["not_applicable"][0]["why"].as_str().unwrap();
    assert!(why.contains("unknown path `worker.b.rounds`"), "{why}");
    assert_eq!(
        suite.counts("all"),
        pairs(&[("bad", 2), ("one", 1), ("two", 1)])
    );
    assert_eq!(suite.history("all").len(), 6);
    let index = suite.text("all/index.html");
    assert!(
        index.contains("1 line could not be read"),
        "told on the page"
    );
    assert!(
        index.contains("2 of 2 (") && index.contains("0 of 2 ("),
        "counted"
    );

    many_nights(&suite);
    judged_again(&suite);
    suite.lab.assert_nothing_left();
}

fn newest(suite: &Suite, out: &str, drill: &str) -> String {
    let runs = suite.runs(out).remove(drill).unwrap();
    let name = runs.last().unwrap().file_name().unwrap();
    name.to_str().unwrap().to_owned()
}

/// The same lines for a hundred nights before: the page stays small and speaks of all of them.
fn many_nights(suite: &Suite) {
    let lines = suite.history("all");
    let mut all = String::new();
    for night in 0..100 {
        for (number, line) in lines.iter().enumerate() {
            let Ok(mut entry) = serde_json::from_str::<Value>(line) else {
                continue;
            };
            entry["id"] = format!("{night}-{number}").into();
            entry["at"] =
                format!("2026-{:02}-{:02}T02:23:00Z", 1 + night / 28, 1 + night % 28).into();
            all.push_str(&format!("{entry}\n"));
        }
    }
    fs::write(suite.folder().join("all/history.jsonl"), all).unwrap();
    let told = suite.ends(1, "merge s1 --out all");
    assert!(told.contains("s1: 0 new, 2 known"), "{told}");
    let index = suite.text("all/index.html");
    assert!(
        index.contains("101 nights on record, the last 40 drawn"),
        "nights"
    );
    assert!(
        index.contains("0 of 101 (0 % to 3.6 %)"),
        "two, once in each night"
    );
    assert!(index.len() < 300_000, "{} bytes", index.len());
    assert_eq!(suite.history("all").len(), 502);
}

/// What was found at the time stays, unless it is to be replaced.
fn judged_again(suite: &Suite) {
    let run = suite.runs("all").remove("two").unwrap().remove(0);
    let file = run.join("results.json");
    let found = fs::read_to_string(&file).unwrap();
    let other = found.replace("\"verdict\": \"pass\"", "\"verdict\": \"fail\"");
    assert_ne!(found, other);
    fs::write(&file, &other).unwrap();
    let run = run.display();
    let told = suite.ends(0, &format!("recheck {run}"));
    assert!(told.contains("still says FAIL"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), other);
    suite.ends(0, &format!("recheck --write {run}"));
    assert_eq!(fs::read_to_string(&file).unwrap(), found);
}

#[test]
fn a_night_says_its_seed_keeps_its_trend_and_fails_with_the_code_of_its_worst_drill() {
    let suite = Suite::of(&[("bad", BAD), ("one", ONE)]);
    let night = |drills: &[&str], code: i32| {
        let summary = suite.folder().join("summary.md");
        let mut script = suite.lab.script("nightly");
        script
            .env("N", "1")
            .env("KEEP", "1")
            .env("SEED", "20260131")
            .env("PROXIES", "")
            .env("GITHUB_STEP_SUMMARY", &summary);
        let output = script.arg("--no-controls").args(drills).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{}", said(&output));
        (said(&output), fs::read_to_string(summary).unwrap())
    };
    let (told, summary) = night(&[], 1);
    assert!(
        told.starts_with("seed 20260131, each drill 1 times"),
        "{told}"
    );
    assert!(
        told.contains("seed 20260131, exit code 1, reports/index.html"),
        "{told}"
    );
    assert!(
        summary.contains("exit code 1") && summary.contains("bad: FAIL"),
        "{summary}"
    );
    assert!(
        suite.text("reports/nightly.xml").contains("<failure"),
        "JUnit"
    );
    assert_eq!(suite.counts("reports"), pairs(&[("bad", 1), ("one", 1)]));
    assert_eq!(suite.history("reports").len(), 2);
    // A mistake of the command line is told too, and nothing has run.
    let (_, summary) = night(&["--set", "store.fense=off"], 2);
    assert!(
        summary.contains("exit code 2") && summary.contains("store.fense"),
        "{summary}"
    );
}
