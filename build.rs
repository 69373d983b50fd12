//! Two things that rustc cannot do: compile the clock shim of the lab (C, one file), and tell a
//! release build the commit that it is made from; `env.json` names it.
//!
//! A development build is not told: it would be compiled anew after each commit. Neither is a build
//! outside a repository. Whoever packages lockdrill can set `LOCKDRILL_REVISION` himself.

use std::path::PathBuf;
use std::process::Command;

fn main() {
    if std::env::var_os("CARGO_FEATURE_LAB").is_some() {
        clock_shim();
    }
    revision();
}

/// Compiles the library that moves the wall clock of one process; `env::clock_shim` carries it.
fn clock_shim() {
    const SOURCE: &str = "src/env/clock_shim.c";
    println!("cargo::rerun-if-changed={SOURCE}");
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let target = variable("TARGET").unwrap_or_default().replace('-', "_");
    let names = [format!("CC_{target}"), "TARGET_CC".into(), "CC".into()];
    for name in &names {
        println!("cargo::rerun-if-env-changed={name}");
    }
    let compiler = names.iter().find_map(|name| variable(name));
    let compiler = compiler.unwrap_or_else(|| "cc".to_owned());
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("cc"));
    let out = PathBuf::from(variable("OUT_DIR").unwrap_or_default());
    command.args(words).args(["-shared", "-fPIC", "-O2", "-o"]);
    command.arg(out.join("clock_shim.so")).arg(SOURCE);
    let problem = match command.output() {
        Ok(output) if output.status.success() => return,
        Ok(output) => format!(
            "the C compiler `{compiler}` cannot compile {SOURCE}: {}",
            String::from_utf8_lossy(&output.stderr)
                .trim()
                .replace('\n', " / ")
        ),
        Err(error) => format!("no C compiler: `{compiler}` cannot be run ({error})"),
    };
    println!("cargo::error={problem}");
    println!(
        "cargo::error=the lab needs a C compiler with the headers of the C library: `make setup` \
         brings them (on Debian: gcc libc6-dev), `CC` names another; the lock as a library \
         (`--no-default-features`) needs none"
    );
}

/// Which commit this is.
fn revision() {
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
