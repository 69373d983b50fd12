//! How a ZooKeeper under test is started: one member, all of its settings in a file of ours.

use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// How often the server looks for sessions that have ended, ms: as much later than asked for may a
/// lease end.
pub const TICK_MS: u64 = 50;
/// The shortest and the longest time that a session may ask for, ms. Twice and twenty ticks are
/// usual.
const SESSIONS_MS: (u64, u64) = (TICK_MS, 600_000);

/// A server that is to be started.
#[derive(Debug, Clone)]
pub struct Launch<'a> {
    /// Where its settings and its data are.
    pub folder: &'a Path,
    /// Where it listens.
    pub host: IpAddr,
    /// Its port.
    pub port: u16,
}

impl Launch<'_> {
    /// Writes its settings.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn prepare(&self) -> io::Result<()> {
        let (shortest, longest) = SESSIONS_MS;
        let (data, host, port) = (self.folder.join("data"), self.host, self.port);
        let settings = format!(
            "tickTime={TICK_MS}\ndataDir={}\nclientPort={port}\nclientPortAddress={host}\n\
             maxClientCnxns=0\nminSessionTimeout={shortest}\nmaxSessionTimeout={longest}\n",
            data.display()
        );
        std::fs::write(self.settings(), settings)
    }

    fn settings(&self) -> PathBuf {
        self.folder.join("zoo.cfg")
    }

    /// The folder of the files in which it writes down every change before it answers.
    pub fn log(folder: &Path) -> PathBuf {
        folder.join("data/version-2")
    }

    /// The arguments of Java, with the folder of the jars.
    pub fn args(&self, jars: &Path) -> Vec<String> {
        let mut args: Vec<String> = [
            "-Xmx96m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            // It would leave a file in /tmp.
            "-XX:-UsePerfData",
            "-Djava.net.preferIPv4Stack=true",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-Dzookeeper.admin.enableServer=false",
            "-Dzookeeper.jmx.log4j.disable=true",
            "-Dzookeeper.4lw.commands.whitelist=srvr,dump",
            // Only a crash of the whole machine would lose what is not synced, and no fault is one.
            "-Dzookeeper.forceSync=no",
            // KiB that its log grows by.
            "-Dzookeeper.preAllocSize=64",
            // The observer's connection says nothing.
            "-Dzookeeper.nio.sessionlessCnxnTimeout=86400000",
            "-cp",
        ]
        .map(str::to_owned)
        .into();
        args.push(jars.join("*").display().to_string());
        args.push("org.apache.zookeeper.server.quorum.QuorumPeerMain".to_owned());
        args.push(self.settings().display().to_string());
        args
    }
}
