//! What the work needed: every protection without which a control of the same run did harm to it.

use super::harm;
use super::without::of_worker;
use crate::lock::flaws::Flaw;
use crate::plan::Control;
use crate::report::model::{ArmModel, Model};
use crate::report::sentence::Sentence;
use crate::verdict::Protection;

/// What the controls took away, and the harm that was done without it.
pub fn told(model: &Model) -> Option<Sentence> {
    let controls = model.arms.get(1..).unwrap_or_default().iter();
    let lost = controls.filter_map(|arm| {
        let change = arm.plan()?.control.as_ref()?;
        let is_lost =
            arm.result.red_as_required == Some(true) && arm.result.protection == Protection::Lost;
        is_lost.then(|| (protection_of(change), arm))
    });
    // What several controls took away is told once.
    let mut all: Vec<(String, Vec<&ArmModel>)> = Vec::new();
    for (what, arm) in lost {
        match all.iter_mut().find(|known| known.0 == what) {
            Some(known) => known.1.push(arm),
            None => all.push((what, vec![arm])),
        }
    }
    if all.is_empty() {
        return None;
    }
    let head = Sentence::of("needed for it, as this run shows: ");
    let told = all.into_iter().enumerate();
    Some(told.fold(head, |sentence, (nth, (what, arms))| {
        let glue = if nth == 0 { "" } else { "; " };
        let sentence = sentence.text(format!("{glue}{what} (without it, in control "));
        let arms = arms.into_iter().enumerate();
        arms.fold(sentence, |sentence, (nth, arm)| {
            let sentence = sentence.text(if nth == 0 { "" } else { "; in control " });
            let sentence = sentence.code(&arm.result.arm);
            sentence.text(format!(", {}", harm::done(arm)))
        })
        .text(")")
    }))
}

/// The protection that a control takes away.
fn protection_of(change: &Control) -> String {
    let from = change.from.as_str().unwrap_or_default();
    match change.path.as_str() {
        "store.fence" if change.to.as_str() == Some("racy") => {
            "that the fence compares and writes in one step".to_owned()
        }
        "store.fence" => format!("the store's fence ({from})"),
        "store.outbox" => "the outbox".to_owned(),
        "store.idempotent" => {
            "that the store and the queue take a job once, however often it comes".to_owned()
        }
        "store.condition" if change.to.as_str() == Some("racy") => {
            "that the state of the job is looked at in the step that writes".to_owned()
        }
        "store.condition" => "that a write looks at the state of its job".to_owned(),
        "store.seal" => "the seal".to_owned(),
        "store.reads" => "the comparison of fencing tokens at reads".to_owned(),
        "lock.persist" => {
            format!("what the lock server keeps on disk (lock.persist = {from})")
        }
        "lock.flaw" => {
            let flaw = change.to.as_str().unwrap_or_default();
            let sound = Flaw::named(flaw).map(|flaw| flaw.instead().to_owned());
            sound.unwrap_or_else(|| format!("a lock without the defect {flaw}"))
        }
        "lock.voters" => format!("that {} servers vote", change.from),
        path if of_worker(path, "key").is_some() => {
            "that all workers ask for one and the same key".to_owned()
        }
        path if of_worker(path, "fencing").is_some() => {
            "that every fencing token comes from the lock's own counter".to_owned()
        }
        path if change.from.is_null() => format!("that {path} is not {}", change.to),
        path => format!("{path} = {}", change.from),
    }
}
