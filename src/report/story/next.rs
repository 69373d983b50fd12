//! What to do next: one concrete action, by verdict.

use super::{bare, finding, listed, violated};
use crate::checks::Outcome;
use crate::plan::Plan;
use crate::report::model::{ArmModel, Model};
use crate::report::runs::Series;
use crate::report::sentence::Sentence;
use crate::store::Fence;
use crate::verdict::Verdict;

/// The action.
pub fn action(model: &Model, series: &Series) -> Sentence {
    let Some(main) = model.main() else {
        return Sentence::of(format!("Run it again: {}", command(model)));
    };
    match model.result.verdict {
        Verdict::Pass => pass(model, series),
        Verdict::Limit => limit(model),
        Verdict::Fail => fail(model, main),
        Verdict::Inconclusive => inconclusive(model, main),
    }
}

/// The command that runs this again.
pub fn command(model: &Model) -> String {
    model.fact("command").map_or_else(
        || {
            let seed = model.plan().map_or(0, |plan| plan.seed);
            format!("lockdrill run {} --seed {seed}", model.result.drill)
        },
        str::to_owned,
    )
}

fn pass(model: &Model, series: &Series) -> Sentence {
    let drill = &model.result.drill;
    if series.told() < 50 {
        return Sentence::of(format!(
            "Narrow the bound: `lockdrill run {drill} --repeat 50`. One run says little about how often this schedule fails"
        ));
    }
    Sentence::of(
        "Run the other drills against the same lock: `lockdrill run --all`. This one has said what it can",
    )
}

fn limit(model: &Model) -> Sentence {
    let checks = model
        .plan()
        .and_then(|plan| plan.limit.as_ref())
        .map_or_else(|| "this".to_owned(), |limit| listed(&limit.checks));
    Sentence::of(format!(
        "Decide whether your work can live without {checks}. If it cannot, use another lock; if it can, make sure that every store behind this lock compares fencing tokens in the same step as it writes"
    ))
}

fn fail(model: &Model, main: &ArmModel) -> Sentence {
    let advice = main.plan().and_then(|plan| remedy(plan, main));
    let again = format!(". Then run it again: `{}`", command(model));
    if let Some(advice) = advice {
        return Sentence::of(advice).text(again);
    }
    let red = violated(main).next();
    match red.and_then(|red| Some((red, red.events.first()?))) {
        Some((red, seq)) => Sentence::of(format!(
            "Find out why {} was violated: begin at ",
            red.check
        ))
        .event("its first event", *seq)
        .text(" and follow the picture from there")
        .text(again),
        None => Sentence::of(format!("Look into it: {}", bare(&model.result.why))).text(again),
    }
}

/// What to change, where the plan itself tells.
fn remedy(plan: &Plan, main: &ArmModel) -> Option<String> {
    let red = |check: &str| {
        finding(main, check).is_some_and(|finding| finding.outcome == Outcome::Violated)
    };
    if let Some(flaw) = &plan.lock.flaw {
        return Some(format!(
            "Take the built-in defect `{flaw}` out of the lock (`lock.flaw`)"
        ));
    }
    if red("no_stale_write") && plan.store.fence != Fence::Atomic {
        return Some(
            "Make the store compare the fencing token in the same atomic step as the write (`store.fence = \"atomic\"`)"
                .to_owned(),
        );
    }
    if red("no_lost_update") && !plan.store.seal {
        return Some(
            "Tell the store the new fencing token on entry, before the first write (`store.seal = true`)"
                .to_owned(),
        );
    }
    None
}

fn inconclusive(model: &Model, main: &ArmModel) -> Sentence {
    let again = format!("`{}`", command(model));
    if let Some((name, seq, _)) = main.scene.not_injected.first() {
        return Sentence::of("Read ")
            .event(format!("why {name} was not injected"), *seq)
            .text(format!(
                ", change its `when` or `target` in the experiment file, and run it again: {again}"
            ));
    }
    let dead = model
        .arms
        .iter()
        .find(|arm| arm.result.red_as_required == Some(false));
    if let Some(control) = dead {
        return Sentence::of(format!(
            "Look at the control {} first: {}. Until it goes red, this drill cannot show that it sees the damage. Then run it again: {again}",
            control.result.arm,
            bare(&control.result.why)
        ));
    }
    if !main.scene.stalls.is_empty() {
        return Sentence::of(format!(
            "Run it again on a quieter machine (`lockdrill doctor` shows how noisy this one is): {again}"
        ));
    }
    Sentence::of(format!("Remove the cause and run it again: {again}"))
}
