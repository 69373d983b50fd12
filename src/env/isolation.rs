//! How an arm is kept apart from the machine, and the conductor's handle on it.

use crate::env::guard;
use crate::env::ledger::MARK;
use nix::unistd::setsid;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};

/// How an arm is kept apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Own pid, network and mount namespaces: fixed ports, nothing survives.
    Namespace,
    /// The machine's own: ephemeral ports, and a guard process that ends everything.
    Guard,
}

impl Mode {
    /// The word for it, on the command line and on record.
    pub const fn word(self) -> &'static str {
        match self {
            Mode::Namespace => "namespace",
            Mode::Guard => "guard",
        }
    }
}

/// What the user asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Choice {
    /// Namespaces where the machine allows them, else the guard alone; which, is said.
    #[default]
    Auto,
    /// Namespaces or nothing.
    Namespace,
    /// The guard alone.
    Guard,
}

/// A mode, and why it is not the better one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// The mode.
    pub mode: Mode,
    /// Why namespaces are not used although `auto` would; to be told to the user.
    pub fallback: Option<String>,
}

/// Turns a choice into a mode, by trying.
///
/// # Errors
/// When namespaces were demanded and the machine refuses them: why, and the way out.
pub fn decide(choice: Choice) -> io::Result<Decision> {
    let decided = |mode, fallback| Ok(Decision { mode, fallback });
    match choice {
        Choice::Guard => decided(Mode::Guard, None),
        Choice::Auto => match probe() {
            Ok(()) => decided(Mode::Namespace, None),
            Err(why) => decided(Mode::Guard, Some(why)),
        },
        Choice::Namespace => match probe() {
            Ok(()) => decided(Mode::Namespace, None),
            Err(why) => Err(io::Error::other(format!(
                "this machine refuses namespaces ({why}); use --isolation guard"
            ))),
        },
    }
}

/// This program again, as a guard.
///
/// Refused inside an arm: a program that took `guard …` for something else would start itself
/// without end.
fn this_program() -> io::Result<Command> {
    if std::env::var_os(MARK).is_some() {
        let text = format!("{MARK} is set: an arm cannot start another");
        return Err(io::Error::other(text));
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("guard");
    Ok(command)
}

/// Tries the whole sequence of an arm's namespaces in a throw-away process.
///
/// # Errors
/// Why not, in words.
pub fn probe() -> Result<(), String> {
    let attempt = || {
        this_program()?
            .arg("--probe")
            .env(MARK, "probe")
            .stdin(Stdio::null())
            .output()
    };
    match attempt() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
            Err(said)
        }
        Err(error) => Err(error.to_string()),
    }
}

/// One arm to be started.
#[derive(Debug, Clone)]
pub struct Launch {
    /// Namespaces or not.
    pub mode: Mode,
    /// The arm's folder ([`crate::env::ledger::new_folder`]); the guard removes it.
    pub state_dir: PathBuf,
    /// Standard error of guard and director; outside `state_dir`, its folder exists.
    pub log: PathBuf,
    /// What the director is told, for example `arm --spec FILE`.
    pub arm_args: Vec<OsString>,
}

/// A running arm. While this value lives the arm may; dropping it ends the arm as the death of
/// this process would.
#[derive(Debug)]
pub struct ArmProcess {
    child: Child,
    lifeline: Option<ChildStdin>,
}

/// Starts the guard of one arm, in a session of its own so that a terminal's Ctrl-C reaches the
/// conductor alone; has the arm's folder made; and lets the guard begin. The guard is there before
/// the folder is, so that whoever dies in between leaves none behind.
///
/// # Errors
/// When this program cannot be started again, or the folder not be made; it is removed then. A
/// guard that begins and then fails says why in the log and ends with
/// [`guard::REFUSED`].
pub fn launch(
    launch: Launch,
    make_folder: impl FnOnce() -> io::Result<()>,
) -> io::Result<ArmProcess> {
    let mut arm = start(launch)?;
    let begun = make_folder().and_then(|()| arm.tell(guard::BEGIN));
    match begun {
        Ok(()) => Ok(arm),
        Err(error) => {
            // It removes the folder; the first error is the one to tell.
            arm.end();
            let _ = arm.wait();
            Err(error)
        }
    }
}

fn start(launch: Launch) -> io::Result<ArmProcess> {
    let mut command = this_program()?;
    command
        .args(["--isolation", launch.mode.word(), "--state"])
        .arg(&launch.state_dir)
        .arg("--log")
        .arg(&launch.log)
        .arg("--")
        .args(launch.arm_args)
        .env(MARK, launch.state_dir.file_name().unwrap_or_default())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let lead = || {
        setsid()?;
        Ok(())
    };
    // SAFETY: setsid is async-signal-safe and nothing is allocated.
    unsafe { command.pre_exec(lead) };
    let mut child = command.spawn()?;
    let lifeline = child.stdin.take();
    Ok(ArmProcess { child, lifeline })
}

impl ArmProcess {
    /// Process id of the guard (in namespace mode, of its outer half).
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// What director and guard print; it ends when both are gone. Can be taken once.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    /// Asks the director to heal everything, keep what there is, and end: it gets SIGTERM.
    ///
    /// # Errors
    /// When the guard is gone.
    pub fn interrupt(&mut self) -> io::Result<()> {
        self.tell(guard::INTERRUPT)
    }

    fn tell(&mut self, byte: u8) -> io::Result<()> {
        match &mut self.lifeline {
            Some(lifeline) => lifeline.write_all(&[byte]),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Ends the arm at once: everything in it is killed, its folder removed.
    pub fn end(&mut self) {
        self.lifeline = None;
    }

    /// Waits for the guard, and so for everything; blocks. The code is the director's own, see
    /// [`guard::run`].
    ///
    /// # Errors
    /// When the kernel does not know the child any more.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait()
    }
}
