//! Drills of the whole suite that bring a server along which this machine does not have: left out
//! with what brings it. Who asks for one by name, or for that server, is told that the machine is
//! not ready.

use super::Args;
use crate::experiment::{Experiment, Loaded};
use crate::run::absent::{self, Of};
use crate::verdict::LeftOut;

/// Leaves them out, unless nothing else is there.
pub(super) fn leave_out(args: &Args, loaded: &mut Loaded) {
    if !args.all {
        return;
    }
    let absent = |drill: &Experiment| {
        let named = args.drills.contains(&drill.name);
        let own = Of {
            lock: args.lock.is_none(),
            store: args.store.is_none(),
        };
        let error = absent::first(&drill.main, own);
        error.filter(|_| !named).map(|error| LeftOut {
            drill: drill.name.clone(),
            why: error.to_string(),
        })
    };
    let without: Vec<LeftOut> = loaded.experiments.iter().filter_map(absent).collect();
    if without.len() == loaded.experiments.len() {
        return;
    }
    let there = |drill: &Experiment| without.iter().all(|out| out.drill != drill.name);
    loaded.experiments.retain(there);
    loaded.left_out.extend(without);
}
