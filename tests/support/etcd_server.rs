//! A real etcd of the test's own: loopback, ephemeral ports, a folder of its own, gone with the
//! value. A missing server fails the test; it is never skipped.

use super::http;
use super::one_server::{OneServer, shared};
use lockdrill::env::etcd::find;
use lockdrill::env::etcd::server::Launch;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;

const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// How long a server may take to answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

static SHARED: Mutex<Weak<EtcdServer>> = Mutex::new(Weak::new());

/// A running server.
pub struct EtcdServer {
    child: Mutex<Child>,
    port: u16,
    peers: u16,
    dir: TempDir,
}

impl EtcdServer {
    /// The one that all tests share who run now. Nobody may do anything to it.
    pub fn shared() -> Arc<EtcdServer> {
        shared(&SHARED, EtcdServer::start)
    }

    /// One of its own.
    pub fn start() -> EtcdServer {
        for _ in 0..20 {
            let dir = TempDir::new().expect("a folder for the server");
            let (port, peers) = free_ports();
            let child = Mutex::new(spawn(dir.path(), port, peers));
            let server = EtcdServer {
                child,
                port,
                peers,
                dir,
            };
            if server.answers() {
                return server;
            }
            // Somebody else took a port in between.
        }
        panic!("no etcd could be started");
    }

    /// Has a leader, and is the process that we started.
    fn answers(&self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            if let Ok(Some(_)) = child.try_wait() {
                return false;
            }
            drop(child);
            let status = http::post(&self.address(), "/v3/maintenance/status", "{}");
            if status.is_some_and(|said| said.contains("\"leader\"")) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }

    /// What the gateway answers, past every proxy; a refusal fails the test.
    pub fn tell(&self, path: &str, body: &Value) -> Value {
        let said = http::post(&self.address(), &format!("/v3/{path}"), &body.to_string());
        let said = said.unwrap_or_else(|| panic!("no answer to {path}"));
        serde_json::from_str(&said).unwrap_or_else(|error| panic!("{path}: {error} in {said}"))
    }

    /// How many wait for locks whose names begin so.
    pub fn queue(&self, prefix: &str) -> usize {
        let waits = |key: &Vec<u8>| key.contains(&0xff);
        self.keys(prefix).iter().filter(|key| waits(key)).count()
    }

    /// The keys that begin so, in order of their names.
    pub fn keys(&self, prefix: &str) -> Vec<Vec<u8>> {
        use base64::Engine as _;
        use base64::engine::general_purpose::STANDARD;
        let all = json!({ "key": "AA==", "range_end": "AA==", "keys_only": true });
        let answer = self.tell("kv/range", &all);
        let kvs = answer.get("kvs").and_then(Value::as_array).cloned();
        let keys = kvs.unwrap_or_default().into_iter();
        let keys = keys.map(|kv| STANDARD.decode(kv["key"].as_str().unwrap()).unwrap());
        keys.filter(|key| key.starts_with(prefix.as_bytes()))
            .collect()
    }

    /// How many leases there are.
    pub fn leases(&self) -> usize {
        let answer = self.tell("lease/leases", &json!({}));
        let leases = answer.get("leases").and_then(Value::as_array);
        leases.map_or(0, Vec::len)
    }
}

impl OneServer for EtcdServer {
    const BACKEND: &'static str = "etcd";

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
            let again = spawn(self.dir.path(), self.port, self.peers);
            *self.child.lock().unwrap_or_else(PoisonError::into_inner) = again;
            if self.answers() {
                return;
            }
        }
        panic!("etcd did not come back on port {}", self.port);
    }
}

impl Drop for EtcdServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(folder: &Path, port: u16, peers: u16) -> Child {
    let program = find::find().expect("etcd (Debian: apt-get install etcd-server)");
    let launch = Launch {
        folder,
        host: HOST,
        port,
        peers: SocketAddr::new(HOST, peers),
    };
    let log = fs::File::create(folder.join("log")).expect("a log");
    Command::new(program.path)
        .args(launch.args())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("it starts")
}

/// Two at once, so that they differ.
fn free_ports() -> (u16, u16) {
    let one = TcpListener::bind((HOST, 0)).expect("a free port");
    let other = TcpListener::bind((HOST, 0)).expect("a free port");
    let port = |listener: &TcpListener| listener.local_addr().expect("its address").port();
    (port(&one), port(&other))
}
