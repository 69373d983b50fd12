//! What the history does not keep, read from the run that a cell tells of: the sentence about what
//! saved the work, and whether there still is a report. A run that was removed, or cannot be read,
//! leaves its cell as the history has it.

use super::{Cell, Matrix, State};
use crate::report::html::of_run;
use crate::report::model::{ArmModel, Model};
use crate::report::results;
use crate::report::story::{saved, violated};
use crate::verdict::DrillResult;
use std::path::{Component, Path};

/// Fills in every cell in which something was played.
pub(super) fn tell(root: &Path, matrix: &mut Matrix) {
    for row in &mut matrix.drills {
        for cell in &mut row.cells {
            if let Some(run) = cell.run.clone()
                && is_name(&row.drill)
                && is_name(&run)
            {
                one(root, (&row.drill, &run), cell);
            }
        }
    }
}

/// A name of one folder, and no path that leads out of it: the history is a file like any other.
fn is_name(text: &str) -> bool {
    let mut parts = Path::new(text).components();
    matches!(parts.next(), Some(Component::Normal(name)) if name == text) && parts.next().is_none()
}

fn one(root: &Path, (drill, run): (&str, &str), cell: &mut Cell) {
    let dir = root.join(drill).join(run);
    cell.report = of_run(root, drill, run);
    let Ok(result) = results::read(&dir) else {
        return;
    };
    // Of the controls nothing is told here: their records are not read.
    let main = DrillResult {
        arms: result.arms.into_iter().take(1).collect(),
        ..result
    };
    let Ok(model) = Model::read(&dir, &main) else {
        return;
    };
    let there = |main: &&ArmModel| main.record.is_some();
    if let Some(main) = model.main().filter(there) {
        cell.saved = saved::word(main).to_owned();
        cell.why = why(cell, main);
    }
}

/// What is told of a store that takes a job once.
const ONCE: &str = "the store takes a job once, however often it is delivered";

/// What is told of writes that are made only in the state that they expect.
const PENDING: &str = "a write changes its job only while that is pending";

fn why(cell: &Cell, main: &ArmModel) -> String {
    let by = match cell.saved.as_str() {
        saved::IDEMPOTENCY => ONCE.to_owned(),
        saved::CONDITION => PENDING.to_owned(),
        _ => saved::by(main).plain(),
    };
    match cell.state {
        State::Limit => {
            let names: Vec<&str> = violated(main).map(|found| found.check.as_str()).collect();
            let checks = if names.len() == 1 { "check" } else { "checks" };
            let names = names.join(", ");
            format!(
                "the {checks} {names} cannot be held here, as the drill's file says beforehand; what saved the work: {by}"
            )
        }
        State::Pass => format!("what saved the work: {by}"),
        _ => cell.why.clone(),
    }
}
