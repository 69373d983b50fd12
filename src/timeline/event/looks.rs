//! What was seen of threads, of servers that were asked, and of requests on their way.

use serde::{Deserialize, Serialize};

/// What the kernel said of one thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ThreadLook {
    /// Process.
    pub pid: i32,
    /// Start time of the process in clock ticks since boot.
    pub start_ticks: u64,
    /// Thread.
    pub tid: i32,
    /// State letter of /proc/PID/task/TID/stat; `T` = stopped.
    pub state: char,
    /// Time on a processor so far, ns (/proc/PID/task/TID/schedstat).
    pub run_ns: u64,
    /// Context switches so far, voluntary and not (/proc/PID/task/TID/status).
    pub switches: u64,
}

/// What somebody saw who asked a server for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Seen {
    /// The answer.
    Answered,
    /// Nothing, within the probe's limit; whether the request was executed is not known.
    Silent,
    /// Nothing, although the server executed the request.
    ReplyLost,
    /// Nothing, and the server did not execute the request.
    NeverArrived,
    /// The connection was refused.
    Refused,
    /// The connection was reset or closed.
    Broken,
    /// It could not be found out.
    Unknown,
}

/// What became of a chosen request or reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameFate {
    /// It is kept on its way.
    Held,
    /// It was kept, and has been sent on.
    Delivered,
    /// It was thrown away.
    Dropped,
    /// The server answered it with an error, or it is that error: nothing was done. Such a reply
    /// passes, and another is chosen.
    Refused,
}
