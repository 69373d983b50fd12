//! What a ZooKeeper is asked, and how its answers are read.

use super::answer::{Code, NoAnswer, nonsense};
use super::wire::{Put, Stat, Take};

/// Whatever version it has.
const ANY_VERSION: i32 = -1;
/// Kind of a request that is several, and of the end of their list.
const SEVERAL: i32 = 14;
const END: i32 = -1;

/// How long a node stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stays {
    /// As long as the session.
    WithSession,
    /// The same, and the server puts a number behind its name, one higher each time.
    InTurn,
    /// Until some time after its last child has gone.
    WithChildren,
}

/// One request: its kind and what follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    kind: i32,
    body: Put,
}

impl Request {
    fn new(kind: i32, body: Put) -> Request {
        Request { kind, body }
    }

    pub(crate) fn create(path: &str, data: &[u8], stays: Stays) -> Request {
        let (kind, flags) = match stays {
            Stays::WithSession => (15, 1),
            Stays::InTurn => (15, 3),
            Stays::WithChildren => (19, 4),
        };
        // Everybody may do everything with it.
        let anybody = Put::default().text(path).bytes(data).int(1);
        let anybody = anybody.int(31).text("world").text("anyone");
        Request::new(kind, anybody.int(flags))
    }

    pub(crate) fn delete(path: &str) -> Request {
        Request::new(2, Put::default().text(path).int(ANY_VERSION))
    }

    pub(crate) fn set(path: &str, data: &[u8]) -> Request {
        Request::new(5, Put::default().text(path).bytes(data).int(ANY_VERSION))
    }

    /// Whether it is there; of several requests alone. Refused if it is not.
    pub(crate) fn check(path: &str) -> Request {
        Request::new(13, Put::default().text(path).int(ANY_VERSION))
    }

    /// Whether it is there; `told`: the next change is told.
    pub(crate) fn exists(path: &str, told: bool) -> Request {
        Request::new(3, Put::default().text(path).flag(told))
    }

    pub(crate) fn get(path: &str) -> Request {
        Request::new(4, Put::default().text(path).flag(false))
    }

    pub(crate) fn children(path: &str) -> Request {
        Request::new(8, Put::default().text(path).flag(false))
    }

    /// From now on each change of this node is told.
    pub(crate) fn follow(path: &str) -> Request {
        Request::new(106, Put::default().text(path).int(0))
    }

    /// All of them, or none.
    pub(crate) fn several(all: &[Request]) -> Request {
        let head = |put: Put, kind, done| put.int(kind).flag(done).int(-1);
        let body = all.iter().fold(Put::default(), |put, one| {
            head(put, one.kind, false).raw(one.body.as_bytes())
        });
        Request::new(SEVERAL, head(body, END, true))
    }

    /// What is sent, without the length in front.
    pub(crate) fn message(&self, number: i32) -> Put {
        let head = Put::default().int(number).int(self.kind);
        head.raw(self.body.as_bytes())
    }

    /// The session has ended, with all that lives with it.
    pub(super) fn close() -> Request {
        Request::new(-11, Put::default())
    }
}

/// The name and the facts of a node that was made.
pub(crate) fn made(answer: &[u8]) -> Option<(&str, Stat)> {
    let mut take = Take(answer);
    Some((take.text()?, Stat::take(&mut take)?))
}

/// What a node holds, and its facts.
pub(crate) fn got(answer: &[u8]) -> Option<(&[u8], Stat)> {
    let mut take = Take(answer);
    Some((take.bytes()?, Stat::take(&mut take)?))
}

/// The names of a node's children.
pub(crate) fn names(answer: &[u8]) -> Option<Vec<String>> {
    let mut take = Take(answer);
    let count = usize::try_from(take.int()?).ok()?;
    let mut names = Vec::new();
    for _ in 0..count {
        names.push(take.text()?.to_owned());
    }
    Some(names)
}

/// What came of several requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Several {
    /// All were done; the facts of those nodes of which they are told, in their order: of those
    /// that are set, and by newer servers of those that are made.
    Done(Vec<Stat>),
    /// None was, because this one was refused, counted from 0.
    Refused(usize, Code),
}

/// The answer to several requests.
pub(crate) fn several(answer: &[u8]) -> Result<Several, NoAnswer> {
    let mut take = Take(answer);
    let mut stats = Vec::new();
    for place in 0.. {
        let head = (take.int(), take.flag(), take.int());
        let (Some(kind), Some(done), Some(_)) = head else {
            break;
        };
        if done {
            return Ok(Several::Done(stats));
        }
        match kind {
            // An error, which is none where it stands before the one that counts.
            END => match take.int().ok_or_else(nonsense)? {
                0 => {}
                code => {
                    return match NoAnswer::told(code) {
                        NoAnswer::Refused(code) => Ok(Several::Refused(place, code)),
                        other => Err(other),
                    };
                }
            },
            1 => drop(take.text().ok_or_else(nonsense)?),
            2 | 13 => {}
            5 => stats.push(Stat::take(&mut take).ok_or_else(nonsense)?),
            15 => {
                take.text().ok_or_else(nonsense)?;
                stats.push(Stat::take(&mut take).ok_or_else(nonsense)?);
            }
            _other => break,
        }
    }
    Err(nonsense())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(made: i64, session: i64) -> Put {
        let put = Put::default().long(made).long(9).long(9).long(9);
        put.int(0).int(0).int(0).long(session).int(1).int(0).long(9)
    }

    #[test]
    fn what_was_made_is_read_and_a_half_of_it_is_not() {
        let whole = Put::default().text("/a").raw(stat(7, 5).as_bytes());
        let stat = Stat {
            made: 7,
            session: 5,
        };
        assert_eq!(made(whole.as_bytes()), Some(("/a", stat)));
        let half = &whole.as_bytes()[..30];
        assert_eq!(made(half), None);
    }

    #[test]
    fn of_several_all_are_done_or_the_one_that_was_refused_is_told() {
        let head = |put: Put, kind| put.int(kind).flag(false).int(0);
        let done = head(Put::default(), 15)
            .text("/a")
            .raw(stat(7, 5).as_bytes());
        let done = head(done, 2).int(-1).flag(true).int(-1);
        let made = Stat {
            made: 7,
            session: 5,
        };
        assert_eq!(several(done.as_bytes()), Ok(Several::Done(vec![made])));
        let refused = |code| {
            let refused = head(Put::default(), -1).int(0);
            let refused = head(refused, -1).int(code);
            head(refused, -1).int(-2).int(-1).flag(true).int(-1)
        };
        let there = Several::Refused(1, Code::NODE_EXISTS);
        assert_eq!(several(refused(-110).as_bytes()), Ok(there));
        assert!(several(refused(-4).as_bytes()).is_err(), "nobody knows");
        assert_eq!(several(&[]), Err(nonsense()));
    }
}
