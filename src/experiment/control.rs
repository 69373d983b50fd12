//! Controls: the same drill with one protection removed, which must go red, or the drill proves
//! nothing.
//!
//! A control is the file with one path set to another value, resolved again. The two plans are
//! then compared: a control that changes nothing, or more than it says, is refused.

use super::NotApplicable;
use super::diff::{self, Difference};
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::resolve;
use super::section::Section;
use super::settings;
use super::tree::Table;
use crate::plan::{Control, MAIN_ARM, Plan};

/// Most controls of one drill.
const CONTROLS_MAX: usize = 16;

/// The controls of one drill.
#[derive(Debug, Default)]
pub(super) struct Controls {
    pub plans: Vec<Plan>,
    pub not_applicable: Vec<NotApplicable>,
}

/// What the controls are resolved against.
pub(super) struct Against<'t> {
    pub tree: &'t Table,
    /// The main arm; none if it has problems, and then the plans are not compared.
    pub main: Option<&'t Plan>,
    pub drill: &'t str,
    pub seed: u64,
    /// The command line changed the main arm: a control that no longer fits it does not apply,
    /// instead of being wrong.
    pub changed: bool,
}

/// Resolves every control.
pub(super) fn read(reading: &mut Reading, against: &Against<'_>) -> Controls {
    let root = resolve::root(reading, against.tree);
    let sections = root.named(reading, "control");
    if let Some((name, _)) = sections.get(CONTROLS_MAX) {
        let count = sections.len();
        reading.problem(
            &name.at,
            format!("{count} controls; at most {CONTROLS_MAX}"),
        );
    }
    let mut controls = Controls::default();
    for (name, section) in sections.iter().take(CONTROLS_MAX) {
        let before = reading.problems.count();
        let plan = control(reading, against, name, section);
        if against.changed
            && let Some(why) = reading.problems.message_from(before)
        {
            reading.problems.truncate(before);
            controls.not_applicable.push(NotApplicable {
                control: name.value.to_owned(),
                why,
            });
            continue;
        }
        controls.plans.extend(plan);
    }
    controls
}

fn control(
    reading: &mut Reading,
    against: &Against<'_>,
    name: &Spot<&str>,
    section: &Section<'_>,
) -> Option<Plan> {
    if name.value == MAIN_ARM {
        reading.problem(
            &name.at,
            "a control cannot be named `main`: that is the whole drill",
        );
    }
    let red = violates(reading, against, section);
    let also = also(reading, section, red.as_ref());
    let settings = settings::of_entries(
        section.entries(reading, "set"),
        &settings::paths(against.tree),
    );
    let setting = match settings.as_slice() {
        [only] => only,
        [] => {
            if section.has("set") {
                let at = section.place("set");
                reading.problem(&at, "a control changes one path; `set` is empty");
            }
            return None;
        }
        [_, second, ..] => {
            let count = settings.len();
            let message = format!("a control changes one path; `set` has {count}");
            reading.hinted(&second.at, message, "make it two controls");
            return None;
        }
    };
    let mut tree = against.tree.clone();
    if !settings::apply(reading, &mut tree, setting) {
        return None;
    }
    let mut plan = resolve::main_arm(reading, &tree, against.drill, against.seed)?;
    let changed = one_difference(
        reading,
        &setting.at,
        diff::differences(against.main?, &plan),
    )?;
    let (check, by) = red?;
    plan.arm = name.value.to_owned();
    plan.control = Some(Control {
        path: changed.path,
        from: changed.from,
        to: changed.to,
        check: check.value.to_owned(),
        by,
        also,
    });
    Some(plan)
}

/// The check that must be violated, and its witness.
fn violates(
    reading: &mut Reading,
    against: &Against<'_>,
    section: &Section<'_>,
) -> Option<(Spot<&'static str>, String)> {
    let table = section.table(reading, "violates")?;
    let check = table.one_of(reading, "check");
    let by = table.text(reading, "by");
    if let Some(by) = &by {
        let names: Vec<&str> = ["worker", "fault"]
            .iter()
            .filter_map(|key| against.tree.get(key))
            .flat_map(super::tree::Node::keys)
            .collect();
        let workers = against.main.map_or(&[][..], |main| &main.workers);
        let one_of_a_group = workers.iter().any(|worker| worker.name == by.value);
        if !names.contains(&by.value) && !one_of_a_group {
            let message = format!("`by`: no worker or fault is named {}", quote(by.value));
            reading.unknown(&by.at, message, by.value, names);
        }
    }
    let check = check?;
    let limit = against.main.and_then(|main| main.limit.as_ref());
    if limit.is_some_and(|limit| limit.checks.iter().any(|name| name == check.value)) {
        let message = format!("`{}` is violated in the main arm too", check.value);
        reading.hinted(
            &check.at,
            message,
            "[limit] names it, so this control would show nothing",
        );
    }
    Some((check, by?.value.to_owned()))
}

fn also(
    reading: &mut Reading,
    section: &Section<'_>,
    red: Option<&(Spot<&'static str>, String)>,
) -> Vec<String> {
    let mut also = Vec::new();
    for name in section.list_of(reading, "also") {
        if red.is_some_and(|(check, _)| check.value == name.value) {
            let message = format!("`also` repeats `{}`, which must be violated", name.value);
            reading.problem(&name.at, message);
        }
        also.push(name.value.to_owned());
    }
    also
}

fn one_difference(
    reading: &mut Reading,
    at: &At,
    mut differences: Vec<Difference>,
) -> Option<Difference> {
    if differences.len() > 1 {
        let paths: Vec<&str> = differences.iter().map(|one| one.path.as_str()).collect();
        let message = format!(
            "the control changes more than one path: `{}`",
            paths.join("`, `")
        );
        let follows = paths.contains(&"patience_ms");
        let hint = "`patience_ms` follows the lease; set `patience` in [bounds]".to_owned();
        let sources = &reading.sources;
        reading
            .problems
            .hinted(sources, at, message, follows.then_some(hint));
        return None;
    }
    let only = differences.pop();
    if only.is_none() {
        reading.problem(
            at,
            "the control changes nothing: the main arm has this value already",
        );
    }
    only
}
