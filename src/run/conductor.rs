//! Runs drills: plans on disk first, then the arms side by side, each in a process tree of its
//! own. An arm that ends inconclusive is repeated at most twice; every execution is kept and
//! shown. A fail is never retried away.

use super::arm::{self, ArmEnd, ArmJob, Running};
use super::console::Console;
use super::environment;
use super::interrupt::Interrupts;
use super::preflight::Ready;
use super::run_dir;
use super::shard::Shard;
use crate::exit::Exit;
use crate::plan::Plan;
use crate::verdict::{self, NotRun, Verdict};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// How often an inconclusive arm is repeated.
const REPEATS_MAX: usize = 2;

/// The arms of one drill.
#[derive(Debug, Clone)]
pub struct Drill {
    /// The main arm.
    pub main: Plan,
    /// The controls, in the order of the file.
    pub controls: Vec<Plan>,
    /// Controls that do not run, by name, and why.
    pub not_run: Vec<(String, NotRun)>,
    /// The command that runs it again, word by word.
    pub again: Vec<String>,
}

/// What to run.
#[derive(Debug, Clone)]
pub struct Request {
    /// The drills, in order.
    pub drills: Vec<Drill>,
    /// How often each is executed, ≥ 1.
    pub repeat: usize,
    /// How many arms run at once, ≥ 1.
    pub jobs: usize,
    /// The part that runs here; none = everything.
    pub shard: Option<Shard>,
}

impl Request {
    /// The executions that run here, in order.
    pub fn wanted(&self) -> impl Iterator<Item = &Drill> {
        let all = (0..self.repeat).flat_map(|_| &self.drills);
        let here = |k| self.shard.is_none_or(|shard| shard.takes(k));
        all.enumerate()
            .filter_map(move |(k, drill)| here(k).then_some(drill))
    }
}

/// One execution of one drill, as it lies on disk.
#[derive(Debug, Clone)]
pub struct Executed {
    /// Name of the drill.
    pub drill: String,
    /// Its run directory.
    pub dir: PathBuf,
    /// How each arm ended, by name.
    pub ends: Vec<(String, ArmEnd)>,
}

impl Executed {
    /// The worst of its arms' ends.
    pub fn exit(&self) -> Exit {
        self.ends
            .iter()
            .fold(Exit::Ok, |worst, (_, end)| worst.worst(end.exit))
    }
}

/// Runs everything.
///
/// # Errors
/// When a run directory cannot be prepared; nothing of that run has started then.
pub fn run(request: &Request, ready: &Ready, console: &Console) -> io::Result<Vec<Executed>> {
    let running = Arc::new(Running::default());
    let interrupts = Interrupts::watch(Arc::clone(&running))?;
    let mut executions = Vec::new();
    let mut jobs = VecDeque::new();
    for drill in request.wanted() {
        let (executed, arms) = prepare(drill, ready)?;
        jobs.extend(arms.into_iter().map(|job| (executions.len(), job)));
        executions.push(executed);
    }
    let jobs = Mutex::new(jobs);
    let ends = Mutex::new(Vec::new());
    // A function of its own, so that the lock is held for the taking and not for the whole arm.
    let next = || lock(&jobs).pop_front();
    std::thread::scope(|scope| {
        for _ in 0..request.jobs {
            scope.spawn(|| {
                while let Some((execution, job)) = next() {
                    let end = if interrupts.any() {
                        not_begun()
                    } else {
                        to_the_end(&job, ready, console, &running)
                    };
                    lock(&ends).push((execution, job.arm, end));
                }
            });
        }
    });
    for (execution, arm, end) in ends.into_inner().unwrap_or_else(|lock| lock.into_inner()) {
        executions[execution].ends.push((arm, end));
    }
    Ok(executions)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|lock| lock.into_inner())
}

fn not_begun() -> ArmEnd {
    ArmEnd {
        exit: Exit::Interrupted,
        error: Some("interrupted before it began".to_owned()),
    }
}

/// Writes the plans of every arm before the first of them starts.
fn prepare(drill: &Drill, ready: &Ready) -> io::Result<(Executed, Vec<ArmJob>)> {
    let name = drill.main.drill.clone();
    let (run, dir) = run_dir::create(&ready.out, &name)?;
    let redis = ready.redis_of(&drill.main);
    environment::write(&dir, (ready, redis), &drill.again)?;
    let mut jobs = Vec::new();
    for plan in std::iter::once(&drill.main).chain(&drill.controls) {
        let arm_dir = run_dir::arm(&dir, &plan.arm);
        std::fs::create_dir_all(&arm_dir)?;
        let mut json = serde_json::to_string_pretty(plan)?;
        json.push('\n');
        std::fs::write(arm_dir.join(run_dir::PLAN), json)?;
        jobs.push(ArmJob {
            drill: name.clone(),
            arm: plan.arm.clone(),
            run: run.clone(),
            arm_dir,
            lock_redis: ready.redis_of(plan).path.clone(),
        });
    }
    for (control, reason) in &drill.not_run {
        reason.write(&run_dir::arm(&dir, control))?;
    }
    let executed = Executed {
        drill: name,
        dir,
        ends: Vec::new(),
    };
    Ok((executed, jobs))
}

/// Runs an arm, and again while it ends inconclusive, at most [`REPEATS_MAX`] times more.
fn to_the_end(job: &ArmJob, ready: &Ready, console: &Console, running: &Running) -> ArmEnd {
    for repeat in 0.. {
        let end = arm::run(job, ready, console, running);
        if end.exit != Exit::Ok || repeat == REPEATS_MAX {
            return end;
        }
        let Some(why) = inconclusive(&job.arm_dir) else {
            return end;
        };
        console.note(&format!("{}  inconclusive, repeated: {why}", job.label()));
        if let Err(error) = run_dir::set_aside(&job.arm_dir, repeat + 1) {
            return ArmEnd {
                exit: Exit::Environment,
                error: Some(format!("cannot keep the inconclusive record: {error}")),
            };
        }
    }
    not_begun()
}

/// Why the record of an arm is inconclusive, if it is.
fn inconclusive(arm_dir: &Path) -> Option<String> {
    let result = verdict::judge_arm_dir(arm_dir).ok()?;
    (result.verdict == Some(Verdict::Inconclusive) && result.defect.is_none()).then_some(result.why)
}
