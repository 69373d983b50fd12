//! A fence that was right about numbers that were wrong: the store refused a holder that the lock
//! server had entitled, and perhaps took the write of an older one.

use crate::report::scene::Scene;
use crate::report::scene::rightful::{Inverted, inverted};
use crate::report::scene::tenure::Tenure;
use crate::report::scene::writes::WriteMark;
use crate::report::sentence::Sentence;
use crate::report::words::{Clock, span};

/// What happened, in one sentence; none if no rightful holder was refused.
pub fn told(scene: &Scene) -> Option<Sentence> {
    let found = inverted(scene)?;
    let mut instants = vec![found.own.from, found.refused.at()];
    instants.extend(found.accepted.map(|(write, _)| write.at()));
    let clock = Clock::telling(&instants);
    let name = &found.refused.worker;
    let sentence = Sentence::of("the store ")
        .event(
            format!("refused {}", found.refused.write),
            found.refused.event,
        )
        .text(format!(
            " at {} although {name} ",
            clock.at(found.refused.at())
        ))
        .event("had been granted the lock", found.own.granted_by)
        .text(format!(
            " at {} and was entitled{}",
            clock.at(found.own.from),
            number(found.refused)
        ));
    Some(match found.accepted {
        Some((write, tenure)) => sentence.then(taken(scene, clock, write, tenure)),
        None => sentence.text("; it took no write of an older holder after that grant"),
    })
}

/// Why the fence took the write for an old one.
fn number(refused: &WriteMark) -> String {
    let token = refused.fencing.unwrap_or(0);
    match refused.highest {
        Some(highest) if highest != token => {
            format!(
                ", because its fencing token {token} is lower than the {highest} that the store knew"
            )
        }
        _ => format!(", because the store knew its fencing token {token} of another grant"),
    }
}

/// The older holder's write, and what it must have known or not.
fn taken(scene: &Scene, clock: Clock, write: &WriteMark, tenure: &Tenure) -> Sentence {
    let sentence = Sentence::of("; and it ")
        .event(format!("accepted {}", write.write), write.event)
        .text(format!(
            " of the older holder {} at {}",
            write.worker,
            clock.at(write.at())
        ));
    let losses = scene.losses.iter();
    let mut losses = losses.filter(|loss| Some(&loss.grant) == tenure.grant.as_ref());
    let after = |at: u64| span(write.at().saturating_sub(at));
    if let Some(loss) = losses.find(|loss| loss.at < write.at()) {
        return sentence
            .text(format!(", {} after {} ", after(loss.at), write.worker))
            .event("was told that its lock is lost", loss.event);
    }
    match tenure.key_taken.filter(|taken| taken.at < write.at()) {
        Some(key) => sentence
            .text(format!(", {} after its key ", after(key.at)))
            .event(
                format!("was {}", tenure.taken().unwrap_or_default()),
                key.event,
            ),
        None => sentence,
    }
}

/// Why the fence could not save the work, without a full stop.
pub fn unsaved(scene: &Scene, mode: &str) -> Option<Sentence> {
    let Inverted {
        refused,
        own,
        accepted,
    } = inverted(scene)?;
    let name = &refused.worker;
    let sentence = Sentence::of(format!(
        "the store's fence ({mode}) compared fencing tokens, and the one that {name} "
    ))
    .event("was granted", own.granted_by)
    .text(" was not above an older one; so it ")
    .event(format!("kept out {name}"), refused.event)
    .text(", whom the lock server had granted the lock last");
    Some(match accepted {
        Some((write, _)) => Sentence::of("none: ")
            .then(sentence)
            .text(", and ")
            .event(format!("let in {}", write.worker), write.event),
        None => Sentence::of("nothing had to be saved from a stale write; but ").then(sentence),
    })
}
