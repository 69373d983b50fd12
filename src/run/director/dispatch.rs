//! One loop owns the order of events: it takes whatever arrives, puts it on the record, and then
//! does what has become due: faults begin, faults end, workers go on.

use super::incoming::Incoming;
use super::injure;
use super::scene::{FaultState, Scene};
use super::waits;
use super::{DirectorError, Ending};
use crate::env::error::EnvError;
use crate::env::guard::{Change as Child, ChildEvent};
use crate::env::redis::observe::Observed;
use crate::plan::Heal;
use crate::timeline::event::{By, ChildChange, Event};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::Write;
use std::time::Duration;
use tokio::time::Instant;

/// The record reaches the operating system at least this often.
const FLUSH_EVERY: Duration = Duration::from_millis(10);

/// The server's clock is read this often.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// The mark behind the last effect that counts.
pub const END_MARK: &str = "end";

const MS: u64 = 1_000_000;

/// Runs the drill until every worker has ended, or patience or the user ends it.
pub async fn run(scene: &mut Scene) -> Result<Ending, DirectorError> {
    let limit_ns = arm_limit_ms(scene) * MS;
    let begun = scene.now();
    let mut tick = tokio::time::interval(FLUSH_EVERY);
    let mut next_sample = Instant::now();
    loop {
        advance(scene)?;
        if scene.workers_done() {
            give_up_waiting(scene, "every worker has ended")?;
            injure::heal_all(scene, "every worker has ended");
            return Ok(scene.ending.unwrap_or(Ending::Complete));
        }
        tokio::select! {
            incoming = scene.inbox.recv() => match incoming {
                Some(Incoming::Interrupt) => {
                    injure::heal_all(scene, "interrupt");
                    return Ok(Ending::Interrupted);
                }
                Some(incoming) => take(scene, incoming)?,
                None => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            },
            _ = tick.tick() => {
                scene.flush()?;
                lose_patience(scene)?;
                if Instant::now() >= next_sample {
                    next_sample = Instant::now() + SAMPLE_EVERY;
                    sample_clock(scene, 1).await?;
                }
                if scene.now() - begun > limit_ns {
                    patience_ended(scene, "the end of the drill", "drill")?;
                    injure::heal_all(scene, "patience");
                    return Ok(Ending::Patience);
                }
            }
        }
    }
}

/// Each trigger and each await may take `patience`; the arm as a whole all of them in a row.
fn arm_limit_ms(scene: &Scene) -> u64 {
    let steps: usize = scene
        .plan
        .workers
        .iter()
        .map(|worker| worker.script.len())
        .sum();
    let waits = 2 + 2 * scene.plan.faults.len() + steps;
    scene.plan.patience_ms.saturating_mul(waits as u64)
}

