//! What a control takes away, in words: the beginning of each sentence about it.

use crate::lock::flaws::Flaw;
use crate::plan::Control;

/// A plan leaves out what stands at its default, and that is off.
fn is_set(value: &serde_json::Value) -> bool {
    !matches!(
        value,
        serde_json::Value::Null | serde_json::Value::Bool(false)
    )
}

/// What a control takes away, in words where the change is a known one.
pub(super) fn without(change: &Control) -> String {
    let to = change.to.as_str();
    match (change.path.as_str(), to) {
        ("store.fence", Some("off")) => "without the fence".to_owned(),
        ("store.fence", Some("racy")) => {
            "with a racy fence, which compares first and writes then".to_owned()
        }
        ("store.outbox", _) if !is_set(&change.to) => "without the outbox".to_owned(),
        ("store.idempotent", _) if !is_set(&change.to) => {
            "with a store and a queue that take a job as often as it comes".to_owned()
        }
        ("store.condition", Some("off")) => {
            "with a write that does not look at the state of its job".to_owned()
        }
        ("store.condition", Some("racy")) => {
            "with a write that asks for the state of its job first and writes then".to_owned()
        }
        ("store.reads", _) if !is_set(&change.to) => {
            "with a store that answers every read, whatever its fencing token".to_owned()
        }
        ("lock.persist", Some("none")) => {
            "with a lock server that keeps nothing on disk (lock.persist none instead of always)"
                .to_owned()
        }
        ("store.seal", _) if change.to.as_bool() == Some(false) => "without the seal".to_owned(),
        ("lock.flaw", Some(flaw)) => Flaw::named(flaw).map_or_else(
            || format!("with the built-in defect {flaw} in the lock"),
            |known| {
                let what = known.summary().split(':').next().unwrap_or_default();
                format!("with the built-in defect {flaw} in the lock ({what})")
            },
        ),
        ("lock.voters", _) => format!(
            "with {} voting servers instead of {}",
            change.to, change.from
        ),
        (path, Some(key)) if of_worker(path, "key").is_some() => format!(
            "with {} asking for another key than the others ({key})",
            of_worker(path, "key").unwrap_or_default()
        ),
        (path, Some("own_counter")) if of_worker(path, "fencing").is_some() => format!(
            "with {} drawing fencing tokens from a counter of its own",
            of_worker(path, "fencing").unwrap_or_default()
        ),
        (path, _) if change.from.is_null() => {
            format!(
                "with {path} = {}, which the main arm does not set",
                change.to
            )
        }
        (path, _) => format!("with {path} = {} instead of {}", change.to, change.from),
    }
}

/// `v` of `workers.v.key`.
pub(super) fn of_worker<'p>(path: &'p str, field: &str) -> Option<&'p str> {
    let (who, rest) = path.strip_prefix("workers.")?.split_once('.')?;
    (rest == field).then_some(who)
}
