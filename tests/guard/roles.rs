//! The parts that this test program plays when it is started again: a conductor that starts one
//! arm and waits, and directors with different scripts. Run plainly, they return at once.

use lockdrill::env::guard::{BEGIN, ChildEvent, ChildRole, Client, Spawn};
use lockdrill::env::ledger::{self, Entry, Ledger, MARK};
use lockdrill::env::redis::{find, server};
use lockdrill::env::stop;
use lockdrill::plan::Persist;
use std::fs::File;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Command, Stdio, exit};
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;

/// Which script the director plays.
pub const SCRIPT: &str = "TEST_SCRIPT";
/// Isolation mode, for the conductor.
pub const MODE: &str = "TEST_MODE";
/// Folder for what outlives the arm.
pub const OUT: &str = "TEST_OUT";
/// Port of the director's redis-server.
pub const PORT: &str = "TEST_PORT";
/// The arm's `work/` folder, from the conductor to the director.
const WORK: &str = "TEST_WORK";

#[test]
fn conductor() {
    let Ok(mode) = std::env::var(MODE) else {
        return;
    };
    let folder = ledger::new_folder("test arm").unwrap();
    let out = PathBuf::from(std::env::var_os(OUT).unwrap());
    let mut guard = Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["guard", "--isolation", &mode, "--state"])
        .arg(&folder)
        .arg("--log")
        .arg(out.join("guard.log"))
        .arg("--exec")
        .arg(std::env::current_exe().unwrap())
        .args(["--", "roles::director", "--exact", "--nocapture"])
        .env(MARK, folder.file_name().unwrap())
        .env(WORK, ledger::work(&folder))
        .env_remove(MODE)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lifeline = guard.stdin.take().unwrap();
    Ledger::create(&folder).unwrap();
    lifeline.write_all(&[BEGIN]).unwrap();
    println!("\nguard {} {}", guard.id(), folder.display());
    // What comes in is passed on; the end of it is not: only our own death ends the lifeline.
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut lifeline);
        std::mem::forget(lifeline);
    });
    match guard.wait().unwrap().code() {
        Some(code) => exit(code),
        // The guard was killed: living on, we keep the lifeline, so that it is not what ends
        // whatever is left.
        None => loop {
            std::thread::park();
        },
    }
}

#[test]
fn director() {
    let Ok(script) = std::env::var(SCRIPT) else {
        return;
    };
    if std::env::var_os(MODE).is_some() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let code = runtime.block_on(async {
        let (client, events) = Client::from_env().unwrap();
        match script.as_str() {
            "late writer" => late_writer(client).await,
            "events" => tell_events(client, events).await,
            "refusals" => refusals(client).await,
            "seven" => 7,
            "leaver" => leaver(client).await,
            "dies" => std::process::abort(),
            "environment" => environment(client, events).await,
            other => panic!("no script {other:?}"),
        }
    });
    exit(code);
}

fn folder(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap().into()
}

/// A worker that is a shell script; its standard error goes to `OUT/<name>.log`.
fn shell(name: &str, script: &str) -> Spawn {
    Spawn {
        name: name.to_owned(),
        role: ChildRole::Worker,
        program: "/bin/sh".into(),
        arg0: None,
        args: vec!["-c".to_owned(), script.to_owned()],
        env: vec![(OUT.to_owned(), folder(OUT).display().to_string())],
        cwd: folder(WORK),
        log: folder(OUT).join(format!("{name}.log")),
    }
}

/// As the lab starts it, but reachable at once.
fn on_port(port: u16) -> Vec<String> {
    let (work, host) = (folder(WORK), Ipv4Addr::LOCALHOST.into());
    let socket = server::socket(&work).unwrap();
    let mut args = server::args(host, &socket, &work, Persist::None);
    args.extend(["--port".to_owned(), port.to_string()]);
    args
}

