//! Entitlements without a server's truth: what the clients were told stands in for it.

use super::tenure::{Ended, Tenure, granted};
use crate::ids::GrantId;
use crate::timeline::event::{Answer, Call, Outcome};
use crate::timeline::history::History;
use std::collections::HashMap;

/// From the answer on, as long as the client may count on.
pub(super) fn from_clients(history: &History) -> Vec<Tenure> {
    let mut tenures: Vec<Tenure> = Vec::new();
    let mut by_grant: HashMap<&GrantId, (usize, u64)> = HashMap::new();
    for operation in &history.operations {
        let Some(back) = &operation.returned else {
            continue;
        };
        if let Some((grant, fencing, lease_ms)) = granted(operation) {
            let lease = lease_ms.saturating_mul(1_000_000);
            by_grant.insert(grant, (tenures.len(), lease));
            tenures.push(Tenure {
                asked: Some(operation.invoked),
                step: operation.step.clone(),
                worker: Some(history.worker_name(operation.worker).to_owned()),
                server: None,
                key: None,
                grant: Some(grant.clone()),
                fencing,
                from: back.at,
                until: back.at.saturating_add(lease),
                entitled: back.at.saturating_add(lease),
                endless: false,
                ended: Ended::Expired,
                kept_on: false,
                granted_by: back.seq,
                ended_by: None,
                by_client: true,
                unheard: false,
                key_taken: None,
                deleted_by: Vec::new(),
                blur: 0,
            });
        }
        let (Call::Renew { grant, .. } | Call::Release { grant }) = &operation.call else {
            continue;
        };
        let Some((index, lease)) = by_grant.get(grant).copied() else {
            continue;
        };
        let tenure = &mut tenures[index];
        match (back.outcome, &back.answer) {
            (Outcome::Ok, Answer::Renewed) => {
                tenure.until = operation.invoked.saturating_add(lease);
            }
            (Outcome::Ok, Answer::Released) => {
                tenure.until = tenure.until.min(back.at);
                tenure.ended = Ended::Released;
                tenure.ended_by = Some(back.seq);
            }
            _ => {}
        }
        tenure.entitled = tenure.until;
    }
    tenures
}
