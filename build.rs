//! Tells a release build the commit that it is made from; `env.json` names it.
//!
//! A development build is not told: it would be compiled anew after each commit. Neither is a build
//! outside a repository. Whoever packages lockdrill can set `LOCKDRILL_REVISION` himself.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=LOCKDRILL_REVISION");
    for path in ["build.rs", "Cargo.toml", "Cargo.lock"] {
        println!("cargo::rerun-if-changed={path}");
    }
    let release = std::env::var("PROFILE").is_ok_and(|profile| profile == "release");
    if !release || std::env::var_os("LOCKDRILL_REVISION").is_some() {
        return;
    }
    let Some(revision) = git(&["describe", "--always", "--dirty", "--abbrev=12"]) else {
        return;
    };
    println!("cargo::rustc-env=LOCKDRILL_REVISION={revision}");
    // What makes it another: a commit, or a changed file.
    for path in ["src", "experiments"] {
        println!("cargo::rerun-if-changed={path}");
    }
    for name in ["HEAD", "logs/HEAD"] {
        let path = git(&["rev-parse", "--git-path", name]);
        // A path that is not there would have this run each time.
        if let Some(path) = path.filter(|path| std::path::Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
}

/// What git says in one line; none if it says nothing, or is not there, or this is no repository
/// of its own (a copy inside somebody else's).
fn git(args: &[&str]) -> Option<String> {
    let here = std::env::var_os("CARGO_MANIFEST_DIR")?;
    let ask = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(&here).output();
        let output = output.ok().filter(|output| output.status.success())?;
        let text = String::from_utf8(output.stdout).ok()?;
        let text = text.trim();
        (!text.is_empty() && !text.contains('\n')).then(|| text.to_owned())
    };
    let top = std::fs::canonicalize(ask(&["rev-parse", "--show-toplevel"])?).ok()?;
    (top == std::fs::canonicalize(&here).ok()?).then(|| ask(args))?
}
