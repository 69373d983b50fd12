//! What a run did not test, from the registries and the plan. A report without this list invites
//! conclusions that the run does not carry.

use super::listed;
use crate::checks::{self, Outcome};
use crate::plan::Plan;
use crate::report::model::{ArmModel, Model};
use crate::report::scene::writes::Fate;
use crate::report::tried::is_untried_in;
use crate::report::words::fence_word;
use crate::store::Fence;
use crate::{faults, lock::backends, store};

/// One thing a line.
pub fn untested(model: &Model) -> Vec<String> {
    let mut told = Vec::new();
    let Some((main, plan)) = model.main().and_then(|main| Some((main, main.plan()?))) else {
        return vec!["Nothing was tested: the main arm did not run.".to_owned()];
    };
    told.push(format!(
        "Only this schedule: {} on one key, on this machine, with a lock of kind {} and a store of kind {} (fence {}). Another order of events is another experiment.",
        workers(plan),
        plan.lock.backend,
        plan.store.kind,
        fence_word(plan.store.fence)
    ));
    told.push(fenced(main, plan));
    told.extend(given_server(model));
    told.extend(fence_gap(plan));
    told.extend(other_faults(plan));
    told.extend(other_kinds(plan));
    told.extend(blind_checks(main));
    told.push("Real networks, other versions, load, and clocks that step, unless the list of faults above names them.".to_owned());
    told
}

/// What fencing covers here, if there is any, and what it did not have to do.
fn fenced(main: &ArmModel, plan: &Plan) -> String {
    let refused = main
        .scene
        .writes
        .iter()
        .any(|write| write.fate == Fate::Rejected)
        || main
            .scene
            .beside
            .iter()
            .any(|mark| mark.fate == Fate::Rejected);
    let fence = match plan.store.fence {
        Fence::Off => {
            "There is no fencing here: the store compares no fencing tokens (fence off), so nothing kept a late write out but the lock."
        }
        Fence::Atomic | Fence::Racy if refused => "Fencing covers what goes through this store.",
        Fence::Atomic | Fence::Racy => {
            "Fencing would cover what goes through this store; here it had nothing to refuse."
        }
    };
    format!(
        "{fence} Whatever else a holder does (files, mails, calls to other services) was not fenced and not looked at."
    )
}

/// What nobody had in hand.
fn given_server(model: &Model) -> Option<String> {
    let server = model.fact("given_server")?;
    Some(format!(
        "The lock server was given and not started by lockdrill: {server}. Its settings, its memory and what it keeps on disk were as they were, its clock was read and never set, nobody kept others away from it, and no fault was done to it."
    ))
}

fn workers(plan: &Plan) -> String {
    let names: Vec<String> = plan
        .workers
        .iter()
        .map(|worker| worker.name.clone())
        .collect();
    format!("{} contending", listed(&names))
}

fn fence_gap(plan: &Plan) -> Option<String> {
    match plan.store.fence {
        Fence::Atomic if !plan.store.seal => Some("A late holder that writes after its successor was granted but before that successor's first write: without a seal the store cannot know yet that it is late.".to_owned()),
        Fence::Atomic | Fence::Racy | Fence::Off => None,
    }
}

fn other_faults(plan: &Plan) -> Option<String> {
    let others: Vec<String> = faults::ALL
        .iter()
        .filter(|kind| plan.faults.iter().all(|fault| fault.kind != kind.name))
        .map(|kind| kind.name.to_owned())
        .collect();
    (!others.is_empty()).then(|| format!("Faults of other kinds: {}.", listed(&others)))
}

fn other_kinds(plan: &Plan) -> Option<String> {
    let locks = backends::ALL
        .iter()
        .map(|kind| kind.name)
        .filter(|name| *name != plan.lock.backend)
        .map(|name| format!("lock {name}"));
    let stores = store::ALL
        .iter()
        .map(|kind| kind.name)
        .filter(|name| *name != plan.store.kind)
        .map(|name| format!("store {name}"));
    let others: Vec<String> = locks.chain(stores).collect();
    (!others.is_empty()).then(|| format!("Other locks and stores: {}.", listed(&others)))
}

fn blind_checks(main: &ArmModel) -> Option<String> {
    let found = &main.result.checks;
    let unasked = checks::ALL
        .iter()
        .map(|check| check.name())
        .filter(|name| found.iter().all(|finding| finding.check != *name))
        .map(|name| format!("{name} (not judged)"));
    let empty = found
        .iter()
        .filter(|finding| is_untried_in(main, finding) || finding.outcome == Outcome::Unknown)
        .map(|finding| {
            let why = if finding.outcome == Outcome::Unknown {
                "unknown"
            } else {
                "not put to the test"
            };
            format!("{} ({why})", finding.check)
        });
    let all: Vec<String> = unasked.chain(empty).collect();
    (!all.is_empty()).then(|| format!("Checks that say nothing here: {}.", listed(&all)))
}
