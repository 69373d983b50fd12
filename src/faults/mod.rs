//! Faults: data that yield onset and heal actions. Nothing here touches the world; the record
//! must prove that each fault began, bit and ended.
//!
//! How to add one: a file with a `KIND`, and its two lines here.

use crate::env::action::{Action, Harm};

pub mod counter_reset;
pub mod cut;
pub mod cut_replication;
pub mod cut_replies;
pub mod cut_requests;
pub mod evict;
pub mod flush;
pub mod forget_scripts;
pub mod hold_reply;
pub mod hold_request;
pub mod jump_clock;
pub mod kill;
pub mod kill_server;
pub mod kill_session;
pub mod lag_disk;
pub mod lose_reply;
pub mod lose_request;
pub mod lose_server;
pub mod pause;
pub mod refuse_writes;
pub mod reset;
pub mod stall;
pub mod stop_server;
pub mod terminate;

/// What a fault can be aimed at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hits {
    /// A worker's processes.
    Worker,
    /// A server.
    Server,
    /// A worker's process, or that of the lock server.
    Process,
    /// The way from workers to a service.
    Edge,
}

/// One entry of the registry.
#[derive(Debug)]
pub struct FaultKind {
    /// Name in experiment files.
    pub name: &'static str,
    /// One line for `list faults`.
    pub summary: &'static str,
    /// What it can be aimed at.
    pub hits: Hits,
    /// What is done at the onset, in order.
    pub onset: &'static [Action],
    /// What undoes it, in order; nothing = it is over as soon as it is done, and a file names no
    /// heal.
    pub heal: &'static [Action],
    /// It proves nothing about a lease unless it lasts longer than the lease: a `for` that is not
    /// longer is refused.
    pub must_outlast_lease: bool,
}

impl FaultKind {
    /// What it does to edges, if it does anything to them.
    pub fn harm(&self) -> Option<Harm> {
        self.onset.iter().find_map(|action| match action {
            Action::Injure(harm) => Some(*harm),
            _other => None,
        })
    }

    /// Whether it can be done to one of several servers: all of it is done to a process from outside,
    /// whatever that process is. Whether the clock of one can be moved depends on the lock.
    pub fn is_done_to_one_of_several(&self) -> bool {
        let to_a_process = |action: &Action| {
            matches!(
                action,
                Action::KillGroup | Action::StopGroup | Action::AwaitNobody
            )
        };
        let server = self.hits == Hits::Server && self.onset.iter().all(to_a_process);
        server || self.moves_clock()
    }

    /// Whether it ends sessions of a worker at the lock server.
    pub fn ends_sessions(&self) -> bool {
        self.onset.contains(&Action::EndSessions)
    }

    /// Whether it makes a worker stand still.
    pub fn stops_a_worker(&self) -> bool {
        self.hits == Hits::Worker && self.onset.contains(&Action::StopGroup)
    }

    /// Whether it ends a worker's process.
    pub fn kills_a_worker(&self) -> bool {
        self.hits == Hits::Worker && self.onset.contains(&Action::KillGroup)
    }

    /// Whether it moves a clock.
    pub fn moves_clock(&self) -> bool {
        self.onset.contains(&Action::JumpClock)
    }

    /// Whether it can be undone.
    pub const fn lasts(&self) -> bool {
        !self.heal.is_empty()
    }

    /// Whether it need not be undone: then what it did stays.
    pub fn may_stay(&self) -> bool {
        self.onset.contains(&Action::AwaitCutOff)
    }
}

/// Every fault.
pub const ALL: &[&FaultKind] = &[
    &pause::KIND,
    &kill::KIND,
    &terminate::KIND,
    &kill_session::KIND,
    &jump_clock::KIND,
    &kill_server::KIND,
    &stop_server::KIND,
    &lose_server::KIND,
    &cut_replication::KIND,
    &evict::KIND,
    &flush::KIND,
    &counter_reset::KIND,
    &forget_scripts::KIND,
    &refuse_writes::KIND,
    &lag_disk::KIND,
    &cut::KIND,
    &cut_requests::KIND,
    &cut_replies::KIND,
    &reset::KIND,
    &stall::KIND,
    &hold_request::KIND,
    &hold_reply::KIND,
    &lose_request::KIND,
    &lose_reply::KIND,
];

/// The fault of this name.
pub fn find(name: &str) -> Option<&'static FaultKind> {
    ALL.iter().copied().find(|kind| kind.name == name)
}
