//! A holder that is really stopped (SIGSTOP) beyond its lease: when it is continued it says Lost
//! by itself, without asking a server, which by then is gone.
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{Acquired, LockManager, LockOptions, ManagerOptions};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use support::redis_server::RedisServer;

/// Tells the child process of this test where its server is.
const ADDRESS: &str = "LOCK_STOPPED_ADDRESS";

#[test]
fn a_stopped_holder_says_lost_when_it_is_continued_even_without_its_server() {
    let mut server = RedisServer::start();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "the_holder", "--nocapture", "--ignored"])
        .env(ADDRESS, server.address())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut child = KilledOnDrop(child);
    let pid = Pid::from_raw(i32::try_from(child.0.id()).unwrap());
    let mut said = BufReader::new(child.0.stdout.take().unwrap())
        .lines()
        .map_while(Result::ok);
    assert!(
        said.any(|line| line.contains("held")),
        "the child takes the lock"
    );

    kill(pid, Signal::SIGSTOP).unwrap();
    server.kill();
    std::thread::sleep(Duration::from_secs(3));
    kill(pid, Signal::SIGCONT).unwrap();

    let lost = said
        .find(|line| line.contains("lost"))
        .expect("the child says Lost");
    assert!(lost.contains("deadline"), "{lost}");
    assert!(child.0.wait().unwrap().success());
}

/// A stopped process must not outlive a failing test.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The child process: holds, renews every 200 ms, and says what its handle says.
#[test]
#[ignore = "the other process of the test above"]
fn the_holder() {
    let address = std::env::var(ADDRESS).unwrap();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let kind = backends::named("redis").unwrap();
        let service = (kind.connect)(ConnectSpec::new(address)).await.unwrap();
        let locks = LockManager::new(service, ManagerOptions::new("holder", ""));
        let lease = Duration::from_millis(1_500);
        let options = LockOptions::new(lease, Some(lease / 6)).unwrap();
        let Acquired::Granted(lock) = locks.acquire("k", &options).await.unwrap() else {
            panic!("not granted");
        };
        say("held");
        let reason = lock.lost().await;
        assert!(!lock.is_locked());
        say(&format!("lost {reason}"));
    });
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}
