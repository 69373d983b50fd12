//! A drill's result in the last lines of a run.

use crate::verdict::DrillResult;

/// The last lines of a drill: verdict, protection, why, controls, report.
pub(super) fn told(result: &DrillResult) -> String {
    let mut lines = vec![
        format!(
            "{}: {} — protection of the work: {}",
            result.drill, result.verdict, result.protection
        ),
        format!("  {}", result.why),
    ];
    for arm in result.arms.iter().skip(1) {
        let how = match (arm.verdict, arm.red_as_required) {
            (None, _) => format!("{}: {}", arm.status, arm.why),
            (Some(_), Some(true)) => "red, as required".to_owned(),
            (Some(verdict), _) => format!("{verdict}, NOT red as required: {}", arm.why),
        };
        lines.push(format!("  control {}: {how}", arm.arm));
    }
    for arm in &result.arms {
        for attempt in &arm.earlier_attempts {
            lines.push(format!("  {} was repeated: {attempt}", arm.arm));
        }
    }
    lines.push(format!("  report: {}/report.html", result.dir));
    lines.join("\n")
}
