//! The command that runs a drill again, for `env.json`.

use super::{Args, stem_is};
use crate::run::preflight::Ready;

/// The command that runs one drill of these again, from what was understood and from nothing else
/// that stood on the command line.
pub(super) fn again(args: &Args, ready: &Ready, drill: &str, seed: u64) -> Vec<String> {
    let mut given = args.drills.iter();
    let name = given
        .rfind(|name| stem_is(name, drill))
        .map_or(drill, String::as_str);
    let mut words = vec!["lockdrill".to_owned(), "run".to_owned(), name.to_owned()];
    let mut option = |name: &str, value: &str| words.extend([name.to_owned(), value.to_owned()]);
    option("--seed", &seed.to_string());
    if let Some(lock) = &args.lock {
        option("--lock", lock);
    }
    if let Some(store) = &args.store {
        option("--store", store);
    }
    for set in &args.set {
        option("--set", set);
    }
    option("--isolation", ready.isolation.word());
    if let Some((target, _)) = &ready.target {
        option("--target", &target.name);
    }
    if args.allow_remote {
        words.push("--allow-remote".to_owned());
    }
    if args.no_controls {
        words.push("--no-controls".to_owned());
    }
    words
}