async fn redis(client: &Client) -> SocketAddr {
    let port: u16 = std::env::var(PORT).unwrap().parse().unwrap();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let found = find::find().unwrap();
    let redis = Spawn {
        role: ChildRole::Server,
        program: found.path,
        arg0: Some(find::RedisBinary::ARG0.to_owned()),
        args: on_port(port),
        ..shell("redis", "")
    };
    client.spawn(redis, None).await.unwrap();
    while TcpStream::connect(address).is_err() {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    address
}

/// A server, a writer that runs, and a group of two that is stopped with a write pending in each:
/// continued for one instant, `OUT/woke` or more of `OUT/ticks` would appear.
async fn late_writer(client: Client) -> i32 {
    redis(&client).await;
    let writer = "while :; do echo b >> $TEST_OUT/b; sleep 0.01; done";
    client.spawn(shell("b", writer), None).await.unwrap();
    let late = "while :; do echo tick >> $TEST_OUT/ticks; done & \
                echo ready; read go; echo woke >> $TEST_OUT/woke; sleep 600";
    let (stdin, mut go) = pipe();
    let (mut ready, stdout) = pipe();
    let pipes = Some((stdin.into(), stdout.into()));
    let late = client.spawn(shell("a", late), pipes).await.unwrap();
    let mut line = [0; 6];
    std::io::Read::read_exact(&mut ready, &mut line).unwrap();
    while !folder(OUT).join("ticks").exists() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let ledger = Ledger::open(folder(WORK).parent().unwrap()).unwrap();
    ledger
        .note(&Entry::Fault {
            name: "nap".to_owned(),
            kind: "pause".to_owned(),
            pid: Some(late.pid),
        })
        .unwrap();
    let stopped = stop::stop_group(late.pid).unwrap();
    assert_eq!(stopped.threads.len(), 2, "the worker and its child");
    go.write_all(b"go\n").unwrap();
    let mut asked = signal(SignalKind::terminate()).unwrap();
    println!("\narmed");
    asked.recv().await;
    println!("\nasked to end");
    5
}

fn pipe() -> (File, File) {
    let (reader, writer) = std::io::pipe().unwrap();
    (OwnedFd::from(reader).into(), OwnedFd::from(writer).into())
}

async fn next(events: &mut UnboundedReceiver<ChildEvent>) -> String {
    let event = events.recv().await.unwrap();
    format!("{} {:?}", event.name, event.what)
}

/// Tells what the guard tells of a child that is stopped, continued, and killed, and of one that
/// ends by itself.
async fn tell_events(client: Client, mut events: UnboundedReceiver<ChildEvent>) -> i32 {
    // `exec`: a shell that is stopped while it waits for its fork to become another program
    // shows as D, not T.
    let a = shell("a", "exec sleep 600");
    let a = client.spawn(a, None).await.unwrap();
    let stopped = stop::stop_group(a.pid).unwrap();
    println!("\ntold {}", next(&mut events).await);
    stop::continue_group(a.pid, &stopped.threads).unwrap();
    println!("\ntold {}", next(&mut events).await);
    let kill = format!("kill -9 -{}", a.pid);
    client.spawn(shell("killer", &kill), None).await.unwrap();
    let mut both = [next(&mut events).await, next(&mut events).await];
    both.sort();
    println!("\ntold {} and {}", both[0], both[1]);
    client.spawn(shell("c", "exit 3"), None).await.unwrap();
    println!("\ntold {}", next(&mut events).await);
    0
}

/// Tells why children cannot be started.
async fn refusals(client: Client) -> i32 {
    let mut missing = shell("a", "");
    missing.program = "/nowhere/redis-server".into();
    println!("\ntold {}", client.spawn(missing, None).await.unwrap_err());
    let mut homeless = shell("a", "true");
    homeless.cwd = "/nowhere".into();
    println!("\ntold {}", client.spawn(homeless, None).await.unwrap_err());
    let mut unlogged = shell("a", "true");
    unlogged.log = "/nowhere/a.log".into();
    println!("\ntold {}", client.spawn(unlogged, None).await.unwrap_err());
    let giant = shell("a", &"x".repeat(100_000));
    println!("\ntold {}", client.spawn(giant, None).await.unwrap_err());
    client.spawn(shell("a", "true"), None).await.unwrap();
    0
}

/// Ends without having ended its worker, which has a child in a session of its own.
async fn leaver(client: Client) -> i32 {
    let (stdin, _go) = pipe();
    let (mut ready, stdout) = pipe();
    let script = "setsid sh -c 'echo ready; exec sleep 600' & wait";
    let pipes = Some((stdin.into(), stdout.into()));
    client.spawn(shell("a", script), pipes).await.unwrap();
    let mut line = [0; 6];
    std::io::Read::read_exact(&mut ready, &mut line).unwrap();
    0
}

/// Tells what a child sees of its surroundings.
async fn environment(client: Client, mut events: UnboundedReceiver<ChildEvent>) -> i32 {
    let script = "env | sort > $TEST_OUT/env; ls /proc/self/fd > $TEST_OUT/fds; \
                  grep Sig[BI] /proc/self/status > $TEST_OUT/signals";
    client.spawn(shell("a", script), None).await.unwrap();
    println!("\ntold {}", next(&mut events).await);
    0
}
