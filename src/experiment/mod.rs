//! Experiment files: from what was typed on the command line to plans, or to every problem of
//! every file in one go. Starts nothing and writes nothing.
//!
//! The flow: [`files`] finds and opens, [`tree`] parses with places, [`settings`] changes what the
//! command line asks for, [`resolve`] makes the main arm, [`control`] the others. Each part tells
//! problems and goes on. [`grammar`] is the one description of the format.
//!
//! The trap: an override from the command line may make a control meaningless without making the
//! file wrong. Files are therefore checked as they stand first; only then are overrides applied,
//! and a control that no longer fits is *not applicable*, with the reason.

use crate::plan::Plan;
use std::path::PathBuf;

mod able;
mod bounds;
mod cast;
mod conf;
mod control;
mod diff;
mod disk;
mod duration;
mod embedded;
mod evidence;
mod fault;
mod files;
mod grammar;
mod judged;
mod jump;
mod loaded;
mod on_keeper;
mod place;
mod problems;
mod reading;
mod refused;
mod registry;
mod resolve;
mod schema;
mod script;
mod section;
mod server;
mod sessions;
mod settings;
mod several;
mod shape;
mod tree;
mod waits;
mod walk;
mod wire;
mod worker;

pub use embedded::built_in;
pub use loaded::{Loaded, load_each, load_fitting};
pub use refused::Refused;
pub use registry::{Listed, checks, drills, events, faults, flaws, locks, stores};
pub use schema::schema;

/// What to load.
#[derive(Debug, Clone)]
pub struct LoadRequest {
    /// Names of drills and experiment files, as typed.
    pub drills: Vec<String>,
    /// Every `experiments/*.toml` too.
    pub all: bool,
    /// Of `all`, files alone: without a folder of them nothing, instead of what is built in.
    pub only_files: bool,
    /// What the command line changes.
    pub overrides: Overrides,
    /// Folder against which relative paths and `experiments/` are taken.
    pub root: PathBuf,
}

impl Default for LoadRequest {
    fn default() -> Self {
        LoadRequest {
            drills: Vec::new(),
            all: false,
            only_files: false,
            overrides: Overrides::default(),
            root: PathBuf::from("."),
        }
    }
}

/// What the command line changes in every loaded experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overrides {
    /// `path=value`, in order; the later wins.
    pub set: Vec<String>,
    /// Another lock back end.
    pub lock: Option<String>,
    /// Another store.
    pub store: Option<String>,
    /// Seed of every random choice; 0 if none is given.
    pub seed: Option<u64>,
}

impl Overrides {
    /// Every drill runs as its file says.
    fn changes_nothing(&self) -> bool {
        self.set.is_empty() && self.lock.is_none() && self.store.is_none()
    }
}

/// One drill, ready to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experiment {
    /// The stem of its file.
    pub name: String,
    /// Its file, as problems and reports name it.
    pub file: String,
    /// The text of the file.
    pub source: String,
    /// The whole drill.
    pub main: Plan,
    /// The drill with one protection removed, in the order of the file.
    pub controls: Vec<Plan>,
    /// Controls that the command line made meaningless.
    pub not_applicable: Vec<NotApplicable>,
}

/// A control that does not fit what the command line made of the drill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotApplicable {
    /// The control's name.
    pub control: String,
    /// Why, in one sentence.
    pub why: String,
}

/// Loads everything, or says everything that is wrong.
///
/// # Errors
/// [`Refused`] with every problem of every file; exit code 2.
pub fn load(request: &LoadRequest) -> Result<Vec<Experiment>, Refused> {
    let loaded = load_each(request);
    if loaded.refused.is_empty() {
        Ok(loaded.experiments)
    } else {
        Err(loaded.refused)
    }
}

/// Reads one experiment from its text. `name` becomes the drill's, `file` stands in problems.
///
/// # Errors
/// [`Refused`] with every problem.
pub fn read(
    name: &str,
    file: &str,
    text: &str,
    overrides: &Overrides,
) -> Result<Experiment, Refused> {
    let mut reading = reading::Reading {
        sources: place::Sources::new(file, text),
        problems: problems::Problems::default(),
    };
    let found = arms(&mut reading, name, overrides);
    match found.filter(|_| reading.problems.is_empty()) {
        Some((main, controls)) => Ok(Experiment {
            name: name.to_owned(),
            file: file.to_owned(),
            source: text.to_owned(),
            main,
            controls: controls.plans,
            not_applicable: controls.not_applicable,
        }),
        None => Err(reading.problems.into_refused()),
    }
}

fn arms(
    reading: &mut reading::Reading,
    drill: &str,
    overrides: &Overrides,
) -> Option<(Plan, control::Controls)> {
    let mut tree = tree::parse(&reading.sources, &mut reading.problems)?;
    if tree.0.is_empty() {
        let at = place::At {
            source: 0,
            span: 0..0,
        };
        let hint = "start from a copy of `experiments/pause.toml`";
        reading.hinted(&at, "the file says nothing", hint);
        return None;
    }
    let seed = overrides.seed.unwrap_or(0);
    let resolve = |reading: &mut reading::Reading, tree: &tree::Table, changed| {
        let main = resolve::main_arm(reading, tree, drill, seed);
        sessions::is_said_beforehand(reading, tree, main.as_ref());
        let against = control::Against {
            tree,
            main: main.as_ref(),
            drill,
            seed,
            changed,
        };
        let controls = control::read(reading, &against);
        Some((main?, controls))
    };
    let as_it_stands = resolve(reading, &tree, false);
    let settings = settings::of_command(reading, overrides);
    if settings.is_empty() {
        return as_it_stands;
    }
    for setting in &settings {
        settings::apply(reading, &mut tree, setting);
    }
    let changed = reading.problems.is_empty();
    resolve(reading, &tree, changed)
}
