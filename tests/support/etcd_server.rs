//! A real etcd of the test's own: loopback, ephemeral ports, a folder of its own, gone with the
//! value. A missing server fails the test; it is never skipped.

use super::http;
use super::one_server::{HOST, OneServer, free_ports, shared, started};
use lockdrill::env::etcd::find;
use lockdrill::env::etcd::server::Launch;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tempfile::TempDir;

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
        started(|| {
            let dir = TempDir::new().expect("a folder for the server");
            let [port, peers] = free_ports();
            EtcdServer {
                child: Mutex::new(spawn(&dir, port, peers)),
                port,
                peers,
                dir,
            }
        })
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
    const PATIENCE: Duration = Duration::from_secs(30);

    fn child(&self) -> &Mutex<Child> {
        &self.child
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn spawn(&self) -> Child {
        spawn(&self.dir, self.port, self.peers)
    }

    /// It has a leader.
    fn serves(&self, _pid: u32) -> bool {
        let status = http::post(&self.address(), "/v3/maintenance/status", "{}");
        status.is_some_and(|said| said.contains("\"leader\""))
    }
}

impl Drop for EtcdServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(dir: &TempDir, port: u16, peers: u16) -> Child {
    let folder = dir.path();
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
