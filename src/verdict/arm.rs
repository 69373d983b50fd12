//! One arm: findings to a verdict as if it stood alone, and for a control whether it went red for
//! its reason.

use super::{ArmResult, Protection, Verdict, protection};
use crate::checks::{self, EVIDENCE, Finding, Outcome, RECORDS_AGREE};
use crate::plan::{Class, Control, Plan};
use crate::timeline::history::History;

/// Checks that speak of belief in the lock: of a lock that only saves work, a warning.
const BELIEF: [&str; 2] = ["single_holder", "honest_belief"];

/// How the sentence begins about a control that was not red for its reason.
const NOT_RED: &str = "not red as required: ";

/// How it goes on where the control violated more than that.
const ALSO: &str = "also ";

impl ArmResult {
    /// A control that violated more than was taken away from it, and nothing but that is wrong.
    pub fn is_red_for_more(&self) -> bool {
        let reason = self.why.strip_prefix(NOT_RED);
        reason.is_some_and(|reason| reason.starts_with(ALSO))
    }
}

/// Judges one record: every check, the verdict, the protection of the work.
pub fn judge_history(plan: &Plan, history: &History) -> ArmResult {
    let findings = checks::judge_all(history);
    let protection = protection(history, &findings);
    judge_arm(plan, findings, protection)
}

/// The answer of one arm from its findings.
pub fn judge_arm(plan: &Plan, findings: Vec<Finding>, protection: Protection) -> ArmResult {
    let case = Case {
        plan,
        findings: &findings,
    };
    let (verdict, why) = case.verdict(protection);
    let defect = case
        .of(RECORDS_AGREE)
        .filter(|finding| finding.outcome == Outcome::Violated)
        .map(|finding| finding.why.clone());
    let red = plan.control.as_ref().map(|control| case.red(control));
    let expected = match (&plan.control, &plan.limit) {
        (Some(_), _) => Verdict::Fail,
        (None, Some(_)) => Verdict::Limit,
        (None, None) => Verdict::Pass,
    };
    let why = match &red {
        Some(Ok(told)) => format!("red, as required: {told}"),
        Some(Err(told)) => format!("{NOT_RED}{told}"),
        None => why,
    };
    ArmResult {
        arm: plan.arm.clone(),
        verdict: Some(verdict),
        expected,
        status: "run".to_owned(),
        why,
        protection,
        red_as_required: red.map(|red| red.is_ok()),
        defect,
        earlier_attempts: Vec::new(),
        checks: findings,
    }
}

struct Case<'a> {
    plan: &'a Plan,
    findings: &'a [Finding],
}

