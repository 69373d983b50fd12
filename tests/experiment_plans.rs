//! What the drills of this repository resolve to.

use lockdrill::experiment::{self, Experiment, LoadRequest, Overrides};
use lockdrill::plan::{Heal, Plan, StepAction};
use lockdrill::{checks, faults};
use serde_json::{Value, json};
use std::path::Path;

fn request(overrides: Overrides) -> LoadRequest {
    LoadRequest {
        all: true,
        root: Path::new(env!("CARGO_MANIFEST_DIR")).to_owned(),
        overrides,
        ..LoadRequest::default()
    }
}

#[track_caller]
fn loaded(overrides: Overrides) -> Vec<Experiment> {
    experiment::load(&request(overrides)).unwrap_or_else(|refused| panic!("{refused}"))
}

fn shipped() -> Vec<Experiment> {
    loaded(Overrides::default())
}

fn pause(overrides: Overrides) -> Experiment {
    let mut drills = loaded(overrides).into_iter();
    drills.find(|drill| drill.name == "pause").unwrap()
}

/// The paths of every leaf, with its value.
fn leaves(path: &str, value: &Value, found: &mut Vec<(String, Value)>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (key, value) in fields {
                leaves(&format!("{path}/{key}"), value, found);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, value) in items.iter().enumerate() {
                leaves(&format!("{path}/{index}"), value, found);
            }
        }
        leaf => found.push((path.to_owned(), leaf.clone())),
    }
}

fn leaves_of(plan: &Plan) -> Vec<(String, Value)> {
    let mut value = serde_json::to_value(plan).unwrap();
    let fields = value.as_object_mut().unwrap();
    fields.remove("arm");
    fields.remove("control");
    let mut found = Vec::new();
    leaves("", &value, &mut found);
    found
}

#[test]
fn every_control_differs_from_its_main_arm_in_one_path() {
    for drill in shipped() {
        assert!(!drill.controls.is_empty(), "{} has no control", drill.name);
        for arm in &drill.controls {
            let control = arm.control.as_ref().unwrap();
            let (main, this) = (leaves_of(&drill.main), leaves_of(arm));
            let gone: Vec<_> = main.iter().filter(|leaf| !this.contains(leaf)).collect();
            let new: Vec<_> = this.iter().filter(|leaf| !main.contains(leaf)).collect();
            let path = format!("/{}", control.path.replace('.', "/"));
            assert_eq!(gone, [&(path.clone(), control.from.clone())]);
            assert_eq!(new, [&(path, control.to.clone())]);
            assert_ne!(arm.arm, drill.main.arm);
        }
    }
}

#[test]
fn every_control_has_the_same_stop_points_as_its_main_arm() {
    for drill in shipped() {
        for arm in &drill.controls {
            assert_eq!(arm.workers, drill.main.workers, "{}", arm.arm);
            assert_eq!(arm.faults, drill.main.faults, "{}", arm.arm);
        }
    }
}

#[test]
fn every_control_is_red_by_somebody_of_the_drill_for_a_known_check() {
    for drill in shipped() {
        let workers = drill.main.workers.iter().map(|worker| &worker.name);
        let faults = drill.main.faults.iter().map(|fault| &fault.name);
        let names: Vec<&String> = workers.chain(faults).collect();
        for arm in &drill.controls {
            let control = arm.control.as_ref().unwrap();
            assert!(names.contains(&&control.by));
            for check in control.also.iter().chain([&control.check]) {
                assert!(checks::find(check).is_some(), "{check}");
            }
        }
    }
}

#[test]
fn every_fault_of_a_drill_is_one_whose_proof_is_known() {
    for drill in shipped() {
        for fault in &drill.main.faults {
            assert!(faults::find(&fault.kind).is_some());
        }
    }
}

#[test]
fn the_same_file_and_seed_give_the_same_bytes() {
    let bytes = |overrides: &Overrides| -> Vec<String> {
        let drills = loaded(overrides.clone()).into_iter();
        let plans = drills.flat_map(|drill| [vec![drill.main], drill.controls].concat());
        plans
            .map(|plan| serde_json::to_string_pretty(&plan).unwrap())
            .collect()
    };
    let seed = |seed| Overrides {
        seed: Some(seed),
        ..Overrides::default()
    };
    assert_eq!(bytes(&seed(7)), bytes(&seed(7)));
    assert_eq!(bytes(&seed(0)), bytes(&Overrides::default()));
    assert_ne!(bytes(&seed(7)), bytes(&seed(8)));
}

#[test]
fn a_plan_says_nothing_of_this_machine() {
    let root = env!("CARGO_MANIFEST_DIR");
    for drill in shipped() {
        let text = serde_json::to_string(&drill.main).unwrap();
        assert!(!text.contains(root), "a path");
        assert!(!text.contains("127.0.0.1"), "an address");
        assert!(!text.contains(".toml"), "a file");
    }
}

