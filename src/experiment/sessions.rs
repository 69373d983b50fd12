//! Faults that end sessions, and locks that live and die with one.

use super::reading::Reading;
use super::registry::{self, Keeper};
use super::resolve;
use super::tree::Table;
use crate::checks::Check;
use crate::checks::single_holder::SingleHolder;
use crate::env::action::Harm;
use crate::env::edge::Way;
use crate::faults::{self, FaultKind};
use crate::lock::backends::{self, Servers};
use crate::plan::{FaultPlan, Plan, Service, Target};

/// The fault ends sessions, and says so on the record.
pub(super) fn end(fault: &FaultPlan) -> bool {
    let kind = faults::find(&fault.kind);
    kind.is_some_and(FaultKind::ends_sessions)
}

/// Every fault leaves it to the lock server to end a session that is silent, and of that the record
/// knows when: it says until when each was granted. The end of a process would be heard at once, unless
/// its edge is cut.
pub(super) fn are_left_to_the_server(all: &[FaultPlan]) -> bool {
    let hushed = |target: &Target| all.iter().any(|cut| cut.target == *target && hushes(cut));
    let leaves = |fault: &FaultPlan| {
        let kind = faults::find(&fault.kind);
        let stops = kind.is_some_and(FaultKind::stops_a_worker);
        let kills = kind.is_some_and(FaultKind::kills_a_worker);
        stops || hushes(fault) || (kills && hushed(&fault.target))
    };
    !all.is_empty() && all.iter().all(leaves)
}

/// Both ends of a connection to the lock stay where they are, and hear nothing.
fn hushes(fault: &FaultPlan) -> bool {
    let harm = faults::find(&fault.kind).and_then(FaultKind::harm);
    fault.edge == Some(Service::Lock) && harm == Some(Harm::Silence(Way::Both))
}

/// What is wrong with a drill that ends sessions where the server has none that anybody could end.
pub(super) fn misfit(backend: &str, all: &[FaultPlan]) -> Option<(String, &'static str)> {
    let fault = all.iter().find(|fault| end(fault))?;
    let on_postgres = registry::keeper(backend) == Some(Keeper::Postgres);
    (!on_postgres).then(|| {
        let message = format!(
            "`{}` ends sessions of a Postgres, and the lock `{backend}` has none",
            fault.kind
        );
        (
            message,
            "say `postgres`, `postgres-advisory` or `postgres-row`",
        )
    })
}

/// Refuses a main arm in which a lock is to outlive the session that it is, or one to end that does
/// not. A control may show it.
pub(super) fn is_said_beforehand(reading: &mut Reading, tree: &Table, main: Option<&Plan>) {
    let Some(main) = main else { return };
    let backend = main.lock.backend.as_str();
    let exclusive = SingleHolder.name();
    let limit = main.limit.as_ref();
    let said = limit.is_some_and(|limit| limit.checks.iter().any(|check| check == exclusive));
    let is_session = backends::live_on(backend, Servers::PostgresSessions);
    if said == is_session || !main.faults.iter().any(end) {
        return;
    }
    let root = resolve::root(reading, tree);
    let at = root.place_in(reading, "lock", "backend");
    let (message, hint) = match is_session {
        true => (
            format!("the lock `{backend}` ends with its session"),
            "`session-is-the-lock` plays that, and says beforehand what it cannot hold",
        ),
        false => (
            format!("the lock `{backend}` outlives every session"),
            "`session-killed` plays that",
        ),
    };
    reading.hinted(&at, message, hint);
}
