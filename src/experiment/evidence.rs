//! `[evidence]`: sentences that the record must bear out before a check may hold. Preconditions
//! only: no sentence can speak of what the lock or the store decided.

use super::cast::Cast;
use super::duration;
use super::place::At;
use super::reading::{Reading, Spot};
use super::refused::quote;
use super::section::Section;
use crate::plan::{Evidence, WorkerPlan};

/// Most sentences of one drill.
const SENTENCES_MAX: usize = 64;

/// Every sentence that there is.
pub(super) const FORMS: &str = "write `W lease ended while F`, `W granted while F`, `W copied while F` (F: a fault, or a step as `a.hold.1`), `W granted N times`, `W waited N times`, `W.write.N reached the store after V.write.M` (or a `read`) or `F began within D of G`";

/// Reads every sentence.
pub(super) fn read(reading: &mut Reading, root: &Section<'_>, cast: &Cast) -> Vec<Evidence> {
    let Some(section) = root.table(reading, "evidence") else {
        return Vec::new();
    };
    let typed = section.texts(reading, "require");
    if let Some(sentence) = typed.get(SENTENCES_MAX) {
        let count = typed.len();
        let message = format!("{count} sentences; at most {SENTENCES_MAX}");
        reading.problem(&sentence.at, message);
    }
    let mut found = Vec::new();
    for typed in typed.iter().take(SENTENCES_MAX) {
        let Some(evidence) = sentence(reading, cast, typed) else {
            continue;
        };
        if found.contains(&evidence) {
            reading.problem(&typed.at, format!("{} is said twice", quote(typed.value)));
        }
        found.push(evidence);
    }
    found
}

fn sentence(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>) -> Option<Evidence> {
    let words: Vec<&str> = typed.value.split_whitespace().collect();
    match words.as_slice() {
        [worker, "lease", "ended", "while", fault] => {
            let known =
                contender(reading, cast, typed, worker) & broken(reading, cast, typed, fault);
            known.then(|| Evidence::LeaseEnded {
                worker: (*worker).to_owned(),
                fault: (*fault).to_owned(),
            })
        }
        [worker, what @ ("granted" | "copied"), "while", fault] => {
            let known =
                contender(reading, cast, typed, worker) & broken(reading, cast, typed, fault);
            let (worker, fault) = ((*worker).to_owned(), (*fault).to_owned());
            known.then_some(match *what {
                "granted" => Evidence::Granted { worker, fault },
                _ => Evidence::Copied { worker, fault },
            })
        }
        [worker, what @ ("granted" | "waited"), times, "times"] => {
            let known = group(reading, cast, typed, worker);
            let times = often(reading, typed, times)?;
            let worker = (*worker).to_owned();
            known.then_some(match *what {
                "granted" => Evidence::GrantedTimes { worker, times },
                _ => Evidence::Waited { worker, times },
            })
        }
        [late, "reached", "the", "store", "after", early] => {
            if late == early {
                reading.problem(
                    &typed.at,
                    format!("{} cannot come after itself", quote(late)),
                );
                return None;
            }
            let known = write(reading, cast, typed, late) & write(reading, cast, typed, early);
            known.then(|| Evidence::ReachedAfter {
                late: (*late).to_owned(),
                early: (*early).to_owned(),
            })
        }
        [fault, "began", "within", time, "of", of] => {
            let known =
                fault_named(reading, cast, typed, fault) & fault_named(reading, cast, typed, of);
            let within_ms = soon(reading, typed, time)?;
            known.then(|| Evidence::BeganWithin {
                fault: (*fault).to_owned(),
                of: (*of).to_owned(),
                within_ms,
            })
        }
        _ => {
            let message = format!("unknown evidence {}", quote(typed.value));
            reading.hinted(&typed.at, message, FORMS);
            None
        }
    }
}

/// The place of one word of a sentence. The word is a slice of the sentence: a search would find
/// a short name inside another word.
fn word_at(reading: &Reading, typed: &Spot<&str>, word: &str) -> At {
    let start = (word.as_ptr() as usize).saturating_sub(typed.value.as_ptr() as usize);
    reading
        .sources
        .inside(&typed.at, typed.value, start..start + word.len())
}

