//! Ends the sessions that a worker has at the lock server, and says on the record how many there were
//! and how many are left.

use super::DirectorError;
use super::players::{Standing, Struck};
use super::scene::Scene;
use super::telling::said;
use crate::env::control::Control;
use crate::plan::Service;
use std::time::Duration;

/// A session that is ended is gone at once, unless the host is busy.
const GONE_MAX: Duration = Duration::from_secs(10);

/// Both answers are on the record; the inner error is why it was not done.
pub async fn end(
    scene: &mut Scene,
    fault: &str,
    struck: &Struck,
) -> Result<Result<(), String>, DirectorError> {
    let Struck::Worker(worker, ..) = struck else {
        return Err(DirectorError::Bug("the sessions of no worker".to_owned()));
    };
    let name = scene.service_name(Service::Lock);
    let server = scene.servers.get(name);
    let server = server.filter(|server| server.standing == Standing::Up);
    let Some(Control::Postgres(control)) = server.and_then(|server| server.control.clone()) else {
        return Ok(Err(format!("{name} cannot be told to end sessions")));
    };
    let found = control.end_sessions(worker, GONE_MAX).await?;
    let answer = found.ended.to_string();
    let command = format!("pg_terminate_backend {worker}");
    said(scene, (fault, name), command, (&answer, found.ended > 0))?;
    let command = format!("pg_stat_activity {worker}");
    said(
        scene,
        (fault, name),
        command,
        (&found.left.to_string(), true),
    )?;
    Ok(match (found.ended, found.left) {
        (0, _) => Err(format!("{worker} has no session at {name}")),
        (_, 0) => Ok(()),
        (_, left) => Err(format!(
            "{left} of {worker}'s sessions and locks did not go"
        )),
    })
}
