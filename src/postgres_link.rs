//! One connection to a Postgres server, made anew when it is broken, and the one place that says
//! whether a statement without an answer was executed.
//!
//! Each statement is sent whole in one go (parse, bind, execute, sync), so that it costs one round
//! trip and is a transaction of its own. A connection that let one statement time out is thrown
//! away. Nothing waits beyond its deadline. No TLS.

use crate::redis_link::WrongAddress;
use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::config::Host;
use tokio_postgres::error::{DbError, Severity, SqlState};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, Error, NoTls, Row};

/// Role and database where the address names none.
const DEFAULT: &str = "postgres";

/// A parameter and its type: the server is not asked for it.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A place to connect to, and the present connection to it.
pub(crate) struct Link {
    config: Config,
    host: String,
    port: u16,
    /// What every new connection is told first.
    greeting: String,
    present: Mutex<Option<Arc<Live>>>,
    /// Held by the one who connects anew.
    connecting: tokio::sync::Mutex<()>,
}

/// One connection. Its driver ends with it.
pub(crate) struct Live {
    client: Client,
    driver: JoinHandle<()>,
    /// Let a statement time out: whoever still waits on it may, nobody else comes.
    given_up: AtomicBool,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Link {
    /// Nothing is connected yet. The address is `host:port`, `host:port/database`, or a
    /// `postgres://` address of one host.
    pub(crate) fn new(address: &str, greeting: &str) -> Result<Link, WrongAddress> {
        let (config, host, port) = if address.contains("://") {
            by_url(address)?
        } else {
            by_parts(address)?
        };
        Ok(Link {
            config,
            host,
            port,
            greeting: greeting.to_owned(),
            present: Mutex::default(),
            connecting: tokio::sync::Mutex::default(),
        })
    }

    /// Sends one statement on the present connection, or on a new one.
    pub(crate) async fn call(
        &self,
        sql: &str,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<Vec<Row>, NoAnswer> {
        let live = self.live(until).await?;
        live.call(sql, params, until).await
    }

    /// The present connection, or a new one.
    async fn live(&self, until: Instant) -> Result<Arc<Live>, NoAnswer> {
        match self.present() {
            Some(live) => Ok(live),
            // On the heap: connecting is rare, and its future is many times a statement's.
            None => Box::pin(self.reconnect(until)).await,
        }
    }

    /// The present connection, if it is good.
    fn present(&self) -> Option<Arc<Live>> {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.as_ref().filter(|live| live.is_good()).cloned()
    }

    /// A new connection, made by one for all who wait. Nothing has been sent if it fails.
    async fn reconnect(&self, until: Instant) -> Result<Arc<Live>, NoAnswer> {
        let turn = timeout_at(until, self.connecting.lock()).await;
        let _turn = turn.map_err(|_| late(Stage::Connecting))?;
        if let Some(live) = self.present() {
            return Ok(live);
        }
        let live = Arc::new(self.connect(None, until).await?);
        let mut present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        *present = Some(Arc::clone(&live));
        Ok(live)
    }

    /// A connection of the caller's own. Each notification that comes is told to `heard`.
    pub(crate) async fn connect(
        &self,
        heard: Option<UnboundedSender<()>>,
        until: Instant,
    ) -> Result<Live, NoAnswer> {
        let connecting = async {
            let stream = TcpStream::connect((self.host.as_str(), self.port)).await;
            let stream = stream.map_err(|error| NoAnswer::NotSent(error.to_string()))?;
            let nodelay = stream.set_nodelay(true);
            nodelay.map_err(|error| NoAnswer::NotSent(error.to_string()))?;
            let connected = self.config.connect_raw(stream, NoTls).await;
            let (client, connection) =
                connected.map_err(|error| no_answer(Stage::Connecting, &error))?;
            let live = Live {
                client,
                driver: tokio::spawn(drive(connection, heard)),
                given_up: AtomicBool::new(false),
            };
            let greeted = live.client.batch_execute(&self.greeting).await;
            greeted.map_err(|error| no_answer(Stage::Connecting, &error))?;
            Ok(live)
        };
        match timeout_at(until, connecting).await {
            Ok(connected) => connected,
            Err(_) => Err(late(Stage::Connecting)),
        }
    }
}

/// Carries what is sent and received, until the connection ends.
async fn drive<T>(mut connection: Connection<TcpStream, T>, heard: Option<UnboundedSender<()>>)
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let (AsyncMessage::Notification(_), Some(heard)) = (message, &heard) {
            // Nobody listens any more: the connection is about to end too.
            let _ = heard.send(());
        }
    }
}

impl Live {
    /// Worth a statement: neither broken nor suspect.
    pub(crate) fn is_good(&self) -> bool {
        !self.client.is_closed()
            && !self.driver.is_finished()
            && !self.given_up.load(Ordering::Relaxed)
    }

