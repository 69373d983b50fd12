//! Carries out the primitive actions that faults are made of, and waits until each is seen to
//! have taken effect.

use super::players::{Standing, Struck};
use super::scene::Scene;
use super::{
    DirectorError, asking, clocks, copying, dead, edges, members, servers, sessions, telling, until,
};
use crate::env::action::Action;
use crate::env::stop;
use crate::plan::FaultPlan;
use crate::timeline::event::ThreadLook;
use std::time::Duration;

/// A killed process is gone at once, unless the host is busy.
const END_MAX: Duration = Duration::from_secs(10);

/// What an onset did.
#[derive(Debug, Default)]
pub struct Done {
    /// Lab time just before the first action, ns.
    pub began: u64,
    /// Lab time at which the last one was seen in full, ns.
    pub effective: u64,
    /// The look that showed a stop; empty if nothing was stopped.
    pub threads: Vec<ThreadLook>,
}

impl Done {
    fn beginning(began: u64) -> Done {
        Done {
            began,
            ..Done::default()
        }
    }
}

/// What a heal did.
#[derive(Debug, Default)]
pub struct Undone {
    /// Lab time just before the first action, ns.
    pub began: u64,
    /// Lab time at which the removal was seen, ns.
    pub removed: Option<u64>,
    /// The look after a continuation.
    pub threads: Vec<ThreadLook>,
}

/// Does every action of an onset; the inner error is why it could not be done.
pub async fn all(
    scene: &mut Scene,
    actions: &[Action],
    (plan, struck): (&FaultPlan, &Struck),
) -> Result<Result<Done, String>, DirectorError> {
    let mut done = Done::beginning(scene.now());
    for action in actions {
        match action {
            Action::StopGroup => match stop::stop_group(pgid(struck)?) {
                Ok(stopped) => {
                    stand(scene, struck, Standing::Stopped);
                    done.began = scene.lab(stopped.began_ns);
                    done.effective = scene.lab(stopped.effective_ns);
                    done.threads = stopped.threads;
                }
                Err(error) => return Ok(Err(error.to_string())),
            },
            Action::KillGroup => {
                stand(scene, struck, Standing::Ending);
                done.began = scene.now();
                if let Err(error) = stop::kill_group(pgid(struck)?) {
                    return Ok(Err(error.to_string()));
                }
                until::ended(scene, pgid(struck)?, END_MAX).await?;
                done.effective = scene.now();
            }
            Action::Injure(_) | Action::JumpClock | Action::Terminate => {
                match watched(scene, *action, (plan, struck)).await? {
                    Ok((began, effective)) => (done.began, done.effective) = (began, effective),
                    Err(why) => return Ok(Err(why)),
                }
            }
            Action::Ask(_)
            | Action::AwaitCutOff
            | Action::AwaitForgotten
            | Action::EndSessions
            | Action::CountUnknownScripts => {
                let of = (plan.name.as_str(), struck, done.began);
                if let Err(why) = awaited(scene, *action, of).await? {
                    return Ok(Err(why));
                }
                done.effective = scene.now();
            }
            Action::AwaitNobody => {
                dead::try_place(scene, (&plan.name, struck), "cut").await?;
            }
            Action::ExpectNoWrites | Action::ExpectLostByRestart => {}
            Action::ContinueGroup
            | Action::StartServer
            | Action::JumpBack
            | Action::Mend
            | Action::AwaitCopied => {
                return Err(DirectorError::Bug("a heal as an onset".to_owned()));
            }
        }
    }
    Ok(Ok(done))
}

/// What is seen by those whom it concerns: when it began, and when it was seen in full.
async fn watched(
    scene: &mut Scene,
    action: Action,
    (plan, struck): (&FaultPlan, &Struck),
) -> Result<Result<(u64, u64), String>, DirectorError> {
    match action {
        Action::JumpClock => clocks::jump(scene, (plan, struck)).await,
        Action::Terminate => asking::to_end(scene, struck).await,
        _injury => edges::injure(scene, plan, struck).await,
    }
}

