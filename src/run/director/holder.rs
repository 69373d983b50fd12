//! Whose the lock is, before a fault is aimed at its holder: what the server did until now must have
//! been seen. A stream may be later than the answers that workers have got.

use super::players::{Followed, Server, Standing};
use super::scene::Scene;
use super::{DirectorError, until};
use crate::env::control::Control;
use crate::env::error::EnvError;
use crate::env::redis::appended::Marks;
use crate::plan::Service;
use std::time::Duration;

/// Longest wait for the mark of a given server to come by.
const SEEN_MAX: Duration = Duration::from_secs(10);

/// The same of a server of the lab's own, which is nearer; if it does not come the fault says why.
const NEAR_MAX: Duration = Duration::from_secs(2);

/// Waits until the observer has seen what the lock's server has done until now: always where it was
/// given, because its stream comes the same way as everybody's answers; of one of the lab's own, if
/// nobody is known to hold.
pub async fn catch_up(scene: &mut Scene) -> Result<(), DirectorError> {
    let given = scene.spec.given.is_some();
    if !given && scene.truth.holder(scene.now()).is_ok() {
        return Ok(());
    }
    let mut asked = Vec::new();
    for (name, server) in &scene.servers {
        let mark = format!("at-{}-{name}", scene.now());
        if server.service == Service::Lock
            && server.standing == Standing::Up
            && let Some(way) = way(server)
        {
            asked.push((mark, way));
        }
    }
    for (mark, way) in asked {
        let written = tokio::time::timeout(NEAR_MAX, write(&way, &mark)).await;
        match written {
            Ok(result) if given => {
                result?;
                until::marked(scene, &mark, SEEN_MAX).await?;
            }
            // Whether it came shows in who is named.
            Ok(Ok(())) => until::said(scene, NEAR_MAX, |scene| scene.marks.contains(&mark)).await?,
            Ok(Err(_)) | Err(_) => {}
        }
    }
    Ok(())
}

/// How a mark comes into what is read of a server.
enum Way {
    /// The server writes it into its own stream.
    Server(Control),
    /// Whoever reads the server's file tells when it has read to the end.
    Reader(Marks),
}

fn way(server: &Server) -> Option<Way> {
    match &server.followed {
        Followed::Stream | Followed::Decoded(_) | Followed::Watched(_) | Followed::Logged(_) => {
            server.control.clone().map(Way::Server)
        }
        Followed::Appended(marks) => Some(Way::Reader(marks.clone())),
        Followed::No | Followed::Over => None,
    }
}

async fn write(way: &Way, mark: &str) -> Result<(), EnvError> {
    match way {
        Way::Server(control) => control.mark(mark).await,
        // One that has ended has told why.
        Way::Reader(marks) => {
            let _ = marks.send(mark.to_owned());
            Ok(())
        }
    }
}
