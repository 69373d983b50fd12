//! What the tests of the Redis back end share.

use lockdrill::lock::backends::ConnectSpec;
use lockdrill::lock::{Acquired, LockError, LockHandle, LockManager, LockOptions};
use std::future::Future;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub const MS: Duration = Duration::from_millis(1);
/// Long enough never to end within a test.
pub const LONG: Duration = Duration::from_secs(60);
/// Its commands give up after half of it.
pub const SHORT: Duration = Duration::from_millis(1_000);

/// A manager with a connection of its own and the prefix `app:`.
pub async fn locks_at(address: String) -> LockManager {
    super::one_server::locks_of("redis", ConnectSpec::new(address)).await
}

pub fn options(lease: Duration) -> LockOptions {
    LockOptions::new(lease, None).unwrap()
}

pub async fn acquire(locks: &LockManager, lease: Duration) -> Result<Acquired, LockError> {
    locks.acquire("k", &options(lease)).await
}

pub async fn granted(locks: &LockManager, lease: Duration) -> LockHandle {
    match acquire(locks, lease).await {
        Ok(Acquired::Granted(lock)) => lock,
        other => panic!("not granted: {other:?}"),
    }
}

pub async fn unknown(locks: &LockManager, lease: Duration) -> LockHandle {
    match acquire(locks, lease).await {
        Ok(Acquired::Unknown(lock)) => lock,
        other => panic!("not unknown: {other:?}"),
    }
}

pub async fn until<F: Future<Output = bool>>(what: &str, mut happens: impl FnMut() -> F) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !happens().await {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(2 * MS).await;
    }
}

/// How many connections stand in the server's queues.
pub fn blocked(server: &super::redis_server::RedisServer) -> usize {
    let info: String = server.tell("INFO clients");
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("blocked_clients:"));
    line.unwrap().trim().parse().unwrap()
}

/// A server that knows every script and gives the same answer to each command; `{request}` in it
/// quotes the command.
pub async fn answering(answer: String) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let answer = answer.clone();
            tokio::spawn(async move {
                let mut bytes = vec![0; 64 * 1024];
                while let Ok(n @ 1..) = client.read(&mut bytes).await {
                    let request = String::from_utf8_lossy(&bytes[..n]).replace("\r\n", " ");
                    let reply = if request.contains("SCRIPT") {
                        String::from("+OK\r\n")
                    } else {
                        answer.replace("{request}", &request)
                    };
                    if client.write_all(reply.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}
