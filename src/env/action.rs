//! The primitive effects that faults are made of. A closed set: a new primitive is a deliberate,
//! reviewed change; a new fault is not.

use crate::env::edge::{Chosen, Injury, Way};

/// One primitive effect on the target of a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// SIGSTOP to the target's whole process group, then wait until every thread is seen stopped.
    StopGroup,
    /// SIGCONT to the target's whole process group, then wait until it is seen to run.
    ContinueGroup,
    /// SIGKILL to the target's whole process group, then wait until its parent is told of the end.
    KillGroup,
    /// SIGTERM to the target worker, then wait until it says that it was told.
    Terminate,
    /// The target's own wall clock jumps by what the plan says; then ask the target what it shows.
    JumpClock,
    /// The target's own wall clock jumps back; then ask the target again.
    JumpBack,
    /// Start the target server again, as it was started first, on what it left on disk; nobody
    /// reaches it before the observer follows it again.
    StartServer,
    /// One command to the target server, over the observer's own path. `{lock}` and `{counter}`
    /// stand for the lock's key and its counter.
    Ask(&'static [&'static str]),
    /// Wait until the target is seen to have forgotten how far a counter of fencing tokens had come:
    /// the lock itself never makes it, whatever it does.
    AwaitForgotten,
    /// Try the target server's address, now and just before the heal: nobody may answer there.
    AwaitNobody,
    /// Ask the target how often it has told somebody that it does not know a script, now and after
    /// the drill: somebody must have been told.
    CountUnknownScripts,
    /// Nothing is done. The record must show that no lock was granted and no lease extended until
    /// the heal.
    ExpectNoWrites,
    /// Nothing is done. The record must show a restart that lost what was granted since the onset.
    ExpectLostByRestart,
    /// Wait until the target is seen to have no replicas, and no other server a link to it.
    AwaitCutOff,
    /// Wait until every other server is seen to copy the target again, and has all that it has.
    AwaitCopied,
    /// Have the lock server end every session of the target worker, and wait until it shows none of
    /// them any more.
    EndSessions,
    /// An injury of the target's edges.
    Injure(Harm),
    /// Ends the injury of the target's edges, and waits until they answer again.
    Mend,
}

/// What is done to an edge; the plan says which request, where one is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Harm {
    /// What flows this way vanishes, and nobody is told.
    Silence(Way),
    /// Connections are reset, new ones refused.
    Reset,
    /// What flows is held, and arrives at the heal.
    Stall,
    /// One chosen request is held until the heal.
    HoldRequest,
    /// The reply to one chosen request is held until the heal.
    HoldReply,
    /// One chosen request is lost.
    LoseRequest,
    /// The reply to one chosen request is lost.
    LoseReply,
}

impl Harm {
    /// Whether the plan must choose a request.
    pub const fn chooses(self) -> bool {
        matches!(
            self,
            Harm::HoldRequest | Harm::HoldReply | Harm::LoseRequest | Harm::LoseReply
        )
    }

    /// As an injury, with the request that it chooses.
    pub fn injury(self, chosen: Chosen) -> Injury {
        match self {
            Harm::Silence(way) => Injury::Silence(way),
            Harm::Reset => Injury::Reset,
            Harm::Stall => Injury::Stall(Way::Both),
            Harm::HoldRequest => Injury::HoldRequest(chosen),
            Harm::HoldReply => Injury::HoldReply(chosen),
            Harm::LoseRequest => Injury::LoseRequest(chosen),
            Harm::LoseReply => Injury::LoseReply(chosen),
        }
    }
}
