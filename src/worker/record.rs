//! What a worker says of itself: operations in pairs, points, losses, each told before the effect.

use super::{WorkerLine, lab};
use crate::clock::{boot_ahead_ns, monotonic_ns};
use crate::ids::GrantId;
use crate::lock::probe::{Command, Probe, Reply, Signal};
use crate::timeline::event::{Answer, Call, Event, Outcome};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Longest text of an error or a reason, in characters. One character is at most six bytes of
/// JSON, and with two names of 64 bytes beside it a line stays below 4096.
const TEXT_MAX: usize = 400;

/// The worker's side of the record.
#[derive(Debug)]
pub(super) struct Record {
    zero_ns: u64,
    /// `CLOCK_BOOTTIME` − `CLOCK_MONOTONIC`, ns. It changes only while the machine is suspended,
    /// and no record survives that.
    boot_ahead_ns: u64,
    said: Mutex<Said>,
}

/// What has been said so far.
#[derive(Debug, Default)]
struct Said {
    /// Number of the last operation.
    op: u64,
    /// The script step that is being done.
    step: Option<String>,
    /// Commands on the wire.
    open: HashMap<(Command, GrantId), u64>,
    /// How many commands of each sort were sent.
    sent: HashMap<Command, u64>,
}

impl Record {
    pub(super) fn new(lab_zero_ns: u64) -> Self {
        Record {
            zero_ns: lab_zero_ns,
            boot_ahead_ns: boot_ahead_ns(),
            said: Mutex::default(),
        }
    }

    /// Tells the lab one event.
    pub(super) fn tell(&self, event: Event) {
        self.put(&self.said(), event);
    }

    /// Lab time now, ns.
    pub(super) fn now(&self) -> u64 {
        monotonic_ns().saturating_sub(self.zero_ns)
    }

    /// Operations that are told from here on belong to this step; none = to no step.
    pub(super) fn step(&self, name: Option<&str>) {
        self.said().step = name.map(str::to_owned);
    }

    /// An operation of the current step is about to begin; returns its number.
    pub(super) fn invoke(&self, call: Call) -> u64 {
        let mut said = self.said();
        let step = said.step.clone();
        self.begin(&mut said, step, call)
    }

    /// An operation returned.
    pub(super) fn answer(&self, op: u64, outcome: Outcome, answer: Answer) {
        let answer = shortened(answer);
        self.tell(Event::Return {
            op,
            outcome,
            answer,
        });
    }

    /// How many commands of this sort have been sent so far.
    pub(super) fn sent(&self, command: Command) -> u64 {
        self.said().sent.get(&command).copied().unwrap_or_default()
    }

    /// Whether a command of this sort has been sent and not answered.
    pub(super) fn awaits(&self, command: Command) -> bool {
        let said = self.said();
        said.open.keys().any(|(open, _)| *open == command)
    }

    fn begin(&self, said: &mut Said, step: Option<String>, call: Call) -> u64 {
        said.op += 1;
        let op = said.op;
        self.put(said, Event::Invoke { op, step, call });
        op
    }

