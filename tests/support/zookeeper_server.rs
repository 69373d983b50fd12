//! A real ZooKeeper of the test's own: loopback, an ephemeral port, a folder of its own, gone with
//! the value. A missing server fails the test; it is never skipped.

use super::one_server::{OneServer, shared};
use lockdrill::env::zookeeper::find;
use lockdrill::env::zookeeper::server::Launch;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How long a server may take to answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

static SHARED: Mutex<Weak<ZookeeperServer>> = Mutex::new(Weak::new());

/// A running server.
pub struct ZookeeperServer {
    child: Mutex<Child>,
    port: u16,
    dir: TempDir,
}

impl ZookeeperServer {
    /// The one that all tests share who run now. Nobody may do anything to it.
    pub fn shared() -> Arc<ZookeeperServer> {
        shared(&SHARED, ZookeeperServer::start)
    }

    /// One of its own.
    pub fn start() -> ZookeeperServer {
        for _ in 0..20 {
            let dir = TempDir::new().expect("a folder for the server");
            let listener = TcpListener::bind((HOST, 0)).expect("a free port");
            let port = listener.local_addr().expect("its address").port();
            drop(listener);
            let child = Mutex::new(spawn(dir.path(), port));
            let server = ZookeeperServer { child, port, dir };
            if server.answers() {
                return server;
            }
            // Somebody else took the port in between.
        }
        panic!("no ZooKeeper could be started");
    }

    /// Serves, and is the process that we started.
    fn answers(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(Some(_)) = child.try_wait() {
                return false;
            }
            drop(child);
            let said = self.said("srvr");
            if said.is_ok_and(|said| said.contains("Mode: standalone")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        false
    }

    /// What it answers to one of its words of four letters.
    fn said(&self, word: &str) -> std::io::Result<String> {
        let mut stream = TcpStream::connect((HOST, self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(word.as_bytes())?;
        let mut said = String::new();
        stream.read_to_string(&mut said)?;
        Ok(said)
    }

    /// How many wait for locks whose names begin so.
    pub fn queue(&self, prefix: &str) -> usize {
        let waits = |path: &String| path.contains("/wait-");
        self.nodes(prefix).iter().filter(|path| waits(path)).count()
    }

    /// The nodes that live as long as a session, of locks whose names begin so.
    pub fn nodes(&self, prefix: &str) -> Vec<String> {
        let said = self.said("dump").expect("an answer");
        let ephemerals = said
            .split_once("Sessions with Ephemerals")
            .expect("a list")
            .1;
        let paths = ephemerals.lines().map(str::trim);
        let begin = format!("/{prefix}");
        let paths = paths.filter(|path| path.starts_with(&begin));
        paths.map(str::to_owned).collect()
    }

    /// Where it writes down its changes.
    pub fn log(&self) -> PathBuf {
        Launch::log(self.dir.path())
    }
}

impl OneServer for ZookeeperServer {
    const BACKEND: &'static str = "zookeeper";

    fn address(&self) -> String {
        format!("{HOST}:{}", self.port)
    }

    fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.kill();
        let _ = child.wait();
    }

    fn signal(&self, which: Signal) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let pid = i32::try_from(child.id()).expect("a pid fits");
        kill(Pid::from_raw(pid), which).expect("our own child");
    }

    fn restart(&self) {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let again = spawn(self.dir.path(), self.port);
            *self.child.lock().unwrap_or_else(PoisonError::into_inner) = again;
            if self.answers() {
                return;
            }
        }
        panic!("ZooKeeper did not come back on port {}", self.port);
    }
}

impl Drop for ZookeeperServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(folder: &Path, port: u16) -> Child {
    let program = find::find().expect("ZooKeeper (scripts/setup-zookeeper)");
    let launch = Launch {
        folder,
        host: HOST,
        port,
    };
    launch.prepare().expect("its settings");
    let log = fs::File::create(folder.join("log")).expect("a log");
    Command::new(program.java)
        .args(launch.args(&program.jars))
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("it starts")
}
