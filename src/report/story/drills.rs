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
    /// Kinds of faults that it shares with this drill, where all else that is new in it is when they
    /// come.
    pub same: Vec<String>,
    /// Run id and verdict of its newest run beside this one; none if there is none.
    pub newest: Option<(String, Verdict)>,
}

/// Drills that put to the test what this one did not: the nearest kin first, then those without a
/// run beside this one, kin before strangers and those that differ most first.
pub fn others(model: &Model) -> Vec<Other> {
    let Some(plan) = model.plan() else {
        return Vec::new();
    };
    let mut others: Vec<((usize, usize), Other)> = experiment::built_in()
        .into_iter()
        .filter(|other| other.name != model.result.drill && has_it(plan, &other.main))
        .map(|other| {
            let news = (kin(plan, &other.main), news(plan, &other.main));
            let other = Other {
                newest: newest(&model.dir, &other.name),
                same: same(plan, &other.main),
                question: other.main.summary,
                name: other.name,
            };
            (news, other)
        })
        .filter(|((_, news), _)| *news > 0)
        .collect();
    others.sort_by(|(a, one), (b, other)| b.cmp(a).then_with(|| one.name.cmp(&other.name)));
    // The nearest kin is named even if it was run: its verdict then stands here.
    if let Some(rest) = others.get_mut(1..) {
        rest.sort_by_key(|(_, other)| other.newest.is_some());
    }
    others.truncate(NAMED_MAX);
    others.into_iter().map(|(_, other)| other).collect()
}

/// The lock of this plan lives on all that another plan's drill breaks.
fn has_it(plan: &Plan, other: &Plan) -> bool {
    other.lock.backend == plan.lock.backend
        && other.lock.copies == plan.lock.copies
        && other.lock.backups == plan.lock.backups
}

/// How near another plan's faults are to this one's: most of the same kind at the same place, then
/// of the same kind.
fn kin(plan: &Plan, other: &Plan) -> usize {
    let near = plan.faults.iter().flat_map(|own| {
        let same = other.faults.iter().filter(|fault| fault.kind == own.kind);
        same.map(|fault| 1 + usize::from(fault.when == own.when))
    });
    // Whether work is done once is asked in few drills, and closely.
    let once = plan.store.idempotent && other.store.idempotent;
    near.max().unwrap_or(0) + if once { 3 } else { 0 }
}

/// The kinds of another plan's faults, if this one has them all and no setting of the store is new.
fn same(plan: &Plan, other: &Plan) -> Vec<String> {
    let mut kinds: Vec<String> = Vec::new();
    for fault in &other.faults {
        if plan.faults.iter().all(|own| own.kind != fault.kind) {
            return Vec::new();
        }
        if !kinds.contains(&fault.kind) {
            kinds.push(fault.kind.clone());
        }
    }
    if settings(plan, other).contains(&true) {
        kinds.clear();
    }
    kinds
}

/// Which settings of the store another plan has that this one has not.
fn settings(plan: &Plan, other: &Plan) -> [bool; 3] {
    [
        other.store.seal && !plan.store.seal,
        other.store.once && !plan.store.once,
        other.store.kind != plan.store.kind,
    ]
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
    let more = usize::from(other.workers.len() > plan.workers.len());
    let settings = settings(plan, other).into_iter().filter(|is_new| *is_new);
    faults.count() + orders.count() + settings.count() + more
}

/// How the newest readable run ended that lies where the runs of this drill lie:
/// `<root>/<drill>/<run id>`.
fn newest(dir: &Path, drill: &str) -> Option<(String, Verdict)> {
    let dir = dir.canonicalize().ok()?;
    let runs = fs::read_dir(dir.parent()?.parent()?.join(drill)).ok()?;
    let mut runs: Vec<_> = runs.filter_map(Result::ok).map(|run| run.path()).collect();
    runs.sort_unstable_by(|a, b| b.cmp(a));
    runs.iter()
        .filter_map(|run| Some((run.file_name()?.to_str()?, results::read(run).ok()?)))
        .map(|(id, result)| (id.to_owned(), result.verdict))
        .next()
}
