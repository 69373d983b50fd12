//! Names for the things that must never be swapped: owner tokens, fencing tokens, grants.
//!
//! A raw owner token is a secret of one grant: it never appears in `Debug`, `Display`, logs or
//! records. What may be shown is its [`OwnerDigest`].

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;

/// The random, unordered proof of ownership of one grant; compared for release and renewal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct OwnerToken(String);

impl OwnerToken {
    /// Wraps a token from a source other than [`OwnerToken::fresh`] (tests, foreign clients).
    pub fn new(raw: impl Into<String>) -> Self {
        OwnerToken(raw.into())
    }

    /// 128 random bits from the operating system, in hex.
    ///
    /// # Errors
    /// When the operating system cannot give random bytes.
    pub fn fresh() -> Result<Self, getrandom::Error> {
        let mut bytes = [0_u8; 16];
        getrandom::fill(&mut bytes)?;
        Ok(OwnerToken(hex(&bytes)))
    }

    /// The secret itself, for the one command that sends it. Never log it.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// What may be shown: the first 48 bits of the token's SHA-256, in hex.
    pub fn digest(&self) -> OwnerDigest {
        OwnerDigest::of(self.0.as_bytes())
    }
}

impl fmt::Debug for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OwnerToken({})", self.digest())
    }
}

impl fmt::Display for OwnerToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.digest())
    }
}

/// A short digest of an owner token: safe to show, enough to tell two grants apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OwnerDigest(pub String);

impl OwnerDigest {
    /// The digest of a raw token as it lies on a server.
    pub fn of(raw: &[u8]) -> Self {
        OwnerDigest(hex(&Sha256::digest(raw)[..6]))
    }
}

impl fmt::Display for OwnerDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The ordered number of one grant, compared by the protected store. Below 2^53, so that every
/// JSON reader and every Lua script holds it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FencingToken(pub u64);

impl fmt::Display for FencingToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The identity of one acquisition attempt, and of the grant that it may become; minted by the
/// caller before the attempt is sent. Not a secret.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GrantId(pub String);

impl fmt::Display for GrantId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Lower-case hex of any bytes.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |value: u8| char::from(DIGITS[usize::from(value & 15)]);
    bytes
        .iter()
        .flat_map(|byte| [digit(byte >> 4), digit(*byte)])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raw_owner_token_is_never_shown() {
        let token = OwnerToken::fresh().unwrap();
        let shown = format!("{token} {token:?} {}", token.digest());
        assert!(!shown.contains(token.expose()));
        assert_eq!(token.expose().len(), 32, "128 bits in hex");
    }

    #[test]
    fn fresh_tokens_differ() {
        assert_ne!(
            OwnerToken::fresh().unwrap().expose(),
            OwnerToken::fresh().unwrap().expose()
        );
    }
}