/// What the target itself answers or shows.
async fn awaited(
    scene: &mut Scene,
    action: Action,
    (fault, struck, began): (&str, &Struck, u64),
) -> Result<Result<(), String>, DirectorError> {
    match action {
        Action::Ask(words) => {
            let answer = telling::ask(scene, words, (fault, struck)).await?;
            Ok(answer.map(drop))
        }
        Action::EndSessions => sessions::end(scene, fault, struck).await,
        Action::AwaitForgotten => telling::forgotten(scene, struck, began).await,
        Action::CountUnknownScripts => {
            telling::count_unknown_scripts(scene, (fault, struck)).await?;
            Ok(Ok(()))
        }
        _cut_off => copying::ended(scene, struck).await,
    }
}

/// Does every action of a heal; none if there was nothing left to heal.
pub async fn undo(
    scene: &mut Scene,
    actions: &[Action],
    (fault, struck, threads): (&str, &Struck, &[ThreadLook]),
) -> Result<Option<Undone>, DirectorError> {
    let mut undone = Undone {
        began: scene.now(),
        ..Undone::default()
    };
    for action in actions {
        match action {
            Action::ContinueGroup => match stop::continue_group(pgid(struck)?, threads) {
                Ok(continued) => {
                    stand(scene, struck, Standing::Up);
                    undone.began = scene.lab(continued.began_ns);
                    undone.removed = continued.removed_ns.map(|at| scene.lab(at));
                    undone.threads = continued.threads;
                }
                Err(_) => return Ok(None),
            },
            Action::StartServer => undone.removed = start(scene, struck).await?,
            Action::Ask(words) => {
                let done = telling::ask(scene, words, (fault, struck)).await?;
                undone.removed = done.is_ok().then(|| scene.now());
            }
            Action::AwaitCopied if undone.removed.is_none() => {}
            Action::AwaitCopied => {
                undone.removed = copying::resumed(scene, fault, struck).await?;
            }
            Action::Mend => {
                let Struck::Edges(hit, _) = struck else {
                    return Err(DirectorError::Bug("mended what is no edge".to_owned()));
                };
                (undone.began, undone.removed) = edges::mend(scene, fault, hit).await?;
            }
            Action::JumpBack => match clocks::back(scene, struck).await? {
                Some((began, removed)) => (undone.began, undone.removed) = (began, removed),
                None => return Ok(None),
            },
            Action::StopGroup
            | Action::KillGroup
            | Action::JumpClock
            | Action::Terminate
            | Action::EndSessions
            | Action::Injure(_)
            | Action::AwaitCutOff
            | Action::AwaitForgotten
            | Action::AwaitNobody
            | Action::CountUnknownScripts
            | Action::ExpectNoWrites
            | Action::ExpectLostByRestart => {
                return Err(DirectorError::Bug("an onset as a heal".to_owned()));
            }
        }
    }
    Ok(Some(undone))
}

/// Starts a dead server again; when it had answered, and of several was one of them again.
async fn start(scene: &mut Scene, struck: &Struck) -> Result<Option<u64>, DirectorError> {
    let name = struck.server()?;
    if scene.deployed.is_some() && scene.members.iter().any(|member| member.name == name) {
        return members::again(scene, name).await;
    }
    until::unsynced(scene, name).await?;
    servers::again(scene, name).await?;
    Ok(Some(scene.now()))
}

fn pgid(struck: &Struck) -> Result<i32, DirectorError> {
    let pgid = struck.pgid();
    pgid.ok_or_else(|| DirectorError::Bug("a signal to what is no process".to_owned()))
}

fn stand(scene: &mut Scene, struck: &Struck, standing: Standing) {
    if let Struck::Server(name, _) = struck
        && let Some(server) = scene.servers.get_mut(name)
    {
        server.standing = standing;
    }
}
