//! Where owner tokens and grant ids come from. Fresh ones for every attempt: a token that served
//! twice could make a late command of an earlier attempt look like the present grant.

use crate::ids::{GrantId, OwnerToken};
use crate::lock::error::LockError;

/// Gives each acquire attempt its identity. A resend of the same attempt asks for nothing.
pub trait TokenSource: Send + Sync {
    /// A fresh owner token.
    ///
    /// # Errors
    /// When there is no randomness to make it from.
    fn owner(&self) -> Result<OwnerToken, LockError>;

    /// A fresh id for the attempt and the grant that it may become.
    fn grant(&self) -> GrantId;

    /// All of it for one attempt.
    ///
    /// # Errors
    /// As [`TokenSource::owner`].
    fn identity(&self) -> Result<Identity, LockError> {
        Ok(Identity {
            owner: self.owner()?,
            grant: Some(self.grant()),
        })
    }
}

/// Who an attempt is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Its owner token.
    pub owner: OwnerToken,
    /// Its id; none = the digest of its owner token, made when somebody asks.
    pub grant: Option<GrantId>,
}

/// 128 random bits from the operating system as owner token, its digest as grant id.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemSource;

impl TokenSource for SystemSource {
    fn owner(&self) -> Result<OwnerToken, LockError> {
        OwnerToken::fresh().map_err(|error| LockError::NoRandomness(error.to_string()))
    }

    fn grant(&self) -> GrantId {
        GrantId(
            self.owner()
                .map_or_else(|_| String::new(), |owner| owner.digest().0),
        )
    }

    fn identity(&self) -> Result<Identity, LockError> {
        Ok(Identity {
            owner: self.owner()?,
            grant: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_attempt_has_an_owner_token_of_its_own() {
        let owner = || SystemSource.identity().unwrap().owner;
        assert_ne!(owner(), owner());
    }
}
