//! The drills that are shipped, on another lock than their own.

use lockdrill::experiment::{Experiment, Overrides, read};
use std::path::Path;

/// A drill on this lock, or why it is refused.
pub fn on(lock: &str, drill: &str) -> Result<Experiment, String> {
    with(lock, drill, &[])
}

/// The same, with some paths set.
pub fn with(lock: &str, drill: &str, set: &[&str]) -> Result<Experiment, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = format!("experiments/{drill}.toml");
    let text = std::fs::read_to_string(root.join(&name)).unwrap();
    let overrides = Overrides {
        lock: Some(lock.to_owned()),
        set: set.iter().map(|set| (*set).to_owned()).collect(),
        ..Overrides::default()
    };
    read(drill, &name, &text, &overrides).map_err(|refused| refused.to_string())
}

/// Each drill is taken on this lock with every control, but for one where a reason is named.
pub fn are_taken_with_every_control_that_applies(lock: &str, drills: &[(&str, Option<&str>)]) {
    for (drill, left_out) in drills {
        let taken = on(lock, drill).unwrap();
        assert_eq!(taken.main.lock.backend, lock, "{drill}");
        let mut others = taken.not_applicable.iter();
        match (others.next(), left_out) {
            (None, None) => {}
            (Some(other), Some(why)) => assert!(other.why.contains(why), "{drill}: {}", other.why),
            (other, _) => panic!("{drill}: {other:?}"),
        }
        assert!(others.next().is_none(), "{drill}");
    }
}

/// Each drill is refused on this lock, with this reason.
pub fn are_refused_with_the_reason(lock: &str, drills: &[(&str, &str)]) {
    for (drill, why) in drills {
        let told = on(lock, drill).unwrap_err();
        assert!(told.contains(why), "{drill} on {lock}: {told}");
    }
}
