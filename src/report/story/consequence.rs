//! What a write that was accepted did: why the store took it, and whose update was lost by it.
//! *Stale* and *late* are told apart here: a store can refuse only what it can know.

use crate::report::scene::Scene;
use crate::report::scene::writes::{Fate, Harm, WriteMark};
use crate::report::sentence::Sentence;

/// One sentence each, without a full stop; none of a write that did no harm.
pub fn of(scene: &Scene, write: &WriteMark) -> Vec<Sentence> {
    let mut told = Vec::new();
    told.extend(write.harm().map(|harm| taken(scene, write, harm)));
    told.extend(lost(scene, write));
    told
}

/// Whose update was lost by a write, or whose this one was.
pub fn lost(scene: &Scene, write: &WriteMark) -> Option<Sentence> {
    if write.fate != Fate::Accepted {
        return None;
    }
    if let Some(victim) = write.overwrites.as_deref() {
        return Some(replaced(scene, write, victim));
    }
    let over = |other: &&WriteMark| other.overwrites.as_deref() == Some(&*write.write);
    let by = scene.writes.iter().find(over)?;
    Some(replaced(scene, by, &write.write))
}

/// `b.write.1, built on a.write.1, replaced a.write.2 unread: a's update is lost`.
fn replaced(scene: &Scene, by: &WriteMark, victim: &str) -> Sentence {
    let whose = named(scene, victim).map_or("somebody", |write| &write.worker);
    let basis = by.based_on.as_deref().map_or_else(
        || ", built on nothing,".to_owned(),
        |basis| format!(", built on {basis},"),
    );
    Sentence::default().event(&by.write, by.event).text(format!(
        "{basis} replaced {victim} without having read it: {whose}'s update {victim} is lost"
    ))
}

fn taken(scene: &Scene, write: &WriteMark, harm: Harm) -> Sentence {
    let own = write
        .fencing
        .map_or("no fencing token".to_owned(), |token| token.to_string());
    match harm {
        Harm::Stale if write.twin.is_some() => {
            let twin = write.twin.as_deref().unwrap_or_default();
            let sentence = Sentence::of("it was stale: the store had accepted ");
            let sentence = match named(scene, twin) {
                Some(before) => sentence.event(twin, before.event),
                None => sentence.text(twin),
            };
            sentence.text(format!(
                " of another grant with the same fencing token {own}, so the token tells neither from the other"
            ))
        }
        Harm::Stale => {
            let highest = write.highest.unwrap_or(0);
            let sentence = Sentence::of("it was stale: the store had ");
            let sentence = match newest(scene, write, highest) {
                Some(before) => sentence
                    .event(format!("accepted {}", before.write), before.event)
                    .text(format!(" with the newer fencing token {highest}")),
                None => sentence.text(format!("heard of the newer fencing token {highest}")),
            };
            match is_misnumbered(scene, write) {
                true => sentence.text(format!(
                    "; yet the lock server had granted the lock to {} last: here the number was wrong, not the writer",
                    write.worker
                )),
                false => sentence,
            }
        }
        Harm::Borrowed => Sentence::of(format!(
            "its fencing token was borrowed: the lock never gave {own} to {}; the store sees a number and not the grant behind it, so it could not know",
            write.worker
        )),
        Harm::Late => Sentence::of(format!(
            "it was late but not stale: the store had not heard of a fencing token above {own} yet, so it could not know"
        )),
    }
}

/// Stale by its number alone: its writer was granted the lock last, by the one server that grants it,
/// and was entitled. Whoever holds another key than the others holds nothing of theirs.
pub fn is_misnumbered(scene: &Scene, write: &WriteMark) -> bool {
    let own = write.tenure.and_then(|tenure| scene.tenures.get(tenure));
    // A server that another has taken over from may grant what is no longer its to give.
    let mut servers = scene.tenures.iter().map(|tenure| &tenure.server);
    let first = servers.next();
    if servers.any(|server| Some(server) != first) {
        return false;
    }
    own.is_some_and(|own| {
        let mut others = scene.tenures.iter();
        let replaced = others.any(|other| {
            let later = own.from < other.from && other.from < write.at();
            later || other.other_key(own).is_some()
        });
        write.is_older() && !replaced && write.at() < own.entitled
    })
}

/// The accepted write by which the store came to know this fencing token.
fn newest<'s>(scene: &'s Scene, write: &WriteMark, highest: u64) -> Option<&'s WriteMark> {
    let before = scene.writes.iter().filter(|other| {
        !other.seal
            && other.fate == Fate::Accepted
            && other.fencing == Some(highest)
            && other.at() <= write.at()
    });
    before.min_by_key(|other| other.at())
}

fn named<'s>(scene: &'s Scene, name: &str) -> Option<&'s WriteMark> {
    scene.writes.iter().find(|write| write.write == name)
}
