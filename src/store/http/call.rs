//! One connection to a gateway, made anew when it is broken, and whether a question without an answer
//! arrived. What times out takes its connection with it.

use super::words::{Answer, PATH, Question};
use http_body_util::{BodyExt, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use std::fmt::Display;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// How long one question may take, connecting included.
const BUDGET: Duration = Duration::from_secs(5);

/// Why a question has no answer.
#[derive(Debug)]
pub(super) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// Nobody knows.
    Unknown(String),
}

/// The way to a gateway.
pub(super) struct Line {
    address: String,
    live: Option<Live>,
}

/// One connection. Its driver ends with it.
struct Live {
    sender: SendRequest<Full<Bytes>>,
    driver: JoinHandle<()>,
}

impl Drop for Live {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Line {
    /// Nothing is connected yet.
    pub(super) fn to(address: &str) -> Line {
        Line {
            address: address.to_owned(),
            live: None,
        }
    }

    /// Puts one question and reads its whole answer.
    pub(super) async fn ask(&mut self, question: &Question) -> Result<Answer, NoAnswer> {
        let body = serde_json::to_vec(question).map_err(|error| not_sent(&error))?;
        // Out of its place for as long as it is in use: who drops this future drops it too.
        let present = self.live.take().filter(Live::is_good);
        let mut live = match present {
            Some(live) => live,
            None => match timeout(BUDGET, connect(&self.address)).await {
                Ok(connected) => connected?,
                Err(_) => return Err(not_sent("no connection in time")),
            },
        };
        let answer = match timeout(BUDGET, live.ask(&self.address, body)).await {
            Ok(answer) => answer,
            Err(_) => Err(NoAnswer::Unknown("no answer in time".into())),
        };
        if answer.is_ok() {
            self.live = Some(live);
        }
        answer
    }
}

fn not_sent(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::NotSent(why.to_string())
}

fn broken(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::Unknown(why.to_string())
}

async fn connect(address: &str) -> Result<Live, NoAnswer> {
    let stream = TcpStream::connect(address).await;
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
    })
}

impl Live {
    fn is_good(&self) -> bool {
        !self.sender.is_closed() && !self.driver.is_finished()
    }

    async fn ask(&mut self, host: &str, body: Vec<u8>) -> Result<Answer, NoAnswer> {
        // A connection that was closed meanwhile says so here, before anything has left.
        let ready = self.sender.ready().await;
        ready.map_err(|error| not_sent(&error))?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(PATH)
            .header(HOST, host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(body)))
            .map_err(|error| not_sent(&error))?;
        let sent = self.sender.send_request(request).await;
        let response = sent.map_err(|error| match error.is_canceled() {
            true => not_sent(&error),
            false => broken(&error),
        })?;
        let status = response.status();
        let whole = response.into_body().collect().await;
        let whole = whole.map_err(|error| broken(&error))?.to_bytes();
        if !status.is_success() {
            return Err(broken(&format!("answered with status {status}")));
        }
        serde_json::from_slice(&whole).map_err(|error| broken(&error))
    }
}
