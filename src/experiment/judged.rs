//! What a drill says of the checks: which must be put to the test, which may come out unknown, and
//! which its design cannot hold.

use super::reading::{Reading, Spot};
use super::registry;
use super::section::Section;
use super::tree::{Entry, Node, Table};
use crate::plan::Limit;

/// `[limit]`: what this design cannot hold.
pub(super) fn limit(reading: &mut Reading, root: &Section<'_>) -> Option<Limit> {
    let section = root.table(reading, "limit")?;
    let why = section.text(reading, "why");
    let checks = section.list_of(reading, "checks");
    if section.has("checks") && checks.is_empty() {
        let at = section.place("checks");
        reading.problem(&at, "a limit names at least one check");
    }
    Some(Limit {
        checks: owned(&checks),
        why: why?.value.to_owned(),
    })
}

/// Checks that must be put to the test, and checks that may come out unknown.
///
/// A drill tests at least who holds, and what each of its controls violates: a control shows
/// nothing about a check that the main arm never put to the test.
pub(super) fn check_lists(
    reading: &mut Reading,
    root: &Section<'_>,
    tree: &Table,
) -> (Vec<String>, Vec<String>) {
    let section = root.table(reading, "checks");
    let mut list = |name| {
        let section = section.as_ref();
        section.map_or_else(Vec::new, |section| section.list_of(reading, name))
    };
    let (require, optional) = (list("require"), list("optional"));
    for name in &optional {
        if require.iter().any(|required| required.value == name.value) {
            let message = format!("`{}` is both required and optional", name.value);
            reading.problem(&name.at, message);
        }
    }
    let mut wanted = owned(&require);
    wanted.push("single_holder".to_owned());
    wanted.extend(violated_by_controls(tree));
    let all = registry::check_names().into_iter();
    let required = all.filter(|check| wanted.iter().any(|name| name == check));
    (required.map(str::to_owned).collect(), owned(&optional))
}

/// What each control says it violates, as written: whether it is well written is told elsewhere.
fn violated_by_controls(tree: &Table) -> Vec<String> {
    let controls = tree.get("control").and_then(Node::table);
    let controls = controls.map_or(&[][..], |controls| controls.0.as_slice());
    let check = |control: &'_ Entry| {
        let violates = control.node.table()?.get("violates")?.table()?;
        violates.get("check")?.text().map(str::to_owned)
    };
    controls.iter().filter_map(check).collect()
}

fn owned(names: &[Spot<&'static str>]) -> Vec<String> {
    names.iter().map(|name| name.value.to_owned()).collect()
}
