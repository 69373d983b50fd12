//! What the answers of independent servers say together, pure: whether a quorum is certain or
//! impossible, whose the lock is, and what may still be ours somewhere. A server that did not
//! answer is never counted, and never forgotten either.

use crate::lock::error::CommandError;
use crate::redis_link::NoAnswer;
use redis::Value;
use std::collections::BTreeMap;
use std::time::Duration;

/// How many of so many servers are a quorum: any two of them share a server, for even numbers too.
pub const fn quorum(servers: usize) -> usize {
    servers / 2 + 1
}

/// What one server says of a lock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Vote {
    /// It has not answered yet.
    Open,
    /// Ours, with this fencing token.
    Ours(u64),
    /// Nothing of ours, and nobody else's.
    Free,
    /// Somebody else's: for how long yet, and a digest of whom.
    Taken(Option<Duration>, String),
    /// It did definitely nothing.
    Refused(String),
    /// Asked, not answered: it may have done it, or do it later.
    Silent(String),
}

impl Vote {
    /// Of the answer to an attempt.
    pub(super) fn of_attempt(answer: Result<Value, NoAnswer>) -> Vote {
        answer.map_or_else(Vote::missing, Vote::of)
    }

    /// What a server says of a vote.
    pub(super) fn of(answer: Value) -> Vote {
        let Value::Array(fields) = answer else {
            return Vote::nonsense();
        };
        let ms = |left: i64| u64::try_from(left).ok().map(Duration::from_millis);
        match fields.as_slice() {
            [Value::Int(1), Value::Int(token)] => match u64::try_from(*token) {
                Ok(token) => Vote::Ours(token),
                Err(_) => Vote::nonsense(),
            },
            [Value::Int(1)] => Vote::Free,
            [Value::Int(0), Value::Int(left), Value::BulkString(who)] => {
                Vote::Taken(ms(*left), String::from_utf8_lossy(who).into_owned())
            }
            _ => Vote::nonsense(),
        }
    }

    /// Of no answer at all.
    pub(super) fn missing(why: NoAnswer) -> Vote {
        match why {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) => Vote::Refused(why),
            NoAnswer::Unknown(why) => Vote::Silent(why),
        }
    }

    /// Something ran, but who knows what.
    pub(super) fn nonsense() -> Vote {
        Vote::Silent("the server's reply makes no sense".into())
    }
}

/// The answers so far, a place for each server.
#[derive(Debug, Clone)]
pub(super) struct Count {
    pub(super) votes: Vec<Vote>,
    /// The defect: those who did not answer do not count.
    of_answers: bool,
}

impl Count {
    pub(super) fn new(servers: usize, of_answers: bool) -> Count {
        Count {
            votes: vec![Vote::Open; servers],
            of_answers,
        }
    }

    fn number(&self, is: impl Fn(&Vote) -> bool) -> usize {
        self.votes.iter().filter(|vote| is(vote)).count()
    }

    /// How many are needed.
    pub(super) fn needed(&self) -> usize {
        if self.of_answers && self.open() == 0 {
            let answered =
                |vote: &Vote| matches!(vote, Vote::Ours(_) | Vote::Free | Vote::Taken(..));
            return quorum(self.number(answered));
        }
        self.quorum()
    }

    /// How many have not answered yet.
    pub(super) fn open(&self) -> usize {
        self.number(|vote| *vote == Vote::Open)
    }

    pub(super) fn ours(&self) -> usize {
        self.number(|vote| matches!(vote, Vote::Ours(_)))
    }

    /// Nothing of ours is there, for certain.
    pub(super) fn not_ours(&self) -> usize {
        self.number(|vote| matches!(vote, Vote::Free | Vote::Taken(..)))
    }

    /// How many would be needed if none had a defect.
    pub(super) fn quorum(&self) -> usize {
        quorum(self.votes.len())
    }

