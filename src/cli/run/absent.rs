//! Drills of the whole suite that bring a server along which this machine does not have: left out
//! with what brings it. Who asks for one by name, or for that server, is told that the machine is
//! not ready.

use super::Args;
use crate::experiment::{Experiment, Loaded};
use crate::run::absent::{self, Of};
use crate::verdict::LeftOut;
use std::path::Path;

/// Leaves them out, unless nothing else is there.
pub(super) fn leave_out(args: &Args, loaded: &mut Loaded) {
    if !args.all {
        return;
    }
    let absent = |drill: &Experiment| {
        let named = args.drills.iter().any(|named| is_of(named, drill));
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

/// A drill is called as its file is.
fn is_of(named: &str, drill: &Experiment) -> bool {
    let stem = Path::new(named).file_stem();
    stem.is_some_and(|stem| stem == drill.name.as_str())
}
