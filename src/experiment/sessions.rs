//! Faults that end sessions, and locks that live and die with one.

use super::registry::{self, Keeper};
use crate::env::action::Action;
use crate::faults;
use crate::plan::FaultPlan;

/// The fault ends sessions, and says so on the record.
pub(super) fn end(fault: &FaultPlan) -> bool {
    let kind = faults::find(&fault.kind);
    kind.is_some_and(|kind| kind.onset.contains(&Action::EndSessions))
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
        (message, "say `postgres` or `postgres-advisory`")
    })
}
