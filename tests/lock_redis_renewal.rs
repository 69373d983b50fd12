//! A renewal on a server that has `SET … IFEQ`: one plain command, and what the script does otherwise.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support;

use lockdrill::lock::backends::{self, ConnectSpec, LockKind};
use lockdrill::lock::flaws::Flaw;
use lockdrill::lock::probe::Command;
use lockdrill::lock::{LockHandle, LostReason, Release, Renewal};
use support::one_server::locks_of;
use support::redis_lab::{LONG, acquire, granted, locks_at, until};
use support::redis_server::RedisServer;

/// How often the server has executed a command.
fn executed(server: &RedisServer, command: &str) -> u64 {
    let stats: String = server.tell("INFO commandstats");
    let head = format!("cmdstat_{command}:calls=");
    let line = stats.lines().find_map(|line| line.strip_prefix(&head));
    let calls = line.and_then(|line| line.split(',').next());
    calls.map_or(0, |calls| calls.parse().unwrap())
}

/// By how many the scripts that it has executed are more after one renewal.
async fn scripts_of_a_renewal(server: &RedisServer, lock: &LockHandle) -> u64 {
    let scripts = || executed(server, "evalsha") + executed(server, "eval");
    let before = scripts();
    server.tell::<()>("PEXPIRE app:{k} 20000");
    assert_eq!(lock.renew().await, Renewal::Renewed);
    let left: i64 = server.tell("PTTL app:{k}");
    assert!(left > 50_000 && left <= 60_000, "{left}");
    scripts() - before
}

#[tokio::test]
async fn a_renewal_is_one_plain_command_and_leaves_the_value_as_it_was() {
    let Some(server) = RedisServer::valkey() else {
        return;
    };
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let value: String = server.tell("GET app:{k}");
    assert_eq!(scripts_of_a_renewal(&server, &lock).await, 0);
    assert_eq!(server.tell::<String>("GET app:{k}"), value);
    assert_eq!(
        executed(&server, "command|docs"),
        1,
        "asked once, when it was connected"
    );
    assert_eq!(lock.release().await, Release::Released);
    assert!(
        server.tell::<bool>("EXISTS app:{k}:wake"),
        "and one waiter is woken"
    );
}

#[tokio::test]
async fn a_server_that_does_not_compare_runs_the_script() {
    let server = RedisServer::start();
    let knows = format!("{:?}", server.tell::<redis::Value>("COMMAND DOCS SET"));
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let scripts = u64::from(!knows.contains("IFEQ"));
    assert_eq!(scripts_of_a_renewal(&server, &lock).await, scripts);
}

#[tokio::test]
async fn a_server_that_is_out_of_memory_renews_by_the_script() {
    let Some(server) = RedisServer::valkey() else {
        return;
    };
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    server.tell::<()>("CONFIG SET maxmemory 1");
    assert!(
        acquire(&locks, LONG).await.is_err(),
        "it refuses what needs memory"
    );
    assert_eq!(scripts_of_a_renewal(&server, &lock).await, 1);
}

#[tokio::test]
async fn what_the_command_did_not_do_the_script_has_the_word_on() {
    let Some(server) = RedisServer::valkey() else {
        return;
    };
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    let owner = server.tell::<String>("GET app:{k}").replace(":1", ":7");
    server.tell::<()>(&format!("SET app:{{k}} {owner} PX 60000"));
    assert_eq!(
        scripts_of_a_renewal(&server, &lock).await,
        1,
        "the owner alone counts"
    );
    server.tell::<()>("SET app:{k} other:1 PX 60000");
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Foreign));
    assert_eq!(server.tell::<String>("GET app:{k}"), "other:1");
    server.tell::<()>("DEL app:{k}");
    let lock = granted(&locks, LONG).await;
    server.tell::<()>("DEL app:{k}");
    assert_eq!(lock.renew().await, Renewal::Lost(LostReason::Absent));
    assert!(!server.tell::<bool>("EXISTS app:{k}"), "and it stays gone");
}

#[tokio::test]
async fn a_server_that_was_replaced_is_asked_again() {
    let Some(mut server) = RedisServer::valkey() else {
        return;
    };
    let locks = locks_at(server.address()).await;
    let lock = granted(&locks, LONG).await;
    assert_eq!(scripts_of_a_renewal(&server, &lock).await, 0);
    let value: String = server.tell("GET app:{k}");
    server.replaced_by_redis();
    server.tell::<()>(&format!("SET app:{{k}} {value} PX 60000"));
    // The first command may find out that the connection is closed.
    until("a renewal by the newcomer", || async {
        lock.renew().await == Renewal::Renewed
    })
    .await;
    let docs = executed(&server, "command|docs");
    let knows = format!("{:?}", server.tell::<redis::Value>("COMMAND DOCS SET"));
    assert_eq!(docs, 1);
    let scripts = u64::from(!knows.contains("IFEQ"));
    assert_eq!(scripts_of_a_renewal(&server, &lock).await, scripts);
}

#[tokio::test]
async fn a_flaw_of_the_renewal_is_met_on_every_server() {
    let Some(server) = RedisServer::valkey() else {
        return;
    };
    let renewal = [
        Flaw::BlindRenew,
        Flaw::RenewRecreates,
        Flaw::EvalshaOnly,
        Flaw::FenceAfterSet,
    ];
    for flaw in renewal
        .into_iter()
        .chain([Flaw::BlindRelease, Flaw::HotPoll])
    {
        let spec = ConnectSpec::new(server.address()).flawed(flaw);
        let locks = locks_of("redis", spec).await;
        let lock = granted(&locks, LONG).await;
        let scripts = u64::from(renewal.contains(&flaw));
        assert_eq!(
            scripts_of_a_renewal(&server, &lock).await,
            scripts,
            "{}",
            flaw.name()
        );
        lock.release().await;
    }
}

#[test]
fn somebody_on_the_way_can_tell_a_renewal_by_either() {
    let marks = |kind: &LockKind, flaw, command| (kind.on_the_wire)(flaw, command);
    for name in ["redis", "redis-sentinel", "redis-cluster"] {
        let kind = backends::named(name).unwrap();
        let compares = |flaw, command| {
            marks(kind, flaw, command)
                .iter()
                .any(|mark| mark.contains("IFEQ"))
        };
        assert!(compares(None, Command::Renew) && compares(None, Command::AutoRenew));
        assert!(!compares(None, Command::Acquire) && !compares(None, Command::Release));
        assert!(!compares(Some(Flaw::BlindRenew), Command::Renew));
    }
}
