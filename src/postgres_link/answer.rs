//! Whether a statement without an answer was executed: definitely not, or unknown.

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, Severity, SqlState};

/// Why a statement has no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// The server refused it and rolled back whatever it had done.
    Refused(SqlState, String),
    /// Nobody knows.
    Unknown(String),
}

impl NoAnswer {
    /// In words.
    #[cfg(feature = "lab")]
    pub(crate) fn why(self) -> String {
        match self {
            NoAnswer::NotSent(why) | NoAnswer::Refused(_, why) | NoAnswer::Unknown(why) => why,
        }
    }

    /// The next statement should go to a new connection: this one may still bring a late reply, or
    /// leads to a server that takes no writes.
    pub(super) fn is_suspect(&self) -> bool {
        match self {
            NoAnswer::NotSent(_) => false,
            NoAnswer::Refused(code, _) => *code == SqlState::READ_ONLY_SQL_TRANSACTION,
            NoAnswer::Unknown(_) => true,
        }
    }
}

/// How far a statement had come when it was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nothing of it had left.
    Connecting,
    /// It was handed to the connection, and may have left.
    Sent,
}

pub(super) fn late(stage: Stage) -> NoAnswer {
    match stage {
        Stage::Connecting => NoAnswer::NotSent("no connection in time".into()),
        Stage::Sent => NoAnswer::Unknown("no answer in time".into()),
    }
}

/// Whether a statement that brought an error was executed: definitely not, or unknown.
pub(super) fn no_answer(stage: Stage, error: &Error) -> NoAnswer {
    match (stage, error.as_db_error()) {
        (Stage::Connecting, Some(db)) => NoAnswer::NotSent(in_server_words(db)),
        (Stage::Connecting, None) => NoAnswer::NotSent(error.to_string()),
        (Stage::Sent, Some(db)) if is_rolled_back(db.parsed_severity(), db.code()) => {
            NoAnswer::Refused(db.code().clone(), in_server_words(db))
        }
        (Stage::Sent, Some(db)) => NoAnswer::Unknown(in_server_words(db)),
        // Broken off, or an answer that cannot be read: the driver tells no more.
        (Stage::Sent, None) => NoAnswer::Unknown(error.to_string()),
    }
}

/// An error rolls the transaction back, and each of our statements is one. What ends the session
/// may come after the commit, while a standby is waited for; and a server that says itself that it
/// does not know is believed.
fn is_rolled_back(severity: Option<Severity>, code: &SqlState) -> bool {
    let is_error = !matches!(severity, Some(Severity::Fatal | Severity::Panic));
    // Class 08 is a broken connection, be it to a server behind this one; 57P0x is a shutdown.
    let in_doubt = code.code().starts_with("08")
        || code.code().starts_with("57P")
        || *code == SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN;
    is_error && !in_doubt
}

/// Code and message. Never the detail: it quotes rows, and an owner token stands in one.
fn in_server_words(error: &DbError) -> String {
    format!("{} {}", error.code().code(), error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_that_rolls_back_is_a_refusal() {
        use Severity::{Error, Fatal, Panic};
        for (severity, code, rolled_back) in [
            (Some(Error), "55P03", true),
            (Some(Error), "25006", true),
            (Some(Error), "57014", true),
            (Some(Error), "42P01", true),
            (Some(Error), "53100", true),
            (None, "22021", true),
            (Some(Error), "40003", false),
            (Some(Error), "08007", false),
            (Some(Error), "57P01", false),
            (Some(Fatal), "57P01", false),
            (Some(Fatal), "25P03", false),
            (Some(Panic), "53100", false),
        ] {
            let is = is_rolled_back(severity, &SqlState::from_code(code));
            assert_eq!(is, rolled_back, "{code}");
        }
    }
}
