//! The services that drills live on beside Redis: who needs which, and whether this machine has them.
//! Nothing is started. Of the whole suite, a drill whose service is not installed is left out with
//! the reason; one that was asked for by name, or a suite of which nothing is left, is not.

use crate::env::error::EnvError;
use crate::env::{etcd, postgres, zookeeper};
use crate::experiment::{Experiment, Loaded};
use crate::lock::backends::{self, Servers};
use crate::plan::Plan;
use crate::store::{self, StoreServer};
use crate::verdict::LeftOut;

/// A service that need not be there for the other drills.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Of a lock or of a store.
    Postgres,
    /// Of a lock.
    Etcd,
    /// Of a lock.
    Zookeeper,
}

const ALL: [Service; 3] = [Service::Postgres, Service::Etcd, Service::Zookeeper];

impl Service {
    /// The plan's lock or store lives on it.
    pub fn is_needed_by(self, plan: &Plan) -> bool {
        let locks = |servers| backends::live_on(&plan.lock.backend, servers);
        let stores = |server| {
            let kind = store::find(&plan.store.kind);
            kind.is_some_and(|kind| kind.server == Some(server))
        };
        match self {
            Service::Postgres => {
                locks(Servers::Postgres)
                    || locks(Servers::PostgresSessions)
                    || stores(StoreServer::Postgres)
            }
            Service::Etcd => locks(Servers::Etcd),
            Service::Zookeeper => locks(Servers::Zookeeper),
        }
    }

    fn find(self) -> Result<(), EnvError> {
        match self {
            Service::Postgres => postgres::find::find().map(drop),
            Service::Etcd => etcd::find::find().map(drop),
            Service::Zookeeper => zookeeper::find::find().map(drop),
        }
    }
}

/// Leaves out drills of the suite that this machine has no service for. `named` tells which drills
/// were asked for by name too; `controls` whether controls are to be played.
pub fn leave_out(loaded: &mut Loaded, controls: bool, named: impl Fn(&str) -> bool) {
    leave_out_by(loaded, controls, named, Service::find);
}

fn leave_out_by(
    loaded: &mut Loaded,
    controls: bool,
    named: impl Fn(&str) -> bool,
    find: impl Fn(Service) -> Result<(), EnvError>,
) {
    let needs = |drill: &Experiment, service: Service| {
        let played = drill.controls.iter().filter(|_| controls);
        let mut plans = std::iter::once(&drill.main).chain(played);
        !named(&drill.name) && plans.any(|plan| service.is_needed_by(plan))
    };
    let drills = &loaded.experiments;
    let missing = ALL.into_iter().filter_map(|service| {
        let needed = drills.iter().any(|drill| needs(drill, service));
        let why = needed.then(|| find(service))?.err()?;
        Some((service, why.to_string()))
    });
    let missing: Vec<(Service, String)> = missing.collect();
    let unfit = drills.iter().filter_map(|drill| {
        let here = missing.iter().filter(|(service, _)| needs(drill, *service));
        let why: Vec<&str> = here.map(|(_, why)| why.as_str()).collect();
        (!why.is_empty()).then(|| LeftOut {
            drill: drill.name.clone(),
            why: why.join("; "),
        })
    });
    let unfit: Vec<LeftOut> = unfit.collect();
    let fits = |drill: &Experiment| !unfit.iter().any(|out| out.drill == drill.name);
    if drills.iter().any(fits) {
        loaded.experiments.retain(fits);
        loaded.left_out.extend(unfit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Overrides, built_in, read};

    fn on(lock: &str) -> Experiment {
        let text = built_in().into_iter().find(|drill| drill.name == "pause");
        let overrides = Overrides {
            lock: Some(lock.to_owned()),
            ..Overrides::default()
        };
        read(lock, "pause.toml", &text.unwrap().source, &overrides).unwrap()
    }

    fn left_out(drills: &[&str], named: &[&str]) -> (Vec<String>, Vec<LeftOut>) {
        let mut loaded = Loaded {
            experiments: drills.iter().map(|lock| on(lock)).collect(),
            ..Loaded::default()
        };
        let nothing_but_etcd = |service| match service {
            Service::Etcd => Ok(()),
            Service::Postgres | Service::Zookeeper => Err(EnvError::new("none", "bring it")),
        };
        leave_out_by(
            &mut loaded,
            true,
            |name| named.contains(&name),
            nothing_but_etcd,
        );
        let names = loaded.experiments.into_iter().map(|drill| drill.name);
        (names.collect(), loaded.left_out)
    }

    #[test]
    fn what_lives_on_a_service_that_is_not_here_is_left_out_with_the_reason() {
        let (played, out) = left_out(&["redis", "postgres", "etcd", "zookeeper"], &[]);
        assert_eq!(played, ["redis", "etcd"]);
        let out: Vec<_> = out
            .iter()
            .map(|it| (it.drill.as_str(), it.why.as_str()))
            .collect();
        assert_eq!(
            out,
            [
                ("postgres", "none; bring it"),
                ("zookeeper", "none; bring it")
            ]
        );
    }

    #[test]
    fn what_was_named_stays_and_so_does_a_suite_of_which_nothing_would_be_left() {
        let (played, out) = left_out(&["redis", "postgres"], &["postgres"]);
        assert_eq!((played.len(), out.len()), (2, 0));
        let (played, out) = left_out(&["postgres", "zookeeper"], &[]);
        assert_eq!((played.len(), out.len()), (2, 0));
    }
}