    /// Asked and not heard, or not heard yet: by number.
    pub(super) fn owing(&self) -> Vec<usize> {
        self.which(|vote| matches!(vote, Vote::Silent(_) | Vote::Open))
    }

    /// Those whose time is over: by number.
    pub(super) fn silent(&self) -> Vec<usize> {
        self.which(|vote| matches!(vote, Vote::Silent(_)))
    }

    fn which(&self, is: impl Fn(&Vote) -> bool) -> Vec<usize> {
        let all = self.votes.iter().enumerate();
        let found = all.filter(|(_, vote)| is(vote));
        found.map(|(server, _)| server).collect()
    }

    pub(super) fn is_won(&self) -> bool {
        self.ours() >= self.needed()
    }

    /// Whatever else comes, it is no quorum.
    pub(super) fn is_impossible(&self) -> bool {
        match self.of_answers {
            true => self.open() == 0 && !self.is_won(),
            false => self.ours() + self.open() < self.needed(),
        }
    }

    /// A quorum says that nothing of ours is there: a quorum of ours is not.
    pub(super) fn is_gone(&self) -> bool {
        self.not_ours() > self.votes.len() - self.quorum()
    }

    /// The highest fencing token of those that are ours.
    pub(super) fn token(&self) -> u64 {
        let tokens = self.votes.iter().map(|vote| match vote {
            Vote::Ours(token) => *token,
            _ => 0,
        });
        tokens.max().unwrap_or(0)
    }

    /// Servers that are ours, by number, if their token passes the test.
    pub(super) fn ours_with(&self, test: impl Fn(u64) -> bool) -> Vec<usize> {
        self.which(|vote| matches!(vote, Vote::Ours(token) if test(*token)))
    }

    /// Others by what they hold: the times left, longest first.
    fn others(&self) -> BTreeMap<&str, Vec<Option<Duration>>> {
        let mut others: BTreeMap<&str, Vec<Option<Duration>>> = BTreeMap::new();
        for vote in &self.votes {
            if let Vote::Taken(left, who) = vote {
                others.entry(who).or_default().push(*left);
            }
        }
        for left in others.values_mut() {
            left.sort_by(|one, other| other.cmp(one));
        }
        others
    }

    /// Somebody else has a quorum: for how long yet.
    pub(super) fn held(&self) -> Option<Option<Duration>> {
        let needed = quorum(self.votes.len());
        let others = self.others();
        let holder = others.values().find(|left| left.len() >= needed)?;
        // When this one ends, fewer than a quorum are left.
        holder.get(needed - 1).copied()
    }

    /// Nobody else can have a quorum, whatever those say that are not heard.
    pub(super) fn cannot_be_held(&self) -> bool {
        let dark =
            self.number(|vote| matches!(vote, Vote::Open | Vote::Refused(_) | Vote::Silent(_)));
        let most = self.others().values().map(Vec::len).max().unwrap_or(0);
        most + dark < quorum(self.votes.len())
    }

    /// Somebody else's vote stands in the way.
    pub(super) fn is_contended(&self) -> bool {
        self.number(|vote| matches!(vote, Vote::Taken(..))) > 0
    }

    /// A quorum says that it is somebody else's.
    pub(super) fn is_gone_to_others(&self) -> bool {
        let taken = self.number(|vote| matches!(vote, Vote::Taken(..)));
        taken > self.votes.len() - self.quorum()
    }

    /// Why there is no quorum, in words.
    pub(super) fn told(&self) -> String {
        let first = self.votes.iter().find_map(|vote| match vote {
            Vote::Refused(why) | Vote::Silent(why) => Some(why.as_str()),
            Vote::Open | Vote::Ours(_) | Vote::Free | Vote::Taken(..) => None,
        });
        let dark = self.number(|vote| matches!(vote, Vote::Refused(_) | Vote::Silent(_)));
        format!(
            "{dark} of {} servers did not answer ({}), and a quorum is {}",
            self.votes.len(),
            first.unwrap_or("one broke off"),
            self.quorum(),
        )
    }

