//! Faults of servers and ends of workers, defeated behind the lab's back: such a run must never
//! pass.

use crate::lab::Lab;
use crate::meddling::{files, lock_server, meddled, process};
use nix::sys::signal::{Signal, kill};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

fn signal(lab: &Lab, words: &[&str], signal: Signal) {
    if let Some(pid) = process(lab, words) {
        let _ = kill(pid, signal);
    }
}

#[test]
fn a_stopped_server_that_somebody_continued() {
    let end = meddled("stop-server", "fault freeze (stop-server) began", |lab| {
        if let Some(server) = lock_server(lab) {
            let _ = kill(server, Signal::SIGCONT);
        }
    });
    end.is_inconclusive("freeze: thread");
}

/// It is to die while it asks; somebody else killed it before.
#[test]
fn a_worker_that_was_dead_before_it_was_to_die() {
    let end = meddled("kill", "phase drill", |lab| {
        signal(lab, &["worker --spec", "worker.c.json"], Signal::SIGKILL);
    });
    end.is_inconclusive("birth was not injected");
}

/// It is asked to end, and is killed before it can.
#[test]
fn a_worker_that_did_not_end_by_itself() {
    let end = meddled("shutdown", "a is asked to end", |lab| {
        signal(lab, &["worker --spec", "worker.a.json"], Signal::SIGKILL);
    });
    end.is_inconclusive("not shown that a ended by itself");
}

/// Gives the lab's lock server a command over its own socket file.
fn tell(lab: &Lab, command: &str) {
    for socket in files(lab, ".sock") {
        let Ok(mut stream) = UnixStream::connect(socket) else {
            continue;
        };
        let _ = stream.write_all(format!("{command}\r\n").as_bytes());
        let _ = stream.read(&mut [0; 256]);
    }
}

#[test]
fn writes_that_somebody_allowed_again() {
    let end = meddled(
        "refuse-writes",
        "fault refusal (refuse-writes) began",
        |lab| {
            tell(lab, "CONFIG SET min-replicas-to-write 0");
        },
    );
    end.is_inconclusive("refusal");
}
