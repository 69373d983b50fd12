//! What the lock core costs: acquire and release through it, against the same two scripts sent
//! bare through the same client, interleaved in one run against one server of its own.
//!
//! `cargo bench --bench lock`, or with a number of pairs: `cargo bench --bench lock -- 20000`.
#![allow(clippy::unwrap_used, reason = "a bench")]

#[path = "support/percentile.rs"]
#[allow(dead_code, reason = "each bench uses what it needs")]
mod percentile;
#[path = "../tests/support/redis_server.rs"]
mod redis_server;

use lockdrill::lock::backends::{self, ConnectSpec};
use lockdrill::lock::{Acquired, LockManager, LockOptions, ManagerOptions};
use percentile::micros;
use redis::aio::MultiplexedConnection;
use redis::{AsyncConnectionConfig, Script, Value};
use redis_server::RedisServer;
use std::time::{Duration, Instant};

const ACQUIRE: &str = include_str!("../src/lock/backends/scripts/acquire.lua");
const RELEASE: &str = include_str!("../src/lock/backends/scripts/release.lua");
const OWNER: &str = "00112233445566778899aabbccddeeff";
const WARM_UP: usize = 500;

fn main() {
    // `cargo bench` adds `--bench`; a number is the number of pairs.
    let pairs = std::env::args()
        .find_map(|word| word.parse().ok())
        .unwrap_or(5_000);
    let server = RedisServer::start();
    let one = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let many = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    for (name, runtime) in [("current thread", one), ("two threads", many)] {
        let (mut bare, mut ours) = runtime.unwrap().block_on(async {
            // As an application would run it: on a worker of the runtime.
            let address = server.address();
            tokio::spawn(async move { measure(&address, pairs).await })
                .await
                .unwrap()
        });
        let (bare, ours) = (Percentiles::of(&mut bare), Percentiles::of(&mut ours));
        println!("acquire + release, {pairs} pairs, runtime: {name}");
        println!(
            "  bare scripts  p50 {:>7.1} µs   p99 {:>8.1} µs",
            bare.p50, bare.p99
        );
        println!(
            "  lock core     p50 {:>7.1} µs   p99 {:>8.1} µs",
            ours.p50, ours.p99
        );
        println!(
            "  bare / ours   {:.3} at p50 (aim: 0.95 or more)",
            bare.p50 / ours.p50
        );
    }
}

/// Times of `pairs` pairs each, taken in turn, so that noise falls on both alike.
async fn measure(address: &str, pairs: usize) -> (Vec<Duration>, Vec<Duration>) {
    let (mut bare, mut core) = (Bare::connect(address).await, Core::connect(address).await);
    let (mut bare_times, mut core_times) = (Vec::new(), Vec::new());
    for pair in 0..WARM_UP + pairs {
        let (first, second) = if pair % 2 == 0 {
            let first = bare.pair().await;
            (first, core.pair().await)
        } else {
            let second = core.pair().await;
            (bare.pair().await, second)
        };
        if pair >= WARM_UP {
            bare_times.push(first);
            core_times.push(second);
        }
    }
    (bare_times, core_times)
}

struct Bare {
    connection: MultiplexedConnection,
    acquire: Script,
    release: Script,
}

impl Bare {
    async fn connect(address: &str) -> Bare {
        let tcp = redis::io::tcp::TcpSettings::default().set_nodelay(true);
        let info = redis::IntoConnectionInfo::into_connection_info(format!("redis://{address}"));
        let client = redis::Client::open(info.unwrap().set_tcp_settings(tcp)).unwrap();
        let config = AsyncConnectionConfig::new().set_response_timeout(None);
        let connection = client
            .get_multiplexed_async_connection_with_config(&config)
            .await;
        let mut bare = Bare {
            connection: connection.unwrap(),
            acquire: Script::new(ACQUIRE),
            release: Script::new(RELEASE),
        };
        for code in [ACQUIRE, RELEASE] {
            let mut load = redis::cmd("SCRIPT");
            load.arg("LOAD").arg(code);
            load.query_async::<Value>(&mut bare.connection)
                .await
                .unwrap();
        }
        bare
    }

    async fn pair(&mut self) -> Duration {
        let began = Instant::now();
        let mut acquire = redis::cmd("EVALSHA");
        acquire.arg(self.acquire.get_hash()).arg(3);
        acquire
            .arg("bare{k}")
            .arg("bare{k}:fence")
            .arg("bare{k}:wake")
            .arg(OWNER)
            .arg(10_000);
        self.connection.send_packed_command(&acquire).await.unwrap();
        let mut release = redis::cmd("EVALSHA");
        release.arg(self.release.get_hash()).arg(2);
        release
            .arg("bare{k}")
            .arg("bare{k}:wake")
            .arg(OWNER)
            .arg(10_000);
        let released = self.connection.send_packed_command(&release).await.unwrap();
        let took = began.elapsed();
        assert_eq!(released, Value::Int(1));
        took
    }
}

struct Core {
    locks: LockManager,
    options: LockOptions,
}

impl Core {
    async fn connect(address: &str) -> Core {
        let kind = backends::named("redis").unwrap();
        let service = (kind.connect)(ConnectSpec::new(address)).await.unwrap();
        let renew = Some(Duration::from_secs(3));
        Core {
            locks: LockManager::new(service, ManagerOptions::new("bench", "core")),
            options: LockOptions::new(Duration::from_secs(10), renew).unwrap(),
        }
    }

    async fn pair(&mut self) -> Duration {
        let began = Instant::now();
        let Ok(Acquired::Granted(lock)) = self.locks.acquire("k", &self.options).await else {
            panic!("nobody else takes this lock");
        };
        let released = lock.release().await;
        let took = began.elapsed();
        assert_eq!(released, lockdrill::lock::Release::Released);
        took
    }
}

/// In microseconds.
struct Percentiles {
    p50: f64,
    p99: f64,
}

impl Percentiles {
    fn of(times: &mut [Duration]) -> Percentiles {
        times.sort_unstable();
        Percentiles {
            p50: micros(times, 50),
            p99: micros(times, 99),
        }
    }
}
