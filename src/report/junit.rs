//! `junit.xml`: one case per drill × check, for CI systems.
//!
//! A violated check that decides is a failure; an inconclusive drill, or a control that is not
//! red, is an error; a declared limit is skipped with its message and never shown as passed.
//! A control's own red checks are what it is for, so a control is one case: red, or not.

use super::error::ReportError;
use super::model::Model;
use super::words::{outcome_word, protection_word, verdict_word};
use super::{Writer, put};
use crate::checks::{Finding, Outcome};
use crate::verdict::{ArmResult, DrillResult, LeftOut, Summary, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::path::{Path, PathBuf};

const FILE: &str = "junit.xml";

/// The writer of one run.
pub(super) struct Junit;

impl Writer for Junit {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let path = model.dir.join(FILE);
        write(&path, &Summary::of(vec![model.result.clone()]))?;
        Ok(Some(path))
    }
}

/// Writes one file over a whole command, as `--junit FILE` asks.
///
/// # Errors
/// When the file cannot be written.
pub fn write(path: &Path, summary: &Summary) -> Result<(), ReportError> {
    put(path, document(summary)?.as_bytes())
}

/// The document as text.
///
/// # Errors
/// When the XML writer refuses it.
pub fn document(summary: &Summary) -> Result<String, ReportError> {
    let mut report = Report::new("lockdrill");
    for drill in &summary.drills {
        report.add_test_suite(suite(drill));
    }
    for out in &summary.not_applicable {
        report.add_test_suite(left_out(out));
    }
    report
        .to_string()
        .map_err(|error| ReportError::draw(FILE, error))
}

fn suite(drill: &DrillResult) -> TestSuite {
    let mut suite = TestSuite::new(drill.drill.as_str());
    suite.add_property(("verdict", verdict_word(drill.verdict)));
    suite.add_property(("protection", protection_word(drill.protection)));
    suite.add_property(("dir", drill.dir.as_str()));
    let mut arms = drill.arms.iter();
    if let Some(main) = arms.next() {
        for finding in &main.checks {
            suite.add_test_case(case(
                &drill.drill,
                &finding.check,
                check_status(main, finding),
            ));
        }
    }
    for control in arms {
        let name = format!("control {}", control.arm);
        suite.add_test_case(case(&drill.drill, &name, control_status(control)));
    }
    suite.add_test_case(case(&drill.drill, "verdict", drill_status(drill)));
    suite
}

/// A drill that did not run is skipped with its reason: whoever counts cases sees that it is missing.
fn left_out(out: &LeftOut) -> TestSuite {
    let mut suite = TestSuite::new(out.drill.as_str());
    let status = skipped(&format!("not applicable: {}", out.why));
    suite.add_test_case(case(&out.drill, "verdict", status));
    suite
}

fn case(drill: &str, name: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(drill);
    case
}

fn check_status(arm: &ArmResult, finding: &Finding) -> TestCaseStatus {
    match finding.outcome {
        Outcome::Holds => TestCaseStatus::success(),
        Outcome::Violated => match arm.verdict {
            Some(Verdict::Limit) => skipped(&format!("limit: {}", finding.why)),
            Some(Verdict::Pass) => skipped(&format!("does not decide: {}", finding.why)),
            Some(Verdict::Fail | Verdict::Inconclusive) | None => {
                non_success(NonSuccessKind::Failure, &finding.check, &finding.why)
            }
        },
        Outcome::Unknown => match arm.verdict {
            Some(Verdict::Inconclusive) => {
                non_success(NonSuccessKind::Error, &finding.check, &finding.why)
            }
            Some(Verdict::Pass | Verdict::Limit | Verdict::Fail) | None => skipped(&format!(
                "{}: {}",
                outcome_word(finding.outcome),
                finding.why
            )),
        },
    }
}

fn control_status(control: &ArmResult) -> TestCaseStatus {
    match (control.red_as_required, control.verdict) {
        (Some(true), _) => TestCaseStatus::success(),
        (Some(false) | None, Some(_)) => {
            non_success(NonSuccessKind::Error, "control not red", &control.why)
        }
        (Some(false) | None, None) => skipped(&format!("{}: {}", control.status, control.why)),
    }
}

fn drill_status(drill: &DrillResult) -> TestCaseStatus {
    match drill.verdict {
        Verdict::Pass => TestCaseStatus::success(),
        Verdict::Limit => skipped(&format!("limit: {}", drill.why)),
        Verdict::Fail => non_success(NonSuccessKind::Failure, "fail", &drill.why),
        Verdict::Inconclusive => non_success(NonSuccessKind::Error, "inconclusive", &drill.why),
    }
}

fn skipped(message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::skipped();
    status.set_message(message);
    status
}

fn non_success(kind: NonSuccessKind, ty: &str, message: &str) -> TestCaseStatus {
    let mut status = TestCaseStatus::non_success(kind);
    status.set_type(ty);
    status.set_message(message);
    status
}
