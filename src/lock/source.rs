//! Where owner tokens and grant ids come from. Fresh ones for every attempt: a token that served
//! twice could make a late command of an earlier attempt look like the present grant.

use crate::ids::{GrantId, OwnerDigest, OwnerToken};
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
        let owner = self.owner()?;
        Ok(Identity {
            digest: owner.digest(),
            owner,
            grant: self.grant(),
        })
    }
}

/// Who an attempt is.
#[derive(Debug, Clone)]
pub struct Identity {
    /// Its owner token.
    pub owner: OwnerToken,
    /// Digest of the owner token.
    pub digest: OwnerDigest,
    /// Its id.
    pub grant: GrantId,
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
        let owner = self.owner()?;
        let digest = owner.digest();
        Ok(Identity {
            owner,
            grant: GrantId(digest.0.clone()),
            digest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_grant_id_is_the_digest_of_the_owner_token() {
        let identity = SystemSource.identity().unwrap();
        assert_eq!(identity.grant.0, identity.owner.digest().0);
        assert_eq!(identity.digest, identity.owner.digest());
        assert_ne!(SystemSource.identity().unwrap().grant, identity.grant);
    }
}
