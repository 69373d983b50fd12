//! Who makes the edges of an arm: the one that the plan names, or the first that can do what its
//! faults ask for.

use super::{broken, server};
use crate::env::edge::{self, Chosen, Injury, Provider, ProviderKind, Surroundings};
use crate::faults;
use crate::lock::backends;
use crate::lock::flaws::Flaw;
use crate::lock::probe::Command;
use crate::plan::{AUTO, Asks, ChosenCommand, FaultPlan};
use crate::run::director::DirectorError;
use crate::run::director::scene::Scene;

/// In this order `auto` takes the first that can do what the faults ask for and is here.
const PREFERRED: &[&str] = &["toxiproxy", "builtin"];

type Made = (&'static ProviderKind, Box<dyn Provider>);

/// Who makes this arm's edges.
pub async fn provider(scene: &mut Scene) -> Result<Made, DirectorError> {
    let wanted = scene.plan.network.proxy.clone();
    if wanted != AUTO {
        let kind = edge::find(&wanted)
            .ok_or_else(|| DirectorError::Bug(format!("no provider `{wanted}`")))?;
        return make(scene, kind).await;
    }
    let injuries: Vec<Injury> = scene
        .faults
        .iter()
        .filter_map(|fault| injury(scene, &fault.plan).ok())
        .collect();
    if injuries.is_empty() {
        return make(scene, &edge::direct::KIND).await;
    }
    let able = PREFERRED.iter().filter_map(|name| edge::find(name));
    let able = able.filter(|kind| injuries.iter().all(|injury| (kind.can)(injury).is_ok()));
    let mut why = DirectorError::Bug("no provider can do what the faults ask for".to_owned());
    for kind in able {
        match kind
            .server
            .map_or(Ok(()), |server| (server.find)().map(drop))
        {
            Ok(()) => return make(scene, kind).await,
            Err(error) => why = broken(error),
        }
    }
    Err(why)
}

/// Makes it, after the server that it needs.
async fn make(scene: &mut Scene, kind: &'static ProviderKind) -> Result<Made, DirectorError> {
    let server = match kind.server {
        Some(server) => Some(server::start(scene, server).await?),
        None => None,
    };
    let mode = scene.spec.isolation;
    let provider = (kind.make)(&Surroundings { mode, server }).map_err(broken)?;
    Ok((kind, provider))
}

/// What a fault of the plan does to an edge.
pub fn injury(scene: &Scene, plan: &FaultPlan) -> Result<Injury, String> {
    let harm = faults::find(&plan.kind).and_then(faults::FaultKind::harm);
    let harm = harm.ok_or_else(|| format!("`{}` is no fault of edges", plan.kind))?;
    Ok(harm.injury(chosen(scene, plan.command.as_ref())?))
}

fn chosen(scene: &Scene, command: Option<&ChosenCommand>) -> Result<Chosen, String> {
    let Some(ChosenCommand { asks, nth }) = command else {
        return Ok(Chosen {
            marks: Vec::new(),
            nth: 1,
        });
    };
    let lock = &scene.plan.lock;
    let kind = backends::named(&lock.backend).ok_or("no such lock back end")?;
    let flaw = lock.flaw.as_deref().and_then(Flaw::named);
    let command = match asks {
        Asks::Acquire => Command::Acquire,
        Asks::Renew => Command::AutoRenew,
        Asks::Release => Command::Release,
    };
    let marks = (kind.on_the_wire)(flaw, command);
    if marks.is_empty() {
        return Err(format!(
            "no request of `{}` can be told from others",
            kind.name
        ));
    }
    Ok(Chosen { marks, nth: *nth })
}
