//! A lock service of several servers: each is started, then all of it must be ready, then those
//! that can hold the lock's key are followed. Only then does anybody else come. One that a fault has
//! killed is started again on what it left on disk.

use super::incoming;
use super::players::{Followed, Server, Standing};
use super::ports;
use super::scene::Scene;
use super::servers::{self, Program};
use super::truth::Truth;
use super::{DirectorError, arrivals, edges, until};
use crate::env::deployment::{self, Kind, Layout, Member, Site, Watched};
use crate::env::edge::ServerProtocol;
use crate::env::edge::probe::probe;
use crate::env::error::EnvError;
use crate::env::isolation::Mode;
use crate::env::redis::appended;
use crate::env::redis::door::Door;
use crate::env::redis::observe::Control;
use crate::env::redis::role;
use crate::plan::Service;
use crate::timeline::event::Seen;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// A whole deployment is ready within three seconds on an idle machine.
const READY_MAX: Duration = Duration::from_secs(60);

/// A member that was started again answers at once and is linked within a second or two, unless the
/// host is busy.
const BACK_MAX: Duration = Duration::from_secs(20);

/// Longest wait for one answer of a member that may not be there yet.
const TRY_MAX: Duration = Duration::from_millis(150);

/// Where members talk among themselves in a network of the arm's own: this far above their ports.
const INNER: u16 = 10_000;

/// Starts every member and follows those that matter.
pub async fn start(scene: &mut Scene, kind: &'static Kind) -> Result<(), DirectorError> {
    let layout = lay_out(scene, kind)?;
    scene.members.clone_from(&layout.members);
    for member in &layout.members {
        write_files(scene, member)?;
        start_member(scene, member).await?;
    }
    scene.deployed = Some(layout.address.clone());
    ready(scene, &layout).await?;
    for member in &layout.members {
        if let Watched::Appended { socket } = &member.watched {
            follow(scene, member.name, socket).await?;
        }
    }
    // Whom a fault hits depends on it.
    let told = |truth: &Truth| truth.takes_writes().is_some();
    until::roles(scene, READY_MAX, told).await?;
    Ok(())
}

fn lay_out(scene: &Scene, kind: &'static Kind) -> Result<Layout, DirectorError> {
    let count = kind.members.len();
    let (ports, inner) = match scene.spec.isolation {
        Mode::Namespace => {
            let inner = kind.own_ports.iter().map(|port| port + INNER);
            (kind.own_ports.to_vec(), inner.collect())
        }
        Mode::Guard => {
            let mut all = ports::quiet_ports(2 * count)?;
            let inner = all.split_off(count);
            (all, inner)
        }
    };
    let site = Site {
        host: ports::HOST,
        ports: &ports,
        inner_ports: &inner,
        folder: &scene.spec.work_dir,
        redis: &scene.spec.lock_redis,
        key: &format!("{}{{{}}}", scene.prefix(), scene.plan.lock.key),
        backups: deployment::backups(&scene.plan.lock),
    };
    Ok((kind.lay_out)(&site)?)
}

/// Starts a member again, at the address that it had, with what it left on disk: files that it was
/// given at first may have been changed by itself since. When it had answered and, if it is one that
/// is followed, said that it takes writes or has a link to the one that does; none if it did not.
pub async fn again(scene: &mut Scene, name: &str) -> Result<Option<u64>, DirectorError> {
    let members = scene.members.iter();
    let member = members.into_iter().find(|member| member.name == name);
    let Some(member) = member.cloned() else {
        return Err(DirectorError::Bug(format!("no member {name}")));
    };
    let followed = scene.servers.get_mut(name).map(|server| {
        // Nobody answers there until it is back.
        server.control = None;
        std::mem::replace(&mut server.followed, Followed::No)
    });
    let followed = followed.unwrap_or(Followed::No);
    if followed.is_one_of_several() {
        // Whoever asks for its role gives up first: there is one who asks.
        until::unsynced(scene, name).await?;
    }
    let died = scene.now();
    start_member(scene, &member).await?;
    let until = Instant::now() + BACK_MAX;
    while edges::seen(&probe(member.address, ServerProtocol::Redis, TRY_MAX).await)
        != Seen::Answered
    {
        if Instant::now() > until {
            return Ok(None);
        }
    }
    let Watched::Appended { socket } = &member.watched else {
        return Ok(Some(scene.now()));
    };
    let door = Door::Socket(socket.clone());
    let control = Control::connect(&door, scene.prefix(), BACK_MAX).await?;
    if let Some(server) = scene.servers.get_mut(name) {
        server.control = Some(control.into());
        server.followed = followed;
    }
    // Its file was followed all the time.
    let out = incoming::observed(member.name, scene.outbox.clone());
    let asked = scene.zero_ns.saturating_add(died);
    tokio::spawn(role::watch(socket.clone(), out, Some(asked)));
    scene.synced.insert(name.to_owned());
    let back = |truth: &Truth| truth.is_linked(name, died);
    let back = until::roles(scene, BACK_MAX, back).await?;
    Ok(back.then(|| scene.now()))
}

fn write_files(scene: &mut Scene, member: &Member) -> Result<(), DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(member.name))?;
    for (name, text) in &member.files {
        std::fs::write(folder.join(name), text).map_err(|error| {
            let what = format!("cannot write {name} of {}: {error}", member.name);
            DirectorError::Env(EnvError::new(what, "free space in the state folder"))
        })?;
    }
    Ok(())
}

async fn start_member(scene: &mut Scene, member: &Member) -> Result<(), DirectorError> {
    let folder = scene.folder(scene.spec.work_dir.join(member.name))?;
    let program = Program {
        path: member.program.clone(),
        arg0: member.arg0,
        args: member.args.clone(),
        env: Vec::new(),
    };
    let spawned = servers::spawn(scene, member.name, program, folder).await?;
    let server = Server {
        pid: Some(spawned.pid),
        service: Service::Lock,
        address: member.address,
        protocol: ServerProtocol::Redis,
        control: None,
        followed: Followed::No,
        standing: Standing::Up,
    };
    servers::stands(scene, (member.name, server), spawned)
}

/// Waits until all of it is ready; a member that ends meanwhile is told by the kernel.
async fn ready(scene: &mut Scene, layout: &Layout) -> Result<(), DirectorError> {
    let mut ready = (layout.ready)(READY_MAX);
    loop {
        tokio::select! {
            done = &mut ready => return Ok(done?),
            incoming = scene.inbox.recv() => match incoming {
                Some(incoming) => arrivals::take(scene, incoming)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            },
        }
    }
}

/// Follows what a member does and what it says of itself.
async fn follow(scene: &mut Scene, name: &'static str, socket: &Path) -> Result<(), DirectorError> {
    let door = Door::Socket(socket.to_owned());
    let control = Control::connect(&door, scene.prefix(), READY_MAX).await?;
    let out = incoming::observed(name, scene.outbox.clone());
    tokio::spawn(role::watch(socket.to_owned(), out.clone(), None));
    let folder = scene.spec.work_dir.join(name);
    let marks = appended::follow(&folder, (name, scene.prefix()), out)
        .map_err(|error| DirectorError::Bug(format!("no observer of {name}: {error}")))?;
    if let Some(server) = scene.servers.get_mut(name) {
        server.control = Some(control.into());
        server.followed = Followed::Appended(marks);
    }
    until::synced(scene, name, READY_MAX).await
}
