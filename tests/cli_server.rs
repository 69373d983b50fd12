//! A drill on the user's own redis-server with the user's own redis.conf.

use crate::lab;

use lab::{Lab, said};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

const DRILL: &str = r#"summary = "does one come after the other?"
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
script  = ["enter 10s", "write", "release", "await full.healed"]
[fault.full]
kind    = "evict"
target  = "lock-server"
when    = { after = "b.released" }
for     = "100ms"
"#;

/// What a server of somebody's production might have.
const CONF: &str = r#"# ours
include more.conf
port 6379
BIND 0.0.0.0 -::*
daemonize yes
protected-mode no
requirepass "sesame secret"
rename-command CONFIG sesame
save 900 1
appendonly yes
maxmemory 64mb
maxmemory-policy noeviction
"#;

struct Own {
    lab: Lab,
}

impl Own {
    fn new() -> Own {
        let lab = Lab::new();
        let folder = lab.folder.path();
        fs::write(folder.join("own.toml"), DRILL).unwrap();
        fs::write(folder.join("own.conf"), CONF).unwrap();
        fs::write(folder.join("more.conf"), "always-show-logo yes\n").unwrap();
        Own { lab }
    }

    fn folder(&self) -> &Path {
        self.lab.folder.path()
    }

    fn lockdrill(&self, words: &[&str]) -> Output {
        let mut command = self.lab.command(words);
        command.current_dir(self.folder()).output().unwrap()
    }

    fn run(&self, set: &[&str]) -> (Option<i32>, String) {
        let mut words = vec!["run", "own.toml", "--no-controls", "--out", "reports"];
        words.extend(set.iter().flat_map(|set| ["--set", set]));
        let output = self.lockdrill(&words);
        (output.status.code(), said(&output))
    }
}

/// This machine's redis-server, under whatever name it has.
fn redis() -> PathBuf {
    lockdrill::env::redis::find::find().unwrap().path
}

fn no_file_has(dir: &Path, secret: &str) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            no_file_has(&path, secret);
        } else {
            let bytes = fs::read(&path).unwrap();
            let found = bytes
                .windows(secret.len())
                .any(|part| part == secret.as_bytes());
            assert!(!found, "{} has a secret in it", path.display());
        }
    }
}

#[test]
fn the_servers_own_settings_hold_unless_the_report_says_otherwise() {
    let own = Own::new();
    let server = own.folder().join("my-redis");
    std::os::unix::fs::symlink(redis(), &server).unwrap();
    let (code, told) = own.run(&["server.binary=./my-redis", "server.config=own.conf"]);
    assert_eq!(code, Some(0), "{told}");
    let runs = fs::read_dir(own.folder().join("reports/own")).unwrap();
    let run = runs.map(|run| run.unwrap().path()).next().unwrap();
    let text = |name: &str| fs::read_to_string(run.join(name)).unwrap();
    let plan: Value = serde_json::from_str(&text("plan.json")).unwrap();
    let kept = [
        "always-show-logo yes",
        "maxmemory 64mb",
        "maxmemory-policy noeviction",
    ];
    assert_eq!(plan["server"]["kept"], serde_json::json!(kept));
    assert_eq!(plan["lock"]["persist"], "everysec", "as the file says");
    let overridden = plan["server"]["overridden"].as_array().unwrap();
    let names: Vec<&str> = overridden
        .iter()
        .map(|one| one["setting"].as_str().unwrap())
        .collect();
    let expected = [
        "port",
        "bind",
        "daemonize",
        "requirepass",
        "rename-command",
        "save",
        "maxmemory",
        "maxmemory-policy",
    ];
    assert_eq!(names, expected);
    assert_eq!(overridden[1]["yours"], "0.0.0.0 -::*");
    assert_eq!(overridden[1]["place"], "own.conf:4");
    assert_eq!(overridden[6]["lab"], "yours until full begins");
    let page = text("report.html");
    for part in [
        "my-redis",
        "what the lab replaced",
        "0.0.0.0 -::*",
        "not repeated here",
    ] {
        assert!(page.contains(part), "{part} is not on the page");
    }
    // The server itself says so: its own line was the one that asked for the logo.
    assert!(
        text("logs/redis.log").contains("Running in standalone mode"),
        "the file was not read"
    );
    no_file_has(&run, "sesame");
    the_log_says_whose_work_it_was(&text("logs/worker.a.log"));
    own.lab.assert_nothing_left();
}

