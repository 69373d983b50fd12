//! How a Postgres server under test is started and ended: every setting on the command line.
//!
//! Postgres refuses to run as root, so it is given a user namespace in which it is somebody else;
//! the files stay ours. It gets an IPC namespace of its own too: killed, it leaves a shared memory
//! segment behind, which goes with the namespace.
//!
//! Each of its processes but the first is the leader of a process group of its own, so whoever
//! stops or kills the server has to look for them.

use crate::env::socket_file;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// What every server is started with, in front of its own command line.
pub const APART: [&str; 5] = [
    "unshare",
    "--user",
    "--ipc",
    "--map-user=1000",
    "--map-group=1000",
];

/// Role that owns everything, and name of the first database.
pub const ROLE: &str = "postgres";

/// Makes what is not there, then becomes the server: data, initdb, postgres, its arguments.
const SCRIPT: &str = r#"
set -eu
data=$1 initdb=$2 postgres=$3
shift 3
if ! [ -s "$data/PG_VERSION" ]; then
  "$initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync --no-instructions >&2
fi
: >"$data/postgresql.conf"
exec "$postgres" -D "$data" "$@"
"#;

/// A server that is to be started.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// The folder of the programs.
    pub programs: &'a Path,
    /// Its folder: the data, the socket file, who may come in.
    pub folder: &'a Path,
    /// Where it listens.
    pub host: IpAddr,
    /// Its port; the socket file has it in its name.
    pub port: u16,
}

impl Launch<'_> {
    /// The program and its arguments.
    ///
    /// # Errors
    /// When the path is too long for a socket; the message says so.
    pub fn command(&self) -> Result<(PathBuf, Vec<String>), String> {
        socket(self.folder, self.port)?;
        let [program, apart @ ..] = APART;
        let mut args: Vec<String> = apart.map(str::to_owned).to_vec();
        let text = |path: PathBuf| path.display().to_string();
        args.extend(["sh", "-c", SCRIPT, "postgres"].map(str::to_owned));
        args.push(text(self.folder.join("data")));
        args.push(text(self.programs.join("initdb")));
        args.push(text(self.programs.join("postgres")));
        args.extend(["-p".to_owned(), self.port.to_string()]);
        args.extend(["-k".to_owned(), text(self.folder.to_owned())]);
        for (name, value) in [
            ("listen_addresses", self.host.to_string()),
            ("hba_file", text(self.folder.join(HBA))),
        ]
        .into_iter()
        .chain(SETTINGS.map(|(name, value)| (name, value.to_owned())))
        {
            args.extend(["-c".to_owned(), format!("{name}={value}")]);
        }
        Ok((PathBuf::from(program), args))
    }
}

/// `fsync`: what was committed is handed to the operating system before it is told, and outlives
/// every process; only a crash of the whole machine would lose it, and no fault is one.
/// `wal_level`: what happens is followed. `dynamic_shared_memory_type`: in the data folder, not in
/// /dev/shm, where it would be left behind. `log_min_error_statement`: no statement in the log.
const SETTINGS: [(&str, &str); 11] = [
    ("fsync", "off"),
    ("unix_socket_permissions", "0700"),
    ("shared_buffers", "16MB"),
    ("dynamic_shared_memory_type", "mmap"),
    ("max_connections", "200"),
    ("wal_level", "logical"),
    ("max_wal_senders", "4"),
    ("max_replication_slots", "4"),
    ("jit", "off"),
    ("log_min_error_statement", "panic"),
    ("log_checkpoints", "off"),
];

/// Name of the file that says who may come in.
pub const HBA: &str = "hba.conf";

/// Nobody but us, over the socket file.
pub const CLOSED: &str = "local all all trust\nlocal replication all trust\n";

/// Whoever reaches the port, too.
pub const OPEN: &str = "local all all trust\nlocal replication all trust\nhost all all all trust\n";

/// Our own way in to a server that lives in `folder`.
///
/// # Errors
/// When the path is too long for a socket; the message says so.
pub fn socket(folder: &Path, port: u16) -> Result<PathBuf, String> {
    socket_file::fits(folder.join(format!(".s.PGSQL.{port}")))
}
