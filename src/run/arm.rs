//! One arm as the conductor sees it: a process tree that is started, listened to and awaited.

use super::console::Console;
use super::director::Progress;
use super::preflight::Ready;
use super::run_dir;
use super::spec::{ArmSpec, GivenSpec};
use crate::env::error::EnvError;
use crate::env::guard::Left;
use crate::env::isolation::{self, ArmProcess, Launch};
use crate::env::ledger::{self, Ledger};
use crate::env::redis::given::OWN;
use crate::env::root;
use crate::exit::Exit;
use nix::sys::signal::Signal;
use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::{Arc, Mutex};

/// One arm to be run.
#[derive(Debug, Clone)]
pub struct ArmJob {
    /// Name of the drill.
    pub drill: String,
    /// `main`, or the control's name.
    pub arm: String,
    /// Name of the run.
    pub run: String,
    /// Folder of the arm; its `plan.json` is there.
    pub arm_dir: PathBuf,
    /// The redis-server program of the lock.
    pub lock_redis: PathBuf,
}

impl ArmJob {
    /// `drill/arm`, for people.
    pub fn label(&self) -> String {
        format!("{}/{}", self.drill, self.arm)
    }
}

/// How an arm ended.
#[derive(Debug, Clone)]
pub struct ArmEnd {
    /// Its process tree's answer; [`Exit::Ok`] means that the record is complete, not that
    /// anything passed.
    pub exit: Exit,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

/// The arms that run now, so that an interrupt can reach them.
#[derive(Debug, Default)]
pub struct Running(Mutex<Vec<Arc<Mutex<ArmProcess>>>>);

impl Running {
    fn with<T>(&self, change: impl FnOnce(&mut Vec<Arc<Mutex<ArmProcess>>>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(|lock| lock.into_inner()))
    }

    /// Asks every running arm to heal, record what there is, and end; or, `at_once`, to end.
    pub fn interrupt(&self, at_once: bool) {
        self.with(|arms| {
            for arm in arms.iter() {
                let mut arm = locked(arm);
                if at_once {
                    arm.end();
                } else {
                    // Gone already is as good as interrupted.
                    let _ = arm.interrupt();
                }
            }
        });
    }
}

fn locked(arm: &Mutex<ArmProcess>) -> std::sync::MutexGuard<'_, ArmProcess> {
    arm.lock().unwrap_or_else(|lock| lock.into_inner())
}

