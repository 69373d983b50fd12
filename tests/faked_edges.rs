//! Ways that were hurt and that somebody mended behind the lab's back, and requests that were chosen
//! and never came by: such a run must never pass.

use crate::lab::Lab;
use crate::meddling::{file, heard, process};
use lockdrill::env::edge;
use nix::sys::signal::{Signal, kill};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Four workers, each with a key of its own that it renews, and what is done to each one's way to the
/// lock server, in turn.
fn drill(proxy: &str, faults: [(&str, &str); 4]) -> String {
    let mut text = format!(
        "summary = \"four ways are hurt\"\nclass = \"correctness\"\n\
         [lock]\nbackend = \"redis\"\nlease = \"8s\"\nrenew = \"900ms\"\n\
         [store]\nkind = \"sqlite\"\nfence = \"atomic\"\n[network]\nproxy = \"{proxy}\"\n"
    );
    let mut before = "a.acquired".to_owned();
    for (worker, (kind, more)) in ["a", "b", "c", "d"].into_iter().zip(faults) {
        text += &format!(
            "[worker.{worker}]\nkey = \"of-{worker}\"\n\
             script = [\"acquire\", \"await on-d.healed\", \"release\"]\n\
             [fault.on-{worker}]\nkind = \"{kind}\"\ntarget = \"{worker}\"\nedge = \"lock\"\n\
             {more}\nwhen = {{ after = \"{before}\" }}\nfor = \"1200ms\"\n"
        );
        before = format!("on-{worker}.onset");
    }
    text
}

/// Where this lab's Toxiproxy is told what to do.
fn port(lab: &Lab) -> Option<u16> {
    let processes = lab.processes();
    let server = processes.iter().find(|is| is.contains("-host 127.0.0.1"));
    let words = server?.split_whitespace();
    words
        .skip_while(|word| *word != "-port")
        .nth(1)?
        .parse()
        .ok()
}

/// Takes every toxic away; whether that was answered.
fn reset(port: u16) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(Duration::from_secs(10)))?;
    stream.write_all(
        b"POST /reset HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.contains(" 204 "))
}

/// Does it again until it is done, or the moment is over.
fn at_once(mut done: impl FnMut() -> bool) -> usize {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if done() {
            return 1;
        }
    }
    0
}

#[test]
fn toxics_that_somebody_deleted() {
    let server = edge::find("toxiproxy").and_then(|kind| kind.server);
    if server.is_none_or(|server| (server.find)().is_err()) {
        assert!(std::env::var_os("LOCKDRILL_REQUIRE_TOXIPROXY").is_none());
        println!("not played: Toxiproxy is not here");
        return;
    }
    let kinds = [
        ("cut", ""),
        ("cut-requests", ""),
        ("cut-replies", ""),
        ("stall", ""),
    ];
    let lab = Lab::new();
    let file = file(&lab, "toxics", &drill("toxiproxy", kinds));
    let mut resets = 0;
    let end = heard(&lab, &[&file, "--isolation", "guard"], |line| {
        if line.contains("fault on-d (stall) hit d") {
            resets += at_once(|| port(&lab).is_some_and(|port| reset(port).unwrap_or(false)));
        }
    });
    assert!(resets > 0, "nobody meddled: {}", end.results);
    for worker in ["a", "b", "c", "d"] {
        end.is_inconclusive(&format!(
            "on-{worker}: just before the heal a new connection on {worker}>redis was "
        ));
    }
}

/// The rules of the network namespace in which a worker of this lab lives.
fn flush_rules(lab: &Lab) -> bool {
    let Some(worker) = process(lab, &["worker --spec", "worker.a.json"]) else {
        return false;
    };
    let mut command = std::process::Command::new("nsenter");
    command.args(["-t", &worker.to_string(), "-n"]);
    let of = |pid: &str| std::fs::read_link(format!("/proc/{pid}/ns/user")).ok();
    if of("self") != of(&worker.to_string()) {
        command.args(["-U", "--preserve-credentials"]);
    }
    let flushed = command.args(["iptables", "-w", "-F", "INPUT"]).status();
    flushed.is_ok_and(|status| status.success())
}

#[test]
fn rules_of_the_packet_filter_that_somebody_deleted() {
    let kinds = [
        ("cut", ""),
        ("cut-requests", ""),
        ("cut-replies", ""),
        ("reset", ""),
    ];
    let lab = Lab::new();
    let file = file(&lab, "rules", &drill("netfilter", kinds));
    let (mut flushes, mut begun) = (0, false);
    let end = heard(&lab, &[&file, "--isolation", "namespace"], |line| {
        begun |= line.contains("fault on-a (cut) hit a");
        if line.contains("fault on-d (reset) hit d") {
            flushes += at_once(|| flush_rules(&lab));
        }
    });
    if end.code == Some(4) && !begun {
        println!("not played: this machine has no packet filter of its own");
        return;
    }
    assert!(flushes > 0, "nobody meddled: {}", end.results);
    for worker in ["a", "b", "c", "d"] {
        end.is_inconclusive(&format!(
            "on-{worker}: just before the heal a new connection on {worker}>redis was "
        ));
    }
}

/// Every worker is dead before it asks for what was chosen.
#[test]
fn requests_that_were_chosen_and_never_came_by() {
    let chosen = r#"command = "renew""#;
    let kinds = [
        ("hold-request", chosen),
        ("hold-reply", chosen),
        ("lose-request", chosen),
        ("lose-reply", chosen),
    ];
    let lab = Lab::new();
    let file = file(&lab, "chosen", &drill("builtin", kinds));
    let mut killed = 0;
    let end = heard(&lab, &[&file, "--isolation", "guard"], |line| {
        if line.contains("fault on-d (lose-reply) hit d") {
            for worker in ["a", "b", "c", "d"] {
                let name = format!("worker.{worker}.json");
                if let Some(pid) = process(&lab, &["worker --spec", &name]) {
                    killed += usize::from(kill(pid, Signal::SIGKILL).is_ok());
                }
            }
        }
    });
    assert!(killed >= 4, "{killed} killed: {}", end.results);
    for (worker, what) in [
        ("a", "request"),
        ("b", "reply"),
        ("c", "request"),
        ("d", "reply"),
    ] {
        end.is_inconclusive(&format!(
            "on-{worker}: the {what} that it chose never came by while it was in effect"
        ));
    }
}
