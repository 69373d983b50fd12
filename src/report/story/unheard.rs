//! What became of whoever was granted the lock and never heard of it: when it asked, what it was
//! told, when the server made the grant all the same, and what was done with it.

use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::sentence::Sentence;
use crate::report::words::at;
use crate::timeline::event::{Call, Outcome};
use crate::timeline::history::{History, Operation};

/// More of them than this are counted in the figures alone.
const MAX: usize = 3;

/// One sentence for each such grant.
pub fn told(arm: &ArmModel) -> Vec<Sentence> {
    let Some(record) = &arm.record else {
        return Vec::new();
    };
    let unheard = arm.scene.tenures.iter().filter(|tenure| tenure.unheard);
    let told = unheard.filter_map(|tenure| one(&arm.scene, &record.history, tenure));
    told.take(MAX).collect()
}

fn one(scene: &Scene, history: &History, tenure: &Tenure) -> Option<Sentence> {
    let who = tenure.worker.as_deref()?;
    let step = step(history, who, tenure)?;
    let sentence = Sentence::default()
        .event(format!("{who} asked"), step.seq)
        .text(format!(" for the lock at {}", at(step.invoked)));
    let sentence = answered(sentence, scene, who, step);
    let writes = scene.writes.iter();
    let used = writes.filter(|write| write.grant.is_some() && write.grant == tenure.grant);
    let used = match used.count() {
        0 => format!("{who} wrote nothing under it"),
        _ => format!("{who} wrote under it all the same"),
    };
    let ended = match (tenure.taken(), tenure.ended) {
        (Some(how), _) => format!("its key was {how}"),
        (None, Ended::Released) => released(history, tenure, who),
        (None, Ended::Expired) => format!("its lease ran out at {}", at(tenure.until)),
        (None, Ended::Open) => "its lease still runs when the record ends".to_owned(),
    };
    Some(
        sentence
            .event("the server granted it", tenure.granted_by)
            .text(format!(
                " at {} all the same, and nobody was told; {used}, and {ended}",
                at(tenure.from)
            )),
    )
}

/// Who released what its worker never heard of: a step of the worker's script, or none.
fn released(history: &History, tenure: &Tenure, who: &str) -> String {
    let mut sent = history.operations.iter().filter(
        |one| matches!(&one.call, Call::Release { grant } if Some(grant) == tenure.grant.as_ref()),
    );
    match sent.next() {
        Some(one) if one.step.is_none() => format!(
            "{who} released it, asked at {}, by no step of its script",
            at(one.invoked)
        ),
        Some(one) => format!("{who} released it, asked at {}", at(one.invoked)),
        None => "it was released".to_owned(),
    }
}

/// What the worker was told, up to what the server did.
fn answered(sentence: Sentence, scene: &Scene, who: &str, step: &Operation) -> Sentence {
    let died = || scene.deaths.iter().find(|death| death.worker == who);
    match (&step.returned, died()) {
        (Some(back), _) => {
            let what = match back.outcome {
                Outcome::Info => "that nobody knows whether it has it",
                Outcome::Ok | Outcome::Fail => "that it does not have it",
            };
            sentence
                .text(" and ")
                .event("was told", back.seq)
                .text(format!(" at {} {what}; ", at(back.at)))
        }
        (None, Some(death)) => sentence
            .text(" and ")
            .event("died", death.event)
            .text(format!(" at {} without an answer; ", at(death.at))),
        (None, None) => sentence.text(" and got no answer; "),
    }
}

/// The step that asked for it.
fn step<'h>(history: &'h History, who: &str, tenure: &Tenure) -> Option<&'h Operation> {
    let asks = |one: &&Operation| {
        matches!(one.call, Call::Acquire | Call::Enter { .. })
            && history.worker_name(one.worker) == who
            && one.step == tenure.step
            && Some(one.invoked) <= tenure.asked
    };
    history.operations.iter().rfind(asks)
}
