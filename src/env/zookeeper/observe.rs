//! The observer's questions to a ZooKeeper, beside the log of its changes. Past every edge, never
//! through a path that a fault may touch; each in a session of its own.

use super::effects::{self, MARK};
use crate::env::error::EnvError;
use crate::env::observer::{LOG, failed};
use crate::env::redis::observe::KeyLeft;
use crate::ids::FencingToken;
use crate::timeline::event::Change;
use crate::zookeeper_link::{Code, Link, NoAnswer, Request, Stat, Stays, got, nonsense};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

/// Longest wait for one answer of a server that nothing is done to.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// How long the server keeps the session of a question that was given up.
const KEPT: Duration = Duration::from_secs(6);
/// Longest wait for one answer of a server that may not serve yet.
const SERVES_MAX: Duration = Duration::from_millis(500);
/// Between two tries.
const STEP: Duration = Duration::from_millis(10);

/// Who asks.
#[derive(Clone)]
pub struct Control {
    link: Arc<Link>,
    address: SocketAddr,
    prefix: String,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Control({})", self.address)
    }
}

impl Control {
    /// Waits until the server gives sessions.
    ///
    /// # Errors
    /// When it gives none within the limit.
    pub async fn connect(
        address: SocketAddr,
        prefix: &str,
        limit: Duration,
    ) -> Result<Self, EnvError> {
        let begun = Instant::now();
        let link = Link::new(&address.to_string()).map_err(|wrong| failed(&wrong.why))?;
        let control = Control {
            link: Arc::new(link),
            address,
            prefix: prefix.to_owned(),
        };
        loop {
            let why = match serves(address).await {
                Ok(true) => match control.ask(&Request::exists("/", false)).await {
                    Ok(_) => return Ok(control),
                    Err(why) => why.to_string(),
                },
                Ok(false) => "it does not serve yet".to_owned(),
                Err(error) => error.to_string(),
            };
            if begun.elapsed() > limit {
                let what = format!("ZooKeeper at {address} does not answer: {why}");
                return Err(EnvError::new(what, LOG));
            }
            sleep(STEP).await;
        }
    }

    /// The same server, asked anew.
    ///
    /// # Errors
    /// When the server does not answer within the limit.
    pub async fn anew(&self, limit: Duration) -> Result<Self, EnvError> {
        Control::connect(self.address, &self.prefix, limit).await
    }

    /// Where the server listens.
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    async fn ask(&self, request: &Request) -> Result<Vec<u8>, NoAnswer> {
        let until = tokio::time::Instant::now() + ANSWER_MAX;
        let mut live = self.link.begin(KEPT, until).await?;
        let answer = live.ask(request, until).await;
        // If it is not closed, it ends by itself.
        let _ = live.close(until).await;
        answer
    }

    async fn node(&self, key: &str) -> Result<Option<(Vec<u8>, Stat)>, EnvError> {
        let path = effects::held(&self.lock_key(key));
        match self.ask(&Request::get(&path)).await {
            Ok(answer) => {
                let (data, stat) = got(&answer).ok_or_else(|| failed(&nonsense()))?;
                Ok(Some((data.to_vec(), stat)))
            }
            Err(NoAnswer::Refused(Code::NO_NODE)) => Ok(None),
            Err(why) => Err(failed(&why)),
        }
    }

    /// What the server holds of one lock, and the number of the change that made it.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn held(&self, key: &str) -> Result<(Change, Option<u64>), EnvError> {
        let node = self.node(key).await?;
        let made = node
            .as_ref()
            .and_then(|(_, stat)| stat.made.try_into().ok());
        let change = Change::Restarted {
            owner: node.map(|(data, _)| effects::owner(&data)),
            fencing: made.map(FencingToken),
            until_ms: None,
        };
        Ok((change, made))
    }

    /// The server's name of a lock.
    pub fn lock_key(&self, key: &str) -> String {
        format!("{}{key}", self.prefix)
    }

    /// Writes a mark into the log.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn mark(&self, name: &str) -> Result<(), EnvError> {
        let set = Request::set(MARK, name.as_bytes());
        let told = match self.ask(&set).await {
            // It stays, since it never has a child.
            Err(NoAnswer::Refused(Code::NO_NODE)) => {
                let make = Request::create(MARK, b"", Stays::WithChildren);
                match self.ask(&make).await {
                    Ok(_) | Err(NoAnswer::Refused(Code::NODE_EXISTS)) => self.ask(&set).await,
                    Err(why) => Err(why),
                }
            }
            told => told,
        };
        told.map(drop).map_err(|why| failed(&why))
    }

    /// What is left of one lock; none if it is free. How long its session has been silent is not
    /// told: no more is left than this.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn left(&self, key: &str) -> Result<Option<KeyLeft>, EnvError> {
        let Some((data, stat)) = self.node(key).await? else {
            return Ok(None);
        };
        let text = String::from_utf8_lossy(&data);
        let lease = text
            .split_once(' ')
            .and_then(|(lease, _)| lease.parse().ok());
        Ok(Some(KeyLeft {
            owner: Some(effects::owner(&data)),
            remaining_ms: lease.filter(|_| stat.session != 0),
        }))
    }
}

/// Whether it says that it serves. One who asks for a session before it does may wait in vain.
async fn serves(address: SocketAddr) -> io::Result<bool> {
    let asked = async {
        let mut stream = TcpStream::connect(address).await?;
        stream.write_all(b"srvr").await?;
        let mut said = String::new();
        stream.read_to_string(&mut said).await?;
        Ok(said.contains("Mode: "))
    };
    let late = |_| io::Error::from(io::ErrorKind::TimedOut);
    timeout(SERVES_MAX, asked).await.map_err(late)?
}
