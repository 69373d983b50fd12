//! Locks on one Redis or Valkey server (Redis 7.0 or later): one script or command an operation.

use crate::lock::backends::redis_lock::Redis;
use crate::lock::backends::redis_renewal::marks;
use crate::lock::backends::{ConnectSpec, Connecting, IN_TURN, LockKind, Servers, check_flaw};
use crate::lock::flaws::Flaw;
use crate::lock::service::{Capabilities, Promise};
use crate::redis_link::Link;

/// Its entry in the registry.
pub const KIND: LockKind = LockKind {
    name: "redis",
    summary: "one Redis or Valkey server, one script or command an operation",
    capabilities: Capabilities {
        fencing: Promise::BestEffort(
            "rises for as long as the server keeps its data; a flush, an eviction, a restart without persistence or a failover can set the counter back",
        ),
        exclusion: Promise::BestEffort(
            "for as long as the server keeps its data and its wall clock does not jump",
        ),
        fair: IN_TURN,
        wakes: true,
    },
    servers: Servers::Redis,
    within_one_process: false,
    flaws: &[
        Flaw::BlindRelease,
        Flaw::BlindRenew,
        Flaw::RenewRecreates,
        Flaw::SetThenPexpire,
        Flaw::FenceAfterSet,
        Flaw::EvalshaOnly,
    ],
    on_the_wire: marks,
    connect,
};

fn connect(spec: ConnectSpec) -> Connecting {
    Box::pin(async move {
        check_flaw(&KIND, spec.flaw)?;
        Redis::on_server(Link::new(&spec.address)?, spec).await
    })
}
