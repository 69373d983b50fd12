//! A real redis-server of the test's own: loopback, ephemeral port, a folder of its own, gone
//! with the value. A missing server fails the test; it is never skipped.

use std::net::TcpListener;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long a server may take to answer its first command on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Set where a Valkey must be here: then a case that needs it fails without.
const VALKEY_REQUIRED: &str = "LOCKDRILL_REQUIRE_VALKEY";

/// A running server.
pub struct RedisServer {
    program: PathBuf,
    child: Child,
    port: u16,
    arguments: Vec<String>,
    dir: TempDir,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl RedisServer {
    /// Without persistence.
    pub fn start() -> RedisServer {
        RedisServer::start_with(&[])
    }

    /// With further arguments of redis-server, e.g. `["--replicaof", "127.0.0.1 6380"]`.
    pub fn start_with(arguments: &[&str]) -> RedisServer {
        RedisServer::start_program(binary(), arguments)
    }

    /// A Valkey, which has `SET … IFEQ`; `None` where it is not on this machine and need not be.
    pub fn valkey() -> Option<RedisServer> {
        let program = valkey();
        if program.is_none() {
            assert!(
                std::env::var_os(VALKEY_REQUIRED).is_none(),
                "no valkey-server"
            );
            println!(
                "not played here: there is no valkey-server (`scripts/setup-valkey` brings it)"
            );
        }
        program.map(|program| RedisServer::start_program(program, &[]))
    }

    fn start_program(program: PathBuf, arguments: &[&str]) -> RedisServer {
        let arguments: Vec<_> = arguments.iter().map(|part| (*part).to_owned()).collect();
        for _ in 0..20 {
            let dir = TempDir::new().expect("a folder for the server");
            let port = free_port();
            let mut server = RedisServer {
                child: spawn(&program, port, &dir, &arguments),
                program: program.clone(),
                port,
                arguments: arguments.clone(),
                dir,
            };
            if server.answers() {
                return server;
            }
            // Somebody else took the port in between.
        }
        panic!("no redis-server could be started");
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// `127.0.0.1:port`.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    /// Process id.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).expect("a pid fits")
    }

    /// SIGKILL, and waits until it is gone.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Starts it again on the same port, empty, after [`RedisServer::kill`].
    pub fn restart(&mut self) {
        self.kill();
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            self.child = spawn(&self.program, self.port, &self.dir, &self.arguments);
            if self.answers() {
                return;
            }
        }
        panic!("redis-server did not come back on port {}", self.port);
    }

    /// An ordinary Redis takes its place, empty and on the same port.
    pub fn replaced_by_redis(&mut self) {
        self.program = binary();
        self.restart();
    }

    /// A connection of the test's own, past every proxy.
    pub fn connection(&self) -> redis::Connection {
        redis::Client::open(format!("redis://{}", self.address()))
            .and_then(|client| client.get_connection_with_timeout(PATIENCE))
            .expect("a connection to the test's own server")
    }

    /// Sends one command, words separated by spaces, and returns the reply.
    pub fn tell<T: redis::FromRedisValue>(&self, command: &str) -> T {
        let mut words = command.split(' ');
        let mut cmd = redis::cmd(words.next().expect("a command"));
        for word in words {
            cmd.arg(word);
        }
        cmd.query(&mut self.connection())
            .unwrap_or_else(|error| panic!("`{command}`: {error}"))
    }

    /// Answers, and is the process that we started.
    fn answers(&mut self) -> bool {
        let deadline = Instant::now() + PATIENCE;
        let url = format!("redis://{}", self.address());
        let client = redis::Client::open(url).expect("a loopback address");
        while Instant::now() < deadline {
            if let Ok(Some(_)) = self.child.try_wait() {
                return false;
            }
            let info = client
                .get_connection_with_timeout(Duration::from_secs(1))
                .and_then(|mut c| redis::cmd("INFO").arg("server").query::<String>(&mut c));
            if let Ok(info) = info {
                return info.contains(&format!("process_id:{}\r\n", self.child.id()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for RedisServer {
    fn drop(&mut self) {
        self.kill();
    }
}

fn free_port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

fn spawn(program: &Path, port: u16, dir: &TempDir, arguments: &[String]) -> Child {
    let port = port.to_string();
    let fixed = ["--bind", "127.0.0.1", "--port", &port];
    let folder = dir.path().to_str().expect("a folder with a plain name");
    let rest = ["--save", "", "--appendonly", "no", "--dir", folder];
    let debug = ["--enable-debug-command", "local"];
    let all = [&fixed[..], &rest, &debug].concat();
    let all = all.into_iter().map(str::to_owned);
    run(
        program,
        &all.chain(arguments.iter().cloned()).collect::<Vec<_>>(),
    )
}

/// A redis-server with these arguments. Whoever gets it ends it.
#[allow(dead_code, reason = "each test file uses what it needs")]
pub fn launch(arguments: &[String]) -> Child {
    run(&binary(), arguments)
}

fn run(program: &Path, arguments: &[String]) -> Child {
    Command::new(program)
        .arg0("redis-server")
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("redis-server starts")
}

/// The one that the lab is told to use; else `redis-server`, or `redis-check-rdb`: the same binary,
/// which looks at its own name.
fn binary() -> PathBuf {
    if let Some(named) = std::env::var_os("LOCKDRILL_REDIS_SERVER") {
        return named.into();
    }
    on_path("redis-server")
        .or_else(|| on_path("redis-check-rdb"))
        .expect("redis-server (Debian: apt-get install redis-server or redis-tools) is on PATH")
}

/// The one that is named, the one on `PATH`, or the one that `scripts/setup-valkey` has brought.
pub fn valkey() -> Option<PathBuf> {
    const NAME: &str = "valkey-server";
    if let Some(named) = std::env::var_os("LOCKDRILL_VALKEY") {
        return Some(named.into());
    }
    let brought = lockdrill::env::brought::folder().map(|folder| folder.join(NAME));
    on_path(NAME).or_else(|| brought.filter(|program| program.is_file()))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places = std::env::split_paths(&path).map(|folder| folder.join(name));
    places.find(|candidate| candidate.is_file())
}
