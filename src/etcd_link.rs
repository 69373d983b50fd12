//! Connections to the members of an etcd, by the JSON gateway that each of them has: plain HTTP/1.1,
//! so that whatever stands on the way may be an ordinary proxy.
//!
//! A connection carries one request at a time and is used again only once its answer has been read
//! to the end: a late reply can never answer another request. What times out, breaks or is dropped
//! takes its connection with it, and the next one goes to the next member. Nothing waits beyond its
//! deadline. No TLS.

use crate::address::{WrongAddress, host_and_port};
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
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

/// One connection. Its driver ends with it.
pub(crate) struct Live {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
    host: String,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.driver.abort();
    }
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
        let answer = match timeout_at(until, live.call(path, body)).await {
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
        match timeout_at(until, live.begin(path, body)).await {
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
            match timeout_at(until, connect(place)).await {
                Ok(Ok(live)) => return Ok(live),
                Ok(Err(error)) => why = error,
                Err(_) => break,
            }
        }
        self.next.fetch_add(1, Ordering::Relaxed);
        Err(why)
    }
}

async fn connect(place: &str) -> Result<Live, NoAnswer> {
    let stream = TcpStream::connect(place).await;
    let stream = stream.map_err(|error| not_sent(&error))?;
    stream.set_nodelay(true).map_err(|error| not_sent(&error))?;
    // Says nothing yet.
    let shaken = http1::handshake(TokioIo::new(stream)).await;
    let (sender, connection) = shaken.map_err(|error| not_sent(&error))?;
    Ok(Live {
        sender,
        driver: tokio::spawn(async move {
            // How it ended shows where it is used.
            let _ = connection.await;
        }),
        host: place.to_owned(),
    })
}

impl Live {
    /// Not closed, as far as we know.
    fn is_good(&self) -> bool {
        !self.sender.is_closed() && !self.driver.is_finished()
    }

    /// Sends one request and reads its whole answer.
    async fn call(&mut self, path: &str, body: &Value) -> Result<Value, NoAnswer> {
        let response = self.begin(path, body).await?;
        let whole = response.into_body().collect().await;
        let whole = whole.map_err(|error| broken(&error))?.to_bytes();
        serde_json::from_slice(&whole).map_err(|error| broken(&error))
    }

    /// Sends one request; a refusal has been read to its end.
    async fn begin(&mut self, path: &str, body: &Value) -> Result<Response<Incoming>, NoAnswer> {
        // A connection that was closed meanwhile says so here, before anything has left.
        self.sender
            .ready()
            .await
            .map_err(|error| not_sent(&error))?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(format!("/v3/{path}"))
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| not_sent(&error))?;
        let sent = self.sender.send_request(request).await;
        let response = sent.map_err(|error| match error.is_canceled() {
            true => not_sent(&error),
            false => broken(&error),
        })?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        let whole = response.into_body().collect().await;
        let whole = whole.map_err(|error| broken(&error))?.to_bytes();
        Err(no_answer(status, &whole))
    }
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
