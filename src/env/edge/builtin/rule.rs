//! An injury as the connections of an edge apply it, and what they count together.

use crate::env::edge::{Chosen, Injury, Measured, Way};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much of a request is searched for marks.
const SEARCHED: usize = 64 * 1024;
/// The longest delay, ms: ten minutes.
const LONGEST_DELAY_MS: u64 = 600_000;

/// What the connections do from now on.
#[derive(Debug, Clone)]
pub enum Rule {
    /// Throws away what flows this way.
    Silence(Way),
    /// Resets.
    Reset,
    /// Keeps what flows this way.
    Stall(Way),
    /// Lets what flows this way pass later.
    Delay {
        /// Direction.
        way: Way,
        /// How much later, ns.
        ns: u64,
    },
    /// Holds or loses one chosen frame.
    Chosen(Arc<Choice>),
}

/// One chosen frame of the whole edge.
#[derive(Debug)]
pub struct Choice {
    marks: Vec<Vec<u8>>,
    nth: u64,
    seen: AtomicU64,
    taken: AtomicBool,
    /// Held, not lost.
    pub hold: bool,
    /// The reply, not the request.
    pub reply: bool,
}

impl Choice {
    fn rule(chosen: &Chosen, hold: bool, reply: bool) -> Rule {
        let marks = chosen.marks.iter().map(|mark| mark.clone().into_bytes());
        Rule::Chosen(Arc::new(Choice {
            marks: marks.collect(),
            nth: chosen.nth,
            seen: AtomicU64::new(0),
            taken: AtomicBool::new(false),
            hold,
            reply,
        }))
    }

    /// Whether a request contains a mark.
    pub fn matches(&self, request: &[u8]) -> bool {
        let searched = &request[..request.len().min(SEARCHED)];
        let contains = |mark: &Vec<u8>| searched.windows(mark.len()).any(|part| part == mark);
        self.marks.iter().any(contains)
    }

    /// Counts a request that matches; whether it is the one.
    pub fn is_it(&self) -> bool {
        let number = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
        number >= self.nth && !self.taken.swap(true, Ordering::SeqCst)
    }

    /// The one that was chosen was refused by the server: the next that matches is the one.
    pub fn was_refused(&self) {
        self.taken.store(false, Ordering::SeqCst);
    }
}

impl Rule {
    /// The rule for an injury that [`can`] allows.
    pub fn from(injury: &Injury) -> Rule {
        match injury {
            Injury::Silence(way) => Rule::Silence(*way),
            Injury::Reset => Rule::Reset,
            Injury::Stall(way) => Rule::Stall(*way),
            Injury::Delay { way, ms } => Rule::Delay {
                way: *way,
                ns: ms.saturating_mul(1_000_000),
            },
            Injury::HoldRequest(chosen) => Choice::rule(chosen, true, false),
            Injury::HoldReply(chosen) => Choice::rule(chosen, true, true),
            Injury::LoseRequest(chosen) => Choice::rule(chosen, false, false),
            Injury::LoseReply(chosen) => Choice::rule(chosen, false, true),
        }
    }
}

/// Every injury is possible if its numbers make sense.
pub fn can(injury: &Injury) -> Result<(), &'static str> {
    if let Injury::Delay { ms, .. } = injury
        && !(1..=LONGEST_DELAY_MS).contains(ms)
    {
        return Err("a delay is 1 ms to 10 min long");
    }
    let Some(chosen) = injury.chosen() else {
        return Ok(());
    };
    if chosen.marks.is_empty() || chosen.marks.iter().any(String::is_empty) {
        return Err("a chosen command needs a mark, and no mark is empty");
    }
    if chosen.nth == 0 {
        return Err("the first chosen command is number 1");
    }
    Ok(())
}

/// Names of what is counted, in the order of [`Count`].
const NAMES: [&str; 15] = [
    "connections",
    "connections_reset",
    "to_server_bytes_in",
    "to_server_bytes_out",
    "to_server_bytes_dropped",
    "to_client_bytes_in",
    "to_client_bytes_out",
    "to_client_bytes_dropped",
    "requests",
    "replies",
    "matching",
    "held",
    "delivered",
    "lost",
    "plain",
];

/// What is counted; see [`Measured`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "Measured says it")]
pub enum Count {
    Connections,
    ConnectionsReset,
    ToServerIn,
    ToServerOut,
    ToServerDropped,
    ToClientIn,
    ToClientOut,
    ToClientDropped,
    Requests,
    Replies,
    Matching,
    Held,
    Delivered,
    Lost,
    Plain,
}

/// The counters of one edge.
#[derive(Debug, Default)]
pub struct Tally([AtomicU64; NAMES.len()]);

impl Tally {
    /// Counts.
    pub fn add(&self, what: Count, n: usize) {
        let n = u64::try_from(n).unwrap_or(u64::MAX);
        self.0[what as usize].fetch_add(n, Ordering::SeqCst);
    }

    /// All of them, less what they were earlier.
    pub fn since(&self, earlier: &Measured) -> Measured {
        let now = NAMES.iter().zip(&self.0);
        now.enumerate()
            .map(|(at, (name, count))| {
                let was = earlier.get(at).map_or(0, |(_, was)| *was);
                let is = count.load(Ordering::SeqCst);
                ((*name).to_owned(), is.saturating_sub(was))
            })
            .collect()
    }
}
