//! Whether a request without an answer was executed: definitely not, or unknown.

use std::fmt;

/// What a server says in place of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) i32);

impl Code {
    pub(crate) const NO_NODE: Code = Code(-101);
    pub(crate) const NODE_EXISTS: Code = Code(-110);
    pub(crate) const SESSION_EXPIRED: Code = Code(-112);

    /// The server has looked at the request and has changed nothing. Each of these is given in
    /// place of the change. Whatever else there is, a code that has not been thought of among it,
    /// may come after it: a connection lost within a quorum, a timeout, an error of the server's.
    const fn is_refusal(self) -> bool {
        matches!(
            self.0,
            // Cannot be read, unimplemented, bad arguments.
            -5 | -6 | -8
            // No such node, no permission, another version, no children below such a node, there
            // already, not empty.
            | -101 | -102 | -103 | -108 | -110 | -111
            // The session has ended, a list of permissions that is none, no such user, taken up
            // at another member, that member only reads, too much at once.
            | -112 | -114 | -115 | -118 | -119 | -127
        )
    }
}

/// Why a request has no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// The server refused it and has done nothing.
    Refused(Code),
    /// Nobody knows.
    Unknown(String),
}

impl NoAnswer {
    /// What a code means that stands where an answer should.
    pub(crate) fn told(code: i32) -> NoAnswer {
        match Code(code) {
            code if code.is_refusal() => NoAnswer::Refused(code),
            Code(code) => NoAnswer::Unknown(format!("the server said {code}")),
        }
    }

    /// The same of a request that has not left because something else went wrong before.
    pub(crate) fn before_it(self) -> NoAnswer {
        NoAnswer::NotSent(self.to_string())
    }
}

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoAnswer::NotSent(why) | NoAnswer::Unknown(why) => f.write_str(why),
            NoAnswer::Refused(Code::NO_NODE) => f.write_str("there is no such node"),
            NoAnswer::Refused(Code::NODE_EXISTS) => f.write_str("there is such a node"),
            NoAnswer::Refused(Code::SESSION_EXPIRED) => f.write_str("the session has ended"),
            NoAnswer::Refused(Code(code)) => write!(f, "the server refused it: {code}"),
        }
    }
}

pub(super) fn not_sent(why: &dyn fmt::Display) -> NoAnswer {
    NoAnswer::NotSent(why.to_string())
}

/// It had left, or a part of it.
pub(super) fn broken(why: &dyn fmt::Display) -> NoAnswer {
    NoAnswer::Unknown(why.to_string())
}

pub(super) fn late() -> NoAnswer {
    NoAnswer::Unknown("no answer in time".into())
}

pub(crate) fn nonsense() -> NoAnswer {
    NoAnswer::Unknown("the server's answer makes no sense".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_refused_in_place_of_the_change_is_definite() {
        for code in [
            -5, -6, -8, -101, -102, -103, -108, -110, -111, -112, -118, -127,
        ] {
            assert_eq!(NoAnswer::told(code), NoAnswer::Refused(Code(code)));
        }
        // An error of the server's, inconsistencies, a lost connection, a timeout, an operation
        // that was rolled back with others, a quorum that changes, what nobody has thought of.
        for code in [0, -1, -2, -3, -4, -7, -9, -13, -14, -100, -125, 7] {
            assert!(
                matches!(NoAnswer::told(code), NoAnswer::Unknown(_)),
                "{code}"
            );
        }
    }
}
