//! A grant that has to be on replicas before anybody is told of it: asked for, and given back if it is
//! not there.

use crate::lock::commands::Release;
use crate::lock::error::CommandError;
use crate::lock::holding::Holding;
use crate::lock::probe::Signal;
use crate::lock::service::AcquireAnswer;
use tokio::time::Instant;

impl Holding {
    /// The answer to an acquire; a grant is one only when it is where it has to be.
    pub(super) async fn answered(&self, until: Instant) -> Result<AcquireAnswer, CommandError> {
        let answer = self.context.service.acquire(&self.ask(until)).await?;
        if matches!(answer, AcquireAnswer::Granted { .. }) && self.options.copies() > 0 {
            // On the heap: few ask for it, and its future is larger than all the rest.
            Box::pin(self.copied(until)).await?;
        }
        Ok(answer)
    }

    /// The grant is on as many replicas as it has to be; else it is given back.
    async fn copied(&self, until: Instant) -> Result<(), CommandError> {
        let wanted = self.options.copies();
        let have = self.context.service.copies(&self.ask(until), wanted).await;
        self.context.probe.on(Signal::Copies {
            grant: self.grant(),
            wanted,
            have: have.as_ref().ok().copied(),
        });
        let why = match have {
            Ok(have) if have >= wanted => return Ok(()),
            Ok(have) => format!("granted, but {have} of {wanted} replicas had it in time"),
            Err(error) => format!("granted, but who has it is not known: {error}"),
        };
        Err(match self.release().await {
            Release::Released => CommandError::Failed(format!("{why}; it was given back")),
            // Elsewhere it may still be.
            Release::AlreadyLost | Release::Unknown(_) => CommandError::Unknown(why),
        })
    }
}
