//! Connections to the members of an etcd, by the JSON gateway that each of them has: plain HTTP/1.1,
//! so that whatever stands on the way may be an ordinary proxy.
//!
//! A connection carries one request at a time and is used again only once its answer has been read
//! to the end: a late reply can never answer another request. What times out, breaks or is dropped
//! takes its connection with it, and the next one goes to the next member. Nothing waits beyond its
//! deadline. No TLS.

use crate::address::{WrongAddress, host_and_port};
use crate::http_link::{self, Live};
use hyper::Response;
use hyper::body::Incoming;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::time::{Instant, timeout_at};

mod answer;
mod told;

pub(crate) use answer::{Code, NoAnswer};
use answer::{broken, late, no_answer, not_sent};
pub(crate) use told::Told;

/// As many rest at most; more are made when they are needed.
const RESTING_MAX: usize = 4;

/// The members, and the connections that rest.
pub(crate) struct Link {
    /// `host:port` of each member.
    places: Vec<String>,
    /// Whom the next connection goes to, counted on from one to the next.
    next: AtomicUsize,
    resting: Mutex<Vec<Live>>,
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
            resting: Mutex::default(),
        })
    }

    /// Sends one request and reads its whole answer.
    pub(crate) async fn call(
        &self,
        path: &str,
        body: &Value,
        until: Instant,
    ) -> Result<Value, NoAnswer> {
        let mut live = self.live(until).await?;
        let answer = match timeout_at(until, call(&mut live, path, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(late()),
        };
        match &answer {
            Ok(_) | Err(NoAnswer::Refused(..)) => self.rest(live),
            Err(NoAnswer::NotSent(_) | NoAnswer::Unknown(_)) => self.move_on(),
        }
        answer
    }

    /// Sends one request whose answer goes on, on a connection of its own.
    pub(crate) async fn follow(
        &self,
        path: &str,
        body: &Value,
        until: Instant,
    ) -> Result<Told, NoAnswer> {
        let mut live = self.connect(until).await?;
        match timeout_at(until, begin(&mut live, path, body)).await {
            Ok(Ok(response)) => Ok(Told::new(live, response.into_body())),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(late()),
        }
    }

    fn resting(&self) -> MutexGuard<'_, Vec<Live>> {
        self.resting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It has answered, and may be asked again.
    fn rest(&self, live: Live) {
        let mut resting = self.resting();
        if resting.len() < RESTING_MAX && live.is_good() {
            resting.push(live);
        }
    }

    /// That member, or the way to it, is not what it should be: what rests may lead there too.
    fn move_on(&self) {
        self.next.fetch_add(1, Ordering::Relaxed);
        self.resting().clear();
    }

    /// A connection that rests, or a new one.
    async fn live(&self, until: Instant) -> Result<Live, NoAnswer> {
        loop {
            let rested = self.resting().pop();
            match rested {
                Some(live) if live.is_good() => return Ok(live),
                Some(_broken) => {}
                None => return self.connect(until).await,
            }
        }
    }

    /// A new connection, to the first member that takes one.
    async fn connect(&self, until: Instant) -> Result<Live, NoAnswer> {
        let first = self.next.load(Ordering::Relaxed);
        let mut why = not_sent("no connection in time");
        for step in 0..self.places.len() {
            let place = &self.places[(first + step) % self.places.len()];
            match timeout_at(until, Live::connect(place)).await {
                Ok(Ok(live)) => return Ok(live),
                Ok(Err(error)) => why = error.into(),
                Err(_) => break,
            }
        }
        self.next.fetch_add(1, Ordering::Relaxed);
        Err(why)
    }
}

/// Sends one request and reads its whole answer.
async fn call(live: &mut Live, path: &str, body: &Value) -> Result<Value, NoAnswer> {
    let whole = http_link::whole(begin(live, path, body).await?).await?;
    serde_json::from_slice(&whole).map_err(|error| broken(&error))
}

/// Sends one request; a refusal has been read to its end.
async fn begin(live: &mut Live, path: &str, body: &Value) -> Result<Response<Incoming>, NoAnswer> {
    let response = live.post(&format!("/v3/{path}"), body.to_string()).await?;
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    Err(no_answer(status, &http_link::whole(response).await?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_one_place_or_several() {
        let link = Link::new("127.0.0.1:2379, etcd.example:2380").unwrap();
        assert_eq!(link.places, ["127.0.0.1:2379", "etcd.example:2380"]);
        for wrong in ["", "host", ":1", "h:x", "h:70000", "h:1,"] {
            assert!(Link::new(wrong).is_err(), "{wrong}");
        }
    }
}
