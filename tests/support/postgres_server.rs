//! A real Postgres of the test's own: loopback, ephemeral port, a folder of its own, gone with the
//! value. A missing server fails the test; it is never skipped.
//!
//! `initdb` takes most of a second, so its result is kept in the build folder and copied.

use super::one_server::{HOST, OneServer, first_process, free_ports, pid_of, shared, started};
use lockdrill::env::postgres::find;
use lockdrill::env::postgres::server::{self, Launch};
use lockdrill::env::procfs;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

static SHARED: Mutex<Weak<PostgresServer>> = Mutex::new(Weak::new());
static DATABASES: AtomicU64 = AtomicU64::new(0);

/// A running server.
pub struct PostgresServer {
    child: Mutex<Child>,
    port: u16,
    dir: TempDir,
}

/// An empty database of a server that lives as long as it.
pub struct Database {
    server: Arc<PostgresServer>,
    name: String,
}

impl PostgresServer {
    /// The one that all tests share who run now. Nobody may do anything to it.
    pub fn shared() -> Arc<PostgresServer> {
        shared(&SHARED, PostgresServer::start)
    }

    /// One of its own.
    pub fn start() -> PostgresServer {
        started(|| {
            let dir = TempDir::new().expect("a folder for the server");
            fs::write(dir.path().join(server::HBA), server::OPEN).expect("a file");
            copy(&template(), &dir.path().join("data"));
            let [port] = free_ports();
            let child = Mutex::new(spawn(&dir, port));
            PostgresServer { child, port, dir }
        })
    }

    /// The folder with its socket file.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// An empty database.
    pub async fn database(self: Arc<Self>) -> Database {
        let name = format!("d{}", DATABASES.fetch_add(1, Ordering::SeqCst));
        let client = self.connect("postgres").await;
        let create = format!("CREATE DATABASE {name}");
        client.batch_execute(&create).await.expect("a database");
        Database { server: self, name }
    }

    /// A connection of the test's own, past every proxy.
    pub async fn connect(&self, database: &str) -> Client {
        let how = format!(
            "host={HOST} port={} user=postgres dbname={database}",
            self.port
        );
        let (client, connection) = tokio_postgres::connect(&how, NoTls)
            .await
            .expect("a connection to the test's own server");
        tokio::spawn(connection);
        client
    }
}

impl OneServer for PostgresServer {
    const BACKEND: &'static str = "postgres";
    const PATIENCE: Duration = Duration::from_secs(30);

    fn child(&self) -> &Mutex<Child> {
        &self.child
    }

    fn port(&self) -> u16 {
        self.port
    }

    fn spawn(&self) -> Child {
        spawn(&self.dir, self.port)
    }

    /// It says that it is ready.
    fn serves(&self, pid: u32) -> bool {
        let said = fs::read_to_string(self.dir.path().join("data/postmaster.pid"));
        let said = said.unwrap_or_default();
        let lines: Vec<&str> = said.lines().map(str::trim).collect();
        // The file of one that was killed is still there.
        lines.first() == Some(&pid.to_string().as_str()) && lines.get(7) == Some(&"ready")
    }

    /// Of every process.
    fn kill(&self) {
        end(&mut first_process(self));
    }

    /// To every process.
    fn signal(&self, which: Signal) {
        signal(&first_process(self), which);
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Database {
    /// What a lock back end is connected with.
    pub fn address(&self) -> String {
        format!("{}/{}", self.server.address(), self.name)
    }

    /// `127.0.0.1:port` of its server.
    pub fn place(&self) -> String {
        self.server.address()
    }

    /// What the server calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A connection of the test's own.
    pub async fn connect(&self) -> Client {
        self.server.connect(&self.name).await
    }

    /// How many wait, the one at the head of the queue among them.
    pub async fn queue(&self) -> usize {
        let sql = "SELECT count(*) FROM pg_locks JOIN pg_stat_activity USING (pid)
                   WHERE locktype = 'advisory' AND datname = current_database()
                     AND application_name = 'lockdrill waits'";
        self.text(sql).await.parse().expect("a number")
    }

    /// Does something to the database itself.
    pub async fn outside(&self, sql: &str) {
        let client = self.server.connect("postgres").await;
        let done = client.batch_execute(sql).await;
        done.unwrap_or_else(|error| panic!("`{sql}`: {error}"));
    }

    /// The first column of the only row.
    pub async fn text(&self, sql: &str) -> String {
        let client = self.server.connect(&self.name).await;
        let rows = client.simple_query(sql).await;
        let rows = rows.unwrap_or_else(|error| panic!("`{sql}`: {error}"));
        let value = rows.iter().find_map(|row| match row {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        });
        value.unwrap_or_default()
    }
}

/// Kills every process of the server and waits until all are gone.
fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(Some(_))) {
        // Its process id may be somebody else's by now.
        return;
    }
    // The first process stands still while its children are looked for, so that it makes no more.
    signal(child, Signal::SIGSTOP);
    let all = processes(child);
    signal(child, Signal::SIGKILL);
    let _ = child.wait();
    let deadline = Instant::now() + PostgresServer::PATIENCE;
    while all.iter().any(|pid| lives(*pid)) {
        assert!(
            Instant::now() < deadline,
            "a process of the server does not end"
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Every process of the server, the first one first.
fn processes(child: &Child) -> Vec<i32> {
    let pid = pid_of(child).as_raw();
    let all = procfs::all().unwrap_or_default().into_iter();
    let children = all.filter(|stat| stat.is_living_child_of(pid));
    std::iter::once(pid)
        .chain(children.map(|stat| stat.pid))
        .collect()
}

fn lives(pid: i32) -> bool {
    procfs::stat(pid).is_ok_and(|stat| !stat.is_dead())
}

/// To every process of the server.
fn signal(child: &Child, which: Signal) {
    for pid in processes(child) {
        // Gone already is as good.
        let _ = kill(Pid::from_raw(pid), which);
    }
}

fn spawn(dir: &TempDir, port: u16) -> Child {
    let folder = dir.path();
    let programs = find::find().expect("Postgres (Debian: apt-get install postgresql)");
    let launch = Launch {
        programs: &programs.folder,
        folder,
        host: HOST,
        port,
    };
    let (program, args) = launch.command().expect("a short path");
    let log = fs::File::create(folder.join("log")).expect("a log");
    Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .expect("it starts")
}

/// A data folder as `initdb` makes it, made once.
fn template() -> PathBuf {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let programs = find::find().expect("Postgres (Debian: apt-get install postgresql)");
        let all = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let made = all.join(format!("postgres-{}", programs.version));
        if !made.exists() {
            let fresh = tempfile::tempdir_in(all).expect("a folder");
            let data = fresh.path().join("data");
            let [unshare, apart @ ..] = server::APART;
            let status = Command::new(unshare)
                .args(apart)
                .arg(programs.folder.join("initdb"))
                .arg("-D")
                .arg(&data)
                .args([
                    "-U",
                    "postgres",
                    "-A",
                    "trust",
                    "-E",
                    "UTF8",
                    "--locale=C",
                    "--no-sync",
                ])
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status();
            assert!(status.expect("initdb runs").success());
            // Another test program may have been faster.
            let _ = fs::rename(&data, &made);
        }
        made
    });
    made.clone()
}

fn copy(from: &Path, to: &Path) {
    let copied = Command::new("cp").arg("-R").arg(from).arg(to).status();
    assert!(copied.expect("cp runs").success());
}
