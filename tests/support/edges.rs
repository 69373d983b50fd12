//! Two edges to one real server over each provider, and a client that speaks bytes.

use super::edge_server::EdgeServer;
use super::redis_server::RedisServer;
use lockdrill::env::edge::{self, EdgeId, Injury, Provider, ProviderKind, ServerProtocol};
use lockdrill::env::edge::{EdgeError, Measured, Surroundings, Upstream};
use lockdrill::env::isolation::Mode;
use nix::sched::{CloneFlags, unshare};
use std::net::SocketAddr;
use std::process::Command;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Longer than anything takes on a busy machine.
pub const LONG: Duration = Duration::from_secs(30);
/// How long nothing must come for it to count as silence.
pub const QUIET: Duration = Duration::from_millis(300);

/// One provider in front of one server, with the edges `a>redis` and `b>redis`.
pub struct Rig {
    pub server: RedisServer,
    pub direct: SocketAddr,
    pub provider: Box<dyn Provider>,
    pub a: EdgeId,
    pub b: EdgeId,
    pub to_a: SocketAddr,
    pub to_b: SocketAddr,
    /// The provider's own, if it has one.
    pub edge_server: Option<EdgeServer>,
}

/// Plays a case with every provider that can do the injury; at least one can.
pub fn with_each<F>(injury: Option<Injury>, case: impl Fn(Rig) -> F + Send + Copy + 'static)
where
    F: Future<Output = ()>,
{
    let able = |kind: &&&ProviderKind| injury.as_ref().is_none_or(|it| (kind.can)(it).is_ok());
    let kinds: Vec<_> = edge::ALL.iter().filter(able).collect();
    assert!(!kinds.is_empty(), "nobody can do {injury:?}");
    with_all(kinds, case);
}

/// Plays a case with the provider of this name, if it is built in.
pub fn with_only<F>(name: &str, case: impl Fn(Rig) -> F + Send + Copy + 'static)
where
    F: Future<Output = ()>,
{
    let kinds = edge::ALL.iter().filter(|kind| kind.name == name);
    with_all(kinds.collect(), case);
}

fn with_all<F>(
    kinds: Vec<&'static &'static ProviderKind>,
    case: impl Fn(Rig) -> F + Send + Copy + 'static,
) where
    F: Future<Output = ()>,
{
    for kind in kinds {
        println!("provider {}", kind.name);
        // A network namespace belongs to a thread: one of its own, and nothing else sees it.
        let played = std::thread::spawn(move || {
            if kind.needs_namespace && !own_network() {
                return refuses_the_machine(kind);
            }
            runtime().block_on(async {
                if let Some(rig) = Rig::new(kind).await {
                    case(rig).await;
                }
            });
        });
        if let Err(panic) = played.join() {
            eprintln!("this was provider {}", kind.name);
            std::panic::resume_unwind(panic);
        }
    }
}

/// One thread, so that everything happens in that thread's network namespace.
pub fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// Gives this thread a network namespace of its own, if the machine allows it.
fn own_network() -> bool {
    let moved = unshare(CloneFlags::CLONE_NEWNET).is_ok();
    let up = || {
        Command::new("ip")
            .args(["link", "set", "lo", "up"])
            .status()
    };
    moved && up().is_ok_and(|status| status.success())
}

/// Without a namespace a provider that needs one must not touch the machine's own network.
fn refuses_the_machine(kind: &ProviderKind) {
    let here = Surroundings {
        mode: Mode::Guard,
        server: None,
    };
    match (kind.make)(&here) {
        Err(error) => println!("{}: not played here: {error}", kind.name),
        Ok(_) => panic!("{} is ready to change this machine's network", kind.name),
    }
}

impl Rig {
    /// `None` where a program that the provider drives is not on this machine; that the refusal
    /// says what to do about it is all that is tested then.
    async fn new(kind: &ProviderKind) -> Option<Rig> {
        let mode = if kind.needs_namespace {
            Mode::Namespace
        } else {
            Mode::Guard
        };
        let edge_server = match kind.server {
            None => None,
            Some(server) => Some(EdgeServer::start(server)?),
        };
        let here = Surroundings {
            mode,
            server: edge_server.as_ref().map(|server| server.address),
        };
        let mut provider = match (kind.make)(&here) {
            Ok(provider) => provider,
            Err(error @ EdgeError::Missing { .. }) => {
                assert!(error.to_string().contains("install"), "{error}");
                println!("{}: not played here: {error}", kind.name);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let server = RedisServer::start_with(&["--bind", "0.0.0.0", "--protected-mode", "no"]);
        let direct: SocketAddr = server.address().parse().unwrap();
        let upstream = Upstream {
            address: direct,
            protocol: ServerProtocol::Redis,
        };
        let (a, b) = (EdgeId::new("a", "redis"), EdgeId::new("b", "redis"));
        let to_a = provider.open(&a, upstream).await.unwrap();
        let to_b = provider.open(&b, upstream).await.unwrap();
        Some(Rig {
            server,
            direct,
            provider,
            a,
            b,
            to_a,
            to_b,
            edge_server,
        })
    }

    /// Injures edge `a` and checks the times.
    pub async fn injure(&mut self, injury: &Injury) -> Measured {
        let before_ns = lockdrill::clock::monotonic_ns();
        let injured = self.provider.injure(&self.a, injury).await.unwrap();
        assert!(before_ns <= injured.began_ns && injured.began_ns <= injured.effective_ns);
        injured.measured
    }

    /// Heals edge `a` and checks the times.
    pub async fn heal(&mut self) -> Measured {
        let healed = self.provider.heal(&self.a).await.unwrap();
        assert!(healed.began_ns <= healed.removed_ns);
        healed.measured
    }

    /// Edge `b` is not concerned.
    pub async fn b_is_untouched(&self) {
        let mut client = Raw::connect(self.to_b).await;
        assert_eq!(client.ask("ECHO b").await, "$1\r\nb\r\n");
    }

    /// The value of a key, or `-`, asked past the edges.
    pub fn value(&self, key: &str) -> String {
        let value: Option<String> = self.server.tell(&format!("GET {key}"));
        value.unwrap_or_else(|| "-".to_owned())
    }

    /// Waits until the key has this value.
    pub async fn becomes(&self, key: &str, value: &str) {
        let wait = async {
            while self.value(key) != value {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let came = timeout(LONG, wait).await;
        assert!(came.is_ok(), "{key} is {}", self.value(key));
    }
}

/// The counter of this name; 0 if it is not there.
pub fn counted(measured: &Measured, name: &str) -> u64 {
    let found = measured.iter().find(|(is, _)| is == name);
    found.map_or(0, |(_, count)| *count)
}

/// A connection that speaks RESP by hand.
pub struct Raw {
    pub stream: TcpStream,
}

/// What a connection that lost its peer says.
pub type Lost = std::io::ErrorKind;

impl Raw {
    /// A new connection.
    pub async fn connect(address: SocketAddr) -> Raw {
        let stream = timeout(LONG, TcpStream::connect(address)).await;
        let stream = stream.expect("in time").expect("a connection");
        stream.set_nodelay(true).unwrap();
        Raw { stream }
    }

    /// Sends one command, words separated by spaces.
    pub async fn send(&mut self, command: &str) {
        self.stream.write_all(&encode(command)).await.unwrap();
    }

    /// The next bytes, as text; must come.
    pub async fn hear(&mut self) -> String {
        self.hear_or_lose().await.expect("an answer")
    }

    /// The next bytes, or how the connection ended.
    pub async fn hear_or_lose(&mut self) -> Result<String, Lost> {
        let mut bytes = vec![0; 4096];
        match timeout(LONG, self.stream.read(&mut bytes)).await {
            Err(_) => panic!("neither an answer nor an end"),
            Ok(Ok(0)) => Err(Lost::UnexpectedEof),
            Ok(Ok(n)) => Ok(String::from_utf8_lossy(&bytes[..n]).into_owned()),
            Ok(Err(error)) => Err(error.kind()),
        }
    }

    /// Reads until so many bytes are here.
    pub async fn hear_bytes(&mut self, n: usize) -> Vec<u8> {
        let mut bytes = vec![0; n];
        let read = timeout(LONG, self.stream.read_exact(&mut bytes)).await;
        read.expect("in time").expect("all bytes");
        bytes
    }

    /// Nothing comes for a while, and nothing ends.
    pub async fn is_quiet(&mut self) {
        let mut bytes = [0; 64];
        if let Ok(read) = timeout(QUIET, self.stream.read(&mut bytes)).await {
            panic!("{read:?}: {:?}", String::from_utf8_lossy(&bytes));
        }
    }

    /// One command and its answer.
    pub async fn ask(&mut self, command: &str) -> String {
        self.send(command).await;
        self.hear().await
    }
}

/// One command, words separated by spaces.
pub fn encode(command: &str) -> Vec<u8> {
    let words: Vec<_> = command.split(' ').collect();
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text.push_str(&format!("${}\r\n{word}\r\n", word.len()));
    }
    text.into_bytes()
}
