//! One connection to a Postgres server, made anew when it is broken, and the one place that says
//! whether a statement without an answer was executed.
//!
//! Each statement is sent whole in one go (parse, bind, execute, sync), so that it costs one round
//! trip and is a transaction of its own. A connection that let one statement time out is thrown
//! away. Nothing waits beyond its deadline. No TLS.

use crate::address::WrongAddress;
use crate::kept::{Kept, Usable};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::net::TcpStream;
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row};

mod address;
mod answer;

pub(crate) use answer::NoAnswer;
use answer::{Stage, late, no_answer};

/// A parameter and its type: the server is not asked for it.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A place to connect to, and the present connection to it.
pub(crate) struct Link {
    config: Config,
    host: String,
    port: u16,
    /// What every new connection is told first.
    greeting: String,
    kept: Kept<Live>,
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
            address::by_url(address)?
        } else {
            address::by_parts(address)?
        };
        Ok(Link {
            config,
            host,
            port,
            greeting: greeting.to_owned(),
            kept: Kept::default(),
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

    /// Runs several statements without parameters, all or none of them.
    #[cfg(feature = "lab")]
    pub(crate) async fn run(&self, sql: &str, until: Instant) -> Result<(), NoAnswer> {
        let live = self.live(until).await?;
        live.answered(live.client.batch_execute(sql), until).await
    }

    /// The present connection, or a new one.
    async fn live(&self, until: Instant) -> Result<Arc<Live>, NoAnswer> {
        match self.kept.present() {
            Some(live) => Ok(live),
            // On the heap: connecting is rare, and its future is many times a statement's.
            None => {
                let (late, connect) = (late(Stage::Connecting), self.connect(None, until));
                Box::pin(self.kept.anew(until, late, connect)).await
            }
        }
    }

    /// A connection of the caller's own. What each notification says that comes is told to `heard`.
    pub(crate) async fn connect(
        &self,
        heard: Option<UnboundedSender<String>>,
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
async fn drive<T>(mut connection: Connection<TcpStream, T>, heard: Option<UnboundedSender<String>>)
where
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let (AsyncMessage::Notification(said), Some(heard)) = (message, &heard) {
            // Nobody listens any more: the connection is about to end too.
            let _ = heard.send(said.payload().to_owned());
        }
    }
}

impl Usable for Live {
    fn is_good(&self) -> bool {
        self.is_open() && !self.given_up.load(Ordering::Relaxed)
    }
}

impl Live {
    /// Not closed, as far as we know: for a session that is more than its next answer.
    pub(crate) fn is_open(&self) -> bool {
        !self.client.is_closed() && !self.driver.is_finished()
    }

    /// Sends one statement.
    pub(crate) async fn call(
        &self,
        sql: &str,
        params: &[Param<'_>],
        until: Instant,
    ) -> Result<Vec<Row>, NoAnswer> {
        let query = self.client.query_typed(sql, params);
        self.answered(query, until).await
    }

    /// What comes of something that is about to be sent.
    async fn answered<T>(
        &self,
        sent: impl Future<Output = Result<T, tokio_postgres::Error>>,
        until: Instant,
    ) -> Result<T, NoAnswer> {
        if self.client.is_closed() {
            return Err(NoAnswer::NotSent("the connection is closed".into()));
        }
        let answer = timeout_at(until, sent).await;
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
}
