//! What to do next: concrete actions, by verdict; the first is the one to take.

use super::{bare, drills, finding, limits, listed, violated};
use crate::checks::Outcome;
use crate::plan::Plan;
use crate::report::html;
use crate::report::model::{ArmModel, Model};
use crate::report::runs::Series;
use crate::report::sentence::Sentence;
use crate::report::times::{Stands, Times};
use crate::report::words::{span_beside, verdict_word};
use crate::store::Fence;
use crate::verdict::Verdict;

/// So many runs of one schedule, all passed, bound its failure rate below about seven per cent.
const ENOUGH: usize = 50;

/// The actions.
pub fn actions(model: &Model, series: &Series) -> Vec<Sentence> {
    let Some(main) = model.main() else {
        return vec![Sentence::of("Run it again: ").code(command(model))];
    };
    match model.result.verdict {
        Verdict::Pass => pass(model, series),
        Verdict::Limit => limits::advice(model, main),
        Verdict::Fail => vec![again(fail(main), model)],
        Verdict::Inconclusive => vec![again(inconclusive(model, main), model)],
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

fn again(advice: Sentence, model: &Model) -> Sentence {
    advice.text(". Then run it again: ").code(command(model))
}

fn pass(model: &Model, series: &Series) -> Vec<Sentence> {
    let mut all: Vec<Sentence> = drills::others(model).into_iter().map(other).collect();
    all.extend(lease(model));
    if series.told() < ENOUGH {
        let narrow = Sentence::of("Run ")
            .code(format!(
                "lockdrill run {} --repeat {ENOUGH}",
                model.result.drill
            ))
            .text(", because ")
            .text(match series.told() {
                1 => "one run says little".to_owned(),
                n => format!("{n} runs say little"),
            })
            .text(" about how often this schedule fails");
        all.push(narrow);
    }
    if all.is_empty() {
        let rest = Sentence::of("Run ").code("lockdrill run --all").text(
            " after each change of the lock or of its settings, because this drill has said what it can",
        );
        all.push(rest);
    }
    all
}

/// A lease that is shorter than the times of this run allow.
fn lease(model: &Model) -> Option<Sentence> {
    let history = &model.main()?.record.as_ref()?.history;
    let times = Times::of(history);
    let least = times
        .least()
        .filter(|_| times.stands() == Stands::TooShort)?;
    let has = times.lease;
    Some(
        Sentence::of("Look at the lease where this is your own lock: here it is ").text(format!(
            "{}, and the times of this run ask for {} at least (see How near it was)",
            span_beside(has, least),
            span_beside(least, has)
        )),
    )
}

fn other(drill: drills::Other) -> Sentence {
    let asks = match drill.same.as_slice() {
        [] => ", which tries what this drill did not".to_owned(),
        kinds => format!(
            ", which breaks the same ({}) in another course of events",
            listed(kinds)
        ),
    };
    let asks = format!("{asks}: {}", bare(&drill.question));
    match drill.newest {
        None => Sentence::of("Run ")
            .code(format!("lockdrill run {}", drill.name))
            .text(asks),
        Some((id, verdict)) => Sentence::of("Read ")
            .page(
                format!("the newest report of drill {}", drill.name),
                format!("../../{}/{id}/{}", drill.name, html::FILE),
            )
            .text(format!(
                " beside this one (verdict: {}){asks}",
                verdict_word(verdict)
            )),
    }
}

fn fail(main: &ArmModel) -> Sentence {
    if let Some(advice) = main.plan().and_then(|plan| remedy(plan, main)) {
        return advice;
    }
    let red = violated(main).next();
    match red.and_then(|red| Some((red, red.events.first()?))) {
        Some((red, seq)) => Sentence::of("Find out why ")
            .code(&red.check)
            .text(" was violated: begin at ")
            .event("its first event", *seq)
            .text(" and follow the picture from there"),
        None => Sentence::of(format!("Look into it: {}", bare(&main.result.why))),
    }
}

/// What to change, where the plan itself tells.
fn remedy(plan: &Plan, main: &ArmModel) -> Option<Sentence> {
    let red = |check: &str| {
        finding(main, check).is_some_and(|finding| finding.outcome == Outcome::Violated)
    };
    if let Some(flaw) = &plan.lock.flaw {
        return Some(
            Sentence::of("Take the built-in defect ")
                .code(flaw)
                .text(" out of the lock (")
                .code("lock.flaw")
                .text(")"),
        );
    }
    if red("no_stale_write") && plan.store.fence != Fence::Atomic {
        return Some(
            Sentence::of(
                "Make the store compare the fencing token in the same atomic step as the write (",
            )
            .code("store.fence = \"atomic\"")
            .text(")"),
        );
    }
    if red("no_lost_update") && !plan.store.seal {
        return Some(
            Sentence::of("Tell the store the new fencing token on entry, before the first write (")
                .code("store.seal = true")
                .text(")"),
        );
    }
    None
}

fn inconclusive(model: &Model, main: &ArmModel) -> Sentence {
    if let Some((name, seq, _)) = main.scene.not_injected.first() {
        return Sentence::of("Read ")
            .event(format!("why {name} was not injected"), *seq)
            .text(" and change its ")
            .code("when")
            .text(" or ")
            .code("target")
            .text(" in the experiment file");
    }
    let dead = model
        .arms
        .iter()
        .find(|arm| arm.result.red_as_required == Some(false));
    if let Some(control) = dead {
        let why = bare(&control.result.why);
        let so = match control.result.is_red_for_more() {
            true => {
                "It violated more than was taken away from it: suspect the lock, before the drill"
            }
            false => "Until it goes red, this drill cannot show that it sees the damage",
        };
        return Sentence::of("Look at the control ")
            .code(&control.result.arm)
            .text(format!(" first: {why}. {so}"));
    }
    if !main.scene.stalls.is_empty() {
        return Sentence::of("Find a quieter machine (")
            .code("lockdrill doctor")
            .text(" shows how noisy this one is)");
    }
    Sentence::of("Remove the cause")
}
