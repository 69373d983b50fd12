//! Waiting for a server that was just started: it answers, or it has died and its log says why.

use super::incoming::Incoming;
use super::scene::{ETCD, POSTGRES, STORE, Scene, ZOOKEEPER};
use super::{DirectorError, arrivals};
use crate::env::error::EnvError;
use crate::run::run_dir;
use crate::store::StoreServer;
use std::future::Future;
use std::path::{Path, PathBuf};

/// Waits until the server that we started answers; a server that died is told with the reason
/// from its own log.
pub async fn ready<C>(
    scene: &mut Scene,
    (role, pid): (&str, i32),
    connect: impl Future<Output = Result<C, EnvError>>,
) -> Result<C, DirectorError> {
    tokio::pin!(connect);
    loop {
        tokio::select! {
            connected = &mut connect => return Ok(connected?),
            incoming = scene.inbox.recv() => match incoming {
                Some(Incoming::Child(event)) if event.pid == pid && arrivals::is_end(event.what) => {
                    return Err(died(scene, role));
                }
                Some(other) => arrivals::take(scene, other)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            }
        }
    }
}

/// Where the server of this name logs.
pub fn log_of(logs: &Path, name: &str) -> PathBuf {
    logs.join(format!("{name}.log"))
}

/// What a server is, in words.
pub fn program_of(scene: &Scene, name: &str) -> &'static str {
    let of_store = || scene.store_kind().ok().and_then(|kind| kind.server);
    match name {
        POSTGRES => "Postgres",
        ETCD => "etcd",
        ZOOKEEPER => "ZooKeeper",
        STORE if of_store() == Some(StoreServer::Postgres) => "Postgres",
        STORE if of_store() == Some(StoreServer::Gateway) => "gateway",
        _ => "redis-server",
    }
}

/// The last line of a log; of a Java program, the one in front of its last stack.
fn reason(log: &str) -> Option<&str> {
    let mut lines = log.lines().rev();
    let stack = lines.find(|line| line.starts_with("\tat "));
    let mut lines = match stack {
        Some(_) => lines,
        None => log.lines().rev(),
    };
    lines.find(|line| !line.trim().is_empty() && !line.starts_with("\tat "))
}

fn died(scene: &Scene, role: &str) -> DirectorError {
    let log = log_of(&scene.spec.arm_dir.join(run_dir::LOGS), role);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let reason = reason(&text);
    // A setting that Redis refuses stands above the reason.
    let setting = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(">>> "));
    DirectorError::Env(EnvError::new(
        format!(
            "{} ({role}) ended at once: {}{}",
            program_of(scene, role),
            setting.map_or_else(String::new, |setting| format!("{setting}: ")),
            reason.unwrap_or("it wrote no log").trim()
        ),
        format!("see {}", log.display()),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_stands_last_or_in_front_of_a_stack() {
        assert_eq!(reason("one\ntwo\n\n"), Some("two"));
        let java = "x\njava.net.BindException: in use\n\tat a\n\tat b\nExiting\n";
        assert_eq!(reason(java), Some("java.net.BindException: in use"));
        assert_eq!(reason("\n"), None);
    }
}
