//! Sessions at a ZooKeeper (3.6 or later), in its own words over TCP. Nothing is said by itself: a
//! session whose owner says nothing ends after its time, by the clock of the server. That is the
//! lease of a lock, and why no client is used that keeps sessions alive on its own.
//!
//! A connection carries one request at a time, and whoever gives up on an answer gives up the
//! connection: a late answer can never answer another request. The session outlives it, and can be
//! taken up on another. Nothing waits beyond its deadline. No TLS.

use crate::address::{WrongAddress, host_and_port};
use answer::{late, not_sent};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
mod answer;
mod live;
mod request;
mod wire;

pub(crate) use answer::{Code, NoAnswer, nonsense};
pub(crate) use live::Live;
pub(crate) use request::{Request, Several, Stays, got, made, names, several};
pub(crate) use wire::{Put, Stat, Take};

/// Longest message that is taken, bytes; the server's own limit is 1 MiB.
const LONGEST: usize = 4 << 20;

/// What a session is taken up with again.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Session {
    /// Its number, which the nodes that live with it tell.
    pub(crate) number: i64,
    password: Vec<u8>,
    /// How long the server keeps it when nothing is said.
    pub(crate) kept: Duration,
}

impl Session {
    /// That the server is to give us.
    pub(crate) fn none_yet(kept: Duration) -> Session {
        Session {
            number: 0,
            password: vec![0; 16],
            kept,
        }
    }
}

/// What begins each connection, without the length in front.
pub(crate) fn hello(session: &Session) -> Put {
    let kept_ms = i32::try_from(session.kept.as_millis()).unwrap_or(i32::MAX);
    // Version 0, nothing seen yet, and no member that only reads.
    let hello = Put::default().int(0).long(0).int(kept_ms);
    let hello = hello.long(session.number).bytes(&session.password);
    hello.flag(false)
}

/// The members of a ZooKeeper.
pub(crate) struct Link {
    /// `host:port` of each.
    places: Vec<String>,
    /// Whom the next connection goes to, counted on from one to the next.
    next: AtomicUsize,
}

impl Link {
    /// Nothing is connected yet. The address is `host:port`, or several of them with commas.
    pub(crate) fn new(address: &str) -> Result<Link, WrongAddress> {
        let places: Vec<&str> = address.split(',').map(str::trim).collect();
        for place in &places {
            host_and_port(place).map_err(|why| WrongAddress::new(address, why))?;
        }
        Ok(Link {
            places: places.into_iter().map(str::to_owned).collect(),
            next: AtomicUsize::new(0),
        })
    }

    /// A new session that is to end when nothing has been said for so long; the server may choose
    /// another time. No node is touched by it, so that it always counts as not sent if it fails:
    /// at the worst there is a session that nobody knows and that ends by itself.
    pub(crate) async fn begin(&self, kept: Duration, until: Instant) -> Result<Live, NoAnswer> {
        let begun = self.enter(&Session::none_yet(kept), until).await?;
        begun.ok_or_else(|| not_sent(&"the server gives no session"))
    }

    /// Takes a session up on a new connection, which the server counts as a sign of life; none if
    /// it has ended.
    pub(crate) async fn resume(
        &self,
        session: &Session,
        until: Instant,
    ) -> Result<Option<Live>, NoAnswer> {
        self.enter(session, until).await
    }

    async fn enter(&self, session: &Session, until: Instant) -> Result<Option<Live>, NoAnswer> {
        let first = self.next.load(Ordering::Relaxed);
        let mut why = not_sent(&"no connection in time");
        for step in 0..self.places.len() {
            let place = &self.places[(first + step) % self.places.len()];
            match timeout_at(until, greet(place, session)).await {
                Ok(Ok(entered)) => return Ok(entered),
                Ok(Err(error)) => why = error,
                Err(_) => {
                    why = late();
                    break;
                }
            }
        }
        self.next.fetch_add(1, Ordering::Relaxed);
        Err(why.before_it())
    }
}

/// Connects, and asks for a session or for this one; none if it has ended.
async fn greet(place: &str, session: &Session) -> Result<Option<Live>, NoAnswer> {
    let stream = TcpStream::connect(place).await;
    let stream = stream.map_err(|error| not_sent(&error))?;
    stream.set_nodelay(true).map_err(|error| not_sent(&error))?;
    let mut live = Live::new(stream, session.clone());
    live.send(hello(session).as_bytes()).await?;
    let answer = live.frame().await?;
    let mut take = Take(&answer);
    let told = (take.int(), take.int(), take.long(), take.bytes());
    let (Some(_), Some(kept_ms), Some(number), Some(password)) = told else {
        return Err(nonsense());
    };
    let Some(kept_ms) = u64::try_from(kept_ms).ok().filter(|ms| *ms > 0) else {
        return Ok(None);
    };
    live.session = Session {
        number,
        password: password.to_vec(),
        kept: Duration::from_millis(kept_ms),
    };
    Ok(Some(live))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_place_or_several() {
        let link = Link::new("127.0.0.1:2181, zk.example:2182").unwrap();
        assert_eq!(link.places, ["127.0.0.1:2181", "zk.example:2182"]);
        for wrong in ["", "host", ":1", "h:x", "h:70000", "h:1,"] {
            assert!(Link::new(wrong).is_err(), "{wrong}");
        }
    }
}
