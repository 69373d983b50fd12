//! A server that somebody else has started: what makes it unfit, and that nothing but the lab's own
//! keys is ever taken away from it.

use crate::support::redis_server::RedisServer;
use lockdrill::env::redis::given::{look, sweep};
use std::net::SocketAddr;

fn at(server: &RedisServer) -> SocketAddr {
    server.address().parse().unwrap()
}

fn block<T>(future: impl Future<Output = T>) -> T {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().unwrap().block_on(future)
}

fn refusal(address: SocketAddr) -> String {
    let error = block(look(address)).unwrap_err().to_string();
    assert!(error.contains("there for drills alone"), "{error}");
    error
}

#[test]
fn only_a_server_without_other_peoples_keys_is_followed() {
    let server = RedisServer::start();
    let found = block(look(at(&server))).unwrap();
    assert!(found.version.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(found.left, 0);

    // What a dead run left is no reason.
    let _: () = server.tell("SET lockdrill:dead:{k}:fence 3");
    assert_eq!(block(look(at(&server))).unwrap().left, 1);

    let _: () = server.tell("SET cart:7 x");
    let error = refusal(at(&server));
    assert!(
        error.contains("holds 1 keys that are not lockdrill's"),
        "{error}"
    );
    let _: () = server.tell("MOVE cart:7 3");
    let error = refusal(at(&server));
    assert!(error.contains("holds keys in another database"), "{error}");

    let asked: String = server.tell("INFO commandstats");
    for never in ["sync", "config", "flush", "debug", "monitor", "shutdown"] {
        assert!(
            !asked.contains(&format!("cmdstat_{never}")),
            "{never}: {asked}"
        );
    }
}

#[test]
fn a_replica_and_a_server_that_is_gone_are_told_as_what_they_are() {
    let mut primary = RedisServer::start();
    let copies = format!("127.0.0.1 {}", primary.port());
    let replica = RedisServer::start_with(&["--replicaof", &copies]);
    let error = refusal(at(&replica));
    assert!(
        error.contains("takes no writes: it says that it is a slave"),
        "{error}"
    );
    primary.kill();
    let error = refusal(at(&primary));
    assert!(error.contains("does not answer"), "{error}");
}

#[test]
fn nothing_but_the_prefix_is_removed() {
    let server = RedisServer::start();
    let prefix = "lockdrill:run-1:";
    let own = ["mark", "{k}", "{k}:fence", "{k}:wake"].map(|key| format!("{prefix}{key}"));
    let others = [
        "lockdrill:run-10:{k}",
        "lockdrill:run-1",
        "xlockdrill:run-1:{k}",
    ];
    for key in own.iter().map(String::as_str).chain(others) {
        let _: () = server.tell(&format!("SET {key} 1"));
    }
    let (removed, left) = block(sweep(at(&server), prefix)).unwrap();
    assert_eq!(removed, own);
    assert_eq!(left, Vec::<String>::new());
    assert_eq!(server.tell::<usize>("DBSIZE"), others.len());
    assert_eq!(block(sweep(at(&server), prefix)).unwrap().0.len(), 0);
}
