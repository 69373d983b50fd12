//! What earlier runs said: `history.jsonl`, one line an execution, kept when the runs themselves
//! are removed. Rates are counted a plan: a plan that changed begins a new count.

use super::error::ReportError;
use super::merge::identity;
use super::model::Model;
use super::nearness;
use super::tried::is_untried;
use crate::checks::{Finding, Outcome};
use crate::plan::Plan;
use crate::timeline::history::History;
use crate::verdict::{DrillResult, Protection, Verdict};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::Path;

pub mod file;
pub mod trend;
pub mod worse;

/// Version of the line's format.
pub const FORMAT: u32 = 1;

/// More characters of a reason than this are not kept.
const WHY_MAX: usize = 300;

/// One execution of one drill: its main arm, and of its controls whether they were red.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// [`FORMAT`].
    pub format: u32,
    /// Tells this execution from every other.
    pub id: String,
    /// Drill.
    pub drill: String,
    /// Name of the run directory.
    pub run: String,
    /// When it was prepared, RFC 3339, UTC.
    pub at: String,
    /// Digest of the plan without its seed.
    pub plan: String,
    /// Version of lockdrill, with the commit if that is known.
    pub lab: String,
    /// Lock back end.
    pub lock: String,
    /// Kind of store.
    pub store: String,
    /// Seed.
    pub seed: u64,
    /// Verdict of the drill.
    pub verdict: Verdict,
    /// What became of the work.
    pub protection: Protection,
    /// For each control whether it was red as required; none = it did not run.
    pub controls: BTreeMap<String, Option<bool>>,
    /// How many executions it took until every arm was conclusive, ≥ 1.
    pub attempts: usize,
    /// Outcome of each check of the main arm; one that nothing put to the test is not there.
    pub checks: BTreeMap<String, Outcome>,
    /// Checks that the drill's file names beforehand as its limit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limit: Vec<String>,
    /// Durations and margins by name, ns.
    pub figures: BTreeMap<String, i64>,
    /// Why, shortened.
    pub why: String,
}

impl Entry {
    /// The day of the execution: what a trend calls a night.
    pub fn night(&self) -> &str {
        self.at.get(..10).unwrap_or(&self.at)
    }

    /// The lock and the store of the execution, in words.
    pub fn on(&self) -> String {
        format!("{} and {}", self.lock, self.store)
    }

    /// Of a recorded run; none if it has no plan or no record.
    fn of(dir: &Path, result: &DrillResult, model: &Model) -> Option<Entry> {
        let main = model.main()?;
        let (plan, record) = (main.plan()?, main.record.as_ref()?);
        let revision = model.fact("revision").map(|commit| format!(" {commit}"));
        let arms = result.arms.iter();
        Some(Entry {
            format: FORMAT,
            id: identity(dir)?,
            drill: result.drill.clone(),
            run: dir.file_name()?.to_str()?.to_owned(),
            at: model.fact("prepared").unwrap_or("unknown").to_owned(),
            plan: digest(plan)?,
            lab: model.fact("lockdrill").unwrap_or("unknown").to_owned()
                + &revision.unwrap_or_default(),
            lock: plan.lock.backend.clone(),
            store: plan.store.kind.clone(),
            seed: plan.seed,
            verdict: result.verdict,
            protection: result.protection,
            controls: arms
                .clone()
                .skip(1)
                .map(|arm| (arm.arm.clone(), arm.red_as_required))
                .collect(),
            attempts: arms.map(|arm| arm.earlier_attempts.len()).max()? + 1,
            checks: tested(&main.result.checks, &record.history),
            limit: plan
                .limit
                .as_ref()
                .map_or_else(Vec::new, |limit| limit.checks.clone()),
            figures: nearness::figures(&record.history, &main.scene),
            why: result.why.chars().take(WHY_MAX).collect(),
        })
    }
}

/// What was put to the test.
fn tested(findings: &[Finding], history: &History) -> BTreeMap<String, Outcome> {
    findings
        .iter()
        .filter(|finding| !is_untried(finding, history))
        .map(|finding| (finding.check.clone(), finding.outcome))
        .collect()
}

/// What is the same for every execution of one plan.
pub(super) fn digest(plan: &Plan) -> Option<String> {
    let plan = Plan {
        seed: 0,
        ..plan.clone()
    };
    let digest = Sha256::digest(serde_json::to_vec(&plan).ok()?);
    Some(
        digest
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    )
}

/// Adds these runs to the history of their folder; a run that is in it already is not added again.
/// Returns how many were new.
///
/// # Errors
/// When the file cannot be read or written.
pub fn remember<'a>(
    root: &Path,
    runs: impl IntoIterator<Item = (&'a Path, &'a DrillResult)>,
) -> Result<usize, ReportError> {
    let entries: Vec<Entry> = runs
        .into_iter()
        .filter_map(|(dir, result)| {
            let model = Model::read(dir, result).ok()?;
            Entry::of(dir, result, &model)
        })
        .collect();
    file::append(root, entries)
}
