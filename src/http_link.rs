//! One connection over plain HTTP/1.1 to a server that is asked in JSON. It carries one request at a
//! time, and may be used again once an answer has been read to its end. No TLS.

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use std::fmt::Display;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// It had left, or a part of it: nobody knows.
    Unknown(String),
}

fn not_sent(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::NotSent(why.to_string())
}

fn broken(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::Unknown(why.to_string())
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

impl Live {
    /// To `host:port`.
    pub(crate) async fn connect(place: &str) -> Result<Live, NoAnswer> {
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

    /// Not closed, as far as we know.
    pub(crate) fn is_good(&self) -> bool {
        !self.sender.is_closed() && !self.driver.is_finished()
    }

    /// Sends one request. Of the answer only the head has been read.
    pub(crate) async fn post(
        &mut self,
        path: &str,
        body: impl Into<Bytes>,
    ) -> Result<Response<Incoming>, NoAnswer> {
        // A connection that was closed meanwhile says so here, before anything has left.
        let ready = self.sender.ready().await;
        ready.map_err(|error| not_sent(&error))?;
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body.into()))
            .map_err(|error| not_sent(&error))?;
        let sent = self.sender.send_request(request).await;
        sent.map_err(|error| match error.is_canceled() {
            true => not_sent(&error),
            false => broken(&error),
        })
    }
}

/// The rest of an answer.
pub(crate) async fn whole(response: Response<Incoming>) -> Result<Bytes, NoAnswer> {
    let whole = response.into_body().collect().await;
    Ok(whole.map_err(|error| broken(&error))?.to_bytes())
}
