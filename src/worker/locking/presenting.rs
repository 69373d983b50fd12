//! What a worker presents to the store: its grant, and a fencing token that is the lock's, or not.

use super::Lock;
use crate::ids::FencingToken;
use crate::lock::LockHandle;
use crate::lock::service::LockName;
use crate::plan::Fencing;
use crate::timeline::event::{Answer, Call, Outcome};
use crate::worker::claim::Claim;
use std::time::Duration;

/// How long the lock service may take to draw a fencing token.
const DRAW: Duration = Duration::from_secs(2);

impl Lock<'_> {
    /// Draws a new fencing token without the lock; what the worker does from now on presents it.
    pub(in crate::worker) async fn refence(&mut self) {
        let op = self.record.invoke(Call::Refence);
        let name = LockName {
            prefix: self.prefix.to_owned(),
            key: self.key.to_owned(),
        };
        let until = tokio::time::Instant::now() + DRAW;
        let (outcome, answer) = match self.service.draw(&name, until).await {
            Ok(fencing) => {
                self.drawn = Some(fencing);
                (Outcome::Ok, Answer::Drawn { fencing })
            }
            Err(error) => {
                let message = error.to_string();
                (Outcome::Fail, Answer::Error { message })
            }
        };
        self.record.answer(op, outcome, answer);
    }

    /// What a write presents.
    pub(in crate::worker) fn claim(&self) -> Claim {
        let handle = self.handle.as_ref();
        handle.map_or_else(
            || Claim::without_grant(self.key),
            |handle| self.claim_of(handle),
        )
    }

    /// How often it was granted so far.
    pub(in crate::worker) const fn grants(&self) -> u64 {
        self.grants
    }

    /// The grant that the latest step brought, told once.
    pub(in crate::worker) fn newly_granted(&mut self) -> Option<Claim> {
        let new = std::mem::take(&mut self.new);
        let handle = self.handle.as_ref().filter(|_| new);
        handle.map(|handle| self.claim_of(handle))
    }

    fn claim_of(&self, handle: &LockHandle) -> Claim {
        Claim {
            key: self.key.to_owned(),
            owner: Some(handle.owner()),
            grant: Some(handle.grant().clone()),
            fencing: match self.fencing {
                Fencing::Lock => self.drawn.or_else(|| handle.fencing_token()),
                Fencing::OwnCounter => Some(FencingToken(self.grants)),
            },
        }
    }
}