#[test]
fn a_plan_reads_back_as_it_was_written() {
    for drill in shipped() {
        for plan in [vec![drill.main], drill.controls].concat() {
            let text = serde_json::to_string(&plan).unwrap();
            assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
        }
    }
}

#[test]
fn the_built_in_copy_is_the_same_drill() {
    let empty = tempfile::tempdir().unwrap();
    for drill in shipped() {
        let request = LoadRequest {
            drills: vec![drill.name.clone()],
            root: empty.path().to_owned(),
            ..LoadRequest::default()
        };
        let built_in = experiment::load(&request).unwrap().remove(0);
        assert_eq!(built_in.main, drill.main);
        assert_eq!(built_in.controls, drill.controls);
        assert_eq!(built_in.source, drill.source);
        assert_eq!(built_in.file, format!("{}.toml (built in)", drill.name));
    }
}

#[test]
fn the_pause_drill_in_full() {
    let drill = pause(Overrides::default());
    let main = &drill.main;
    assert_eq!((main.drill.as_str(), main.arm.as_str()), ("pause", "main"));
    assert_eq!((main.lock.lease_ms, main.lock.renew_ms), (1500, Some(500)));
    assert_eq!((main.patience_ms, main.recovery_bound_ms), (15_000, 2_000));
    assert_eq!(main.faults[0].when, "a.write.2.armed");
    assert_eq!(
        main.faults[0].heal,
        Some(Heal::After("b.write.accepted".into()))
    );
    let script = &main.workers[1].script;
    assert_eq!(script[0].action, StepAction::Enter { wait_ms: 10_000 });
    assert_eq!(
        main.required_checks,
        ["single_holder", "no_stale_write", "owner_only", "recovers"],
        "who holds, what the controls violate, and what [checks] requires"
    );
    let unfenced = drill.controls.iter().find(|arm| arm.arm == "unfenced");
    let control = unfenced.unwrap().control.clone().unwrap();
    assert_eq!(control.path, "store.fence");
    assert_eq!(
        (control.from, control.to),
        (json!("atomic"), json!("off")),
        "as JSON"
    );
    assert_eq!((&*control.check, &*control.by), ("no_stale_write", "a"));
}

#[test]
fn the_command_line_changes_every_arm() {
    let set = vec!["lock.lease=2s".to_owned(), "bounds.patience=30s".to_owned()];
    let drill = pause(Overrides {
        set,
        ..Overrides::default()
    });
    assert_eq!(drill.controls.len(), 3);
    for plan in [vec![drill.main], drill.controls].concat() {
        assert_eq!((plan.lock.lease_ms, plan.patience_ms), (2000, 30_000));
    }
}

#[test]
fn a_control_that_the_command_line_makes_meaningless_does_not_apply() {
    let set = vec!["store.fence=off".to_owned()];
    let drill = pause(Overrides {
        set,
        ..Overrides::default()
    });
    let applies: Vec<&str> = drill.controls.iter().map(|arm| &*arm.arm).collect();
    assert_eq!(applies, ["racy-fence", "blind_release"]);
    assert_eq!(drill.not_applicable[0].control, "unfenced");
    assert_eq!(
        drill.not_applicable[0].why,
        "the control changes nothing: the main arm has this value already"
    );
}

#[test]
fn optional_checks_may_come_out_unknown() {
    let text = shipped().remove(0).source;
    let text = format!("{text}\n[checks]\noptional = [\"recovers\", \"retry_budget\"]\n");
    let drill = experiment::read("x", "x.toml", &text, &Overrides::default()).unwrap();
    assert_eq!(drill.main.optional_checks, ["recovers", "retry_budget"]);
}

/// Whether a TOML value is one that the schema allows; only the words that ours uses.
fn allows(schema: &Value, value: &Value) -> Result<(), String> {
    let Some(fields) = value.as_object() else {
        return match schema.get("enum").and_then(Value::as_array) {
            Some(names) if !names.contains(value) => Err(format!("{value} is not of {names:?}")),
            _ => Ok(()),
        };
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    for (key, value) in fields {
        let below = properties.and_then(|known| known.get(key));
        match below.or(schema.get("additionalProperties")) {
            Some(Value::Bool(false)) => return Err(format!("no `{key}`")),
            Some(below) => allows(below, value).map_err(|why| format!("{key}: {why}"))?,
            None => {}
        }
    }
    for key in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !fields.contains_key(key.as_str().unwrap_or("")) {
            return Err(format!("{key} is missing"));
        }
    }
    Ok(())
}

#[test]
fn the_schema_allows_the_shipped_drills_and_not_everything() {
    let schema = experiment::schema();
    for drill in shipped() {
        let value: Value = toml::from_str(&drill.source).unwrap();
        assert_eq!(allows(&schema, &value), Ok(()), "{}", drill.name);
        let mut wrong = value.clone();
        wrong["store"]["fence"] = json!("of");
        assert!(allows(&schema, &wrong).is_err());
        let mut wrong = value.clone();
        wrong["lock"]["surprise"] = json!(1);
        assert!(allows(&schema, &wrong).is_err());
    }
}
