//! A gateway of the test's own: a process of lockdrill, on loopback and in a folder of its own, gone
//! with the value.

use super::one_server::{HOST, free_ports};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long it may take to listen on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running gateway.
pub struct Gateway {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
}

impl Gateway {
    pub fn start() -> Gateway {
        for _ in 0..20 {
            let [port] = free_ports();
            let address = SocketAddr::new(HOST, port);
            let folder = TempDir::new().unwrap();
            let child = spawn(address, &folder);
            let mut gateway = Gateway {
                child,
                address,
                folder,
            };
            if gateway.listens() {
                return gateway;
            }
            // Somebody else took the port in between.
        }
        panic!("no gateway could be started");
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again at the same place, with what it had.
    pub fn restart(&mut self) {
        self.kill();
        self.child = spawn(self.address, &self.folder);
        assert!(self.listens(), "it does not come back");
    }

    /// Starts it again empty.
    pub fn empty(&mut self) {
        self.kill();
        self.folder = TempDir::new().unwrap();
        self.restart();
    }

    fn listens(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            if TcpStream::connect(self.address).is_ok() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        false
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.kill();
    }
}

fn spawn(address: SocketAddr, folder: &TempDir) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lockdrill"))
        .args(["gateway", "--listen", &address.to_string(), "--folder"])
        .arg(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a gateway")
}
