//! Programs that the setup scripts bring without installing them: where they are put, and how their
//! versions are compared.

use std::env;
use std::path::PathBuf;

/// The folder, in the user's cache; none if the user has none.
pub fn folder() -> Option<PathBuf> {
    let absolute = |name| {
        let folder = env::var_os(name).map(PathBuf::from);
        folder.filter(|folder| folder.is_absolute())
    };
    let cache = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    Some(cache.join("lockdrill/bin"))
}

/// Major and minor of a version; what is no number is 0.
pub fn numbers(version: &str) -> (u32, u32) {
    let mut parts = version.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}
