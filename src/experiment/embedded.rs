//! The drills built into the binary, so that an installed `lockdrill` has them everywhere. A test
//! compares this list with the folder.

/// Name and text of every drill of `experiments/`.
const DRILLS: &[(&str, &str)] = &[
    (
        "ask-first",
        include_str!("../../experiments/ask-first.toml"),
    ),
    (
        "duplicate",
        include_str!("../../experiments/duplicate.toml"),
    ),
    ("expiry", include_str!("../../experiments/expiry.toml")),
    ("herd", include_str!("../../experiments/herd.toml")),
    ("kill", include_str!("../../experiments/kill.toml")),
    (
        "late-first",
        include_str!("../../experiments/late-first.toml"),
    ),
    (
        "late-token",
        include_str!("../../experiments/late-token.toml"),
    ),
    ("mutex", include_str!("../../experiments/mutex.toml")),
    ("pause", include_str!("../../experiments/pause.toml")),
    ("renew", include_str!("../../experiments/renew.toml")),
    (
        "starved-renewal",
        include_str!("../../experiments/starved-renewal.toml"),
    ),
];

/// The text of a drill.
pub(super) fn find(name: &str) -> Option<&'static str> {
    let found = DRILLS.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

/// Every name.
pub(super) fn names() -> Vec<&'static str> {
    DRILLS.iter().map(|(name, _)| *name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::files::{FOLDER, stems};
    use std::path::Path;

    #[test]
    fn every_drill_of_the_folder_is_built_in() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
        let files: Vec<String> = stems(&folder).into_keys().collect();
        assert_eq!(
            files,
            names(),
            "add or remove its line in DRILLS, in order of names"
        );
    }
}
