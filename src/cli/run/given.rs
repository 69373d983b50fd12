//! `--target`: a lock server that is there already, refused before anything starts where a drill
//! would do something to it.

use super::Args;
use crate::env::isolation::Choice;
use crate::exit::Exit;
use crate::experiment::Experiment;
use crate::run::target::{Target, refusals};
use crate::say;

/// The server that was named; none if none was. What is wrong with it has been told.
pub(super) fn target(args: &Args, experiments: &[Experiment]) -> Result<Option<Target>, Exit> {
    let Some(given) = &args.target else {
        return Ok(None);
    };
    let target = Target::read(given, args.allow_remote).map_err(|error| refused(&error))?;
    if args.isolation == Choice::Namespace {
        return Err(refused(
            &"--target and --isolation namespace: nobody in a network of their own could reach it",
        ));
    }
    let controls = |experiment| -> &[_] {
        let Experiment { controls, .. }: &Experiment = experiment;
        if args.no_controls { &[] } else { controls }
    };
    let plans = experiments
        .iter()
        .flat_map(|experiment| std::iter::once(&experiment.main).chain(controls(experiment)));
    let why = refusals(plans);
    if why.is_empty() {
        return Ok(Some(target));
    }
    for (drill, why) in &why {
        say::err(format_args!("error: {drill}: {why}"));
    }
    let refused = |name: &str| why.iter().any(|(drill, _)| *drill == name);
    let names = experiments
        .iter()
        .map(|experiment| experiment.name.as_str());
    let good: Vec<&str> = names.filter(|name| !refused(name)).collect();
    if !good.is_empty() {
        say::err(format_args!(
            "on {target} can be played: {}",
            good.join(" ")
        ));
    }
    Err(Exit::Usage)
}

fn refused(why: &dyn std::fmt::Display) -> Exit {
    say::err(format_args!("error: {why}"));
    Exit::Usage
}
