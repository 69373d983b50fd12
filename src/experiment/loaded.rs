//! Many experiments at once. What the command line asks of a whole suite fits some of its drills
//! and not others: those are left out, with the reason, and do not end the suite. A drill that was
//! asked for by name is refused instead, and so is everything if nothing fits: that is a mistake of
//! the command line.

use super::files::{self, Text};
use super::{Experiment, LoadRequest, Overrides, Refused, read};
use crate::verdict::LeftOut;

/// What became of a request.
#[derive(Debug, Default)]
pub struct Loaded {
    /// What can be run, in order.
    pub experiments: Vec<Experiment>,
    /// Drills of the suite that the command line does not fit.
    pub left_out: Vec<LeftOut>,
    /// What is wrong with the rest.
    pub refused: Refused,
}

/// Loads what is good, and says why the rest is not.
pub fn load_each(request: &LoadRequest) -> Loaded {
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
    if loaded.experiments.is_empty() {
        for (_, problems) in unfit {
            loaded.refused.merge(problems);
        }
    } else {
        loaded.left_out = unfit
            .iter()
            .map(|(drill, why)| left_out(drill, why))
            .collect();
    }
    loaded
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

fn left_out(drill: &str, problems: &Refused) -> LeftOut {
    let first = problems.problems().first().map(|first| match &first.hint {
        Some(hint) => format!("{}; {hint}", first.message),
        None => first.message.clone(),
    });
    LeftOut {
        drill: drill.to_owned(),
        why: first.unwrap_or_default(),
    }
}
