//! Where the setup scripts put the programs that they bring without installing them.

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
