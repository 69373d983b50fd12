//! What every data node of a deployment is started with, whether Sentinel or a cluster looks
//! after it: a port, a socket file for the lab, a file that tells every change, and a user of its
//! own for replication, so that one command to a primary cuts its replicas off.

use super::server;
use std::net::IpAddr;
use std::path::Path;

/// The user that replicas log in as.
pub const USER: &str = "repl";
/// The user that those log in as that never take over.
const BACKUP: &str = "backup";
/// Their password; the servers listen on loopback only.
const PASSWORD: &str = "repl";

/// The commands, given to a primary, that cut all its replicas off at once, but not those that never
/// take over: nothing that it grants from then on reaches them. They go on trying.
pub const CUT: &[&[&str]] = &[
    &["ACL", "SETUSER", USER, "off"],
    &["CLIENT", "KILL", "USER", USER],
];

/// The command that lets them in again.
pub const HEAL: &[&str] = &["ACL", "SETUSER", USER, "on"];

/// The words that every data node shares. Each is a word of its own: redis-server splits none.
///
/// `repl-diskless-sync no` lets a primary count a replica as soon as it has the data, and not only
/// with its first acknowledgement a second later. The append-only file is for whoever follows the
/// changes of the node: never synced to the disk and of nothing but commands.
///
/// # Errors
/// When the folder's path is too long for a socket.
pub fn args(host: IpAddr, port: u16, folder: &Path) -> Result<Vec<String>, String> {
    let socket = server::socket(folder)?.display().to_string();
    let (host, port) = (host.to_string(), port.to_string());
    let folder = folder.display().to_string();
    let password = format!(">{PASSWORD}");
    let words = [
        &["--port", port.as_str()][..],
        &["--bind", host.as_str()],
        &["--protected-mode", "no"],
        &["--unixsocket", socket.as_str()],
        &["--unixsocketperm", "700"],
        &["--dir", folder.as_str()],
        &["--save", ""],
        &["--daemonize", "no"],
        &["--hz", "100"],
        &["--shutdown-timeout", "0"],
        &["--appendonly", "yes"],
        &["--appendfsync", "no"],
        &["--aof-use-rdb-preamble", "no"],
        &["--auto-aof-rewrite-percentage", "0"],
        &user(USER, &password),
        &user(BACKUP, &password),
        &["--masteruser", USER],
        &["--masterauth", PASSWORD],
        &["--repl-diskless-sync", "no"],
        &["--repl-diskless-sync-delay", "0"],
        &["--repl-ping-replica-period", "1"],
    ];
    Ok(words.concat().into_iter().map(str::to_owned).collect())
}

/// A user that may copy and nothing else.
fn user<'a>(name: &'a str, password: &'a str) -> [&'a str; 7] {
    [
        "--user",
        name,
        "on",
        password,
        "+psync",
        "+replconf",
        "+ping",
    ]
}

/// What is said last to a replica that never takes over.
pub fn backup() -> Vec<String> {
    let words = ["--masteruser", BACKUP, "--replica-priority", "0"];
    words.map(str::to_owned).to_vec()
}
