//! A jump of one clock, defeated behind the lab's back: such a run must never pass.

use crate::lab::Lab;
use crate::meddling::{files, meddled};
use std::os::unix::fs::PermissionsExt;

/// One jump of the server's clock, of which no worker waits for anything.
const JUMP: &str = r#"summary = "the server's clock jumps"
class = "correctness"
[lock]
backend = "redis"
lease = "2s"
[store]
kind = "sqlite"
fence = "atomic"
[worker.a]
script = ["acquire", "write", "hold 300ms", "release"]
[fault.jump]
kind = "jump-clock"
target = "lock-server"
by = "+31s"
when = { after = "a.write.1.accepted" }
for = "100ms"
"#;

/// The file of that clock says again that nothing is added.
fn put_back(lab: &Lab, clock: &str) {
    for file in files(lab, clock) {
        // The arm may have ended meanwhile.
        let file = std::fs::OpenOptions::new().write(true).open(file);
        let _ = file.and_then(|file| std::os::unix::fs::FileExt::write_all_at(&file, &[0; 8], 0));
    }
}

#[test]
fn the_servers_clock_put_back_at_once() {
    let end = meddled("clock-jump", "fault jump (jump-clock) began", |lab| {
        put_back(lab, "redis.clock");
    });
    end.is_inconclusive("the clock of redis was to be ahead by +31.000 s");
}

/// One that has a vote, beside others whose clocks are as they were or stay moved.
#[test]
fn the_clock_of_one_of_several_servers_put_back_at_once() {
    let end = meddled("redlock-clock", "fault third (jump-clock) began", |lab| {
        put_back(lab, "redis-3.clock");
    });
    end.is_inconclusive("the clock of redis-3 was to be ahead by +31.000 s");
}

#[test]
fn a_workers_clock_put_back_at_once() {
    let end = meddled("worker-clock", "fault back (jump-clock) hit a", |lab| {
        put_back(lab, "a.clock");
    });
    end.is_inconclusive("the clock of a was to be ahead by -3600.000 s");
}

/// A server that is started by somebody who clears its environment never loads the library.
#[test]
fn a_server_that_never_loaded_the_library() {
    let lab = Lab::new();
    let real = lockdrill::env::redis::find::find().unwrap();
    let wrapper = lab.folder.path().join("redis-server");
    let script = format!(
        "#!/bin/bash\nunset LD_PRELOAD\nexec -a redis-server {} \"$@\"\n",
        real.path.display()
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let drill = lab.folder.path().join("jump.toml");
    std::fs::write(&drill, JUMP).unwrap();
    let (out, drill) = (lab.out().display().to_string(), drill.display().to_string());
    let args = ["run", "--out", &out, &drill, "--json"];
    let mut command = lab.command(&args);
    let output = command.env("LOCKDRILL_REDIS_SERVER", &wrapper).output();
    let output = output.unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{told}");
    let why = "jump was not injected: its clock was to jump by 31000 ms and moved by";
    assert!(told.contains(why), "{told}");
    lab.assert_nothing_left();
}
