//! From what was typed to the text of an experiment file; whatever is not one is refused here,
//! before anything is parsed.
//!
//! A word is the name of a drill: `experiments/NAME.toml` in the current folder, else the copy
//! built into the binary. Whatever has a `/` or ends in `.toml` is a file.

use super::LoadRequest;
use super::disk::from_disk;
use super::embedded;
use super::refused::{Refused, quote};
use crate::problem::{Problem, nearest};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Folder of the drills.
pub(super) const FOLDER: &str = "experiments";

/// Longest name of a drill, in bytes; it becomes the name of a folder.
const NAME_MAX: usize = 64;

/// An experiment file as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text {
    /// The drill: the stem of the file.
    pub name: String,
    /// The file as problems name it.
    pub shown: String,
    pub text: String,
    /// It came with all others, and not by its name.
    pub of_suite: bool,
}

/// A file that is named, not yet opened.
#[derive(Debug, Clone)]
struct Named {
    name: String,
    shown: String,
    place: Place,
    of_suite: bool,
}

#[derive(Debug, Clone)]
enum Place {
    Disk(PathBuf),
    BuiltIn(&'static str),
}

/// Opens everything that the request names. Good files come back even if others are refused.
pub(super) fn open(request: &LoadRequest) -> (Vec<Text>, Refused) {
    let mut refused = Refused::default();
    let mut named = Vec::new();
    if request.all {
        match all(&request.root) {
            Ok(files) => named.extend(files),
            Err(problem) => refused.merge(Refused::whole(problem)),
        }
    }
    for typed in &request.drills {
        match locate(&request.root, typed) {
            Ok(found) => named.push(found),
            Err(problem) => refused.merge(Refused::whole(problem)),
        }
    }
    if named.is_empty() && refused.is_empty() {
        let problem = Problem::whole("command line", "no drill is named");
        let hint = "name a drill or a file, or say `--all`";
        refused.merge(Refused::whole(problem.hint(hint)));
    }
    for problem in twins(&named) {
        refused.merge(Refused::whole(problem));
    }
    let mut texts = Vec::new();
    for file in named {
        match read(&request.root, file) {
            Ok(text) => texts.push(text),
            Err(problem) => refused.merge(Refused::whole(problem)),
        }
    }
    (texts, refused)
}

/// Every `experiments/*.toml`, by name; not those in folders below. Without such a folder, as where
/// lockdrill is installed alone, every drill that is built in.
fn all(root: &Path) -> Result<Vec<Named>, Problem> {
    let folder = root.join(FOLDER);
    if !folder.exists() {
        return Ok(embedded::all()
            .map(|(name, text)| built_in(name, text, true))
            .collect());
    }
    let files = stems(&folder);
    if files.is_empty() {
        let message = format!("there is no `{FOLDER}/*.toml` here");
        let hint = format!(
            "built in: {}; name one of them",
            embedded::names().join(", ")
        );
        return Err(Problem::whole(FOLDER, message).hint(hint));
    }
    let named = files.into_iter().map(|(name, file)| Named {
        shown: format!("{FOLDER}/{name}.toml"),
        name,
        place: Place::Disk(file),
        of_suite: true,
    });
    Ok(named.collect())
}

/// The TOML files of a folder by stem, in order; nothing if there is no such folder.
pub(super) fn stems(folder: &Path) -> BTreeMap<String, PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return BTreeMap::new();
    };
    let files = entries.filter_map(Result::ok).map(|entry| entry.path());
    let toml = files.filter(|file| file.extension().is_some_and(|ext| ext == "toml"));
    toml.filter_map(|file| Some((file.file_stem()?.to_str()?.to_owned(), file)))
        .collect()
}

fn built_in(name: &str, text: &'static str, of_suite: bool) -> Named {
    Named {
        name: name.to_owned(),
        shown: format!("{name}.toml (built in)"),
        place: Place::BuiltIn(text),
        of_suite,
    }
}

fn locate(root: &Path, typed: &str) -> Result<Named, Problem> {
    if typed.contains('/') || typed.ends_with(".toml") {
        let stem = Path::new(typed).file_stem().and_then(|stem| stem.to_str());
        return Ok(Named {
            name: stem.unwrap_or(typed).to_owned(),
            shown: typed.to_owned(),
            place: Place::Disk(root.join(typed)),
            of_suite: false,
        });
    }
    let here = stems(&root.join(FOLDER));
    if let Some(file) = here.get(typed) {
        return Ok(Named {
            name: typed.to_owned(),
            shown: format!("{FOLDER}/{typed}.toml"),
            place: Place::Disk(file.clone()),
            of_suite: false,
        });
    }
    if let Some(text) = embedded::find(typed) {
        return Ok(built_in(typed, text, false));
    }
    let known = here.keys().map(String::as_str).chain(embedded::names());
    let message = format!("there is no drill {}", quote(typed));
    let problem = Problem::whole(typed, message);
    Err(match near(typed, known) {
        Some(name) => problem.hint(format!("did you mean `{name}`?")),
        None => problem.hint("see `lockdrill list drills`"),
    })
}

fn near<'n>(typed: &str, names: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    (typed.len() <= NAME_MAX)
        .then(|| nearest(typed, names))
        .flatten()
}

/// Two files of one name would write into one folder of reports.
fn twins(named: &[Named]) -> Vec<Problem> {
    let mut first: BTreeMap<&str, &Named> = BTreeMap::new();
    let mut problems = Vec::new();
    for file in named {
        let Some(other) = first.get(file.name.as_str()) else {
            first.insert(&file.name, file);
            continue;
        };
        let name = &file.name;
        let problem = if other.shown == file.shown {
            let message = format!("the drill `{name}` is named twice");
            Problem::whole(&file.shown, message).hint("to run it more than once: `--repeat N`")
        } else {
            let message = format!("`{}` is a drill `{name}` too", other.shown);
            Problem::whole(&file.shown, message).hint("rename one, or run them one after the other")
        };
        problems.push(problem);
    }
    problems
}

fn read(root: &Path, file: Named) -> Result<Text, Problem> {
    let refuse = |message: String| Problem::whole(&file.shown, message);
    let text = match &file.place {
        Place::BuiltIn(text) => (*text).to_owned(),
        Place::Disk(path) => from_disk(root, path, &file.shown)?,
    };
    let named = file.name.len() <= NAME_MAX
        && !file.name.starts_with('.')
        && file
            .name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    if !named {
        let message = format!("{} cannot name a drill", quote(&file.name));
        let hint =
            format!("a folder is named after it: letters, digits, - and _, at most {NAME_MAX}");
        return Err(refuse(message).hint(hint));
    }
    Ok(Text {
        name: file.name,
        shown: file.shown,
        text,
        of_suite: file.of_suite,
    })
}

/// What is said of a file that is not there.
pub(super) fn missing(root: &Path, path: &Path, shown: &str) -> Problem {
    let problem = Problem::whole(shown, "there is no such file");
    let stem = path
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or("");
    let beside = path.parent().map(stems).unwrap_or_default();
    if let Some(near) = near(stem, beside.keys().map(String::as_str)) {
        let folder = Path::new(shown).parent().unwrap_or(Path::new(""));
        let file = folder.join(format!("{near}.toml"));
        return problem.hint(format!("did you mean `{}`?", file.display()));
    }
    let drills = stems(&root.join(FOLDER));
    let known = drills.keys().map(String::as_str).chain(embedded::names());
    match near(stem, known) {
        Some(name) => problem.hint(format!("did you mean the drill `{name}`?")),
        None => problem.hint("see `lockdrill list drills`"),
    }
}
