//! The primitive effects that faults are made of. A closed set: a new primitive is a deliberate,
//! reviewed change; a new fault is not.

/// One primitive effect on the target of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// SIGSTOP to the target's whole process group, then wait until every thread is seen stopped.
    StopGroup,
    /// SIGCONT to the target's whole process group, then wait until it is seen to run.
    ContinueGroup,
}
