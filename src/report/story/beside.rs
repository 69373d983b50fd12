//! The answers about what happens beside the writes: late reads, publications, drawn tokens. A page
//! asks only what its drill is about.

use crate::report::model::ArmModel;
use crate::report::scene::Scene;
use crate::report::scene::beside::{BesideMark, Deed, Queued};
use crate::report::scene::writes::Fate;
use crate::report::sentence::Sentence;
use crate::report::words::{at, span};

/// Each question that the record raises, with its answers.
pub fn asked(arm: &ArmModel) -> Vec<(&'static str, Vec<Sentence>)> {
    let scene = &arm.scene;
    let drawn: Vec<Sentence> = of(scene, |deed| matches!(deed, Deed::Drew(_)))
        .map(told)
        .collect();
    let all = || of(scene, |deed| matches!(deed, Deed::Read(_)));
    let late: Vec<Sentence> = all()
        .filter(|mark| mark.stale.is_some())
        .map(told)
        .collect();
    let mut answers = Vec::new();
    if !late.is_empty() {
        answers.push(("Was a late read answered?", late));
    }
    if !drawn.is_empty() {
        answers.push(("Who took a fencing token without the lock?", drawn));
    }
    let done = done(scene);
    if !done.is_empty() {
        answers.push(("Was each job done once?", done));
    }
    if arm.plan().is_some_and(crate::plan::Plan::has_queue) {
        answers.push(("Was the work published?", published(arm)));
    }
    answers
}

fn of(scene: &Scene, fits: fn(&Deed) -> bool) -> impl Iterator<Item = &BesideMark> {
    scene.beside.iter().filter(move |mark| fits(&mark.deed))
}

fn published(arm: &ArmModel) -> Vec<Sentence> {
    let mut told: Vec<Sentence> = of(&arm.scene, |deed| matches!(deed, Deed::Published(..)))
        .map(self::told)
        .collect();
    let found = super::finding(arm, "published_once");
    told.extend(found.map(|found| match found.events.first() {
        Some(seq) => Sentence::default().event(super::bare(&found.why), *seq),
        None => Sentence::of(super::bare(&found.why)),
    }));
    told
}

/// Each job that was brought to the store: by whom it was done, and who brought it again.
fn done(scene: &Scene) -> Vec<Sentence> {
    let mut jobs: Vec<(&str, Sentence, bool)> = Vec::new();
    let accepted = scene.writes.iter();
    let mut accepted: Vec<_> = accepted
        .filter(|write| write.fate == Fate::Accepted)
        .collect();
    // Who asked first may have come last.
    accepted.sort_by_key(|write| write.at());
    for write in accepted {
        let (Some(job), when) = (write.job.as_deref(), at(write.at())) else {
            continue;
        };
        let known = jobs.iter_mut().find(|known| known.0 == job);
        match known {
            Some((_, told, again)) => {
                let so = match write.again {
                    true => format!(" brought it again at {when}, and nothing changed"),
                    false => format!(" did it once more at {when}"),
                };
                let sentence = std::mem::take(told).text("; ");
                *told = sentence.event(write.write.as_str(), write.event).text(so);
                *again = true;
            }
            None => {
                let told = Sentence::default()
                    .event(write.write.as_str(), write.event)
                    .text(format!(" did {job} at {when}"));
                jobs.push((job, told, false));
            }
        }
    }
    // Where no job came twice there is nothing to ask.
    if jobs.iter().all(|(_, _, again)| !again) {
        return Vec::new();
    }
    jobs.into_iter().map(|(_, told, _)| told).collect()
}

/// The late read that the store refused, if there is one.
pub fn refused_read(scene: &Scene) -> Option<Sentence> {
    let mut late = of(scene, |deed| matches!(deed, Deed::Read(_)));
    late.find(|mark| mark.stale.is_some() && mark.fate == Fate::Rejected)
        .map(told)
}

/// One deed in a sentence.
fn told(mark: &BesideMark) -> Sentence {
    let (who, when) = (&mark.worker, at(mark.at));
    match &mark.deed {
        Deed::Read(shown) => {
            let sentence = Sentence::default()
                .event(format!("{who} read"), mark.event)
                .text(format!(
                    " with fencing token {} at {when}, {} after its lease ended and after another was granted; the store ",
                    mark.fencing.map_or("none".to_owned(), |token| token.to_string()),
                    span(mark.stale.unwrap_or(0)),
                ));
            match (mark.fate, shown) {
                (Fate::Rejected, _) => sentence.text("refused it"),
                (_, None) => sentence.text("answered it: nothing was written yet"),
                (_, Some(write)) => sentence
                    .text("answered it with ")
                    .code(write)
                    .text(", and what becomes of that is out of its sight"),
            }
        }
        Deed::Published(job, queued) => Sentence::default()
            .event(format!("{} put {job} into the queue", mark.step), mark.event)
            .text(format!(" at {when}"))
            .text(match queued {
                Queued::First => "",
                Queued::Known => ", which knew it already and kept it once",
                Queued::Again => ", which had it already and took it once more",
            }),
        Deed::Drew(token) => Sentence::default()
            .event(format!("{who} drew fencing token {token}"), mark.event)
            .text(format!(
                " from the lock's counter at {when}: a number that the store takes for a newer holder's, and nobody had granted anything"
            )),
    }
}
