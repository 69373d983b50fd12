//! One primary, two replicas, and three sentinels that choose another primary when it is gone.

use super::{Kind, Layout, Member, Site, Watched};
use crate::env::error::EnvError;
use crate::env::redis::find::RedisBinary;
use crate::env::redis::sentinel::{Deployment, HURRY};
use crate::env::redis::{replicated, server};
use std::net::SocketAddr;

/// The first so many members hold data.
const DATA: usize = 3;

/// Name of a sentinel's configuration in its folder.
const CONFIG: &str = "sentinel.conf";

/// The list's entry.
pub const KIND: Kind = Kind {
    backend: "redis-sentinel",
    members: &[
        "redis-1",
        "redis-2",
        "redis-3",
        "sentinel-1",
        "sentinel-2",
        "sentinel-3",
    ],
    own_ports: &[6381, 6382, 6383, 26381, 26382, 26383],
    fails_over: true,
    replicas: 2,
    backups: &["redis-3"],
    lay_out,
};

fn lay_out(site: &Site<'_>) -> Result<Layout, EnvError> {
    let (data, sentinels) = site.ports.split_at(DATA.min(site.ports.len()));
    let all = Deployment::new(site.host, data.to_vec(), sentinels.to_vec());
    let mut members = Vec::new();
    for (index, (name, port)) in KIND.members.iter().zip(site.ports).enumerate() {
        let folder = site.folder_of(name);
        let (args, files, watched) = match index.checked_sub(DATA) {
            None => {
                let long = |why| EnvError::new(why, "use a shorter state folder");
                let mut args = all.data_args(index, &folder).map_err(long)?;
                if site.backups.contains(name) {
                    args.extend(replicated::backup());
                }
                let socket = server::socket(&folder).map_err(long)?;
                (args, Vec::new(), Watched::Appended { socket })
            }
            Some(sentinel) => {
                let text = all.sentinel_config(sentinel, &folder);
                let args = Deployment::sentinel_args(&folder.join(CONFIG));
                (args, vec![(CONFIG.to_owned(), text)], Watched::No)
            }
        };
        members.push(Member {
            name,
            program: site.redis.to_owned(),
            arg0: Some(RedisBinary::ARG0),
            args,
            files,
            address: SocketAddr::new(site.host, *port),
            watched,
        });
    }
    Ok(Layout {
        members,
        address: all.address(),
        ready: Box::new(move |limit| {
            let all = all.clone();
            Box::pin(async move {
                all.ready(limit).await?;
                for port in &all.sentinels {
                    hurry(SocketAddr::new(all.host, *port)).await?;
                }
                Ok(())
            })
        }),
    })
}

/// Tells a sentinel to look more often.
async fn hurry(at: SocketAddr) -> Result<(), EnvError> {
    let told = async {
        let client = redis::Client::open(format!("redis://{at}"))?;
        let mut connection = client.get_multiplexed_async_connection().await?;
        let mut command = redis::Cmd::new();
        command.arg(HURRY);
        command.query_async::<()>(&mut connection).await
    };
    told.await.map_err(|error| {
        EnvError::new(
            format!("the sentinel at {at} cannot be told to hurry: {error}"),
            "see its log in the run directory",
        )
    })
}
