//! What an outsider takes away in the middle of a run, and what can be known before it: told with
//! what to do about it, exit code 4, and nothing is left.

use crate::lab;

use lab::{Lab, timeline};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The one run directory of the pause drill.
fn run_dir(lab: &Lab) -> PathBuf {
    let mut runs = std::fs::read_dir(lab.out().join("pause")).unwrap();
    runs.next().unwrap().unwrap().path()
}

/// The server of this lab's one arm: it writes its title over its environment, so it is known by
/// the folder that it works in.
fn server(lab: &Lab) -> Option<i32> {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.filter_map(Result::ok).find_map(|process| {
        let pid = process.file_name().to_str()?.parse().ok()?;
        let folder = std::fs::read_link(process.path().join("cwd")).ok()?;
        let title = std::fs::read(process.path().join("cmdline")).ok()?;
        let redis = String::from_utf8_lossy(&title).contains("redis");
        (redis && folder.starts_with(lab.state())).then_some(pid)
    })
}

#[test]
fn an_output_folder_that_is_deleted_in_the_middle() {
    let lab = Lab::new();
    let mut started = lab.start(&["pause", "--no-controls"]);
    started.await_line("phase drill");
    std::fs::remove_dir_all(lab.out()).unwrap();
    started.await_line("was deleted or moved while the drill ran");
    assert_eq!(started.child.wait().unwrap().code(), Some(4));
    lab.assert_nothing_left();
}

#[test]
fn a_lock_server_that_an_outsider_kills_is_named_and_the_record_is_kept() {
    for isolation in ["guard", "namespace"] {
        let lab = Lab::new();
        let mut started = lab.start(&["pause", "--no-controls", "--isolation", isolation]);
        started.await_line("fault nap (pause) hit a");
        let server = nix::unistd::Pid::from_raw(server(&lab).unwrap());
        nix::sys::signal::kill(server, nix::sys::signal::Signal::SIGKILL).unwrap();
        started.await_line("was killed by SIGKILL in the middle of the drill");
        assert_eq!(started.child.wait().unwrap().code(), Some(4), "{isolation}");
        lab.assert_nothing_left();
        let run = run_dir(&lab);
        let last = timeline(&run).pop().unwrap();
        let reason = last["event"]["end"]["reason"].as_str().unwrap();
        assert!(reason.contains("lock server"), "{reason}");
        let again = lab.command(&["recheck", &run.display().to_string()]);
        assert_eq!({ again }.output().unwrap().status.code(), Some(3));
    }
}

#[test]
fn a_junit_file_that_cannot_be_written_is_refused_before_anything_starts() {
    let lab = Lab::new();
    let folder = lab.folder.path();
    let nowhere = folder.join("nowhere/junit.xml").display().to_string();
    for file in [&nowhere, &folder.display().to_string()] {
        let output = lab.run(&["pause", "--no-controls", "--junit", file]);
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(said(&output).contains("--junit"), "{}", said(&output));
        assert!(!lab.out().join("pause").exists(), "a run was begun");
    }
}

#[test]
fn an_output_folder_whose_name_is_no_text_is_refused_before_anything_starts() {
    let lab = Lab::new();
    let out = lab.folder.path().join(OsStr::from_bytes(b"out-\xff"));
    let mut command = lab.command(&["run", "pause", "--no-controls", "--out"]);
    let output = command.arg(&out).output().unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains("not valid UTF-8"),
        "{}",
        said(&output)
    );
    assert!(!out.exists());
}
