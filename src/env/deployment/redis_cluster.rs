//! Three primaries that share the keys, and a replica of each. Of the six only the two that can
//! hold the lock's key are followed.

use super::{Kind, Layout, Member, Site, Watched};
use crate::env::error::EnvError;
use crate::env::redis::cluster::{Deployment, NODES_FILE, Ports};
use crate::env::redis::find::RedisBinary;
use crate::env::redis::server;
use crate::lock::backends::redis_slots::slot_of;
use std::net::SocketAddr;

/// The first so many members begin as primaries.
const PRIMARIES: usize = 3;

/// The list's entry.
pub const KIND: Kind = Kind {
    backend: "redis-cluster",
    members: &[
        "cluster-1",
        "cluster-2",
        "cluster-3",
        "cluster-4",
        "cluster-5",
        "cluster-6",
    ],
    own_ports: &[7001, 7002, 7003, 7004, 7005, 7006],
    fails_over: true,
    replicas: 1,
    // Each primary has one replica only.
    backups: &[],
    lay_out,
};

fn lay_out(site: &Site<'_>) -> Result<Layout, EnvError> {
    let nodes = site.ports.iter().zip(site.inner_ports);
    let nodes = nodes.map(|(client, bus)| Ports {
        client: *client,
        bus: *bus,
    });
    let all = Deployment::new(site.host, PRIMARIES, nodes.collect());
    let slot = usize::from(slot_of(site.key));
    let mut members = Vec::new();
    for (index, (name, port)) in KIND.members.iter().zip(site.ports).enumerate() {
        let folder = site.folder_of(name);
        let long = |why| EnvError::new(why, "use a shorter state folder");
        let args = all.args(index, &folder).map_err(long)?;
        let begins = all.primary_of(index).unwrap_or(index);
        let holds = all.slots(begins).is_some_and(|slots| slots.contains(&slot));
        let watched = if holds {
            let socket = server::socket(&folder).map_err(long)?;
            Watched::Appended { socket }
        } else {
            Watched::No
        };
        members.push(Member {
            name,
            program: site.redis.to_owned(),
            arg0: Some(RedisBinary::ARG0),
            args,
            files: vec![(NODES_FILE.to_owned(), all.nodes_file(index))],
            address: SocketAddr::new(site.host, *port),
            watched,
        });
    }
    Ok(Layout {
        members,
        address: all.address(),
        ready: Box::new(move |limit| {
            let all = all.clone();
            Box::pin(async move { all.ready(limit).await })
        }),
    })
}