/// The word names a worker that can hold the lock.
fn contender(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>, word: &str) -> bool {
    let at = word_at(reading, typed, word);
    if !cast.worker_names.iter().any(|name| name == word) {
        let message = format!("unknown worker {}", quote(word));
        let names = cast.worker_names.iter().map(String::as_str);
        reading.unknown(&at, message, word, names);
        return false;
    }
    let mut workers = cast.workers.iter();
    let takes = workers.any(|worker| {
        worker.name == word && worker.script.iter().any(|step| step.action.takes_lock())
    });
    if !takes && !cast.unread.contains(word) {
        let message = format!("the script of {} never takes the lock", quote(word));
        reading.problem(&at, message);
        return false;
    }
    true
}

/// The word names a worker that can hold the lock, or a group of them.
fn group(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>, word: &str) -> bool {
    cast.groups.iter().any(|group| group == word) || contender(reading, cast, typed, word)
}

/// A number from 1.
fn often(reading: &mut Reading, typed: &Spot<&str>, word: &str) -> Option<u64> {
    let times = word.parse().ok().filter(|times| *times > 0);
    if times.is_none() {
        let at = word_at(reading, typed, word);
        reading.problem(&at, format!("{} is not a number from 1", quote(word)));
    }
    times
}

/// A time that is longer than none, ms.
fn soon(reading: &mut Reading, typed: &Spot<&str>, word: &str) -> Option<u64> {
    let told = match duration::parse(word) {
        Ok(0) => ("within no time at all".to_owned(), FORMS.to_owned()),
        Ok(ms) => return Some(ms),
        Err(bad) => (bad.message, bad.hint.replace('"', "")),
    };
    let at = word_at(reading, typed, word);
    reading.hinted(&at, told.0, told.1);
    None
}

/// The word names a fault, or a step of a worker.
fn broken(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>, word: &str) -> bool {
    if let Some((worker, step)) = word.split_once('.') {
        let steps = |plan: &WorkerPlan| plan.script.iter().any(|one| one.name == step);
        let mut workers = cast.workers.iter();
        if cast.unread.contains(worker) || workers.any(|w| w.name == worker && steps(w)) {
            return true;
        }
        let at = word_at(reading, typed, word);
        reading.problem(&at, format!("no script has the step {}", quote(word)));
        return false;
    }
    fault_named(reading, cast, typed, word)
}

/// The word names a fault.
fn fault_named(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>, word: &str) -> bool {
    let known = cast.fault_names.iter().any(|name| name == word);
    if !known {
        let at = word_at(reading, typed, word);
        let message = format!("unknown fault {}", quote(word));
        let names = cast.fault_names.iter().map(String::as_str);
        reading.unknown(&at, message, word, names);
    }
    known
}

/// The word is `worker.write.n` or `worker.read.n` and that worker writes or reads so often.
fn write(reading: &mut Reading, cast: &Cast, typed: &Spot<&str>, word: &str) -> bool {
    let owner = word.split('.').next().unwrap_or("");
    let all: Vec<(&str, String)> = cast.workers.iter().flat_map(writes_of).collect();
    let known = all.iter().any(|(_, name)| name == word);
    if known || cast.unread.contains(owner) {
        return true;
    }
    let at = word_at(reading, typed, word);
    let message = format!("no script makes the write {}", quote(word));
    // A write of the named worker was meant, if it makes any.
    let owns = all.iter().any(|(worker, _)| *worker == owner);
    let near = all.iter().filter(|(worker, _)| !owns || *worker == owner);
    reading.unknown(&at, message, word, near.map(|(_, name)| name.as_str()));
    false
}

/// The worker's name beside each of its writes and reads, `worker.write.n`.
fn writes_of(worker: &WorkerPlan) -> impl Iterator<Item = (&str, String)> {
    let steps = worker.script.iter();
    let writes = steps.filter(|step| step.action.reaches_store());
    let name = worker.name.as_str();
    writes.map(move |step| (name, format!("{name}.{}", step.name)))
}
