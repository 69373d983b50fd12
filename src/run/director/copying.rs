//! Who copies a server, by the word of all that are concerned: waits until nobody does any more, or
//! everybody again.

use super::players::Struck;
use super::scene::Scene;
use super::{DirectorError, telling, until};
use crate::env::deployment;
use std::time::Duration;

/// Links that are closed are seen to be down within 20 ms, unless the host is busy. Much longer, and
/// nobody would be good enough to take over.
const CUT_MAX: Duration = Duration::from_secs(1);

/// A replica tries once a second.
const BACK_MAX: Duration = Duration::from_secs(10);

/// For how long a server is asked to wait for those that copy it, ms.
const WAIT_MS: &str = "3000";

/// Waits until nobody copies the target any more but those that never take over.
pub(super) async fn ended(
    scene: &mut Scene,
    struck: &Struck,
) -> Result<Result<(), String>, DirectorError> {
    let name = struck.server()?;
    let backups = deployment::backups(&scene.plan.lock);
    if until::roles(scene, CUT_MAX, |truth| truth.is_cut_off(name, backups)).await? {
        return Ok(Ok(()));
    }
    Ok(Err(format!("{name} was still copied after {CUT_MAX:?}")))
}

/// Waits until everybody copies the target again, and has all that it has: what is written now
/// comes last. When that was seen; none if it was not.
pub(super) async fn resumed(
    scene: &mut Scene,
    fault: &str,
    struck: &Struck,
) -> Result<Option<u64>, DirectorError> {
    let name = struck.server()?;
    if !until::roles(scene, BACK_MAX, |truth| truth.copies(name).is_some()).await? {
        return Ok(None);
    }
    let Some(copies) = scene.truth.copies(name) else {
        return Ok(None);
    };
    let mark = ["SET", "{lock}:copied", "1", "PX", WAIT_MS];
    if telling::ask(scene, &mark, (fault, struck)).await?.is_err() {
        return Ok(None);
    }
    let wait = ["WAIT", &copies.to_string(), WAIT_MS];
    let answer = telling::ask(scene, &wait, (fault, struck)).await?;
    let all = answer.is_ok_and(|answer| answer == format!("int({copies})"));
    Ok(all.then(|| scene.now()))
}
