//! Ways that were hurt and that somebody mended behind the lab's back, and requests that were chosen
//! and never came by: such a run must never pass.

use crate::lab::Lab;
use crate::meddling::{file, heard, process};
use lockdrill::env::edge;
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, setpgid};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
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

/// Three ways are hurt: a's is cut, and a stranger in its process group goes past it; of b the reply
/// to its acquire is held, and of c the release, when the server has forgotten both scripts.
const BEHIND: &str = r#"summary = "three ways are hurt"
class = "correctness"
[lock]
backend = "redis"
lease = "8s"
[store]
kind = "sqlite"
fence = "atomic"
[network]
proxy = "builtin"
[worker.a]
key = "of-a"
script = ["hold 500ms", "acquire", "await past.healed", "await c.released", "release"]
[worker.b]
key = "of-b"
script = ["await forget.onset", "acquire", "await c.released", "release"]
[worker.c]
key = "of-c"
start = { after = "a.acquired" }
script = ["acquire", "await forget.onset", "release"]
[fault.past]
kind = "cut"
target = "a"
edge = "lock"
when = { after = "a.acquired" }
for = "1s"
[fault.reply]
kind = "hold-reply"
target = "b"
edge = "lock"
command = "acquire"
when = { after = "request.onset" }
heal = { after = "reply.held" }
[fault.request]
kind = "hold-request"
target = "c"
edge = "lock"
command = "release"
when = { after = "c.acquired" }
heal = { after = "request.held" }
[fault.forget]
kind = "forget-scripts"
target = "lock-server"
when = { after = "reply.onset" }
"#;

/// Set in the process that goes past the edge; elsewhere this part of the test is none.
const PAST: &str = "LOCKDRILL_TEST_GOES_PAST";

#[test]
fn a_way_past_an_edge_and_a_script_that_the_server_had_forgotten() {
    let lab = Lab::new();
    // Only from within the guard's session can a process join a worker's group: a server's child is.
    let wrapper = lab.folder.path().join("redis-server");
    let real = lockdrill::env::redis::find::find().unwrap();
    let me = std::env::current_exe().unwrap();
    let script = format!(
        "#!/bin/bash\ncase \"$*\" in *--unixsocket*)\n\
         {PAST}=1 {} --ignored --exact faked_edges::the_one_that_goes_past >/dev/null 2>&1 & ;;\nesac\n\
         exec -a redis-server {} \"$@\"\n",
        me.display(),
        real.path.display()
    );
    std::fs::write(&wrapper, script).unwrap();
    std::fs::set_permissions(&wrapper, std::fs::Permissions::from_mode(0o755)).unwrap();
    let server = format!("[server]\nbinary = \"{}\"\n", wrapper.display());
    let file = file(&lab, "behind", &(BEHIND.to_owned() + &server));
    let end = heard(&lab, &[&file, "--isolation", "guard"], |_| ());
    end.is_inconclusive("past: it is not shown that there was no way past a>redis");
    end.is_inconclusive("request: the server refused the request that it chose");
    // The first answer to b's acquire was that nobody knows the script: it was not the one.
    assert!(!end.results.contains("reply: the reply"), "{}", end.results);
    let timeline = crate::meddling::runs(&lab.out())
        .iter()
        .map(|run| std::fs::read_to_string(run.join("timeline.jsonl")).unwrap())
        .collect::<String>();
    let frame =
        |what: &str| format!(r#""fault":"reply","edge":"b>redis","what":"{what}","reply":true"#);
    let [refused, held] = ["refused", "held"].map(|what| timeline.find(&frame(what)));
    assert!(refused.is_some() && refused < held, "{timeline}");
}

/// What the wrapper of the server starts: joins the group of worker a, and holds a connection straight
/// to the server until that worker is gone.
#[test]
#[ignore = "a part of the test above, which has it started"]
fn the_one_that_goes_past() {
    if std::env::var_os(PAST).is_none() {
        return;
    }
    let begun = Instant::now();
    let patient = || begun.elapsed() < Duration::from_secs(60);
    let ours = std::env::var("TMPDIR").unwrap();
    let mut worker = None;
    while worker.is_none() && patient() {
        worker = std::fs::read_dir("/proc")
            .unwrap()
            .flatten()
            .find_map(|entry| {
                let read = |of: &str| std::fs::read(entry.path().join(of)).unwrap_or_default();
                let has = |of: &str, word: &str| {
                    read(of)
                        .windows(word.len())
                        .any(|part| part == word.as_bytes())
                };
                let is_it = has("cmdline", "worker.a.json") && has("environ", &ours);
                is_it.then(|| entry.file_name().to_string_lossy().parse().ok())?
            });
    }
    let worker = Pid::from_raw(worker.unwrap());
    setpgid(Pid::this(), worker).unwrap();
    let port = std::fs::read_dir(".").unwrap().flatten().find_map(|entry| {
        let mut socket = UnixStream::connect(entry.path()).ok()?;
        socket
            .write_all(b"*3\r\n$6\r\nCONFIG\r\n$3\r\nGET\r\n$4\r\nport\r\n")
            .ok()?;
        let mut answer = [0; 100];
        let count = socket.read(&mut answer).ok()?;
        let answer = String::from_utf8_lossy(&answer[..count]).into_owned();
        answer.lines().last()?.parse::<u16>().ok()
    });
    let way = TcpStream::connect(("127.0.0.1", port.unwrap())).unwrap();
    let alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{worker}/stat")).unwrap_or_default();
        !stat.is_empty() && !stat.contains(") Z ")
    };
    while alive() && patient() {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(way);
}