    /// Neither yes nor no: nothing was done if nobody did anything.
    pub(super) fn no_answer(&self) -> CommandError {
        match self.ours() + self.owing().len() {
            0 => CommandError::Failed(self.told()),
            _ => CommandError::Unknown(self.told()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(votes: &[Vote]) -> Count {
        Count {
            votes: votes.to_vec(),
            of_answers: false,
        }
    }

    fn taken(who: &str, ms: u64) -> Vote {
        Vote::Taken(Some(Duration::from_millis(ms)), who.into())
    }

    fn any_vote() -> impl Strategy<Value = Vote> {
        prop_oneof![
            Just(Vote::Open),
            Just(Vote::Ours(1)),
            Just(Vote::Free),
            Just(taken("x", 5)),
            Just(Vote::Refused("no".into())),
            Just(Vote::Silent("late".into())),
        ]
    }

    proptest! {
        #[test]
        fn two_quorums_share_a_server(servers in 1..50_usize) {
            prop_assert!(2 * quorum(servers) > servers && quorum(servers) <= servers);
        }

        /// What is said to be decided stays decided, whatever the open servers answer.
        #[test]
        fn a_decision_is_certain(
            votes in proptest::collection::vec(any_vote(), 1..7),
            rest in proptest::collection::vec(any_vote(), 7),
        ) {
            let now = count(&votes);
            prop_assert!(!(now.is_won() && now.is_impossible()));
            let mut then = now.clone();
            for (vote, answer) in then.votes.iter_mut().zip(rest) {
                if *vote == Vote::Open && answer != Vote::Open {
                    *vote = answer;
                }
            }
            prop_assert!(!now.is_won() || then.is_won());
            prop_assert!(!now.is_impossible() || !then.is_won());
            prop_assert!(!now.is_gone() || then.is_gone() && !then.is_won());
            prop_assert!(now.held().is_none() || !then.is_won());
            prop_assert!(!now.cannot_be_held() || then.held().is_none());
            if now.open() == 0 {
                prop_assert!(now.is_won() || now.is_impossible());
            }
        }
    }

    #[test]
    fn half_of_an_even_number_is_no_quorum() {
        let half = [Vote::Ours(1), Vote::Ours(1), taken("x", 5), taken("x", 5)];
        assert!(count(&half).is_impossible() && count(&half).held().is_none());
        assert!(count(&half[..3]).is_won(), "two of three");
    }

    #[test]
    fn a_holder_is_told_from_rivals_and_ends_with_its_quorum() {
        let held = count(&[taken("x", 9), taken("x", 5), taken("x", 7)]);
        assert_eq!(held.held(), Some(Some(Duration::from_millis(7))));
        let split = count(&[taken("x", 9), taken("y", 5), Vote::Open]);
        assert!(split.held().is_none() && split.is_contended() && !split.cannot_be_held());
    }

    #[test]
    fn nothing_done_is_an_error_and_anything_else_a_doubt() {
        let no = || Vote::Refused("no".into());
        let failed = count(&[no(), no(), Vote::Free]).no_answer();
        assert!(matches!(failed, CommandError::Failed(_)));
        for doubt in [Vote::Silent("late".into()), Vote::Open, Vote::Ours(1)] {
            let unknown = count(&[no(), no(), doubt]).no_answer();
            assert!(matches!(unknown, CommandError::Unknown(_)));
        }
    }

    #[test]
    fn the_defect_counts_only_those_that_answered() {
        let votes = [
            Vote::Ours(1),
            Vote::Refused("no".into()),
            Vote::Refused("no".into()),
        ];
        assert!(!count(&votes).is_won());
        let flawed = Count {
            of_answers: true,
            ..count(&votes)
        };
        assert!(flawed.is_won());
    }
}
