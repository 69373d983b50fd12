//! `lockdrill clean`: dead arms are undone, live ones and strangers are not touched.

use crate::lab::{Arm, MODES, Victim, clean, until, until_gone};
use lockdrill::env::ledger::{Entry, Role};
use lockdrill::env::process::Identity;
use lockdrill::env::procfs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

fn state() -> TempDir {
    let temp = tempfile::tempdir().unwrap();
    private(&temp.path().join("state"));
    temp
}

fn private(folder: &Path) {
    fs::DirBuilder::new().mode(0o700).create(folder).unwrap();
}

/// A process of this test, in a group of its own; it ends with the test at the latest.
struct Stranger(Child);

impl Stranger {
    fn start(command: &mut Command) -> Stranger {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        Stranger(command.spawn().unwrap())
    }

    fn identity(&self) -> Identity {
        Identity::of(i32::try_from(self.0.id()).unwrap()).unwrap()
    }

    fn until_dead(&mut self) {
        until("dead", || self.0.try_wait().unwrap().is_some());
    }
}

impl Drop for Stranger {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The ledger of an arm whose owner died, with these further lines.
fn dead_arm(temp: &Path, name: &str, entries: &[Entry]) {
    let folder = temp.join("state").join(name);
    private(&folder);
    let mut owner = Identity::me().unwrap();
    owner.start_ticks += 1;
    let owner = Entry::Owner { identity: owner };
    let lines: Vec<String> = std::iter::once(&owner)
        .chain(entries)
        .map(|entry| serde_json::to_string(entry).unwrap() + "\n")
        .collect();
    fs::write(folder.join("ledger.jsonl"), lines.concat()).unwrap();
}

fn worker(identity: Identity) -> Entry {
    let stat = procfs::stat(identity.pid).unwrap();
    Entry::Process {
        name: "a".to_owned(),
        role: Role::Worker,
        identity,
        group: stat.group,
        session: stat.session,
    }
}

fn said(output: &std::process::Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn nothing_to_clean_is_said_and_makes_no_folder() {
    let temp = tempfile::tempdir().unwrap();
    // Whatever the machine's other runs left is not this test's.
    let told = said(&clean(temp.path(), &[]));
    assert!(!told.contains(&temp.path().display().to_string()), "{told}");
    assert!(!temp.path().join("state").exists());
}

/// A run that was started elsewhere, without the variable or with a login, has another root.
#[test]
fn a_dead_run_is_found_in_whatever_root_it_used() {
    let temp = state();
    let runtime = temp.path().join("runtime");
    private(&runtime);
    dead_arm(temp.path(), "pause-main-1", &[]);
    let other = runtime.join("lockdrill");
    fs::rename(temp.path().join("state"), &other).unwrap();
    private(&temp.path().join("state"));
    let cleaning = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockdrill"));
        let state = temp.path().join("state");
        command.arg("clean").env("LOCKDRILL_STATE_DIR", state);
        said(&command.env("XDG_RUNTIME_DIR", &runtime).output().unwrap())
    };
    let removed = format!("removed {}", other.join("pause-main-1").display());
    let told = cleaning();
    assert!(told.contains(&removed), "{told}");
    assert!(!other.exists(), "its root went with the last arm");
    assert!(temp.path().join("state").exists(), "the named one stays");
    assert!(!cleaning().contains(&removed), "once is enough");
}

/// A folder that anybody could have made is not looked into.
#[test]
fn a_root_that_others_can_enter_is_left_alone() {
    let temp = state();
    let other = temp.path().join("runtime/lockdrill");
    fs::create_dir_all(other.join("pause-main-1")).unwrap();
    fs::set_permissions(&other, fs::Permissions::from_mode(0o777)).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockdrill"));
    command
        .arg("clean")
        .env("LOCKDRILL_STATE_DIR", temp.path().join("state"));
    command.env("XDG_RUNTIME_DIR", temp.path().join("runtime"));
    said(&command.output().unwrap());
    assert!(other.join("pause-main-1").exists());
}

#[test]
fn a_live_run_is_not_touched() {
    for mode in MODES {
        let arm = Arm::start(mode, "late writer");
        arm.hears("armed");
        let family = arm.leaders();
        let told = said(&clean(arm.temp.path(), &[]));
        assert!(told.contains("alive; not touched"), "{told}");
        assert_eq!(arm.folders().len(), 1);
        let there = |pid| procfs::stat(pid).is_ok_and(|stat| !stat.is_dead());
        assert!(family.iter().all(|stat| there(stat.pid)), "{mode}");
        arm.kill(Victim::Conductor);
        until_gone(&family);
    }
}

#[test]
fn a_stopped_process_of_a_dead_run_is_killed_where_it_stands() {
    let temp = state();
    let out = temp.path().join("woke");
    let script = format!("kill -STOP $$; echo woke > {}; sleep 600", out.display());
    let mut child = Stranger::start(Command::new("sh").args(["-c", &script]));
    let identity = child.identity();
    while procfs::stat(identity.pid).unwrap().state != 'T' {
        std::thread::yield_now();
    }
    dead_arm(temp.path(), "pause-main-1", &[worker(identity.clone())]);
    let told = said(&clean(temp.path(), &[]));
    assert!(
        told.contains(&format!("killed: sh ({})", identity.pid)),
        "{told}"
    );
    child.until_dead();
    assert!(!out.exists());
    let told = said(&clean(temp.path(), &[]));
    assert!(
        !told.contains("pause-main-1: removed"),
        "idempotent: {told}"
    );
}

#[test]
fn a_marked_process_and_a_member_of_a_recorded_group_are_killed() {
    let temp = state();
    // Other tests have arms too, and a mark is looked for on the whole machine.
    let name = "marked-1";
    let mut marked = Stranger::start(Command::new("sleep").arg("600").env("LOCKDRILL_ARM", name));
    let leader =
        Stranger::start(Command::new("sh").args(["-c", "sleep 600 & echo; exec sleep 600"]));
    let leader_identity = leader.identity();
    let member = || {
        procfs::all()
            .unwrap()
            .into_iter()
            .find(|stat| stat.parent == leader_identity.pid)
    };
    while member().is_none() {
        std::thread::yield_now();
    }
    let member = member().unwrap();
    let entry = worker(leader_identity);
    drop(leader);
    dead_arm(temp.path(), name, &[entry]);
    said(&clean(temp.path(), &[]));
    marked.until_dead();
    until_gone(&[member]);
}

#[test]
fn a_process_that_only_has_a_recorded_number_is_not_touched() {
    let temp = state();
    let mut child = Stranger::start(Command::new("sleep").arg("600"));
    let entry = |change: fn(&mut Identity)| {
        let mut other = child.identity();
        change(&mut other);
        worker(other)
    };
    let entries = [
        entry(|other| other.start_ticks -= 1),
        entry(|other| other.boot_id = "another".to_owned()),
        entry(|other| other.pid_ns += 1),
    ];
    dead_arm(temp.path(), "x-1", &entries);
    let told = said(&clean(temp.path(), &[]));
    assert!(
        told.contains("removed") && !told.contains("killed"),
        "{told}"
    );
    assert_eq!(child.0.try_wait().unwrap(), None, "still there");
}

#[test]
fn a_run_of_another_pid_namespace_is_not_touched() {
    let temp = state();
    let folder = temp.path().join("state/x-1");
    private(&folder);
    let mut identity = Identity::me().unwrap();
    identity.pid_ns += 1;
    let owner = serde_json::to_string(&Entry::Owner { identity }).unwrap();
    fs::write(folder.join("ledger.jsonl"), owner + "\n").unwrap();
    let told = said(&clean(temp.path(), &[]));
    assert!(
        told.contains("another pid namespace; not touched"),
        "{told}"
    );
    assert!(folder.exists());
}

#[test]
fn a_folder_without_a_readable_owner_is_a_dead_one() {
    let temp = state();
    for (name, ledger) in [
        ("x-1", None),
        ("x-2", Some("")),
        ("x-3", Some(r#"{"owner":{"ident"#)),
    ] {
        let folder = temp.path().join("state").join(name);
        private(&folder);
        if let Some(text) = ledger {
            fs::write(folder.join("ledger.jsonl"), text).unwrap();
        }
    }
    let told = said(&clean(temp.path(), &["--json"]));
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    let arms = told["arms"].as_array().unwrap().iter();
    // It looks in every place, and others may run on this machine.
    let own: Vec<_> = arms
        .filter(|arm| {
            arm["folder"]
                .as_str()
                .unwrap()
                .starts_with(temp.path().to_str().unwrap())
        })
        .collect();
    assert_eq!(own.len(), 3, "{told}");
    assert!(own.iter().all(|arm| arm["done"] == "removed"), "{told}");
}

#[test]
fn a_guard_that_is_stuck_is_killed_after_its_workers() {
    let arm = Arm::start("guard", "late writer");
    arm.hears("armed");
    let family = arm.family();
    let guard = arm.find(Victim::Guard).unwrap();
    kill(Pid::from_raw(guard.pid), Signal::SIGSTOP).unwrap();
    arm.kill(Victim::Conductor);
    let told = said(&clean(arm.temp.path(), &[]));
    assert!(told.contains("killed: sh"), "workers first: {told}");
    until_gone(&family);
    assert!(!arm.out("woke").exists());
    assert_eq!(arm.folders(), [""; 0]);
}

#[test]
fn several_at_once_do_not_disturb_each_other() {
    let temp = state();
    for n in 0..20 {
        dead_arm(temp.path(), &format!("x-{n}"), &[]);
    }
    let cleaners: Vec<Child> = (0..4)
        .map(|_| {
            Command::new(env!("CARGO_BIN_EXE_lockdrill"))
                .arg("clean")
                .env("LOCKDRILL_STATE_DIR", temp.path().join("state"))
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for cleaner in cleaners {
        said(&cleaner.wait_with_output().unwrap());
    }
    assert_eq!(fs::read_dir(temp.path().join("state")).unwrap().count(), 0);
}

#[test]
fn an_unsafe_root_is_refused() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path().join("state");
    private(&temp.path().join("elsewhere"));
    symlink(temp.path().join("elsewhere"), &root).unwrap();
    let refused = clean(temp.path(), &[]);
    assert_eq!(refused.status.code(), Some(4), "a link");
    fs::remove_file(&root).unwrap();
    private(&root);
    fs::set_permissions(&root, fs::Permissions::from_mode(0o755)).unwrap();
    let refused = clean(temp.path(), &[]);
    assert_eq!(refused.status.code(), Some(4), "open to others");
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("chmod 700"), "{text}");
}
