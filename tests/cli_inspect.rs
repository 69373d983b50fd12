//! `lockdrill inspect` asks real servers, about locks that the lock core took.

use crate::support;

use assert_cmd::Command;
use std::time::Duration;
use support::place::Place;
use support::redis_server::RedisServer;

const LEASE: Duration = Duration::from_secs(60);

/// Exit code, standard output, standard error.
fn inspect(key: &str, url: &str) -> (i32, String, String) {
    let mut command = Command::cargo_bin("lockdrill").unwrap();
    command.args(["inspect", key, "--prefix", "test:"]);
    command.env("LOCKDRILL_REDIS", url);
    let output = command.timeout(Duration::from_secs(60)).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let code = output.status.code().expect("it ended by itself");
    (code, text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn a_held_lock_is_told_with_holder_lease_token_and_counter() {
    let place = Place::of("redis").await;
    let url = format!("redis://{}", place.server.as_ref().unwrap().address());
    let locks = place.manager().await;
    place.granted(&locks, LEASE).await.release().await;
    let lock = place.granted(&locks, LEASE).await;
    let (code, out, err) = inspect(place.key(), &url);
    assert_eq!((code, err.as_str()), (0, ""));
    let expected = format!("held by     {} (digest", lock.owner());
    assert!(out.contains(&expected), "{out}");
    assert!(
        out.contains("fencing     2\n") && out.contains("counter     2\n"),
        "{out}"
    );
    let left = out
        .split("lease       ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let left: u64 = left.unwrap().parse().unwrap();
    assert!((30_000..=60_000).contains(&left), "{out}");
    lock.release().await;
    let (code, out, _) = inspect(place.key(), &url);
    assert_eq!(code, 0);
    assert!(
        out.contains("held by     nobody") && out.contains("counter     2"),
        "{out}"
    );
}

#[test]
fn what_is_no_lock_and_what_is_no_server_is_told_apart() {
    let server = RedisServer::start();
    let url = format!("redis://{}", server.address());
    server.tell::<()>("SET test:{foreign} secret-of-theirs");
    server.tell::<()>("RPUSH test:{list} x");
    server.tell::<()>("SET test:{lost} owner:7 PX 60000");
    server.tell::<()>("SET test:{lost}:fence 3");
    let (code, out, _) = inspect("foreign", &url);
    assert_eq!(code, 0);
    assert!(
        out.contains("lockdrill's lock writes no such value"),
        "{out}"
    );
    assert!(
        out.contains("never ends by itself") && !out.contains("secret"),
        "{out}"
    );
    let (code, out, _) = inspect("lost", &url);
    assert_eq!(code, 0);
    assert!(out.contains("3: BELOW the fencing token"), "{out}");
    let (code, out, err) = inspect("list", &url);
    assert_eq!((code, out.as_str()), (4, ""));
    assert!(err.contains("test:{list} is a list and no lock"), "{err}");

    let password = RedisServer::start();
    password.tell::<()>("CONFIG SET requirepass sesame");
    // One node, which serves no key at all.
    let cluster = RedisServer::start_with(&["--cluster-enabled", "yes"]);
    let secret = format!("redis://:sesame@{}", password.address());
    let at = |server: &RedisServer| format!("redis://{}", server.address());
    assert_eq!(inspect("k", &secret).0, 0);
    let refused = [
        (4, "redis://127.0.0.1:1".to_owned(), "refused"),
        (
            4,
            secret.replace("sesame", "wrong-one"),
            "other credentials",
        ),
        (4, at(&password), "wants a password"),
        (4, at(&cluster), "serves no such key"),
        (
            2,
            "redis-sentinel://h:1,h:2/main".to_owned(),
            "GET-MASTER-ADDR-BY-NAME",
        ),
        (2, "redis-cluster://h:1,h:2".to_owned(), "several servers"),
        (
            2,
            "redis://:wrong-one@h:1,h:2".to_owned(),
            "several servers",
        ),
        (2, "h:1".to_owned(), "has no `redis://`"),
        (2, "redis://10.0.0.1:1".to_owned(), "--allow-remote"),
    ];
    for (expected, url, why) in refused {
        let (code, out, err) = inspect("k", &url);
        assert_eq!((code, out.as_str()), (expected, ""), "{url}: {err}");
        assert!(
            err.contains(why) && !err.contains("wrong-one"),
            "{url}: {err}"
        );
        assert_eq!(err.lines().count(), 1, "{err}");
    }
    assert_eq!(inspect("", &url).0, 2);
}
