//! The programs that change the kernel's packet filter and end sockets: found, run, reaped.

use crate::env::edge::EdgeError;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;
use tokio::time::timeout;

/// Longer than either takes; `iptables -w` may wait for another one.
const LIMIT: Duration = Duration::from_secs(20);

/// Where they are.
#[derive(Debug)]
pub struct Programs {
    iptables: PathBuf,
    ss: PathBuf,
}

impl Programs {
    /// On `PATH`, or where system programs are when `PATH` does not say so.
    ///
    /// # Errors
    /// When one is missing: which, and the package that brings it.
    pub fn find() -> Result<Programs, EdgeError> {
        Ok(Programs {
            iptables: find("iptables", "install the package iptables")?,
            ss: find("ss", "install the package iproute2")?,
        })
    }

    /// Runs `iptables` and gives what it printed.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn iptables(&self, arguments: &[String]) -> Result<String, EdgeError> {
        run(&self.iptables, arguments).await
    }

    /// The rules of the chain `INPUT` with their counters.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn listing(&self) -> Result<String, EdgeError> {
        let words = ["-w", "-v", "-S", "INPUT"].map(str::to_owned);
        self.iptables(&words).await
    }

    /// Ends the TCP sockets that match, as if reset.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn kill_sockets(&self, matching: &str) -> Result<(), EdgeError> {
        let words = ["-K", "-H", "-n", "-t", matching].map(str::to_owned);
        run(&self.ss, &words).await.map(drop)
    }

    /// How many TCP sockets that are neither listening nor closed match.
    ///
    /// # Errors
    /// When it fails, with what it said.
    pub async fn sockets(&self, matching: &str) -> Result<usize, EdgeError> {
        let words = ["-H", "-n", "-t", matching].map(str::to_owned);
        let live = run(&self.ss, &words).await?;
        Ok(live.lines().count())
    }
}

async fn run(program: &PathBuf, arguments: &[String]) -> Result<String, EdgeError> {
    let what = || format!("{} {}", program.display(), arguments.join(" "));
    let output = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .kill_on_drop(true)
        .output();
    let output = timeout(LIMIT, output)
        .await
        .map_err(|_| EdgeError::Refused(format!("{} took too long", what())))?
        .map_err(EdgeError::io(what()))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(EdgeError::Refused(format!("{}: {}", what(), said.trim())))
}

fn find(program: &'static str, todo: &'static str) -> Result<PathBuf, EdgeError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(program))
        .find(|candidate| candidate.is_file())
        .ok_or(EdgeError::Missing { program, todo })
}
