//! A server that makes edges, of the test's own: loopback, a free port, gone with the value.

use lockdrill::env::edge::{self, EdgeError};
use lockdrill::env::procfs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a server may take to listen on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Set where the program must be here: then a case that cannot be played fails.
const REQUIRED: &str = "LOCKDRILL_REQUIRE_TOXIPROXY";

/// A running server.
pub struct EdgeServer {
    child: Child,
    pub address: SocketAddr,
}

impl EdgeServer {
    /// `None` where the program is not on this machine and need not be.
    pub fn start(kind: &edge::EdgeServer) -> Option<EdgeServer> {
        let program = match (kind.find)() {
            Ok(program) => program,
            Err(error @ EdgeError::Missing { .. }) => {
                assert!(error.to_string().contains("install"), "{error}");
                assert!(std::env::var_os(REQUIRED).is_none(), "{error}");
                println!("{}: not played here: {error}", kind.name);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        for _ in 0..20 {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = free.local_addr().unwrap();
            drop(free);
            let child = Command::new(&program)
                .args((kind.args)(address))
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .expect("a server of edges");
            let mut server = EdgeServer { child, address };
            if server.listens() {
                return Some(server);
            }
            // Somebody else took the port in between.
        }
        panic!("no {} could be started", kind.name);
    }

    /// Asks it something behind the provider's back, and gives the answer.
    pub fn tell(&self, method: &str, path: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        let head = format!("{head}Content-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    fn listens(&mut self) -> bool {
        let pid = i32::try_from(self.child.id()).unwrap();
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            if procfs::listens(pid, self.address.port()).unwrap_or(false) {
                return true;
            }
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        panic!("it does not listen on {}", self.address);
    }
}

impl Drop for EdgeServer {
    fn drop(&mut self) {
        self.kill();
    }
}
