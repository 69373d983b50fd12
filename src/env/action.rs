//! The primitive effects that faults are made of. A closed set: a new primitive is a deliberate,
//! reviewed change; a new fault is not.

/// One primitive effect on the target of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// SIGSTOP to the target's whole process group, then wait until every thread is seen stopped.
    StopGroup,
    /// SIGCONT to the target's whole process group, then wait until it is seen to run.
    ContinueGroup,
    /// SIGKILL to the target's whole process group, then wait until its parent is told of the end.
    KillGroup,
    /// Start the target server again, as it was started first, on what it left on disk; nobody
    /// reaches it before the observer follows it again.
    StartServer,
    /// One command to the target server, over the observer's own path. `{lock}` and `{counter}`
    /// stand for the lock's key and its counter.
    Ask(&'static [&'static str]),
}
