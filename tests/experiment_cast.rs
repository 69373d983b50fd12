//! Workers of a kind: how many, how often, and what a control may change of them.
#![allow(clippy::unwrap_used)]

use lockdrill::experiment::{Experiment, Overrides, read};
use lockdrill::plan::{Evidence, Fencing, Gate, Plan, RunsOn, StepAction};

const HEAD: &str = r#"summary = "many workers"
class = "correctness"
[lock]
backend = "redis"
lease = "1s"
[store]
kind = "sqlite"
fence = "atomic"
"#;

fn told(text: &str, set: &[&str]) -> Result<Experiment, String> {
    let overrides = Overrides {
        set: set.iter().map(|one| (*one).to_owned()).collect(),
        ..Overrides::default()
    };
    read("x", "x.toml", text, &overrides).map_err(|refused| refused.to_string())
}

fn good(workers: &str) -> Plan {
    told(&format!("{HEAD}{workers}"), &[]).unwrap().main
}

#[track_caller]
fn refused(workers: &str, problem: &str) {
    let problems = told(&format!("{HEAD}{workers}"), &[]).unwrap_err();
    assert!(problems.contains(problem), "{problems}");
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.workers.iter().map(|w| w.name.as_str()).collect()
}

#[test]
fn a_count_makes_so_many_that_do_the_same() {
    let plan = good(
        "[worker.w]\ncount = 3\nrounds = 2\nscript = [\"enter 1s\", \"write\", \"release\"]\n",
    );
    assert_eq!(names(&plan), ["w1", "w2", "w3"]);
    for worker in &plan.workers {
        assert!(worker.is_called("w") && worker.is_called(&worker.name));
        let steps: Vec<&str> = worker.script.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(
            steps,
            [
                "enter.1",
                "write.1",
                "release.1",
                "enter.2",
                "write.2",
                "release.2"
            ]
        );
    }
}

#[test]
fn a_worker_without_a_count_keeps_its_name_and_its_plan_says_nothing_new() {
    let plan = good("[worker.w]\nscript = [\"acquire\"]\n");
    assert_eq!(names(&plan), ["w"]);
    let json = serde_json::to_value(&plan.workers[0]).unwrap();
    let keys: Vec<&str> = json
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(keys, ["name", "script", "start"]);
}

#[test]
fn members_can_be_waited_for_and_hit() {
    let plan = good(
        "[worker.w]\ncount = 2\nscript = [\"enter 1s\", \"release\"]\n\
         [worker.v]\nstart = { after = \"w2.acquired\" }\nscript = [\"enter 1s\", \"release\"]\n\
         [fault.death]\nkind = \"kill\"\ntarget = \"w1\"\nwhen = { at = \"w1.release.1.before\" }\n\
         [evidence]\nrequire = [\"w granted 2 times\", \"w1 waited 1 times\", \"v granted while w1.enter.1\"]\n",
    );
    assert_eq!(plan.faults.len(), 1);
    let times = Evidence::GrantedTimes {
        worker: "w".to_owned(),
        times: 2,
    };
    assert_eq!(plan.evidence[0], times);
}

#[test]
fn limits_are_told_with_their_place() {
    let script = "script = [\"enter 1s\", \"write\", \"release\"]\n";
    refused(
        &format!("[worker.w]\ncount = 65\n{script}"),
        "x.toml:10:9: `count` is a whole number from 1 to 64, not 65",
    );
    refused(
        &format!("[worker.w]\ncount = 0\n{script}"),
        "x.toml:10:9: `count` is a whole number from 1 to 64, not 0",
    );
    refused(
        &format!("[worker.w]\ncount = \"two\"\n{script}"),
        "x.toml:10:9: `count` must be a whole number, not a string",
    );
    refused(
        &format!("[worker.w]\nrounds = 1000\n{script}"),
        "x.toml:10:10: 1000 rounds of 3 steps are 3000; at most 2000",
    );
    refused(
        &format!("[worker.w]\ncount = 40\n{script}[worker.v]\ncount = 40\n{script}"),
        "80 workers; at most 64",
    );
    refused(
        &format!("[worker.w]\ncount = 4\nrounds = 500\n{script}"),
        "6000 steps of all workers; at most 5000",
    );
    refused(
        &format!("[worker.w]\ncount = 2\n{script}[worker.w2]\n{script}"),
        "x.toml:12:9: two workers are called `w2`",
    );
}

#[test]
fn a_wait_of_many_is_told_once() {
    let text =
        format!("{HEAD}[worker.w]\ncount = 5\nscript = [\"await w9.acquired\", \"acquire\"]\n");
    let problems = told(&text, &[]).unwrap_err();
    assert_eq!(problems.matches("w9.acquired").count(), 1, "{problems}");
}

