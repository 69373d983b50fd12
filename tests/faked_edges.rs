//! A cut that somebody takes away behind the lab's back: such a run must never pass.

use crate::lab::Lab;
use lockdrill::env::edge;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

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

#[test]
fn a_toxic_that_somebody_deleted() {
    let server = edge::find("toxiproxy").and_then(|kind| kind.server);
    if server.is_none_or(|server| (server.find)().is_err()) {
        assert!(std::env::var_os("LOCKDRILL_REQUIRE_TOXIPROXY").is_none());
        println!("not played: Toxiproxy is not here");
        return;
    }
    let lab = Lab::new();
    let mut started = lab.start(&[
        "partition",
        "--no-controls",
        "--isolation",
        "guard",
        "--set",
        "network.proxy=toxiproxy",
    ]);
    let mut resets = 0;
    // An inconclusive arm is repeated, so the meddler must be, too.
    for line in &started.lines {
        if line.contains("fault island (cut) hit a") {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_secs(5) {
                if port(&lab).is_some_and(|port| reset(port).unwrap_or(false)) {
                    resets += 1;
                    break;
                }
            }
        }
    }
    let code = started.child.wait().unwrap().code();
    assert!(resets > 0, "nobody meddled");
    let runs = std::fs::read_dir(lab.out().join("partition")).unwrap();
    let run = runs.map(|run| run.unwrap().path()).next().unwrap();
    let results = std::fs::read_to_string(run.join("results.json")).unwrap();
    assert_eq!(code, Some(3), "{results}");
    assert!(results.contains("\"inconclusive\""), "{results}");
    let named = "just before the heal a new connection on a>redis was Answered";
    assert!(results.contains(named), "{results}");
    lab.assert_nothing_left();
}
