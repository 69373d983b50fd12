//! What is wrong with the machine is told with what to do about it, exit code 4.

use crate::lab;

use lab::{Lab, timeline};
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn no_redis_server() {
    let lab = Lab::new();
    let output = lab
        .command(&["run", "pause", "--out", &lab.out().display().to_string()])
        .env("PATH", "/nowhere")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(
        said(&output).contains("no redis-server found"),
        "{}",
        said(&output)
    );
    assert!(said(&output).contains("make setup"));
    lab.assert_nothing_left();
}

#[test]
fn a_redis_server_that_is_too_old() {
    let lab = Lab::new();
    let old = lab.folder.path().join("redis-server");
    std::fs::write(
        &old,
        "#!/bin/sh\necho 'Redis server v=6.2.14 sha=0 malloc=x bits=64'\n",
    )
    .unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = lab
        .command(&["run", "pause", "--out", &lab.out().display().to_string()])
        .env("LOCKDRILL_REDIS_SERVER", &old)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(
        said(&output).contains("Redis 6.2.14, older than 7.0"),
        "{}",
        said(&output)
    );
}

#[test]
fn a_redis_server_that_dies_at_once_is_told_with_its_own_words() {
    let lab = Lab::new();
    let broken = lab.folder.path().join("redis-server");
    let script = "#!/bin/sh\n[ \"$1\" = --version ] && { echo 'Redis server v=7.9.0 x'; exit; }\n\
                  echo 'Could not create server TCP listening socket: Address already in use'\nexit 1\n";
    std::fs::write(&broken, script).unwrap();
    std::fs::set_permissions(&broken, std::fs::Permissions::from_mode(0o755)).unwrap();
    let out = lab.out().display().to_string();
    for isolation in ["guard", "namespace"] {
        let output = lab
            .command(&[
                "run",
                "pause",
                "--no-controls",
                "--out",
                &out,
                "--isolation",
                isolation,
            ])
            .env("LOCKDRILL_REDIS_SERVER", &broken)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", said(&output));
        assert!(
            said(&output).contains("Address already in use"),
            "{}",
            said(&output)
        );
        lab.assert_nothing_left();
    }
}

/// Rules of the packet filter are made in a network of the arm's own or not at all; which is known
/// before anything starts.
#[test]
fn a_packet_filter_without_a_network_of_its_own() {
    let lab = Lab::new();
    let out = lab.out().display().to_string();
    let drill = [
        "run",
        "partition",
        "--set",
        "network.proxy=netfilter",
        "--out",
        &out,
    ];
    let refused = |output: &std::process::Output, code, why: &str| {
        let said = said(output);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let wanted = [
            "partition: the edges of `netfilter` need",
            why,
            "network.proxy=builtin",
        ];
        for part in wanted {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(!lab.out().join("partition").exists(), "{said}");
    };
    let asked = ["--isolation", "guard"];
    let output = lab
        .command(&[&drill[..], &asked].concat())
        .output()
        .unwrap();
    refused(&output, 2, "--isolation guard");
    // A machine that refuses namespaces: in a user namespace in which none may be made.
    let forbid = "echo 0 > /proc/sys/user/max_pid_namespaces && exec \"$0\" \"$@\"";
    let output = Command::new("unshare")
        .args(["-Ur", "sh", "-c", forbid, env!("CARGO_BIN_EXE_lockdrill")])
        .args(drill)
        .env("LOCKDRILL_STATE_DIR", lab.state())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    refused(&output, 4, "there are no namespaces: ");
    lab.assert_nothing_left();
}

#[test]
fn an_output_folder_that_is_a_file() {
    let lab = Lab::new();
    let file = lab.folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let output = lab
        .command(&["run", "pause", "--out", &file.display().to_string()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4));
    assert!(said(&output).contains("not writable"), "{}", said(&output));
    assert!(said(&output).contains("--out"));
}

/// Needs a mount of its own: a small tmpfs inside a private mount namespace.
#[test]
fn a_full_disk_ends_the_run_and_keeps_what_was_recorded() {
    let lab = Lab::new();
    let small = lab.folder.path().join("small");
    std::fs::create_dir(&small).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=48k none {small} && \
         {program} run pause --no-controls --isolation guard --out {small}; code=$?; \
         mkdir -p {kept} && cp -r {small}/. {kept}; exit $code",
        small = small.display(),
        program = env!("CARGO_BIN_EXE_lockdrill"),
        kept = lab.out().display(),
    );
    let output = Command::new("unshare")
        .args(["-Urm", "sh", "-c", &script])
        .env("LOCKDRILL_STATE_DIR", lab.state())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", said(&output));
    assert!(
        said(&output).contains("No space left on device"),
        "{}",
        said(&output)
    );
    let drill = lab.out().join("pause");
    let run = std::fs::read_dir(drill)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(run.join("timeline.jsonl")).unwrap();
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    assert!(whole.lines().count() > 3);
    std::fs::write(run.join("timeline.jsonl"), whole).unwrap();
    assert!(!timeline(&run).is_empty(), "the record so far is readable");
}

/// One comes after the other.
fn calm(lock: &str) -> String {
    format!(
        "summary = \"does one come after the other?\"\nclass = \"correctness\"\n[lock]\n\
         backend = \"{lock}\"\nlease = \"2s\"\n[store]\nkind = \"sqlite\"\nfence = \"atomic\"\n\
         [worker.a]\nscript = [\"acquire\", \"write\", \"release\"]\n\
         [worker.b]\nstart = {{ after = \"a.acquired\" }}\nscript = [\"enter 10s\", \"write\", \"release\"]\n"
    )
}

#[test]
fn of_all_a_drill_whose_service_is_not_installed_is_left_out_with_the_reason() {
    let (here, gone) = (calm("redis"), calm("postgres"));
    let lab = Lab::with_drills(&[("here", &here), ("gone", &gone)]);
    let out = lab.out().display().to_string();
    let nowhere = lab.folder.path().join("state");
    let run = |args: &[&str]| {
        let mut command = lab.command(&[&["run", "--json", "--out", &out], args].concat());
        command.env("LOCKDRILL_POSTGRES", &nowhere);
        command.current_dir(lab.folder.path()).output().unwrap()
    };
    let bring_it = "holds no Postgres; run `make setup-all`";
    let output = run(&["--all"]);
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["drills"].as_array().unwrap().len(), 1, "{told:#}");
    let left_out = &told["not_applicable"][0];
    assert_eq!(left_out["drill"], "gone");
    assert!(left_out["why"].as_str().unwrap().contains(bring_it));
    for asked in [&["gone"][..], &["--all", "--lock", "postgres"]] {
        let output = run(asked);
        assert_eq!(
            output.status.code(),
            Some(4),
            "{asked:?}: {}",
            said(&output)
        );
        assert!(said(&output).contains(bring_it), "{}", said(&output));
    }
    lab.assert_nothing_left();
}
