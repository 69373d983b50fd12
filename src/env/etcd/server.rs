//! How an etcd under test is started: every setting on the command line, none from the environment.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;

/// Time between two beats of the leader's heart, in ms; a tenth of the next, as usual.
const HEARTBEAT_MS: &str = "20";
/// How long a member hears nothing before it asks to be elected, in ms. The shortest lease is one
/// and a half times as long, rounded up: one second.
const ELECTION_MS: &str = "200";
/// Name of the only member.
const NAME: &str = "e0";

/// A server that is to be started.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Where its data are.
    pub folder: &'a Path,
    /// Where it listens.
    pub host: IpAddr,
    /// Its port for clients.
    pub port: u16,
    /// Where other members would find it.
    pub peers: SocketAddr,
}

impl Launch<'_> {
    /// Its arguments.
    pub fn args(&self) -> Vec<String> {
        let clients = format!("http://{}", SocketAddr::new(self.host, self.port));
        // What it tells others of itself; nobody asks.
        let told = SocketAddr::new(self.peers.ip(), self.port);
        let told = format!("http://{told}");
        let peers = format!("http://{}", self.peers);
        let data = self.folder.join("data").display().to_string();
        let cluster = format!("{NAME}={peers}");
        let settings: [(&str, &str); 13] = [
            ("name", NAME),
            ("data-dir", &data),
            ("listen-client-urls", &clients),
            ("advertise-client-urls", &told),
            ("listen-peer-urls", &peers),
            ("initial-advertise-peer-urls", &peers),
            ("initial-cluster", &cluster),
            ("initial-cluster-state", "new"),
            ("heartbeat-interval", HEARTBEAT_MS),
            ("election-timeout", ELECTION_MS),
            // Only a crash of the whole machine would lose what is not synced, and no fault is one.
            ("unsafe-no-fsync", "true"),
            ("logger", "zap"),
            ("log-level", "warn"),
        ];
        let settings = settings.iter();
        settings
            .map(|(name, value)| format!("--{name}={value}"))
            .collect()
    }
}
