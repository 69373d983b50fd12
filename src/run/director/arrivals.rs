//! Puts whatever arrives on the record.

use super::DirectorError;
use super::Ending;
use super::edges;
use super::incoming::Incoming;
use super::players::{Followed, Standing};
use super::ready;
use super::scene::{STORE, Scene};
use super::waits;
use crate::env::error::EnvError;
use crate::env::guard::{Change as Child, ChildEvent};
use crate::env::seen::Observed;
use crate::run::run_dir;
use crate::timeline::event::{By, ChildChange, Event};
use nix::sys::signal::Signal;

/// The mark behind the last effect that counts.
pub const END_MARK: &str = "end";

/// Puts one arrival on the record.
pub fn take(scene: &mut Scene, incoming: Incoming) -> Result<(), DirectorError> {
    match incoming {
        Incoming::Worker(name, line) => {
            if let Some(worker) = scene.workers.get_mut(&name) {
                worker.answered.note(&line.event);
            }
            if let Event::Point { point, waits: true } = &line.event {
                let wait = waits::wait_at(&scene.plan, &name, point, scene.now());
                if *point == waits::start_of(&name) {
                    scene.ready.insert(name.clone());
                }
                if let Some(worker) = scene.workers.get_mut(&name) {
                    worker.wait = Some(wait);
                }
            }
            scene.record(line.at, By::Worker(name), line.event)
        }
        Incoming::WorkerClosed(name) => {
            if let Some(worker) = scene.workers.get_mut(&name) {
                worker.closed = true;
                worker.wait = None;
            }
            Ok(())
        }
        Incoming::WorkerGarbage(name, text) => Err(DirectorError::Bug(format!(
            "worker {name} wrote a line that is no event: {text:.200}"
        ))),
        Incoming::Observed(server, observed) => observe(scene, server, observed),
        Incoming::Child(event) => child(scene, &event),
        Incoming::Stall(from, to) => {
            let (from, to) = (scene.lab(from), scene.lab(to));
            scene.record(to, By::Lab, Event::Stall { from, to })
        }
        Incoming::Edge(event) => edges::happened(scene, event),
        Incoming::Interrupt => {
            scene.ending = Some(Ending::Interrupted);
            Ok(())
        }
    }
}

fn observe(scene: &mut Scene, server: String, observed: Observed) -> Result<(), DirectorError> {
    let by = By::Server(server.clone());
    match observed {
        _any if is_over(scene, &server) => Ok(()),
        Observed::Synced(at) => {
            scene.synced.insert(server.clone());
            scene.record(scene.lab(at), by, Event::ObserverSynced { server })
        }
        Observed::Effect(at, event) => {
            let event = placed(scene, event);
            scene.record(scene.lab(at), by, event)
        }
        Observed::Mark(name) if name == END_MARK => {
            scene.caught_up.insert(server);
            Ok(())
        }
        Observed::Mark(name) => {
            scene.marks.insert(name);
            Ok(())
        }
        Observed::Role(at, role, since) => {
            let since = since.map(|since| scene.lab(since));
            let event = Event::ServerRole {
                server,
                primary: role.primary,
                links: role.links,
                since,
            };
            scene.record(scene.lab(at), by, event)
        }
        // Everything that counts has been seen: what ends now was meant to end.
        Observed::Gap(..) if scene.over || scene.caught_up.contains(&server) => Ok(()),
        // It has told everything that it ever did.
        Observed::Gap(..) if is_ending(scene, &server) => {
            scene.synced.remove(&server);
            Ok(())
        }
        Observed::Gap(at, why) => {
            scene.synced.remove(&server);
            scene.record(scene.lab(at), by, Event::ObserverGap { server, why })
        }
    }
}

/// A server that is started again goes on counting where it ended.
fn placed(scene: &mut Scene, event: Event) -> Event {
    match event {
        Event::Effect {
            server,
            key,
            change,
            ..
        } => Event::Effect {
            pos: scene.next_pos(&server),
            server,
            key,
            change,
        },
        other => other,
    }
}

