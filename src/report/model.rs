//! Everything that the writers draw from, prepared once and before any drawing: the result, and
//! for each arm its record and the scene read out of it. Pure once the files are read.

use super::error::ReportError;
use super::record::{ArmRecord, Fact, read_arm, read_facts};
use super::scene::Scene;
use crate::plan::Plan;
use crate::verdict::{ArmResult, DrillResult};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// One arm with all that is known of it.
#[derive(Debug)]
pub struct ArmModel {
    /// Place among the arms; 0 is the main arm.
    pub index: usize,
    /// What was judged.
    pub result: ArmResult,
    /// What was recorded; none if the arm did not run.
    pub record: Option<ArmRecord>,
    /// What is drawn; empty if the arm did not run.
    pub scene: Scene,
    /// Place of each shown line by its `seq`; of lines with one `seq` the first.
    places: HashMap<u64, usize>,
}

/// All that is known of one run.
#[derive(Debug)]
pub struct Model {
    /// The run directory.
    pub dir: PathBuf,
    /// The answer.
    pub result: DrillResult,
    /// Main arm first.
    pub arms: Vec<ArmModel>,
    /// Facts about the machine and the run.
    pub facts: Vec<Fact>,
    /// What could not be read, told in the report.
    pub troubles: Vec<String>,
}

impl Model {
    /// Reads a run directory.
    ///
    /// # Errors
    /// When the directory is not there. Anything else that is missing or broken is told in
    /// [`Model::troubles`]: a report of half a run is better than none.
    pub fn read(run_dir: &Path, result: &DrillResult) -> Result<Self, ReportError> {
        std::fs::read_dir(run_dir).map_err(ReportError::read(run_dir))?;
        let mut troubles = Vec::new();
        let facts = read_facts(run_dir).unwrap_or_else(|error| {
            troubles.push(error.to_string());
            Vec::new()
        });
        let mut arms = Vec::new();
        for (index, arm) in result.arms.iter().enumerate() {
            let telling: BTreeSet<u64> = arm
                .checks
                .iter()
                .flat_map(|finding| finding.events.iter().copied())
                .collect();
            let record = read_arm(run_dir, &arm.arm, &telling).unwrap_or_else(|error| {
                troubles.push(error.to_string());
                None
            });
            let trouble = record.as_ref().and_then(|record| record.trouble.as_ref());
            // An arm that was left out has a plan and no timeline, as it should be.
            if let (Some(trouble), Some(_)) = (trouble, arm.verdict) {
                troubles.push(format!("arm {}: {trouble}", arm.arm));
            }
            arms.push(ArmModel::new(index, arm.clone(), record));
        }
        Ok(Model {
            dir: run_dir.to_owned(),
            result: result.clone(),
            arms,
            facts,
            troubles,
        })
    }

    /// The main arm, if the result has one.
    pub fn main(&self) -> Option<&ArmModel> {
        self.arms.first()
    }

    /// The plan of the main arm, if it was written.
    pub fn plan(&self) -> Option<&Plan> {
        self.main()?.plan()
    }

    /// A fact by its dotted name.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts
            .iter()
            .find(|fact| fact.name == name)
            .map(|fact| fact.value.as_str())
    }
}

impl ArmModel {
    fn new(index: usize, result: ArmResult, record: Option<ArmRecord>) -> Self {
        let mut places = HashMap::new();
        for (place, line) in record.iter().flat_map(|record| &record.lines).enumerate() {
            places.entry(line.seq).or_insert(place);
        }
        let scene = record
            .as_ref()
            .map_or_else(Scene::default, |record| Scene::of(&record.history));
        ArmModel {
            index,
            result,
            record,
            scene,
            places,
        }
    }

    /// What the arm was to do, if that was written.
    pub fn plan(&self) -> Option<&Plan> {
        self.record.as_ref().map(|record| &record.plan)
    }

    /// Place of the shown line with this `seq`.
    pub fn place(&self, seq: u64) -> Option<usize> {
        self.places.get(&seq).copied()
    }

    /// The id of an event's row in the page: `e12` in the main arm, `unfenced-e12` in a control.
    /// An arm whose name is no plain word is told by its number.
    pub fn anchor(&self, seq: u64) -> String {
        if self.index == 0 {
            return format!("e{seq}");
        }
        let name = &self.result.arm;
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if name.starts_with(|c: char| c.is_ascii_alphabetic()) && name.chars().all(plain) {
            format!("{name}-e{seq}")
        } else {
            format!("{}-e{seq}", self.index)
        }
    }
}