    /// The time is taken and the line written under the lock: lines of one worker are in the
    /// order of their times.
    fn put(&self, _said: &Said, event: Event) {
        let at = self.now();
        lab::tell(&WorkerLine { at, event });
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sending(&self, command: Command, grant: &GrantId, call: Call) {
        let mut said = self.said();
        let step = match command {
            Command::AutoRenew => None,
            Command::Acquire | Command::Renew => said.step.clone(),
            // A handle that is dropped inside another step gives itself back; no step asked.
            Command::Release => said
                .step
                .clone()
                .filter(|step| step.starts_with("release.")),
        };
        let op = self.begin(&mut said, step, call);
        *said.sent.entry(command).or_default() += 1;
        said.open.insert((command, grant.clone()), op);
    }

    fn answered(&self, command: Command, grant: &GrantId, reply: Reply) {
        let mut said = self.said();
        if let Some(op) = said.open.remove(&(command, grant.clone())) {
            let (outcome, answer) = meaning(grant, reply);
            let answer = shortened(answer);
            let event = Event::Return {
                op,
                outcome,
                answer,
            };
            self.put(&said, event);
        }
    }

    /// A time of the lock core's clock as lab time.
    fn lab_time(&self, boot_ns: u64) -> u64 {
        boot_ns
            .saturating_sub(self.boot_ahead_ns)
            .saturating_sub(self.zero_ns)
    }
}

impl Probe for Record {
    fn on(&self, signal: Signal<'_>) {
        match signal {
            Signal::Sending {
                command,
                grant,
                owner,
            } => {
                let call = match command {
                    Command::Acquire => Call::Attempt {
                        grant: grant.clone(),
                        owner: owner.clone(),
                    },
                    Command::AutoRenew | Command::Renew => Call::Renew {
                        grant: grant.clone(),
                        auto: command == Command::AutoRenew,
                    },
                    Command::Release => Call::Release {
                        grant: grant.clone(),
                    },
                };
                self.sending(command, grant, call);
            }
            Signal::Answered {
                command,
                grant,
                answer,
            } => self.answered(command, grant, answer),
            Signal::Copies {
                grant,
                wanted,
                have,
            } => self.tell(Event::Copies {
                grant: grant.clone(),
                wanted,
                have,
            }),
            Signal::Lost {
                grant,
                reason,
                deadline_ns,
            } => self.tell(Event::Lost {
                grant: grant.clone(),
                reason: short(reason),
                deadline: self.lab_time(deadline_ns),
            }),
        }
    }
}

/// What a reply on the wire means for the record.
fn meaning(grant: &GrantId, reply: Reply) -> (Outcome, Answer) {
    match reply {
        Reply::Granted { fencing, lease_ms } => {
            let grant = grant.clone();
            let answer = Answer::Granted {
                grant,
                fencing,
                lease_ms,
            };
            (Outcome::Ok, answer)
        }
        Reply::Busy => (Outcome::Fail, Answer::Busy),
        Reply::Renewed => (Outcome::Ok, Answer::Renewed),
        Reply::Lost(reason) => (Outcome::Fail, Answer::Lost { reason }),
        Reply::Released => (Outcome::Ok, Answer::Released),
        Reply::AlreadyLost => (Outcome::Fail, Answer::AlreadyLost),
        Reply::Failed(message) => (Outcome::Fail, Answer::Error { message }),
        Reply::Unknown(message) => (Outcome::Info, Answer::Error { message }),
    }
}

fn shortened(answer: Answer) -> Answer {
    match answer {
        Answer::Error { message } => Answer::Error {
            message: short(&message),
        },
        Answer::Lost { reason } => Answer::Lost {
            reason: short(&reason),
        },
        Answer::Granted { .. }
        | Answer::Busy
        | Answer::Renewed
        | Answer::Released
        | Answer::AlreadyLost
        | Answer::Locked { .. }
        | Answer::Accepted
        | Answer::Rejected { .. }
        | Answer::Value { .. }
        | Answer::Drawn { .. }
        | Answer::Done
        | Answer::TimedOut => answer,
    }
}

/// A text that fits into a line whatever it holds.
pub(super) fn short(text: &str) -> String {
    text.chars().take(TEXT_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::boottime_ns;

    #[test]
    fn the_longest_text_fits_into_one_write() {
        let message = "\u{1}".repeat(100_000);
        let event = Event::Return {
            op: u64::MAX,
            outcome: Outcome::Info,
            answer: shortened(Answer::Error { message }),
        };
        let line = serde_json::to_string(&WorkerLine {
            at: u64::MAX,
            event,
        });
        assert!(line.unwrap().len() < 4096);
    }

    #[test]
    fn unknown_is_told_as_neither_success_nor_failure() {
        let grant = GrantId("a.1".to_owned());
        let outcome = |reply| meaning(&grant, reply).0;
        assert_eq!(outcome(Reply::Unknown(String::new())), Outcome::Info);
        assert_eq!(outcome(Reply::Failed(String::new())), Outcome::Fail);
        assert_eq!(outcome(Reply::Busy), Outcome::Fail);
        assert_eq!(outcome(Reply::AlreadyLost), Outcome::Fail);
        assert_eq!(outcome(Reply::Released), Outcome::Ok);
    }

    #[test]
    fn a_deadline_of_the_lock_core_becomes_lab_time() {
        let zero_ns = monotonic_ns();
        let record = Record::new(zero_ns);
        let before = monotonic_ns();
        let lab_ns = record.lab_time(boottime_ns());
        let after = monotonic_ns();
        // The two clocks are read one after the other; that is all the difference there is.
        let slack_ns = 50_000_000;
        assert!(lab_ns + slack_ns >= before - zero_ns);
        assert!(lab_ns <= after - zero_ns + slack_ns);
    }
}