/// Runs one arm to its end; blocks.
pub fn run(job: &ArmJob, ready: &Ready, console: &Console, running: &Running) -> ArmEnd {
    let end = ledger::new_folder(&format!("{}-{}", job.drill, job.arm))
        .map_err(|error| failed("cannot make a state folder", &error))
        .and_then(|folder| {
            let end = attempt(job, ready, &folder, |process| {
                listen_to_the_end(job, process, console, running)
            });
            // The guard has done this, unless it never ran or was killed.
            remove(&folder, console);
            end
        });
    end.unwrap_or_else(|error| ArmEnd {
        exit: Exit::Environment,
        error: Some(error.to_string()),
    })
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> EnvError {
    EnvError::new(format!("{what}: {error}"), "run `lockdrill doctor`")
}

fn remove(folder: &Path, console: &Console) {
    if let Err(error) = root::remove_arm(folder) {
        console.note(&format!(
            "a state folder is left: {error}; run `lockdrill clean`"
        ));
    }
}

/// The server that is given, with a prefix of the arm's own.
fn given(job: &ArmJob, ready: &Ready) -> Result<Option<GivenSpec>, EnvError> {
    let Some((target, _)) = &ready.target else {
        return Ok(None);
    };
    let mut bytes = [0_u8; 8];
    getrandom::fill(&mut bytes).map_err(|error| failed("no random bytes", &error))?;
    let random = u64::from_le_bytes(bytes);
    Ok(Some(GivenSpec {
        address: target.address,
        prefix: format!("{OWN}{}-{random:016x}:", job.run),
    }))
}

fn attempt(
    job: &ArmJob,
    ready: &Ready,
    folder: &Path,
    to_the_end: impl FnOnce(ArmProcess) -> Result<ArmEnd, EnvError>,
) -> Result<ArmEnd, EnvError> {
    let spec = ArmSpec {
        arm_dir: job.arm_dir.clone(),
        work_dir: ledger::work(folder),
        run: job.run.clone(),
        isolation: ready.isolation,
        redis: ready.redis.path.clone(),
        lock_redis: job.lock_redis.clone(),
        postgres: ready.postgres.as_ref().map(|found| found.folder.clone()),
        etcd: ready.etcd.as_ref().map(|found| found.path.clone()),
        zookeeper: ready.zookeeper.clone(),
        program: ready.program.clone(),
        given: given(job, ready)?,
    };
    let spec_path = spec.work_dir.join("arm.json");
    let logs = job.arm_dir.join(run_dir::LOGS);
    std::fs::create_dir_all(&logs).map_err(|error| failed("cannot prepare the arm", &error))?;
    let launch = Launch {
        mode: ready.isolation,
        state_dir: folder.to_owned(),
        log: logs.join("lab.log"),
        arm_args: vec!["arm".into(), "--spec".into(), spec_path.clone().into()],
    };
    let make_folder = || {
        Ledger::create(folder)?;
        std::fs::write(&spec_path, serde_json::to_vec(&spec)?)
    };
    let process = isolation::launch(launch, make_folder)
        .map_err(|error| failed("cannot start the arm", &error))?;
    to_the_end(process)
}

fn listen_to_the_end(
    job: &ArmJob,
    process: ArmProcess,
    console: &Console,
    running: &Running,
) -> Result<ArmEnd, EnvError> {
    let process = Arc::new(Mutex::new(process));
    running.with(|arms| arms.push(Arc::clone(&process)));
    // Not held while listening: an interrupt must get through.
    let out = locked(&process).take_stdout();
    let error = out.and_then(|out| listen(job, out, console));
    let status = locked(&process).wait();
    running.with(|arms| arms.retain(|other| !Arc::ptr_eq(other, &process)));
    console.ended(&job.label());
    let status = status.map_err(|error| failed("lost the guard", &error))?;
    Ok(end_of(job, status, error))
}

/// Passes progress on; returns the error that the director told, if it told one.
fn listen(job: &ArmJob, out: impl std::io::Read, console: &Console) -> Option<String> {
    let mut error = None;
    for text in BufReader::new(out).lines().map_while(Result::ok) {
        if let Some(left) = Left::parse(&text) {
            let names: Vec<String> = left
                .iter()
                .map(|left| format!("{} ({})", left.name, left.pid))
                .collect();
            // An arm that failed has said why already, and the guard has ended these.
            error.get_or_insert(format!("left behind and ended: {}", names.join(", ")));
            continue;
        }
        match serde_json::from_str(&text) {
            Ok(Progress::Said { at, text }) => console.said(&job.label(), at, &text),
            Ok(Progress::Error { what, todo }) => error = Some(format!("{what}; {todo}")),
            Err(_) => console.note(&format!("{}  {text}", job.label())),
        }
    }
    error
}

/// `code 3`, or the signal that killed it, which nobody in the arm has sent.
fn how(status: ExitStatus) -> String {
    match (status.code(), status.signal().map(Signal::try_from)) {
        (Some(code), _) => format!("code {code}"),
        (None, Some(Ok(signal))) => format!("{signal}, from outside of it"),
        (None, Some(Err(_)) | None) => "a signal, from outside of it".to_owned(),
    }
}

fn end_of(job: &ArmJob, status: ExitStatus, error: Option<String>) -> ArmEnd {
    let exit = match status.code() {
        Some(0) => Exit::Ok,
        Some(4) => Exit::Environment,
        Some(130) => Exit::Interrupted,
        Some(_) | None => Exit::Bug,
    };
    let error = error.or_else(|| match exit {
        Exit::Ok | Exit::Interrupted => None,
        Exit::Fail | Exit::Usage | Exit::Inconclusive | Exit::Environment | Exit::Bug => {
            Some(format!(
                "the arm's process tree ended with {}; see {}",
                how(status),
                job.arm_dir.join(run_dir::LOGS).join("lab.log").display()
            ))
        }
    });
    ArmEnd { exit, error }
}
