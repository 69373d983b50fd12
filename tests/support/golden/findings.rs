//! What the checks say of the golden runs, as literal findings.

use super::pause::Places;
use lockdrill::checks::{Finding, Outcome};
use lockdrill::verdict::{ArmResult, DrillResult, Protection, Verdict};

pub fn finding(check: &str, outcome: Outcome, why: &str, events: &[u64]) -> Finding {
    let mut events = events.to_vec();
    events.sort_unstable();
    events.dedup();
    // Places that this run does not have stand at 0.
    events.retain(|seq| *seq > 0);
    Finding {
        check: check.into(),
        outcome,
        why: why.into(),
        events,
        by: Vec::new(),
        vacuous: false,
    }
}

fn common(p: &Places) -> Vec<Finding> {
    use Outcome::Holds;
    vec![
        finding(
            "evidence",
            Holds,
            "a's lease ended while nap, b was granted while nap, and a.write.2 reached the store after b.write.1",
            &[p.onset, p.heal, p.grant_b, p.late],
        ),
        finding(
            "records_agree",
            Holds,
            "every effect has its operation and every answer its effect",
            &[],
        ),
        finding(
            "single_holder",
            Holds,
            "2 grants, none overlaps another: a until 2.44 s, b from 2.44 s",
            &[p.grant_a, p.grant_b],
        ),
        finding(
            "honest_belief",
            Holds,
            "1 claim to hold, made while the lease ran",
            &[p.check],
        ),
        finding(
            "fencing_rises",
            Holds,
            "2 grants with fencing tokens 1, 2",
            &[p.grant_a, p.grant_b],
        ),
    ]
}

fn rest(p: &Places) -> Vec<Finding> {
    use Outcome::Holds;
    vec![
        finding(
            "owner_only",
            Holds,
            "a's release at 3.30 s changed nothing while b held",
            &[p.release_a],
        ),
        finding(
            "recovers",
            Holds,
            "b was granted 7 ms after a's lease ended; the bound is 2 s",
            &[p.expired, p.grant_b],
        ),
    ]
}

pub fn sound(p: &Places) -> Vec<Finding> {
    let why = "4 writes reached the store, 1 of them stale; it was refused: a.write.2 with fencing token 1 after 2 had been seen";
    let mut all = common(p);
    all.push(finding(
        "no_stale_write",
        Outcome::Holds,
        why,
        &[p.late, p.write_b],
    ));
    all.extend(rest(p));
    all
}

pub fn stale_accepted(p: &Places) -> Vec<Finding> {
    let why = "a.write.2 with fencing token 1 was accepted at 3.29 s after b.write.1 with fencing token 2";
    let mut all = common(p);
    let mut red = finding(
        "no_stale_write",
        Outcome::Violated,
        why,
        &[p.late, p.write_b],
    );
    red.by = vec!["a".into(), "nap".into()];
    all.push(red);
    let mut lost = finding(
        "no_lost_update",
        Outcome::Violated,
        "a.write.2 and b.write.1 are both based on a.write.1: b's update is lost",
        &[p.late, p.write_b],
    );
    lost.by = vec!["a".into()];
    all.push(lost);
    all.extend(rest(p));
    all
}

pub fn unproven(p: &Places) -> Vec<Finding> {
    let mut all = common(&Places {
        late: p.write_b,
        onset: p.not_injected,
        heal: p.not_injected,
        ..p.clone()
    });
    all[0].outcome = Outcome::Unknown;
    all[0].why = "the fault nap was not injected".into();
    all[2].why = "2 grants, none overlaps another: a until 1.19 s, b from 1.20 s".into();
    let mut vacuous = finding(
        "no_stale_write",
        Outcome::Holds,
        "no stale write was attempted",
        &[p.write_b],
    );
    vacuous.vacuous = true;
    all.push(vacuous);
    all
}

pub fn never_arrived(p: &Places) -> Vec<Finding> {
    let mut all = common(&Places {
        late: p.write_b,
        ..p.clone()
    });
    all[0].outcome = Outcome::Unknown;
    all[0].why = "a.write.2 never reached the store".into();
    let mut vacuous = finding(
        "no_stale_write",
        Outcome::Holds,
        "no stale write reached the store",
        &[p.write_b],
    );
    vacuous.vacuous = true;
    all.push(vacuous);
    all.extend(rest(p));
    all
}

pub fn noisy(p: &Places) -> Vec<Finding> {
    let mut all = sound(p);
    let single = all
        .iter_mut()
        .find(|finding| finding.check == "single_holder")
        .unwrap();
    single.outcome = Outcome::Unknown;
    single.why = "the host stalled for 140 ms at 2.30 s, longer than the 4 ms between the end of a's lease and b's grant".into();
    single.events.push(p.stall);
    single.events.sort_unstable();
    all
}

pub fn arm(verdict: Verdict, protection: Protection, checks: Vec<Finding>) -> ArmResult {
    let violated = checks
        .iter()
        .find(|finding| finding.outcome == Outcome::Violated);
    let why = violated.map_or("every named check holds".to_owned(), |finding| {
        format!("{}: {}", finding.check, finding.why)
    });
    ArmResult {
        arm: "main".into(),
        verdict: Some(verdict),
        expected: if verdict == Verdict::Limit {
            Verdict::Limit
        } else {
            Verdict::Pass
        },
        status: "run".into(),
        why,
        protection,
        red_as_required: None,
        defect: None,
        earlier_attempts: Vec::new(),
        checks,
    }
}

pub fn control(red: bool, checks: Vec<Finding>) -> ArmResult {
    let (verdict, protection) = if red {
        (Verdict::Fail, Protection::Lost)
    } else {
        (Verdict::Inconclusive, Protection::NotTested)
    };
    let mut arm = arm(verdict, protection, checks);
    arm.arm = "unfenced".into();
    arm.expected = Verdict::Fail;
    arm.red_as_required = Some(red);
    if !red {
        arm.why = "no_stale_write is not violated: a.write.2 never reached the store".into();
    }
    arm
}

pub fn drill(name: &str, verdict: Verdict, why: &str, arms: Vec<ArmResult>) -> DrillResult {
    DrillResult {
        drill: name.into(),
        verdict,
        protection: arms[0].protection,
        why: why.into(),
        dir: format!("/runs/{name}/20260301-021500-1"),
        arms,
    }
}
