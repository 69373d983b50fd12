//! Which fencing token was issued with which grant, and what is wrong with a write that presents
//! another pair.

use super::super::say::token;
use crate::ids::{FencingToken, GrantId};
use crate::timeline::event::{Answer, Call};
use crate::timeline::history::{History, StoreAttempt};
use foldhash::HashSet;

/// The pairs of grant and fencing token that were issued together.
pub(super) struct Issued<'a> {
    pairs: HashSet<(&'a GrantId, Option<FencingToken>)>,
    /// Nothing on the record ties a grant to a token: no pair can be called borrowed.
    blind: bool,
}

impl<'a> Issued<'a> {
    pub(super) fn new(history: &'a History) -> Self {
        let mut pairs = HashSet::default();
        for grant in &history.grants {
            if let Some(id) = &grant.id {
                pairs.insert((id, grant.fencing));
            }
        }
        let whole = !history.grants.is_empty()
            && history
                .observers
                .values()
                .all(|observer| observer.gaps.is_empty());
        if !whole {
            for operation in &history.operations {
                if let (Call::Attempt { grant, .. }, Some(Answer::Granted { fencing, .. })) =
                    (&operation.call, operation.answer())
                {
                    pairs.insert((grant, *fencing));
                }
            }
        }
        Issued {
            blind: pairs.is_empty() && history.operations.is_empty(),
            pairs,
        }
    }

    pub(super) fn lacks(&self, write: &StoreAttempt) -> bool {
        let pair = write.grant.as_ref().map(|grant| (grant, write.fencing));
        !self.blind && pair.is_none_or(|pair| !self.pairs.contains(&pair))
    }
}

/// What is wrong with what a write presents: the grant, the fencing token, or that both are not
/// there.
pub(super) fn unissued(history: &History, write: &StoreAttempt) -> String {
    let known = write.grant.as_ref().and_then(|id| history.grant_of(id));
    match (
        &write.grant,
        write.fencing,
        known.and_then(|own| own.fencing),
    ) {
        (None, None, _) => "and without any grant: a write without the lock".to_owned(),
        (None, Some(_), _) => {
            "and without any grant: a fencing token that it has from elsewhere".to_owned()
        }
        (Some(_), None, Some(own)) => {
            format!("although its grant came with {}", token(Some(own)))
        }
        (Some(_), None, None) => "under a grant that is not on the record".to_owned(),
        (Some(_), Some(_), _) => "a token that was never issued to its grant".to_owned(),
    }
}