    /// Sends one statement.
    pub(crate) async fn call(
        &self,
        sql: &str,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<Vec<Row>, NoAnswer> {
        if self.client.is_closed() {
            return Err(NoAnswer::NotSent("the connection is closed".into()));
        }
        let answer = timeout_at(until, self.client.query_typed(sql, params)).await;
        let answer = match answer {
            Ok(answer) => answer.map_err(|error| no_answer(Stage::Sent, &error)),
            Err(_) => Err(late(Stage::Sent)),
        };
        if answer.as_ref().is_err_and(NoAnswer::is_suspect) {
            self.given_up.store(true, Ordering::Relaxed);
        }
        answer
    }
}

fn by_parts(address: &str) -> Result<(Config, String, u16), WrongAddress> {
    let wrong = |why: &str| WrongAddress {
        address: address.to_owned(),
        why: why.to_owned(),
    };
    let (place, database) = address.split_once('/').unwrap_or((address, DEFAULT));
    let (host, port) = place
        .rsplit_once(':')
        .ok_or_else(|| wrong("it needs a port"))?;
    if host.is_empty() {
        return Err(wrong("it needs a host"));
    }
    if database.is_empty() {
        return Err(wrong("it needs a database behind the slash"));
    }
    let port = port
        .parse()
        .map_err(|_| wrong("its port is not a number up to 65535"))?;
    let mut config = Config::new();
    config.user(DEFAULT).dbname(database);
    Ok((config, host.to_owned(), port))
}

/// The address itself is not told: a password may stand in it.
fn by_url(address: &str) -> Result<(Config, String, u16), WrongAddress> {
    let wrong = |why: &str| WrongAddress {
        address: "postgres://…".to_owned(),
        why: why.to_owned(),
    };
    let mut config: Config = address
        .parse()
        .map_err(|_| wrong("it cannot be understood"))?;
    let [Host::Tcp(host)] = config.get_hosts() else {
        return Err(wrong("it needs one host"));
    };
    let host = host.clone();
    let port = config.get_ports().first().copied().unwrap_or(5432);
    if config.get_user().is_none() {
        config.user(DEFAULT);
    }
    Ok((config, host, port))
}

/// Why a statement has no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// The server refused it and rolled back whatever it had done.
    Refused(SqlState, String),
    /// Nobody knows.
    Unknown(String),
}

impl NoAnswer {
    /// The next statement should go to a new connection: this one may still bring a late reply, or
    /// leads to a server that takes no writes.
    fn is_suspect(&self) -> bool {
        match self {
            NoAnswer::NotSent(_) => false,
            NoAnswer::Refused(code, _) => *code == SqlState::READ_ONLY_SQL_TRANSACTION,
            NoAnswer::Unknown(_) => true,
        }
    }
}

/// How far a statement had come when it was given up.
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

/// Whether a statement that brought an error was executed: definitely not, or unknown.
fn no_answer(stage: Stage, error: &Error) -> NoAnswer {
    match (stage, error.as_db_error()) {
        (Stage::Connecting, Some(db)) => NoAnswer::NotSent(in_server_words(db)),
        (Stage::Connecting, None) => NoAnswer::NotSent(error.to_string()),
        (Stage::Sent, Some(db)) if is_rolled_back(db.parsed_severity(), db.code()) => {
            NoAnswer::Refused(db.code().clone(), in_server_words(db))
        }
        (Stage::Sent, Some(db)) => NoAnswer::Unknown(in_server_words(db)),
        // Broken off, or an answer that cannot be read: the driver tells no more.
        (Stage::Sent, None) => NoAnswer::Unknown(error.to_string()),
    }
}

/// An error rolls the transaction back, and each of our statements is one. What ends the session
/// may come after the commit, while a standby is waited for; and a server that says itself that it
/// does not know is believed.
fn is_rolled_back(severity: Option<Severity>, code: &SqlState) -> bool {
    let is_error = !matches!(severity, Some(Severity::Fatal | Severity::Panic));
    // Class 08 is a broken connection, be it to a server behind this one; 57P0x is a shutdown.
    let in_doubt = code.code().starts_with("08")
        || code.code().starts_with("57P")
        || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN;
    is_error && !in_doubt
}

/// Code and message. Never the detail: it quotes rows, and an owner token stands in one.
fn in_server_words(error: &DbError) -> String {
    format!("{} {}", error.code().code(), error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_parts_or_a_url_and_a_wrong_one_keeps_its_password() {
        let link = Link::new("127.0.0.1:5433/app", "").unwrap();
        assert_eq!((link.host.as_str(), link.port), ("127.0.0.1", 5433));
        assert_eq!(link.config.get_dbname(), Some("app"));
        assert_eq!(link.config.get_user(), Some("postgres"));
        let link = Link::new("postgres://me:pw@db.example:6000/app", "").unwrap();
        assert_eq!((link.host.as_str(), link.port), ("db.example", 6000));
        assert_eq!(link.config.get_user(), Some("me"));
        for wrong in ["", "host", ":1", "h:x", "h:70000", "h:1/"] {
            assert!(Link::new(wrong, "").is_err(), "{wrong}");
        }
        for wrong in ["postgres://u:secret@/x?host=/tmp", "mysql://u:secret@h/x"] {
            let error = Link::new(wrong, "").err().unwrap();
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }

    #[test]
    fn only_an_error_that_rolls_back_is_a_refusal() {
        use Severity::{Error, Fatal, Panic};
        for (severity, code, rolled_back) in [
            (Some(Error), "55P03", true),
            (Some(Error), "25006", true),
            (Some(Error), "57014", true),
            (Some(Error), "42P01", true),
            (Some(Error), "53100", true),
            (None, "22021", true),
            (Some(Error), "40003", false),
            (Some(Error), "08007", false),
            (Some(Error), "57P01", false),
            (Some(Fatal), "57P01", false),
            (Some(Fatal), "25P03", false),
            (Some(Panic), "53100", false),
        ] {
            let is = is_rolled_back(severity, &SqlState::from_code(code));
            assert_eq!(is, rolled_back, "{code}");
        }
    }
}
