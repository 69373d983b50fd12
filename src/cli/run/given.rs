//! `--target`: a lock server that is there already, refused before anything starts where a drill
//! would do something to it.

use super::Args;
use crate::env::isolation::Choice;
use crate::exit::Exit;
use crate::experiment::{Experiment, Loaded};
use crate::run::target::{Target, refusals};
use crate::say;
use crate::verdict::LeftOut;

/// The server that was named; none if none was. What is wrong with it has been told. Of the whole
/// suite, a drill that cannot be played there is left out with the reason; one that was asked for by
/// name is refused, and so is a suite of which nothing is left.
pub(super) fn target(args: &Args, loaded: &mut Loaded) -> Result<Option<Target>, Exit> {
    let Some(given) = &args.target else {
        return Ok(None);
    };
    let target = Target::read(given, args.allow_remote).map_err(|error| refused(&error))?;
    if args.isolation == Choice::Namespace {
        return Err(refused(
            &"--target and --isolation namespace: nobody in a network of their own could reach it",
        ));
    }
    let unfit = unfit(args, &loaded.experiments);
    if unfit.is_empty() {
        return Ok(Some(target));
    }
    let fits = |drill: &Experiment| !unfit.iter().any(|out| out.drill == drill.name);
    let good: Vec<&Experiment> = loaded.experiments.iter().filter(|it| fits(it)).collect();
    if args.all && !good.is_empty() {
        loaded.experiments.retain(fits);
        loaded.left_out.extend(unfit);
        return Ok(Some(target));
    }
    for LeftOut { drill, why } in &unfit {
        say::err(format_args!("error: {drill}: {why}"));
    }
    if !good.is_empty() {
        let names: Vec<&str> = good.iter().map(|drill| drill.name.as_str()).collect();
        say::err(format_args!(
            "on {target} can be played: {}",
            names.join(" ")
        ));
    }
    Err(Exit::Usage)
}

/// Drills that cannot be played on a given server, with all reasons of each in one sentence.
fn unfit(args: &Args, experiments: &[Experiment]) -> Vec<LeftOut> {
    let reasons = |drill: &Experiment| {
        let controls: &[_] = if args.no_controls {
            &[]
        } else {
            &drill.controls
        };
        let why = refusals(std::iter::once(&drill.main).chain(controls));
        (!why.is_empty()).then(|| LeftOut {
            drill: drill.name.clone(),
            why: why.join("; "),
        })
    };
    experiments.iter().filter_map(reasons).collect()
}

fn refused(why: &dyn std::fmt::Display) -> Exit {
    say::err(format_args!("error: {why}"));
    Exit::Usage
}
