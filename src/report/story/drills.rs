//! Other drills that ask what this one did not: taken from those built into the program, so that a
//! new drill is named in the reports of all others without a change here.

use crate::experiment;
use crate::plan::{Evidence, Plan};
use crate::report::model::Model;
use crate::report::results;
use crate::verdict::Verdict;
use std::fs;
use std::path::Path;

/// More drills than this are not named: one reads the first.
const NAMED_MAX: usize = 3;

/// A drill that asks something else.
pub struct Other {
    /// Name.
    pub name: String,
    /// What it asks, from its file.
    pub question: String,
    /// How its newest run beside this one ended; none if there is none.
    pub newest: Option<Verdict>,
}

/// Drills that put to the test what this one did not: those without a run beside this one first,
/// then those that differ most.
pub fn others(model: &Model) -> Vec<Other> {
    let Some(plan) = model.plan() else {
        return Vec::new();
    };
    let mut others: Vec<(usize, Other)> = experiment::built_in()
        .into_iter()
        .filter(|other| other.name != model.result.drill)
        .map(|other| {
            let news = news(plan, &other.main);
            let other = Other {
                newest: newest(&model.dir, &other.name),
                question: other.main.summary,
                name: other.name,
            };
            (news, other)
        })
        .filter(|(news, _)| *news > 0)
        .collect();
    others.sort_by(|(a, one), (b, other)| {
        let ran = one.newest.is_some().cmp(&other.newest.is_some());
        ran.then(b.cmp(a)).then_with(|| one.name.cmp(&other.name))
    });
    others.truncate(NAMED_MAX);
    others.into_iter().map(|(_, other)| other).collect()
}

/// How many things another plan puts to the test that this one does not.
fn news(plan: &Plan, other: &Plan) -> usize {
    let faults = other.faults.iter().filter(|fault| {
        plan.faults
            .iter()
            .all(|own| own.kind != fault.kind || own.when != fault.when || own.heal != fault.heal)
    });
    let orders = other.evidence.iter().filter(|evidence| {
        matches!(evidence, Evidence::ReachedAfter { .. }) && !plan.evidence.contains(evidence)
    });
    let settings = [
        other.store.seal && !plan.store.seal,
        other.store.once && !plan.store.once,
        other.lock.backend != plan.lock.backend,
        other.store.kind != plan.store.kind,
        other.workers.len() > plan.workers.len(),
    ];
    faults.count() + orders.count() + settings.into_iter().filter(|is_new| *is_new).count()
}

/// How the newest readable run ended that lies where the runs of this drill lie:
/// `<root>/<drill>/<run id>`.
fn newest(dir: &Path, drill: &str) -> Option<Verdict> {
    let dir = dir.canonicalize().ok()?;
    let runs = fs::read_dir(dir.parent()?.parent()?.join(drill)).ok()?;
    let mut runs: Vec<_> = runs.filter_map(Result::ok).map(|run| run.path()).collect();
    runs.sort_unstable_by(|a, b| b.cmp(a));
    runs.iter()
        .find_map(|run| results::read(run).ok())
        .map(|result| result.verdict)
}