impl Case<'_> {
    fn of(&self, check: &str) -> Option<&Finding> {
        self.findings.iter().find(|finding| finding.check == check)
    }

    fn limits(&self) -> &[String] {
        self.plan.limit.as_ref().map_or(&[], |limit| &limit.checks)
    }

    /// Violated checks that decide: neither our own defect, nor a declared limit, nor a warning.
    fn violated(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| {
            let named = self.plan.control.as_ref().map(|control| &control.check);
            let warning = self.plan.class == Class::Efficiency
                && BELIEF.contains(&&*finding.check)
                && named != Some(&finding.check);
            finding.outcome == Outcome::Violated
                && finding.check != RECORDS_AGREE
                && !self.limits().contains(&finding.check)
                && !warning
        })
    }

    fn verdict(&self, protection: Protection) -> (Verdict, String) {
        if let Some(defect) = self.of(RECORDS_AGREE)
            && defect.outcome == Outcome::Violated
        {
            let why = format!(
                "the record contradicts itself, which is our own defect: {}",
                defect.why
            );
            return (Verdict::Inconclusive, why);
        }
        if let Some(first) = self.violated().next() {
            return (Verdict::Fail, told(first));
        }
        if let Some(doubt) = self.doubt() {
            return (Verdict::Inconclusive, doubt);
        }
        match self.missed_limit() {
            Some((verdict, why)) => (verdict, why),
            None => self.as_expected(protection),
        }
    }

    /// Why the record cannot carry a pass.
    fn doubt(&self) -> Option<String> {
        match self.of(EVIDENCE) {
            Some(finding) if finding.outcome == Outcome::Holds => {}
            Some(finding) => return Some(format!("not shown to have happened: {}", finding.why)),
            None => return Some("nobody asked for the evidence".to_owned()),
        }
        if let Some(finding) = self.of(RECORDS_AGREE)
            && finding.outcome == Outcome::Unknown
        {
            return Some(format!("cannot tell {RECORDS_AGREE}: {}", finding.why));
        }
        let untested = self.plan.required_checks.iter().find_map(|required| {
            let Some(finding) = self.of(required) else {
                return Some(format!("the required check {required} was not run"));
            };
            let (check, why) = (required, &finding.why);
            finding
                .vacuous
                .then(|| format!("{check} was not put to the test: {why}"))
        });
        let unknown = self.findings.iter().find(|finding| {
            finding.outcome == Outcome::Unknown
                && !self.plan.optional_checks.contains(&finding.check)
        });
        unknown
            .map(|finding| format!("cannot tell {}: {}", finding.check, finding.why))
            .or(untested)
    }

    /// A declared limit that was not reached.
    fn missed_limit(&self) -> Option<(Verdict, String)> {
        self.limits().iter().find_map(|check| {
            let why = |finding: &Finding| format!("{check}: {}", finding.why);
            match self.of(check) {
                None => Some((Verdict::Inconclusive, format!("{check} was not run"))),
                Some(finding) => match finding.outcome {
                    Outcome::Violated => None,
                    Outcome::Unknown => Some((Verdict::Inconclusive, why(finding))),
                    Outcome::Holds => Some((
                        Verdict::Fail,
                        format!("the declared limit was not reached: {}", why(finding)),
                    )),
                },
            }
        })
    }

    fn as_expected(&self, protection: Protection) -> (Verdict, String) {
        if let Some(limit) = &self.plan.limit {
            let reached = self.limits().iter().find_map(|check| self.of(check));
            let shown = reached.map_or(String::new(), |finding| format!(": {}", finding.why));
            return (Verdict::Limit, format!("{}{shown}", limit.why));
        }
        let warning = self
            .findings
            .iter()
            .find(|finding| finding.outcome == Outcome::Violated && finding.check != RECORDS_AGREE);
        if let Some(warning) = warning {
            let why = format!(
                "no deciding check was violated; a warning: {}",
                told(warning)
            );
            return (Verdict::Pass, why);
        }
        let telling = match protection {
            Protection::KeptByFencing => {
                let refusing = ["no_stale_write", "no_stale_read"].into_iter();
                let mut refusing = refusing.filter_map(|check| self.of(check));
                refusing.find(|finding| !finding.events.is_empty())
            }
            Protection::Kept | Protection::Lost | Protection::NotTested => None,
        };
        let why = match telling {
            Some(finding) => format!("no named check was violated: {}", finding.why),
            None => "no named check was violated".to_owned(),
        };
        (Verdict::Pass, why)
    }

    /// Did a control go red for its own reason? The sentence that says so, or why not.
    fn red(&self, control: &Control) -> Result<String, String> {
        let Some(named) = self.of(&control.check) else {
            return Err(format!("{} was not run", control.check));
        };
        if let Some(defect) = self.of(RECORDS_AGREE)
            && defect.outcome == Outcome::Violated
        {
            return Err(defect.why.clone());
        }
        if named.outcome != Outcome::Violated {
            return Err(format!("{} was not violated: {}", named.check, named.why));
        }
        let meant = |name: &String| {
            let mut workers = self.plan.workers.iter();
            *name == control.by
                || workers.any(|one| one.name == *name && one.is_called(&control.by))
        };
        if !named.by.iter().any(meant) {
            let by = named.by.join(", ");
            return Err(format!(
                "{} was violated, but by {by} and not by {}: {}",
                named.check, control.by, named.why
            ));
        }
        match self.of(EVIDENCE) {
            Some(evidence) if evidence.outcome == Outcome::Holds => {}
            Some(evidence) => {
                return Err(format!("not shown to have happened: {}", evidence.why));
            }
            None => return Err("nobody asked for the evidence".to_owned()),
        }
        let other = self.violated().find(|finding| {
            finding.check != control.check && !control.also.contains(&finding.check)
        });
        match other {
            Some(other) => Err(format!("{ALSO}{}", told(other))),
            None => Ok(told(named)),
        }
    }
}

/// `check: why`.
fn told(finding: &Finding) -> String {
    format!("{}: {}", finding.check, finding.why)
}
