//! What can be played where: every drill of `experiments/` with every back end of the registry.
//! Nothing is started; a file that is wrong as it stands is left out.

use super::super::past::digest;
use crate::experiment::{self, Experiment, LoadRequest, Overrides};

/// One drill with one back end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fit {
    /// The drill.
    pub drill: String,
    /// The back end.
    pub lock: String,
    /// What tells the plan from others, as the history has it; or why there is none.
    pub plan: Result<String, String>,
}

/// Every drill here with every back end, the drills by name.
pub fn suite() -> Vec<Fit> {
    let locks = experiment::locks().into_iter();
    locks.flat_map(|lock| on(&lock.name)).collect()
}

fn on(lock: &str) -> Vec<Fit> {
    let loaded = experiment::load_fitting(&LoadRequest {
        all: true,
        overrides: Overrides {
            lock: Some(lock.to_owned()),
            ..Overrides::default()
        },
        ..LoadRequest::default()
    });
    let fit = |drill: String, plan| Fit {
        drill,
        lock: lock.to_owned(),
        plan,
    };
    let good = loaded.experiments.into_iter();
    let good = good.filter_map(|Experiment { name, main, .. }| Some(fit(name, Ok(digest(&main)?))));
    let none = loaded.left_out.into_iter();
    let none = none.map(|out| fit(out.drill, Err(out.why)));
    good.chain(none).collect()
}
