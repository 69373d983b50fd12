//! Many experiments at once. What the command line asks of a whole suite fits some of its drills
//! and not others: those are left out, with the reason, and do not end the suite. A drill that was
//! asked for by name is refused instead, and so is everything if nothing fits: that is a mistake of
//! the command line.

use super::files::{self, Text};
use super::{Experiment, LoadRequest, Overrides, Refused, read};
use crate::problem::Problem;
use crate::verdict::LeftOut;

/// What became of a request.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What can be run, in order.
    pub experiments: Vec<Experiment>,
    /// Drills of the suite that the command line does not fit, or whose service is not installed.
    pub left_out: Vec<LeftOut>,
    /// What is wrong with the rest.
    pub refused: Refused,
}

/// Loads what is good, and says why the rest is not. Where nothing at all fits, what is wrong with
/// every drill is told once, and what is wrong with single ones is not.
pub fn load_each(request: &LoadRequest) -> Loaded {
    let (mut loaded, unfit) = sort(request);
    if loaded.experiments.is_empty() {
        let common = in_common(&unfit);
        for (_, problems) in unfit {
            loaded.refused.merge(problems);
        }
        loaded.refused.keep_only(&common);
    } else {
        loaded.left_out = all_left_out(&unfit);
    }
    loaded
}

/// The same for whoever only wants to know what fits: nothing is refused because nothing does.
pub fn load_fitting(request: &LoadRequest) -> Loaded {
    let (mut loaded, unfit) = sort(request);
    loaded.left_out = all_left_out(&unfit);
    loaded
}

/// What is good, what is wrong, and what the command line does not fit.
fn sort(request: &LoadRequest) -> (Loaded, Vec<(String, Refused)>) {
    let (texts, refused) = files::open(request);
    let mut loaded = Loaded {
        refused,
        ..Loaded::default()
    };
    let mut unfit = Vec::new();
    for text in texts {
        match read_one(&text, &request.overrides) {
            Ok(experiment) => loaded.experiments.push(experiment),
            Err(problems) if is_only_unfit(&text, request) => unfit.push((text.name, problems)),
            Err(problems) => loaded.refused.merge(problems),
        }
    }
    (loaded, unfit)
}

/// Problems that every one of several drills has.
fn in_common(unfit: &[(String, Refused)]) -> Vec<Problem> {
    let Some(((_, first), rest)) = unfit.split_first() else {
        return Vec::new();
    };
    let everywhere = |problem: &&Problem| {
        let has = |(_, all): &(String, Refused)| all.problems().contains(problem);
        !rest.is_empty() && rest.iter().all(has)
    };
    let common = first.problems().into_iter().filter(everywhere);
    common.cloned().collect()
}

fn all_left_out(unfit: &[(String, Refused)]) -> Vec<LeftOut> {
    let each = unfit.iter().map(|(drill, why)| left_out(drill, why));
    each.collect()
}

fn read_one(text: &Text, overrides: &Overrides) -> Result<Experiment, Refused> {
    read(&text.name, &text.shown, &text.text, overrides)
}

/// Of the suite, and good as it stands.
fn is_only_unfit(text: &Text, request: &LoadRequest) -> bool {
    text.of_suite
        && !request.overrides.changes_nothing()
        && read_one(text, &Overrides::default()).is_ok()
}

/// The reason that tells most: what the command line itself cannot have, else the first in the file.
fn left_out(drill: &str, problems: &Refused) -> LeftOut {
    let all = problems.problems();
    let of_command = all.iter().find(|problem| problem.file.starts_with("--"));
    let why = of_command.or(all.first()).map(|first| match &first.hint {
        Some(hint) => format!("{}; {hint}", first.message),
        None => first.message.clone(),
    });
    LeftOut {
        drill: drill.to_owned(),
        why: why.unwrap_or_default(),
    }
}
