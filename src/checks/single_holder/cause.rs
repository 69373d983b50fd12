//! Why a key was free for another grant although its entitlement ran on.

use super::super::say::{secs, workers_of};
use crate::timeline::history::{Cause, FaultWindow, Grant, History, KeyEnd};

/// Why the key was free for another grant, and the operations to blame.
pub(super) fn cause(history: &History, earlier: &Grant) -> (String, Vec<usize>) {
    let KeyEnd::Taken { cause, at, .. } = &earlier.end else {
        return ("the record does not show why".to_owned(), Vec::new());
    };
    let at = secs(at.latest);
    match cause {
        Cause::BlindDelete(operations) => (
            format!(
                "a release by {} deleted its key by {at}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Overwrite(operations) => (
            format!(
                "an attempt by {} overwrote its key by {at}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Flush => (format!("the server was flushed by {at}"), Vec::new()),
        Cause::Restart => (
            format!("the server was started again and had lost its key by {at}"),
            Vec::new(),
        ),
        Cause::Failover => (
            format!("its key was gone by {at}, when its server copied another"),
            Vec::new(),
        ),
        Cause::Clock => (
            format!("the server's clock was moved and its key was gone by {at}"),
            Vec::new(),
        ),
        Cause::Unclear(operations) => (
            format!(
                "its key was deleted by {at}, by a release of {}",
                workers_of(history, operations)
            ),
            operations.clone(),
        ),
        Cause::Unexplained => (
            match server_fault(history, earlier) {
                Some(fault) => format!("its key was gone by {at}, after {fault} began"),
                None => format!("its key was gone by {at}, by nothing on the record"),
            },
            Vec::new(),
        ),
    }
}

/// The fault of a server that was in effect, or had just ended, when a key was gone.
fn server_fault(history: &History, grant: &Grant) -> Option<String> {
    let gone = match &grant.end {
        KeyEnd::Taken { at, .. } => at.latest,
        KeyEnd::Open | KeyEnd::Released { .. } | KeyEnd::Expired { .. } => return None,
    };
    let began = |window: &&FaultWindow| {
        let mut onsets = window.onsets.iter();
        onsets.any(|onset| (grant.granted.earliest..=gone).contains(&onset.began))
    };
    let mut faults = history.faults.iter();
    let fault = faults.rfind(|window| window.server.is_some() && began(window))?;
    Some(format!("{} ({})", fault.fault, fault.kind))
}
