//! Six recorded runs that every report must tell well: pass, fail, limit, inconclusive, dead
//! control, noisy host. Built from literal stories.
#![allow(dead_code, reason = "each test binary uses its part")]

pub mod findings;
pub mod flush;
pub mod long;
pub mod look;
pub mod pause;
pub mod plans;
pub mod tape;

use findings::{arm, control, drill};
use lockdrill::plan::Plan;
use lockdrill::timeline::event::Line;
use lockdrill::timeline::history::History;
use lockdrill::verdict::{DrillResult, Protection, Verdict, judge_drill, judge_history};
use pause::{SOUND, Shape};
use std::fs;
use std::path::Path;

/// One run as it lies on disk.
pub struct Golden {
    /// Name of the folder that it is written to.
    pub name: &'static str,
    /// Plan and timeline of each arm that ran, main first.
    pub arms: Vec<(Plan, Vec<Line>)>,
    pub result: DrillResult,
}

/// Every golden run.
pub fn all() -> Vec<Golden> {
    vec![
        pass(),
        fail(),
        limit(),
        inconclusive(),
        dead_control(),
        noisy_host(),
    ]
}

fn pass() -> Golden {
    let (main, places) = pause::timeline("main", SOUND);
    let unfenced = Shape {
        late_accepted: true,
        ..SOUND
    };
    let (red, red_places) = pause::timeline("unfenced", unfenced);
    let arms = vec![
        arm(
            Verdict::Pass,
            Protection::KeptByFencing,
            findings::sound(&places),
        ),
        control(true, findings::stale_accepted(&red_places)),
    ];
    Golden {
        name: "pass",
        arms: vec![(plans::pause(), main), (plans::unfenced(), red)],
        result: drill(
            "pause",
            Verdict::Pass,
            "no named check was violated and the control went red as required",
            arms,
        ),
    }
}

fn fail() -> Golden {
    let shape = Shape {
        late_accepted: true,
        ..SOUND
    };
    let (main, places) = pause::timeline("main", shape);
    let (red, red_places) = pause::timeline("unfenced", shape);
    let mut plan = plans::pause();
    plan.store.fence = lockdrill::store::Fence::Racy;
    let arms = vec![
        arm(
            Verdict::Fail,
            Protection::Lost,
            findings::stale_accepted(&places),
        ),
        control(true, findings::stale_accepted(&red_places)),
    ];
    let mut unfenced = plans::unfenced();
    if let Some(change) = &mut unfenced.control {
        change.from = "racy".into();
    }
    Golden {
        name: "fail",
        arms: vec![(plan, main), (unfenced, red)],
        result: drill(
            "pause",
            Verdict::Fail,
            "no_stale_write is violated in the main arm",
            arms,
        ),
    }
}

/// Judged by the checks themselves: what its page says is what the lab would say.
fn limit() -> Golden {
    let arms = vec![
        (plans::flush(), flush::timeline("main", true).0),
        (
            plans::flush_unfenced(),
            flush::timeline("unfenced", false).0,
        ),
    ];
    let judged = arms
        .iter()
        .map(|(plan, lines)| judge_history(plan, &History::from_lines(plan, lines.clone())));
    let dir = "/runs/flush/20260302-021500-1".to_owned();
    Golden {
        name: "limit",
        result: judge_drill("flush", dir, judged.collect()),
        arms,
    }
}

fn inconclusive() -> Golden {
    let shape = Shape {
        injected: false,
        ..SOUND
    };
    let (main, places) = pause::timeline("main", shape);
    let why = "the fault nap was not injected: a.write.2.armed was not on the record when every worker was gone";
    let mut main_arm = arm(
        Verdict::Inconclusive,
        Protection::NotTested,
        findings::unproven(&places),
    );
    main_arm.why = why.into();
    let mut skipped = control(false, Vec::new());
    skipped.verdict = None;
    skipped.status = "skipped".into();
    skipped.why = "controls were left out with --no-controls".into();
    skipped.red_as_required = None;
    Golden {
        name: "inconclusive",
        arms: vec![(plans::pause(), main)],
        result: drill("pause", Verdict::Inconclusive, why, vec![main_arm, skipped]),
    }
}