fn is_over(scene: &Scene, server: &str) -> bool {
    let server = scene.servers.get(server);
    server.is_some_and(|server| matches!(server.followed, Followed::Over))
}

fn is_ending(scene: &Scene, server: &str) -> bool {
    let server = scene.servers.get(server);
    server.is_some_and(|server| matches!(server.standing, Standing::Ending | Standing::Gone))
}

fn child(scene: &mut Scene, event: &ChildEvent) -> Result<(), DirectorError> {
    let mut servers = scene.servers.iter();
    if let Some((name, _)) = servers.find(|(_, server)| server.pid == Some(event.pid)) {
        let name = name.clone();
        return server(scene, &name, event);
    }
    if let Some(server_of_edges) = scene.edge_server.as_ref().filter(|is| is.pid == event.pid) {
        let name = server_of_edges.name.to_owned();
        return server(scene, &name, event);
    }
    let Some((name, worker)) = scene
        .workers
        .iter_mut()
        .find(|(_, worker)| worker.pid == event.pid)
    else {
        return Ok(());
    };
    let name = name.clone();
    let at = event.at_monotonic_ns.saturating_sub(scene.zero_ns);
    let (code, signal) = match event.what {
        Child::Exited(code) => {
            worker.exited = true;
            (Some(code), None)
        }
        Child::Killed(signal) => {
            worker.exited = true;
            (None, Some(signal))
        }
        Child::Stopped => return signalled(scene, at, name, ChildChange::Stopped),
        Child::Continued => return signalled(scene, at, name, ChildChange::Continued),
    };
    scene.record(
        at,
        By::Lab,
        Event::WorkerExited {
            worker: name,
            code,
            signal,
        },
    )
}

/// A server that ends although nobody here ended it is not the lock's doing, and the drill shows
/// nothing any more.
fn server(scene: &mut Scene, name: &str, event: &ChildEvent) -> Result<(), DirectorError> {
    let (code, signal) = match event.what {
        Child::Exited(code) => (Some(code), None),
        Child::Killed(signal) => (None, Some(signal)),
        Child::Stopped | Child::Continued => return Ok(()),
    };
    let before = match (scene.servers.get_mut(name), &mut scene.edge_server) {
        (Some(server), _) => Some(std::mem::replace(&mut server.standing, Standing::Gone)),
        (None, Some(server)) => Some(std::mem::replace(&mut server.standing, Standing::Gone)),
        (None, None) => None,
    };
    let at = event.at_monotonic_ns.saturating_sub(scene.zero_ns);
    scene.record(
        at,
        By::Lab,
        Event::ServerExited {
            server: name.to_owned(),
            pid: event.pid,
            code,
            signal,
        },
    )?;
    if before == Some(Standing::Ending) || scene.over {
        return Ok(());
    }
    let how = match signal.map(Signal::try_from) {
        Some(Ok(signal)) => format!("was killed by {signal}"),
        Some(Err(_)) => "was killed by a signal".to_owned(),
        None => format!("exited with code {}", code.unwrap_or(0)),
    };
    let role = if name == STORE { "store" } else { "lock" };
    let log = ready::log_of(&scene.spec.arm_dir.join(run_dir::LOGS), name);
    Err(DirectorError::Env(EnvError::new(
        format!(
            "the {role} server ({}, process {}) {how} in the middle of the drill, and \
             no fault of the drill did it",
            ready::program_of(scene, name),
            event.pid
        ),
        format!("see {}; what was recorded so far is kept", log.display()),
    )))
}

/// The child is gone.
pub const fn is_end(what: Child) -> bool {
    match what {
        Child::Exited(_) | Child::Killed(_) => true,
        Child::Stopped | Child::Continued => false,
    }
}

fn signalled(
    scene: &mut Scene,
    at: u64,
    worker: String,
    change: ChildChange,
) -> Result<(), DirectorError> {
    scene.record(at, By::Lab, Event::ChildSignal { worker, change })
}