#[test]
fn what_the_command_line_and_a_control_may_set() {
    let text = format!(
        "{HEAD}[worker.w]\ncount = 2\nscript = [\"enter 1s\", \"write\", \"release\"]\n\
         [control.key]\nset = {{ \"worker.w.key\" = \"other\" }}\n\
         violates = {{ check = \"single_holder\", by = \"w\" }}\n\
         [control.more]\nset = {{ \"worker.w.count\" = 3 }}\n\
         violates = {{ check = \"single_holder\", by = \"w1\" }}\n\
         [control.often]\nset = {{ \"worker.w.rounds\" = 2 }}\n\
         violates = {{ check = \"single_holder\", by = \"w\" }}\n"
    );
    let experiment = told(&text, &[]).unwrap();
    let paths: Vec<String> = experiment
        .controls
        .iter()
        .map(|plan| plan.control.as_ref().unwrap().path.clone())
        .collect();
    assert_eq!(paths, ["workers.w.key", "workers", "workers.w.script"]);
    let set = told(&text, &["worker.w.count=4", "worker.w.rounds=3"]).unwrap();
    assert_eq!(set.main.workers.len(), 4);
    assert_eq!(set.main.workers[3].script.len(), 9);
}

#[test]
fn each_protection_of_a_worker_can_be_chosen() {
    let plan = good(
        "idempotent = true\n[worker.w]\nkey = \"other\"\ngate = \"is_locked\"\nfencing = \"own-counter\"\nscript = [\"acquire\"]\n",
    );
    let worker = &plan.workers[0];
    assert_eq!(worker.key.as_deref(), Some("other"));
    assert_eq!(
        (worker.gate, worker.fencing),
        (Gate::IsLocked, Fencing::OwnCounter)
    );
    assert!(plan.store.idempotent);
    let text = format!("{HEAD}[worker.w]\nscript = [\"acquire\"]\n");
    let set = told(&text, &["lock.renewal=script", "worker.w.gate=handle"]).unwrap();
    assert_eq!(set.main.lock.renewal, RunsOn::Script);
    assert_eq!(set.main.workers[0].gate, Gate::Handle);
    refused(
        "[worker.w]\ngate = \"key\"\nscript = [\"acquire\"]\n",
        "unknown gate `key`",
    );
}

#[test]
fn a_write_may_name_a_job_and_a_limit() {
    let steps = |script: &str| {
        let plan = good(&format!("[worker.w]\nscript = [{script}]\n"));
        plan.workers[0].script[0].action.clone()
    };
    let (job, within_ms) = (Some("J-1".to_owned()), Some(500));
    assert_eq!(steps("\"write\""), StepAction::Write);
    let both = StepAction::WriteAs {
        job: job.clone(),
        if_pending: false,
        within_ms,
    };
    assert_eq!(steps("\"write job J-1 within 500ms\""), both);
    let timed = StepAction::WriteAs {
        job: None,
        if_pending: false,
        within_ms,
    };
    assert_eq!(steps("\"write within 500ms\""), timed);
    let named = StepAction::WriteAs {
        job,
        if_pending: false,
        within_ms: None,
    };
    assert_eq!(steps("\"write job J-1\""), named);
    let pending = |within_ms| StepAction::WriteAs {
        job: Some("J-1".to_owned()),
        if_pending: true,
        within_ms,
    };
    assert_eq!(steps("\"write job J-1 if pending\""), pending(None));
    let timed = steps("\"write job J-1 if pending within 500ms\"");
    assert_eq!(timed, pending(within_ms));
    assert_eq!(steps("\"burn 2s\""), StepAction::Burn { for_ms: 2_000 });
    for (wrong, why) in [
        ("write twice", "`write` cannot be followed by `twice`"),
        ("write job", "`write` cannot be followed by `job`"),
        (
            "write job within 1s",
            "`write` cannot be followed by `job within 1s`",
        ),
        (
            "write if pending",
            "`write` cannot be followed by `if pending`",
        ),
        (
            "write job J if done",
            "`write` cannot be followed by `job J if done`",
        ),
        ("write job 7 within 1s", "`7` cannot be the name of a job"),
        ("write within 5", "`write within`:"),
        ("write within 0s", "`write within` no time at all"),
        ("burn", "`burn` does not say how long"),
    ] {
        refused(&format!("[worker.w]\nscript = [\"{wrong}\"]\n"), why);
    }
}

#[test]
fn evidence_of_unknown_steps_and_numbers_is_refused() {
    let with = |sentence: &str| {
        format!(
            "[worker.w]\ncount = 2\nscript = [\"acquire\"]\n[evidence]\nrequire = [\"{sentence}\"]\n"
        )
    };
    refused(
        &with("w1 granted while w2.hold.1"),
        "no script has the step `w2.hold.1`",
    );
    refused(&with("w granted 0 times"), "`0` is not a number from 1");
    refused(&with("w granted while w2.acquire.1"), "unknown worker `w`");
    refused(&with("x waited 2 times"), "unknown worker `x`");
}

#[test]
fn a_store_without_a_server_has_none_to_hit() {
    let drill = "[worker.w]\nscript = [\"acquire\", \"write\"]\n\
         [fault.f]\nkind = \"stop-server\"\ntarget = \"store-server\"\n\
         when = { at = \"w.write.1.armed\" }\nheal = { after = \"w.write.1.after\" }\n";
    refused(
        drill,
        "x.toml:13:10: the store `sqlite` has no server that `f` could hit; stores with a server: `redis`",
    );
    let text = format!("{HEAD}{drill}");
    assert!(told(&text.replace("sqlite", "redis"), &[]).is_ok());
}
