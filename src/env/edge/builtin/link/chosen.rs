//! The chosen frame: whole frames are looked at, one request is found by its marks, and it or its
//! reply is held or lost, with everything that follows it on the connection. A reply that is an error
//! is no reply to what was asked: it passes, and the next request that fits is the chosen one.

use super::{Link, way_of};
use crate::env::edge::Happening;
use crate::env::edge::builtin::lane::Gate;
use crate::env::edge::builtin::resp::Sender;
use crate::env::edge::builtin::rule::Count;
use crate::env::edge::builtin::talk::Ended;

/// A frame that is longer is not waited for.
const LONGEST_FRAME: usize = 64 << 20;

impl Link {
    /// A part of a frame, or its end.
    pub(super) fn place(&mut self, sender: Sender, part: &[u8], ended: Option<Ended>, now_ns: u64) {
        if let (Sender::Server, Some(ended)) = (sender, ended) {
            self.answered(ended);
        }
        if !self.looks_at(sender) {
            self.count_frame(sender, ended);
            if ended.is_some() {
                self.skip[sender as usize] = false;
            }
            return self.pass(sender, part, None, now_ns);
        }
        self.lane(sender).collect(part);
        if self.lane(sender).waiting() > LONGEST_FRAME {
            return self.be_plain("a frame above 64 MiB", now_ns);
        }
        if let Some(ended) = ended {
            self.count_frame(sender, Some(ended));
            let frame = self.lane(sender).take_partial();
            let tag = match sender {
                Sender::Client => self.choose(&frame, ended),
                Sender::Server => self.choose_reply(ended),
            };
            self.pass(sender, &frame, tag, now_ns);
        }
    }

    /// Whether this lane must see whole frames.
    fn looks_at(&self, sender: Sender) -> bool {
        let looks = match sender {
            Sender::Client => self.choice.is_some() && self.requests.is_flowing(),
            Sender::Server => self.target.is_some() && self.replies.is_flowing(),
        };
        looks && !self.skip[sender as usize]
    }

    /// Looks at a whole request; its number if it is the one that is held.
    fn choose(&mut self, request: &[u8], ended: Ended) -> Option<u64> {
        let choice = self.choice.clone()?;
        if !choice.matches(request) {
            return None;
        }
        self.tally.add(Count::Matching, 1);
        if !choice.is_it() {
            return None;
        }
        match ended {
            Ended::Counted(number) if choice.reply => {
                self.target = Some(number);
                self.skip_rest(Sender::Server);
                None
            }
            Ended::Counted(number) => {
                self.held = choice.hold.then_some(number);
                self.strike(Sender::Client, number, choice.hold)
            }
            Ended::Refused(_) | Ended::Aside => None,
        }
    }

    /// What the server answers to a request that was held.
    fn answered(&mut self, ended: Ended) {
        let (Ended::Counted(number) | Ended::Refused(number)) = ended else {
            return;
        };
        if self.held != Some(number) {
            return;
        }
        self.held = None;
        if ended == Ended::Refused(number) {
            self.refused(Sender::Client, number);
        }
    }

    fn refused(&mut self, sender: Sender, frame: u64) {
        self.events.push(Happening::Refused {
            way: way_of(sender),
            connection: self.number,
            frame,
        });
    }

    /// Looks at a whole reply; its number if it is the one that is held.
    fn choose_reply(&mut self, ended: Ended) -> Option<u64> {
        let choice = self.choice.clone()?;
        match ended {
            Ended::Counted(number) if self.target == Some(number) => {
                self.strike(Sender::Server, number, choice.hold)
            }
            // It has done nothing of what it was chosen for: it passes, and another is chosen.
            Ended::Refused(number) if self.target == Some(number) => {
                self.target = None;
                choice.was_refused();
                self.refused(Sender::Server, number);
                None
            }
            Ended::Counted(_) | Ended::Refused(_) | Ended::Aside => None,
        }
    }

    /// The chosen frame is here: it and what follows it is held or lost.
    fn strike(&mut self, sender: Sender, frame: u64, hold: bool) -> Option<u64> {
        let (way, connection) = (way_of(sender), self.number);
        let (gate, what) = if hold {
            (Gate::Keep, Count::Held)
        } else {
            (Gate::Sink, Count::Lost)
        };
        self.lane(sender).set_gate(gate);
        self.tally.add(what, 1);
        self.events.push(if hold {
            Happening::Held {
                way,
                connection,
                frame,
            }
        } else {
            Happening::Dropped {
                way,
                connection,
                frame,
            }
        });
        hold.then_some(frame)
    }

    /// What has begun this way is not looked at; what begins after it is.
    pub(super) fn skip_rest(&mut self, sender: Sender) {
        let talk = self.talk.as_ref();
        self.skip[sender as usize] = talk.is_some_and(|talk| talk.mid_frame(sender));
    }

    fn count_frame(&self, sender: Sender, ended: Option<Ended>) {
        let what = match sender {
            Sender::Client => Count::Requests,
            Sender::Server => Count::Replies,
        };
        if matches!(ended, Some(Ended::Counted(_) | Ended::Refused(_))) {
            self.tally.add(what, 1);
        }
    }
}
