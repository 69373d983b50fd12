//! One connection of a session.

use super::answer::{NoAnswer, broken, late, nonsense, not_sent};
use super::request::Request;
use super::wire::{Put, Take};
use super::{LONGEST, Session};
use nix::sys::socket::{MsgFlags, recv};
use std::collections::VecDeque;
use std::os::fd::AsRawFd;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};

/// Number of what the server tells without being asked.
const TOLD: i32 = -1;

/// What the server tells of a node that somebody wanted to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Told {
    /// The node.
    pub(crate) path: String,
    /// It was deleted.
    pub(crate) is_gone: bool,
}

/// A connection. Whoever drops it while it waits for an answer leaves the session to its time.
pub(crate) struct Live {
    stream: TcpStream,
    pub(crate) session: Session,
    /// Number of the last request.
    number: i32,
    /// What has come of the next message.
    come: Vec<u8>,
    told: VecDeque<Told>,
}

impl Live {
    pub(super) fn new(stream: TcpStream, session: Session) -> Live {
        Live {
            stream,
            session,
            number: 0,
            come: Vec::new(),
            told: VecDeque::new(),
        }
    }

    /// Nothing has come that nobody asked for, not even its end; to be asked before a request.
    pub(crate) fn is_good(&self) -> bool {
        let mut byte = [0; 1];
        let flags = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
        let come = recv(self.stream.as_raw_fd(), &mut byte, flags);
        self.come.is_empty() && come == Err(nix::errno::Errno::EAGAIN)
    }

    /// Sends one request and reads its answer.
    pub(crate) async fn ask(
        &mut self,
        request: &Request,
        until: Instant,
    ) -> Result<Vec<u8>, NoAnswer> {
        match timeout_at(until, self.exchange(request)).await {
            Ok(answer) => answer,
            Err(_) => Err(late()),
        }
    }

    /// Ends the session, and all that lives with it.
    pub(crate) async fn close(mut self, until: Instant) -> Result<(), NoAnswer> {
        self.ask(&Request::close(), until).await.map(drop)
    }

    /// What the server tells next. Dropping the future loses nothing.
    pub(crate) async fn told(&mut self) -> Result<Told, NoAnswer> {
        loop {
            if let Some(told) = self.told.pop_front() {
                return Ok(told);
            }
            let frame = self.frame().await?;
            match number(&frame)? {
                TOLD => self.keep(&frame)?,
                _other => return Err(nonsense()),
            }
        }
    }

    async fn exchange(&mut self, request: &Request) -> Result<Vec<u8>, NoAnswer> {
        self.number += 1;
        self.send(request.message(self.number).as_bytes()).await?;
        loop {
            let frame = self.frame().await?;
            match number(&frame)? {
                TOLD => self.keep(&frame)?,
                own if own == self.number => return answer(&frame),
                // Somebody gave up on that one, and only ends the session now.
                earlier if (1..self.number).contains(&earlier) => {}
                _other => return Err(nonsense()),
            }
        }
    }

    fn keep(&mut self, frame: &[u8]) -> Result<(), NoAnswer> {
        const GONE: i32 = 2;
        let mut take = Take(frame);
        let _head = head(&mut take).ok_or_else(nonsense)?;
        let told = (take.int(), take.int(), take.text());
        let (Some(kind), Some(_state), Some(path)) = told else {
            return Err(nonsense());
        };
        self.told.push_back(Told {
            path: path.to_owned(),
            is_gone: kind == GONE,
        });
        Ok(())
    }

    /// Sends a message behind its length.
    pub(super) async fn send(&mut self, message: &[u8]) -> Result<(), NoAnswer> {
        let whole = Put::default().bytes(message);
        let mut rest = whole.as_bytes();
        while !rest.is_empty() {
            match self.stream.write(rest).await {
                // Of a message of which nothing has left, nothing is known there.
                Err(error) if rest.len() == whole.as_bytes().len() => return Err(not_sent(&error)),
                Err(error) => return Err(broken(&error)),
                Ok(0) => return Err(broken(&"the connection was closed")),
                Ok(count) => rest = &rest[count..],
            }
        }
        Ok(())
    }

    /// The next message, without its length. Dropping the future loses nothing.
    pub(super) async fn frame(&mut self) -> Result<Vec<u8>, NoAnswer> {
        loop {
            if let Some(length) = Take(&self.come).int() {
                let length = usize::try_from(length)
                    .ok()
                    .filter(|length| *length <= LONGEST);
                let whole = 4 + length.ok_or_else(nonsense)?;
                if self.come.len() >= whole {
                    let rest = self.come.split_off(whole);
                    let mut frame = std::mem::replace(&mut self.come, rest);
                    frame.drain(..4);
                    return Ok(frame);
                }
            }
            match self.stream.read_buf(&mut self.come).await {
                Ok(0) => return Err(broken(&"the server closed the connection")),
                Ok(_) => {}
                Err(error) => return Err(broken(&error)),
            }
        }
    }
}

/// Number, place in the server's order, and code of a message.
fn head(take: &mut Take<'_>) -> Option<(i32, i64, i32)> {
    Some((take.int()?, take.long()?, take.int()?))
}

fn number(frame: &[u8]) -> Result<i32, NoAnswer> {
    Take(frame).int().ok_or_else(nonsense)
}

/// What stands behind the head, or what the code says.
fn answer(frame: &[u8]) -> Result<Vec<u8>, NoAnswer> {
    let mut take = Take(frame);
    match head(&mut take) {
        Some((_, _, 0)) => Ok(take.0.to_vec()),
        Some((_, _, code)) => Err(NoAnswer::told(code)),
        None => Err(nonsense()),
    }
}
