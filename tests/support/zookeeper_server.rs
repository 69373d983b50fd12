//! A real ZooKeeper of the test's own: loopback, an ephemeral port, a folder of its own, gone with
//! the value. A missing server fails the test; it is never skipped.

use super::one_server::{HOST, OneServer, free_ports, shared, started};
use lockdrill::env::zookeeper::find;
use lockdrill::env::zookeeper::server::Launch;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tempfile::TempDir;

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
        started(|| {
            let dir = TempDir::new().expect("a folder for the server");
            let [port] = free_ports();
            let child = Mutex::new(spawn(&dir, port));
            ZookeeperServer { child, port, dir }
        })
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
    const PATIENCE: Duration = Duration::from_secs(60);

    fn child(&self) -> &Mutex<Child> {
        &self.child
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn spawn(&self) -> Child {
        spawn(&self.dir, self.port)
    }

    fn serves(&self, _pid: u32) -> bool {
        let said = self.said("srvr");
        said.is_ok_and(|said| said.contains("Mode: standalone"))
    }
}

impl Drop for ZookeeperServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(dir: &TempDir, port: u16) -> Child {
    let folder = dir.path();
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
