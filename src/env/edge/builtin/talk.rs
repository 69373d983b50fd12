//! Which reply belongs to which request, by their order on one connection.
//!
//! Pushes and what a subscription brings are no replies, and the commands that subscribe get none
//! that would count. From `MONITOR` and `CLIENT REPLY OFF` on, order says nothing any more: the
//! connection is then bytes, and so it is after a frame that is not understood.

use super::resp::{Broken, Frame, Scanner, Sender};

/// What one connection has said so far.
#[derive(Debug)]
pub struct Talk {
    requests: Scanner,
    replies: Scanner,
    asked: u64,
    answered: u64,
    subscribed: bool,
}

/// A frame ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The request, or the reply to the request, of this number, from 1.
    Counted(u64),
    /// The reply to the request of this number, which is an error.
    Refused(u64),
    /// A push, or a request that gets no reply of its own.
    Aside,
}

/// What is in a chunk: so many bytes, and the frame that ended with them.
pub type Cut = (usize, Option<Ended>);

impl Talk {
    /// A new connection.
    pub fn new() -> Self {
        Talk {
            requests: Scanner::new(Sender::Client),
            replies: Scanner::new(Sender::Server),
            asked: 0,
            answered: 0,
            subscribed: false,
        }
    }

    /// Whether a request, or a reply, has begun and not ended.
    pub fn mid_frame(&self, sender: Sender) -> bool {
        match sender {
            Sender::Client => self.requests.mid_frame(),
            Sender::Server => self.replies.mid_frame(),
        }
    }

    /// Reads on; at most to the end of one frame.
    ///
    /// # Errors
    /// When the connection is not understood any more; the bytes were not used.
    pub fn cut(&mut self, sender: Sender, bytes: &[u8]) -> Result<Cut, Broken> {
        match sender {
            Sender::Client => {
                let (used, frame) = self.requests.scan(bytes)?;
                let ended = frame.map(|frame| self.request(&frame)).transpose()?;
                Ok((used, ended))
            }
            Sender::Server => {
                let (used, frame) = self.replies.scan(bytes)?;
                let ended = frame.map(|frame| self.reply(&frame)).transpose()?;
                Ok((used, ended))
            }
        }
    }

    fn request(&mut self, frame: &Frame) -> Result<Ended, Broken> {
        let word = |n: usize| frame.words.get(n).map_or("", String::as_str);
        match (word(0), word(1), word(2)) {
            ("monitor", ..) => return Err(Broken("MONITOR: replies follow no request")),
            ("client", "reply", "off" | "skip") => {
                return Err(Broken("CLIENT REPLY: requests without replies"));
            }
            (name, ..) if name.ends_with("subscribe") => {
                self.subscribed = true;
                return Ok(Ended::Aside);
            }
            _ => {}
        }
        self.asked += 1;
        Ok(Ended::Counted(self.asked))
    }

    fn reply(&mut self, frame: &Frame) -> Result<Ended, Broken> {
        let first = frame.words.first().map_or("", String::as_str);
        let message = first.ends_with("subscribe") || first.ends_with("message");
        if frame.kind == b'>' || (self.subscribed && frame.kind == b'*' && message) {
            return Ok(Ended::Aside);
        }
        if self.answered == self.asked {
            return Err(Broken("a reply without a request"));
        }
        self.answered += 1;
        Ok(match frame.kind {
            b'-' | b'!' => Ended::Refused(self.answered),
            _value => Ended::Counted(self.answered),
        })
    }
}
