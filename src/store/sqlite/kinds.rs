//! Kinds of attempts as the SQLite store's log spells them.

use super::super::AttemptKind;
use rusqlite::Result;

pub(super) const fn word(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::Write => "write",
        AttemptKind::Seal => "seal",
        AttemptKind::Read => "read",
    }
}

pub(super) fn kind(word: &str) -> Result<AttemptKind> {
    match word {
        "write" => Ok(AttemptKind::Write),
        "seal" => Ok(AttemptKind::Seal),
        "read" => Ok(AttemptKind::Read),
        _ => Err(rusqlite::Error::InvalidQuery),
    }
}
