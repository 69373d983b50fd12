//! Why a server that was started did not stay, from its own log.

use super::log_of;
use crate::env::error::EnvError;
use crate::run::director::DirectorError;
use crate::run::director::scene::Scene;
use crate::run::run_dir;

/// What is told of it.
pub(super) fn died(scene: &Scene, role: &str) -> DirectorError {
    let log = log_of(&scene.spec.arm_dir.join(run_dir::LOGS), role);
    let text = std::fs::read_to_string(&log).unwrap_or_default();
    let mut lines = text.lines().rev();
    let reason = lines.find(|line| !line.trim().is_empty());
    // A setting that it refuses stands above the reason.
    let setting = text
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(">>> "));
    DirectorError::Env(EnvError::new(
        format!(
            "redis-server ({role}) ended at once: {}{}",
            setting.map_or_else(String::new, |setting| format!("{setting}: ")),
            reason.unwrap_or("it wrote no log").trim()
        ),
        format!("see {}", log.display()),
    ))
}
