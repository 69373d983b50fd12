//! Kinds of attempts as the logs of stores spell them.

use super::AttemptKind;

pub(super) const fn word(kind: AttemptKind) -> &'static str {
    match kind {
        AttemptKind::Write => "write",
        AttemptKind::Seal => "seal",
        AttemptKind::Read => "read",
    }
}

pub(super) fn kind(word: &str) -> Option<AttemptKind> {
    match word {
        "write" => Some(AttemptKind::Write),
        "seal" => Some(AttemptKind::Seal),
        "read" => Some(AttemptKind::Read),
        _ => None,
    }
}
