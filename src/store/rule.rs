//! The one rule of every fenced store, as a pure function, so that a store which compares in the
//! client and one which compares on the server cannot drift apart.
//!
//! The trap: `>=` without the grant lets two grants with the same fencing token both write, which
//! is exactly what a lock service that lost its counter hands out.

use super::Attempt;
use crate::ids::{FencingToken, GrantId};
use serde::{Deserialize, Serialize};

/// Who decides whether an attempt is applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// The rule, on the mark as it stands when the store is changed.
    Inside,
    /// Somebody else, beforehand.
    Before {
        /// What was decided.
        admitted: bool,
    },
}

impl Decision {
    /// As it is said to a server.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Decision::Inside => "inside",
            Decision::Before { admitted: true } => "yes",
            Decision::Before { admitted: false } => "no",
        }
    }
}

/// What the state of a job decides, before its writer's fencing token is looked at: who finds it
/// done changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobRule {
    /// Nothing: it is done once more.
    Blind,
    /// Looked at when the store is changed.
    Inside,
    /// Looked at beforehand: it was done.
    Done,
}

impl JobRule {
    /// After a look beforehand.
    pub(super) const fn seen(times_done: u64) -> JobRule {
        if times_done > 0 {
            JobRule::Done
        } else {
            JobRule::Blind
        }
    }

    /// As it is said to a server.
    pub(super) const fn word(self) -> &'static str {
        match self {
            JobRule::Blind => "blind",
            JobRule::Inside => "inside",
            JobRule::Done => "done",
        }
    }
}

/// What is decided of an attempt before it leaves: by its fencing token, and by its job.
pub type Ruling = (Decision, JobRule);

/// The newest fencing token that a store has accepted, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Mark {
    /// Highest fencing token accepted; none if none ever was.
    pub highest: Option<FencingToken>,
    /// The grant that raised the mark to it.
    pub grant: Option<GrantId>,
}

impl Mark {
    /// May this attempt be applied? An attempt without a fencing token never may; one that equals
    /// the mark may only if it comes from the same, named grant and `once` is off.
    pub fn admits(&self, attempt: &Attempt, once: bool) -> bool {
        let Some(presented) = attempt.fencing else {
            return false;
        };
        let Some(highest) = self.highest else {
            return true;
        };
        let same_grant = attempt.grant.is_some() && attempt.grant == self.grant;
        presented > highest || (presented == highest && same_grant && !once)
    }

    /// The mark after an attempt was applied, whether the rule was asked or not: it only rises,
    /// and a token that was seen before stays with the grant that brought it.
    #[must_use]
    pub fn raised_by(self, attempt: &Attempt) -> Mark {
        match (attempt.fencing, self.highest) {
            (Some(presented), Some(highest)) if presented <= highest => self,
            (None, _) => self,
            (Some(presented), _) => Mark {
                highest: Some(presented),
                grant: attempt.grant.clone(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mark(highest: u64, grant: &str) -> Mark {
        Mark {
            highest: Some(FencingToken(highest)),
            grant: Some(GrantId(grant.to_owned())),
        }
    }

    fn attempt(fencing: Option<u64>, grant: Option<&str>) -> Attempt {
        Attempt {
            resource: "account".to_owned(),
            write: "a.write.1".to_owned(),
            based_on: None,
            grant: grant.map(|name| GrantId(name.to_owned())),
            fencing: fencing.map(FencingToken),
            job: None,
            if_pending: false,
        }
    }

    #[test]
    fn a_newer_token_is_admitted_and_an_older_one_is_not() {
        assert!(mark(7, "a.1").admits(&attempt(Some(8), Some("b.1")), false));
        assert!(!mark(7, "a.1").admits(&attempt(Some(6), Some("b.1")), false));
        assert!(Mark::default().admits(&attempt(Some(1), Some("b.1")), true));
    }

    #[test]
    fn an_equal_token_is_admitted_for_its_own_grant_alone() {
        assert!(mark(7, "a.1").admits(&attempt(Some(7), Some("a.1")), false));
        assert!(!mark(7, "a.1").admits(&attempt(Some(7), Some("b.1")), false));
        assert!(!mark(7, "a.1").admits(&attempt(Some(7), None), false));
    }

    #[test]
    fn two_writers_without_a_grant_are_not_the_same_grant() {
        let anonymous = Mark {
            highest: Some(FencingToken(7)),
            grant: None,
        };
        assert!(!anonymous.admits(&attempt(Some(7), None), false));
    }

    #[test]
    fn once_admits_each_token_one_time() {
        assert!(!mark(7, "a.1").admits(&attempt(Some(7), Some("a.1")), true));
        assert!(mark(7, "a.1").admits(&attempt(Some(8), Some("a.2")), true));
    }

    #[test]
    fn no_token_is_never_admitted_and_moves_nothing() {
        assert!(!Mark::default().admits(&attempt(None, Some("a.1")), false));
        let before = mark(7, "a.1");
        assert_eq!(
            before.clone().raised_by(&attempt(None, Some("b.1"))),
            before
        );
    }

    #[test]
    fn the_mark_never_falls_and_keeps_its_first_grant() {
        let before = mark(7, "a.1");
        let older = attempt(Some(3), Some("b.1"));
        let equal = attempt(Some(7), Some("b.1"));
        assert_eq!(before.clone().raised_by(&older), before);
        assert_eq!(before.clone().raised_by(&equal), before);
        assert_eq!(
            before.raised_by(&attempt(Some(9), Some("b.1"))),
            mark(9, "b.1")
        );
    }
}
