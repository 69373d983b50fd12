//! The state of reading one experiment: its texts, and every problem found in them so far.

use super::place::{At, Sources};
use super::problems::Problems;
use super::refused::quote;
use super::shape::Names;
use crate::problem::nearest;

/// Longest name that a nearest one is looked for; the search is quadratic.
const NAME_MAX: usize = 64;

/// The texts being read and what was found wrong in them so far.
#[derive(Debug)]
pub(super) struct Reading {
    pub sources: Sources,
    pub problems: Problems,
}

impl Reading {
    /// A problem at a place.
    pub fn problem(&mut self, at: &At, message: impl Into<String>) {
        self.problems.add(&self.sources, at, message);
    }

    /// A problem at a place, with what to do about it.
    pub fn hinted(&mut self, at: &At, message: impl Into<String>, hint: impl Into<String>) {
        let hint = Some(hint.into());
        self.problems
            .hinted(&self.sources, at, message.into(), hint);
    }

    /// A name that is not among those that may be used: the nearest is offered, else all.
    pub fn unknown<'n>(
        &mut self,
        at: &At,
        message: String,
        typed: &str,
        names: impl IntoIterator<Item = &'n str>,
    ) {
        // Looking for the nearest name is the only costly part of telling a problem.
        let told = !self.problems.is_full();
        let hint = told.then(|| did_you_mean(typed, names)).flatten();
        self.problems.hinted(&self.sources, at, message, hint);
    }

    /// A typed name that must be one of a registry.
    pub fn known(&mut self, typed: &Spot<&str>, names: Names) -> Option<Spot<&'static str>> {
        if let Some((name, why)) = names.barred.iter().find(|(name, _)| *name == typed.value) {
            self.hinted(&typed.at, format!("`{name}` cannot be named here"), *why);
            return None;
        }
        let all = names.allowed();
        if let Some(name) = all.iter().copied().find(|name| *name == typed.value) {
            return Some(Spot {
                value: name,
                at: typed.at.clone(),
            });
        }
        let message = format!("unknown {} {}", names.noun, quote(typed.value));
        self.unknown(&typed.at, message, typed.value, all);
        None
    }
}

/// The nearest name, else the names if there are few.
fn did_you_mean<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<String> {
    let names: Vec<&str> = names.into_iter().collect();
    if let Some(name) = near(typed, names.iter().copied()) {
        return Some(format!("did you mean `{name}`?"));
    }
    match names.as_slice() {
        [] => None,
        [only] => Some(format!("there is only `{only}`")),
        few if few.len() <= 16 => Some(format!("one of `{}`", few.join("`, `"))),
        _ => None,
    }
}

/// The name that was meant, if one is near. Any two names of one or two letters are near each
/// other: that says nothing.
pub(super) fn near<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    if !(3..=NAME_MAX).contains(&typed.len()) {
        return None;
    }
    nearest(
        typed,
        names.into_iter().filter(|name| name.len() <= NAME_MAX),
    )
}

/// A value that was read, with its place.
#[derive(Debug, Clone)]
pub(super) struct Spot<T> {
    pub value: T,
    pub at: At,
}
