//! One connection to a Redis server, made anew when it is broken, and the one place that says
//! whether a command without an answer was executed.
//!
//! Never the driver's own reconnecting manager: it blocks for seconds, sends late, and keeps a
//! black-holed connection for ever. Here a connection that let one command time out is thrown
//! away, because its next reply might come arbitrarily late. Nothing waits beyond its deadline.

use crate::address::{WrongAddress, host_and_port};
use crate::kept::{Kept, Usable};
use redis::aio::MultiplexedConnection;
use redis::{
    AsyncConnectionConfig, Cmd, ErrorKind, RedisConnectionInfo, RedisError, ServerErrorKind, Value,
};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

/// A place to connect to, and the present connection to it.
pub(crate) struct Link {
    address: String,
    kept: Kept<Live>,
}

/// One connection. Its driver ends with it.
pub(crate) struct Live {
    connection: MultiplexedConnection,
    driver: JoinHandle<()>,
    /// Let a command time out: whoever still waits on it may, nobody else comes.
    given_up: AtomicBool,
    /// Whether the server at its other end has `SET … IFEQ`, once that was asked.
    compares: OnceCell<bool>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Link {
    /// Nothing is connected yet.
    pub(crate) fn new(address: &str) -> Result<Link, WrongAddress> {
        host_and_port(address).map_err(|why| WrongAddress::new(address, why))?;
        Ok(Link {
            address: address.to_owned(),
            kept: Kept::default(),
        })
    }

    /// Sends one command on the present connection, or on a new one.
    pub(crate) async fn call(&self, command: &Cmd, until: Instant) -> Result<Value, NoAnswer> {
        let live = self.live(until).await?;
        live.call(command, until).await
    }

    /// The present connection, or a new one. Sends nothing.
    pub(crate) async fn live(&self, until: Instant) -> Result<Arc<Live>, NoAnswer> {
        match self.kept.present() {
            Some(live) => Ok(live),
            // On the heap: connecting is rare, and its future is many times a command's.
            None => {
                let (late, connect) = (late(Stage::Connecting), self.connect(until));
                Box::pin(self.kept.anew(until, late, connect)).await
            }
        }
    }

    /// Where it leads.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// A connection of the caller's own. Sends nothing.
    pub(crate) async fn connect(&self, until: Instant) -> Result<Live, NoAnswer> {
        let connecting = async {
            let stream = TcpStream::connect(&self.address).await?;
            stream.set_nodelay(true)?;
            let info = RedisConnectionInfo::default().set_skip_set_lib_name();
            // Every command has its own deadline; the driver's would only blur it.
            let config = AsyncConnectionConfig::new().set_response_timeout(None);
            let (connection, driver) =
                MultiplexedConnection::new_with_config(&info, stream, config).await?;
            Ok(Live {
                connection,
                driver: tokio::spawn(driver),
                given_up: AtomicBool::new(false),
                compares: OnceCell::new(),
            })
        };
        match timeout_at(until, connecting).await {
            Ok(Ok(live)) => Ok(live),
            Ok(Err(error)) => Err(no_answer(Stage::Connecting, &error)),
            Err(_) => Err(late(Stage::Connecting)),
        }
    }
}

impl Usable for Live {
    fn is_good(&self) -> bool {
        !self.driver.is_finished() && !self.given_up.load(Ordering::Relaxed)
    }
}

impl Live {
    /// Sends one command.
    pub(crate) async fn call(&self, command: &Cmd, until: Instant) -> Result<Value, NoAnswer> {
        let mut connection = self.connection.clone();
        let answer = timeout_at(until, connection.send_packed_command(command)).await;
        let answer = match answer {
            Ok(answer) => answer
                .and_then(Value::extract_error)
                .map_err(|error| no_answer(Stage::Sent, &error)),
            Err(_) => Err(late(Stage::Sent)),
        };
        if answer.as_ref().is_err_and(NoAnswer::is_suspect) {
            self.given_up.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether the server at its other end has `SET … IFEQ`, by its own word: asked once, since
    /// behind another connection there may be another server. One that will not say has it not.
    pub(crate) async fn sets_if_equal(&self, until: Instant) -> Result<bool, NoAnswer> {
        let asking = async {
            let mut question = redis::cmd("COMMAND");
            question.arg("DOCS").arg("SET");
            match self.call(&question, until).await {
                Ok(docs) => Ok(says(&docs, b"IFEQ")),
                Err(NoAnswer::Refused(..)) => Ok(false),
                Err(why) => Err(why),
            }
        };
        self.compares.get_or_try_init(|| asking).await.copied()
    }
}

/// Whether a word stands anywhere in an answer.
fn says(answer: &Value, word: &[u8]) -> bool {
    match answer {
        Value::BulkString(text) => text == word,
        Value::Array(parts) => parts.iter().any(|part| says(part, word)),
        _other => false,
    }
}

/// Why a command has no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// The server refused it before doing anything.
    Refused(Option<ServerErrorKind>, String),
    /// Nobody knows.
    Unknown(String),
}

impl NoAnswer {
    /// The next command should go to a new connection: this one may still bring a late reply, or
    /// leads to a server that has become a replica.
    fn is_suspect(&self) -> bool {
        match self {
            NoAnswer::NotSent(_) => false,
            NoAnswer::Refused(kind, _) => *kind == Some(ServerErrorKind::ReadOnly),
            NoAnswer::Unknown(_) => true,
        }
    }
}

/// How far a command had come when it was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing of it had left.
    Connecting,
    /// It was handed to the connection, and may have left.
    Sent,
}

fn late(stage: Stage) -> NoAnswer {
    match stage {
        Stage::Connecting => NoAnswer::NotSent("no connection in time".into()),
        Stage::Sent => NoAnswer::Unknown("no answer in time".into()),
    }
}

/// Whether a command that brought an error was executed: definitely not, or unknown.
///
/// Each of our commands is one step of the server's, and each script changes anything by the last
/// of its calls that can fail. So an error that the *server* sent means that nothing happened. An
/// error of the connection after the command was handed over means that nobody knows.
fn no_answer(stage: Stage, error: &RedisError) -> NoAnswer {
    let why = error.to_string();
    if stage == Stage::Connecting {
        return NoAnswer::NotSent(why);
    }
    match error.kind() {
        ErrorKind::Server(kind) => NoAnswer::Refused(Some(kind), in_server_words(error)),
        // A code that the driver has no name for (OOM, MISCONF, NOREPLICAS, BUSY, WRONGTYPE, …)
        // is the server's refusal all the same.
        ErrorKind::Extension => NoAnswer::Refused(None, in_server_words(error)),
        // The driver refused before it sent anything.
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::Client
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel
        | ErrorKind::EmptySentinelList
        | ErrorKind::ClusterConnectionNotFound
        | ErrorKind::RESP3NotSupported => NoAnswer::NotSent(why),
        // Broken off, or an answer that cannot be read.
        ErrorKind::Io | ErrorKind::Parse | ErrorKind::UnexpectedReturnType => {
            NoAnswer::Unknown(why)
        }
        // The driver's list is open; what we do not know, we do not know.
        _ => NoAnswer::Unknown(why),
    }
}

/// The server's error without our arguments, which it may quote: one of them may be an owner token.
fn in_server_words(error: &RedisError) -> String {
    let code = error.code().unwrap_or("ERR");
    let detail = error.detail().unwrap_or_default();
    let unquoted = detail.split("with args beginning with").next();
    format!("{code} {}", unquoted.unwrap_or_default())
}
