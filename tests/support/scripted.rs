//! A back end that answers what a test tells it to, a clock that follows tokio's (so that a test
//! may pause time), and a probe that writes down what it hears.

use async_trait::async_trait;
use lockdrill::clock::Clock;
use lockdrill::ids::FencingToken;
use lockdrill::lock::error::CommandError;
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::probe::{Probe, Signal};
use lockdrill::lock::service::{
    AcquireAnswer, Ask, LockName, LockService, ReleaseAnswer, RenewAnswer, Wake,
};
use std::collections::VecDeque;
use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// One answer.
#[derive(Clone, Debug)]
pub enum Say<T> {
    /// After this long; unknown if the command's time is up before.
    After(Duration, Result<T, CommandError>),
    /// Never, not even when the command's time is up: worse than any back end may be.
    Never,
}

pub fn now<T>(answer: T) -> Say<T> {
    Say::After(Duration::ZERO, Ok(answer))
}

pub fn failed<T>() -> Say<T> {
    Say::After(Duration::ZERO, Err(CommandError::Failed("refused".into())))
}

/// As a timeout: unknown when the command's time is up.
pub fn unknown<T>() -> Say<T> {
    let why = CommandError::Unknown("no answer in time".into());
    Say::After(Duration::MAX, Err(why))
}

pub fn granted(fencing: u64, lease: Duration) -> AcquireAnswer {
    AcquireAnswer::Granted {
        fencing: Some(FencingToken(fencing)),
        lease,
    }
}

pub fn grant(fencing: u64, lease: Duration) -> Say<AcquireAnswer> {
    now(granted(fencing, lease))
}

pub fn busy(remaining: Duration) -> Say<AcquireAnswer> {
    now(AcquireAnswer::Busy {
        remaining: Some(remaining),
    })
}

/// The answers, in order; the last one is given for ever.
#[derive(Default)]
pub struct Scripted {
    pub acquire: Mutex<VecDeque<Say<AcquireAnswer>>>,
    pub renew: Mutex<VecDeque<Say<RenewAnswer>>>,
    pub release: Mutex<VecDeque<Say<ReleaseAnswer>>>,
    pub flaw: Option<Flaw>,
    /// When each command arrived, with its name and the digest of its owner token.
    pub calls: Mutex<Vec<(Instant, &'static str, String)>>,
}

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Scripted {
    pub fn acquiring(answers: impl IntoIterator<Item = Say<AcquireAnswer>>) -> Scripted {
        Scripted {
            acquire: Mutex::new(answers.into_iter().collect()),
            release: Mutex::new([now(ReleaseAnswer::Released)].into()),
            ..Scripted::default()
        }
    }

    pub fn renewing(mut self, answers: impl IntoIterator<Item = Say<RenewAnswer>>) -> Scripted {
        self.renew = Mutex::new(answers.into_iter().collect());
        self
    }

    pub fn releasing(mut self, answers: impl IntoIterator<Item = Say<ReleaseAnswer>>) -> Scripted {
        self.release = Mutex::new(answers.into_iter().collect());
        self
    }

    pub fn flawed(mut self, flaw: Flaw) -> Scripted {
        self.flaw = Some(flaw);
        self
    }

    /// Names of the commands so far.
    pub fn heard(&self) -> Vec<&'static str> {
        let calls = self.calls.lock().unwrap();
        calls.iter().map(|(_, name, _)| *name).collect()
    }

    /// How many commands of this name so far.
    pub fn count(&self, name: &str) -> usize {
        self.heard().iter().filter(|heard| **heard == name).count()
    }

    async fn say<T: Clone>(
        &self,
        name: &'static str,
        ask: &Ask<'_>,
        answers: &Mutex<VecDeque<Say<T>>>,
    ) -> Result<T, CommandError> {
        let call = (Instant::now(), name, ask.owner.digest().0);
        self.calls.lock().unwrap().push(call);
        let answer = {
            let mut answers = answers.lock().unwrap();
            match answers.len() {
                0 => panic!("nobody told what to answer to {name}"),
                1 => answers[0].clone(),
                _ => answers.pop_front().expect("more than one"),
            }
        };
        match answer {
            Say::Never => pending().await,
            Say::After(delay, answer) => {
                let left = ask.until.saturating_duration_since(Instant::now());
                sleep(delay.min(left)).await;
                if delay <= left {
                    answer
                } else {
                    Err(CommandError::Unknown("no answer in time".into()))
                }
            }
        }
    }
}

#[async_trait]
impl LockService for Scripted {
    fn flaw(&self) -> Option<Flaw> {
        self.flaw
    }

    async fn acquire(&self, ask: &Ask<'_>) -> Result<AcquireAnswer, CommandError> {
        self.say("acquire", ask, &self.acquire).await
    }

    async fn renew(&self, ask: &Ask<'_>) -> Result<RenewAnswer, CommandError> {
        self.say("renew", ask, &self.renew).await
    }

    async fn release(&self, ask: &Ask<'_>) -> Result<ReleaseAnswer, CommandError> {
        self.say("release", ask, &self.release).await
    }

    async fn remaining(
        &self,
        _name: &LockName,
        _until: Instant,
    ) -> Result<Option<Duration>, CommandError> {
        Ok(None)
    }

    fn watch(&self, _name: &LockName) -> Box<dyn Wake> {
        Box::new(Deaf)
    }
}

struct Deaf;

#[async_trait]
impl Wake for Deaf {
    fn listening(&self) -> bool {
        false
    }

    async fn woken(&mut self) {
        pending().await
    }
}

/// Tokio's clock in nanoseconds, from the moment it was made.
#[derive(Debug)]
pub struct TokioClock(Instant);

impl TokioClock {
    pub fn start() -> Arc<TokioClock> {
        Arc::new(TokioClock(Instant::now()))
    }
}

impl Clock for TokioClock {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).expect("a test does not last 500 years")
    }
}

/// Writes down every signal in a few words.
#[derive(Default)]
pub struct Notes(pub Mutex<Vec<String>>);

#[allow(dead_code, reason = "each test file uses what it needs")]
impl Notes {
    pub fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub fn count(&self, prefix: &str) -> usize {
        let notes = self.all();
        notes.iter().filter(|note| note.starts_with(prefix)).count()
    }

    /// Place of the first note that starts so.
    pub fn first(&self, prefix: &str) -> usize {
        let notes = self.all();
        let place = notes.iter().position(|note| note.starts_with(prefix));
        place.unwrap_or_else(|| panic!("no `{prefix}` in {notes:#?}"))
    }
}

impl Probe for Notes {
    fn on(&self, signal: Signal<'_>) {
        self.0.lock().unwrap().push(match signal {
            Signal::Sending { command, grant, .. } => format!("sending {command:?} {grant}"),
            Signal::Answered {
                command,
                grant,
                answer,
            } => format!("answered {command:?} {grant} {answer:?}"),
            Signal::Copies {
                grant,
                wanted,
                have,
            } => format!("copies {grant} {have:?} of {wanted}"),
            Signal::Lost { grant, reason, .. } => format!("lost {grant} {reason}"),
        });
    }
}