fn dead_control() -> Golden {
    let (main, places) = pause::timeline("main", SOUND);
    let shape = Shape {
        late_arrives: false,
        ..SOUND
    };
    let (dead, dead_places) = pause::timeline("unfenced", shape);
    let arms = vec![
        arm(
            Verdict::Pass,
            Protection::KeptByFencing,
            findings::sound(&places),
        ),
        control(false, findings::never_arrived(&dead_places)),
    ];
    Golden {
        name: "dead-control",
        arms: vec![(plans::pause(), main), (plans::unfenced(), dead)],
        result: drill(
            "pause",
            Verdict::Inconclusive,
            "the control unfenced did not go red: no_stale_write is not violated in it, so this run does not show that the drill can see the damage",
            arms,
        ),
    }
}

fn noisy_host() -> Golden {
    let shape = Shape {
        stall: 140,
        ..SOUND
    };
    let (main, places) = pause::timeline("main", shape);
    let (red, red_places) = pause::timeline(
        "unfenced",
        Shape {
            late_accepted: true,
            ..SOUND
        },
    );
    let why = "the host stalled for 140 ms at 2.30 s, longer than the 4 ms between the end of a's lease and b's grant";
    let mut main_arm = arm(
        Verdict::Inconclusive,
        Protection::KeptByFencing,
        findings::noisy(&places),
    );
    main_arm.why = why.into();
    main_arm.earlier_attempts =
        vec!["first execution: the host stalled for 212 ms at 2.28 s".into()];
    Golden {
        name: "noisy-host",
        arms: vec![(plans::pause(), main), (plans::unfenced(), red)],
        result: drill(
            "pause",
            Verdict::Inconclusive,
            why,
            vec![
                main_arm,
                control(true, findings::stale_accepted(&red_places)),
            ],
        ),
    }
}

impl Golden {
    /// Writes the run into a fresh folder where runs lie, and reads what the writers draw from.
    pub fn model(&self, root: &Path) -> lockdrill::report::model::Model {
        let dir = root.join(&self.result.drill).join(self.name);
        fs::create_dir_all(&dir).unwrap();
        self.write(&dir);
        lockdrill::report::model::Model::read(&dir, &self.result).unwrap()
    }

    fn command(&self) -> String {
        let skipped = self.result.arms.iter().any(|arm| arm.status == "skipped");
        let controls = if skipped { " --no-controls" } else { "" };
        format!("run {}{controls}", self.result.drill)
    }

    /// Writes the run directory, without any report.
    pub fn write(&self, dir: &Path) {
        for (plan, lines) in &self.arms {
            let place = if plan.arm == "main" {
                dir.to_owned()
            } else {
                dir.join("arms").join(&plan.arm)
            };
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("plan.json"), pretty(plan)).unwrap();
            let text: String = lines
                .iter()
                .map(|line| serde_json::to_string(line).unwrap() + "\n")
                .collect();
            fs::write(place.join("timeline.jsonl"), text).unwrap();
        }
        fs::write(dir.join("results.json"), pretty(&self.result)).unwrap();
        let env = match self.name {
            "noisy-host" => ENV.replace(QUIET, r#""stalls": 1, "longest_stall_ms": 140"#),
            _ => ENV.to_owned(),
        };
        fs::write(
            dir.join("env.json"),
            env.replace("run pause", &self.command()),
        )
        .unwrap();
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap() + "\n"
}

const QUIET: &str = r#""stalls": 0, "longest_stall_ms": 3"#;

const ENV: &str = r#"{
  "command": "lockdrill run pause --seed 7",
  "lockdrill": { "version": "0.1.0", "revision": "4f1c2d9" },
  "redis": { "version": "7.0.15" },
  "sqlite": { "version": "3.50.4" },
  "host": { "kernel": "Linux 6.1.0", "processors": 2, "memory_mib": 7954 },
  "isolation": "guard",
  "noise": { "stalls": 0, "longest_stall_ms": 3 }
}
"#;
