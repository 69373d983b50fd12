//! What the controls let through, one sentence a control: what a protection is worth is seen when
//! it is missing.

use super::protection::{most_telling, reached};
use super::without::without;
use super::{bare, consequence, finding, harm, protection};
use crate::checks::{Finding, Outcome};
use crate::report::model::{ArmModel, Model};
use crate::report::scene::writes::{Harm, WriteMark};
use crate::report::sentence::Sentence;
use crate::report::words::at;
use crate::verdict::Protection;

/// Every control with its sentence.
pub fn told(model: &Model) -> Vec<(&ArmModel, Sentence)> {
    let controls = model.arms.get(1..).unwrap_or_default();
    controls
        .iter()
        .map(|control| (control, one(control)))
        .collect()
}

fn one(control: &ArmModel) -> Sentence {
    let name = &control.result.arm;
    if control.result.verdict.is_none() {
        return Sentence::of("control ").code(name).text(format!(
            " was {} ({}), so this run does not show that the drill can see that damage",
            control.result.status,
            bare(&control.result.why)
        ));
    }
    if control.result.red_as_required != Some(true) {
        return Sentence::of("control ").code(name).text(format!(
            " did not go red, as it must: {}",
            bare(&control.result.why)
        ));
    }
    let change = control.plan().and_then(|plan| plan.control.as_ref());
    let without = change.map_or_else(|| format!("in control {name}"), without);
    let harmful = most_telling(&control.scene).filter(|write| write.harm().is_some());
    let sentence = match (
        harmful,
        change.and_then(|change| finding(control, &change.check)),
    ) {
        (Some(write), _) => accepted(control, write, &without),
        (None, Some(red)) => {
            let sentence = Sentence::of(format!("{without}, "));
            let words = bare(&red.why);
            let sentence = match red.events.first() {
                Some(seq) => sentence.event(words, *seq),
                None => sentence.text(words),
            };
            let sentence = deletions(control, red, sentence);
            work(control, red, outage(control, red, sentence))
        }
        (None, None) => Sentence::of(format!("{without}, {}", bare(&control.result.why))),
    };
    sentence
        .text(" (control ")
        .code(name)
        .text(": red, as required)")
}

/// Every other key that somebody else's release deleted, where that is what the finding is about.
fn deletions(control: &ArmModel, red: &Finding, sentence: Sentence) -> Sentence {
    if red.check != "owner_only" {
        return sentence;
    }
    let tenures = control.scene.tenures.iter();
    let others = tenures.filter(|tenure| !tenure.deleted_by.is_empty());
    let others = others.filter(|tenure| !red.events.contains(&tenure.granted_by));
    others.fold(sentence, |sentence, tenure| {
        let (Some(taken), Some(how)) = (tenure.key_taken, tenure.taken()) else {
            return sentence;
        };
        let who = tenure.who();
        let token = tenure
            .fencing
            .map_or(String::new(), |token| format!(" {token}"));
        sentence
            .text(format!(
                "; the key that {who} was granted with fencing token{token} was "
            ))
            .event(how, taken.event)
            .text(format!(" at {}, too", at(taken.at)))
    })
}

/// What became of the work, where that is not what the finding itself says.
fn work(control: &ArmModel, red: &Finding, sentence: Sentence) -> Sentence {
    let says_it = [
        "published_once",
        "no_lost_update",
        "effects_once",
        "no_stale_write",
    ];
    let became = match control.result.protection {
        Protection::Lost if says_it.contains(&&*red.check) => return sentence,
        Protection::Lost => harm::done(control),
        Protection::KeptByFencing => "the work was kept by fencing",
        Protection::Kept => "the work was kept",
        Protection::NotTested => "the work was not put to the test",
    };
    sentence
        .text(format!("; {became}: "))
        .then(protection::why(control))
}

/// Who waited in vain, if the lock never came back and that is not the sentence itself.
fn outage(control: &ArmModel, red: &Finding, sentence: Sentence) -> Sentence {
    let waited = finding(control, "recovers")
        .filter(|other| other.outcome == Outcome::Violated && other.check != red.check);
    let Some(waited) = waited else {
        return sentence;
    };
    let words = bare(&waited.why);
    let sentence = sentence.text("; the outage: ");
    match waited.events.first() {
        Some(seq) => sentence.event(words, *seq),
        None => sentence.text(words),
    }
}

fn accepted(control: &ArmModel, write: &WriteMark, without: &str) -> Sentence {
    let kind = match write.harm() {
        Some(Harm::Stale) if consequence::is_misnumbered(&control.scene, write) => {
            return misnumbered(control, write, without);
        }
        Some(Harm::Stale) => "stale",
        Some(Harm::Borrowed) => "borrowed",
        Some(Harm::Late) | None => "late",
    };
    let alike = reached(&control.scene).filter(|other| other.harm() == write.harm());
    let sentence = match alike.count() {
        0 | 1 => Sentence::of(format!(
            "{without}, the {kind} write of {} was ",
            write.worker
        ))
        .event("accepted", write.event)
        .text(format!(" at {}", at(write.at()))),
        n => Sentence::of(format!("{without}, {n} {kind} writes were accepted, "))
            .event(format!("the first of {}", write.worker), write.event)
            .text(format!(" at {}", at(write.at()))),
    };
    let sentence = match write.compared {
        Some(compared) => sentence.text(format!(
            "; its fencing token had been compared by {}, {}",
            at(compared),
            before(control, write)
        )),
        None => sentence,
    };
    lost(control, write, sentence)
}

/// Before what a racy store had compared.
fn before(control: &ArmModel, write: &WriteMark) -> String {
    let next = control.scene.tenures.iter().find(|tenure| {
        write.compared < Some(tenure.from)
            && tenure.from < write.at()
            && tenure.fencing > write.fencing
    });
    match next.and_then(|next| Some((next.worker.as_deref()?, next.from))) {
        Some((who, from)) => format!("before {who} was granted the lock at {}", at(from)),
        None => "long before it was written".to_owned(),
    }
}

/// A write that is stale by its number alone.
fn misnumbered(control: &ArmModel, write: &WriteMark, without: &str) -> Sentence {
    let (who, own) = (&write.worker, write.fencing.unwrap_or(0));
    let sentence = Sentence::of(format!("{without}, the write of {who} was "))
        .event("accepted", write.event)
        .text(format!(
            " at {} although {}; the lock server had granted the lock to {who} last, so the number was wrong and not the writer",
            at(write.at()),
            match &write.twin {
                Some(twin) => format!(
                    "the store had taken {twin} of another grant under the same fencing token {own}"
                ),
                None => format!(
                    "its fencing token {own} was older than the {} that the store knew",
                    write.highest.unwrap_or(0)
                ),
            }
        ));
    lost(control, write, sentence)
}

/// Whose update was lost by it.
fn lost(control: &ArmModel, write: &WriteMark, sentence: Sentence) -> Sentence {
    match consequence::lost(&control.scene, write) {
        Some(lost) => sentence.text("; ").then(lost),
        None if harm::nothing_lost(control) => sentence.text("; no update was lost by it"),
        None => sentence,
    }
}