fn the_log_says_whose_work_it_was(log: &str) {
    let line = |what: &str| {
        log.lines()
            .find(|line| line.contains(what))
            .unwrap_or_else(|| {
                panic!("`{what}` is missing in\n{log}");
            })
    };
    let owner = |line: &str| {
        let after = line.split("lock.owner=").nth(1).unwrap();
        after.split(' ').next().unwrap().to_owned()
    };
    let granted = line("lock granted");
    for field in [
        "lock.key=\"account\"",
        "lock.fencing=1",
        "lock.lease_ms=2000",
        "wait_ms=",
    ] {
        assert!(granted.contains(field), "{field} is missing in {granted}");
    }
    let write = line("store write");
    assert!(
        write.contains("job=\"invoice-7\"") && write.contains("lock.fencing=1"),
        "{write}"
    );
    assert_eq!(owner(granted), owner(write));
    assert_eq!(owner(granted), owner(line("release=\"released\"")));
}

#[test]
fn what_cannot_be_used_is_told_with_its_place_before_anything_starts() {
    let own = Own::new();
    let refused = |set: &[&str], code: i32, parts: &[&str]| {
        let (ended, told) = own.run(set);
        assert_eq!(ended, Some(code), "{told}");
        for part in parts {
            assert!(told.contains(part), "{part} is not in {told}");
        }
    };
    let with = |text: &str| fs::write(own.folder().join("own.conf"), text).unwrap();
    with(
        "port 1\n  maxmemroy 1mb\nloglevel \"debug\ntimeout\ninclude gone.conf\ninclude /etc/*.conf\n",
    );
    let places = [
        "own.conf:2:3: redis-server has no setting `maxmemroy`; did you mean `maxmemory`?",
        "own.conf:3:1: a quote is not closed",
        "own.conf:4:1: `timeout` has no value",
        "own.conf:5:1: `gone.conf` cannot be read",
        "own.conf:6:1: `include` names many files",
    ];
    refused(&["server.config=own.conf"], 2, &places);
    with("include own.conf\n");
    refused(&["server.config=own.conf"], 2, &["include one another"]);
    refused(
        &["server.config=none.conf"],
        2,
        &["--set:1:15: `none.conf` cannot be read"],
    );
    refused(
        &["server.binary=./none"],
        2,
        &["--set:1:15: there is no program `./none`"],
    );
    refused(
        &["server.binary=./own.conf"],
        2,
        &["`./own.conf` is no program"],
    );
    refused(
        &["server.binary=/bin/true"],
        4,
        &["/bin/true is not a redis-server"],
    );
    refused(
        &["server.binray=/bin/true"],
        2,
        &["unknown path", "`server.binary`"],
    );
    with("maxmemory 1mb\n");
    let validate = |lock: &str| {
        let words = [
            "validate",
            "own.toml",
            "--lock",
            lock,
            "--set",
            "server.config=own.conf",
        ];
        let output = own.lockdrill(&words);
        assert_eq!(output.status.code(), Some(2), "{}", said(&output));
        said(&output)
    };
    assert!(validate("redis-sentinel").contains("lives on several servers"));
    // What only the server itself knows is wrong ends the arm, in the server's own words.
    with("maxmemory lots\n");
    refused(
        &["server.config=own.conf"],
        4,
        &["maxmemory lots", "argument must be a memory value"],
    );
    own.lab.assert_nothing_left();
}