/// Puts one arrival on the record.
pub fn take(scene: &mut Scene, incoming: Incoming) -> Result<(), DirectorError> {
    match incoming {
        Incoming::Worker(name, line) => {
            if let Event::Point { point, waits: true } = &line.event {
                let wait = waits::wait_at(&scene.plan, &name, point, scene.now());
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
        Incoming::Interrupt => {
            scene.ending = Some(Ending::Interrupted);
            Ok(())
        }
    }
}

fn observe(scene: &mut Scene, server: String, observed: Observed) -> Result<(), DirectorError> {
    let by = By::Server(server.clone());
    match observed {
        Observed::Synced(at) => {
            scene.synced = true;
            scene.record(scene.lab(at), by, Event::ObserverSynced { server })
        }
        Observed::Effect(at, event) => scene.record(scene.lab(at), by, event),
        Observed::Mark(name) => {
            scene.marks.insert(name);
            Ok(())
        }
        // Everything up to the end mark has been seen: what ends now was meant to end.
        Observed::Gap(..) if scene.marks.contains(END_MARK) => Ok(()),
        Observed::Gap(at, why) => {
            scene.synced = false;
            scene.record(scene.lab(at), by, Event::ObserverGap { server, why })
        }
    }
}

fn child(scene: &mut Scene, event: &ChildEvent) -> Result<(), DirectorError> {
    if is_end(event.what) {
        scene.servers.retain(|_, pid| *pid != event.pid);
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

/// Does everything that has become due.
fn advance(scene: &mut Scene) -> Result<(), DirectorError> {
    for index in 0..scene.faults.len() {
        let fault = &scene.faults[index];
        match &fault.state {
            FaultState::Waiting if scene.seen.contains(&fault.plan.when) => {
                injure::begin(scene, index)?;
            }
            FaultState::Active { since, .. } => {
                if let Some(cause) = healed_by(scene, &fault.plan.heal, *since) {
                    injure::end(scene, index, &cause)?;
                }
            }
            FaultState::Waiting | FaultState::Over => {}
        }
    }
    let names: Vec<String> = scene.workers.keys().cloned().collect();
    for name in names {
        let wait = scene
            .workers
            .get(&name)
            .and_then(|worker| worker.wait.clone());
        if let Some(wait) = wait.filter(|wait| satisfied(scene, wait)) {
            go_if_waiting_at(scene, &name, &wait.point)?;
        }
    }
    Ok(())
}

fn healed_by(scene: &Scene, heal: &Heal, since: u64) -> Option<String> {
    match heal {
        Heal::After(event) => scene.seen.contains(event).then(|| event.clone()),
        Heal::For(ms) => (scene.now() >= since + ms * MS).then(|| format!("{ms} ms")),
    }
}

fn satisfied(scene: &Scene, wait: &waits::Wait) -> bool {
    let begun = |name: &String| {
        scene
            .faults
            .iter()
            .any(|fault| fault.plan.name == *name && !matches!(fault.state, FaultState::Waiting))
    };
    wait.event
        .as_ref()
        .is_none_or(|event| scene.seen.contains(event))
        && wait.faults.iter().all(begun)
}

/// Writes the byte that lets a worker go on, if it waits at this point and only for what has
/// come. Returns whether it was written.
pub fn go_if_waiting_at(
    scene: &mut Scene,
    worker: &str,
    point: &str,
) -> Result<bool, DirectorError> {
    let due = scene
        .workers
        .get(worker)
        .and_then(|worker| worker.wait.as_ref())
        .is_some_and(|wait| wait.point == point && satisfied(scene, wait));
    if !due {
        return Ok(false);
    }
    scene.record_lab(Event::Go {
        worker: worker.to_owned(),
        point: point.to_owned(),
    })?;
    scene.flush()?;
    if let Some(worker) = scene.workers.get_mut(worker) {
        worker.wait = None;
        // A worker that died while it waited is told by its exit.
        let _ = worker.go.write_all(b"g");
    }
    Ok(true)
}

/// Names what was awaited too long, heals everything and lets everybody go on.
fn lose_patience(scene: &mut Scene) -> Result<(), DirectorError> {
    if scene.ending.is_some() {
        return Ok(());
    }
    let patience_ns = scene.plan.patience_ms * MS;
    let now = scene.now();
    let late = |since: u64| now.saturating_sub(since) > patience_ns;
    let mut over: Vec<(String, String)> = Vec::new();
    for fault in &scene.faults {
        if let (FaultState::Active { since, .. }, Heal::After(event)) =
            (&fault.state, &fault.plan.heal)
            && late(*since)
        {
            over.push((event.clone(), fault.plan.name.clone()));
        }
    }
    for (name, worker) in &scene.workers {
        if let Some(wait) = &worker.wait
            && let Some(event) = &wait.event
            && late(wait.since)
        {
            over.push((event.clone(), name.clone()));
        }
    }
    if over.is_empty() {
        return Ok(());
    }
    for (awaited, by) in over {
        patience_ended(scene, &awaited, &by)?;
    }
    scene.ending = Some(Ending::Patience);
    injure::heal_all(scene, "patience");
    give_up_waiting(scene, "something else was awaited in vain")?;
    release_everybody(scene)
}

fn patience_ended(scene: &mut Scene, awaited: &str, by: &str) -> Result<(), DirectorError> {
    scene.record_lab(Event::PatienceEnded {
        awaited: awaited.to_owned(),
        by: by.to_owned(),
    })
}

fn release_everybody(scene: &mut Scene) -> Result<(), DirectorError> {
    let waiting: Vec<(String, String)> = scene
        .workers
        .iter()
        .filter_map(|(name, worker)| Some((name.clone(), worker.wait.as_ref()?.point.clone())))
        .collect();
    for (worker, point) in waiting {
        if let Some(wait) = scene.workers.get_mut(&worker).and_then(|w| w.wait.as_mut()) {
            wait.event = None;
            wait.faults.clear();
        }
        go_if_waiting_at(scene, &worker, &point)?;
    }
    Ok(())
}

/// Faults that have not begun will not: say so.
fn give_up_waiting(scene: &mut Scene, because: &str) -> Result<(), DirectorError> {
    for index in 0..scene.faults.len() {
        let fault = &scene.faults[index];
        if matches!(fault.state, FaultState::Waiting) {
            let why = format!("{} was not on the record when {because}", fault.plan.when);
            injure::not_injected(scene, index, why)?;
        }
    }
    Ok(())
}

/// After the drill: whoever still runs is ended.
pub async fn settle(scene: &mut Scene) -> Result<(), DirectorError> {
    scene.flush()?;
    for worker in scene.workers.values().filter(|worker| !worker.exited) {
        // Gone already is as good as killed.
        let _ = killpg(Pid::from_raw(worker.pid), Signal::SIGKILL);
    }
    until(
        scene,
        Duration::from_secs(10),
        "the end of every worker",
        |scene| scene.workers_done(),
    )
    .await
}

/// Waits for the observer.
pub async fn until_synced(scene: &mut Scene, limit: Duration) -> Result<(), DirectorError> {
    until(scene, limit, "the observer to be in sync", |scene| {
        scene.synced
    })
    .await
}

/// Waits for a mark of ours to come by in the stream.
pub async fn until_marked(
    scene: &mut Scene,
    name: &str,
    limit: Duration,
) -> Result<(), DirectorError> {
    until(scene, limit, "the observer to catch up", |scene| {
        scene.marks.contains(name)
    })
    .await
}

/// Waits, at most `limit`, until no server and no worker is left; not an error if some are.
pub async fn until_gone(scene: &mut Scene, limit: Duration) -> Result<(), DirectorError> {
    let gone = |scene: &Scene| {
        scene.servers.is_empty() && scene.workers.values().all(|worker| worker.exited)
    };
    match until(scene, limit, "everything to end", gone).await {
        Err(DirectorError::Env(_)) => Ok(()),
        other => other,
    }
}

async fn until(
    scene: &mut Scene,
    limit: Duration,
    what: &str,
    done: impl Fn(&Scene) -> bool,
) -> Result<(), DirectorError> {
    let deadline = Instant::now() + limit;
    while !done(scene) {
        match tokio::time::timeout_at(deadline, scene.inbox.recv()).await {
            Ok(Some(incoming)) => take(scene, incoming)?,
            Ok(None) => return Err(DirectorError::Bug("the inbox is closed".to_owned())),
            Err(_) => {
                return Err(DirectorError::Env(EnvError::new(
                    format!("waited {limit:?} for {what} in vain"),
                    "see the logs in the run directory",
                )));
            }
        }
    }
    Ok(())
}

/// Reads the server's clock `count` times.
pub async fn sample_clock(scene: &mut Scene, count: usize) -> Result<(), DirectorError> {
    let control = scene.control()?;
    for _ in 0..count {
        let (before, after, server_us) = control.clock().await?;
        let (before, after) = (scene.lab(before), scene.lab(after));
        let server = super::scene::SERVER.to_owned();
        let by = By::Server(server.clone());
        scene.record(
            after,
            by,
            Event::ClockSample {
                server,
                before,
                after,
                server_us,
            },
        )?;
    }
    Ok(())
}
