//! Whether a request without an answer was executed: definitely not, or unknown.

use crate::http_link;
use hyper::StatusCode;
use serde_json::Value;
use std::fmt::Display;

/// A status of gRPC, as the gateway passes it on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Code(pub(crate) u64);

impl Code {
    pub(crate) const NOT_FOUND: Code = Code(5);
    pub(crate) const FAILED_PRECONDITION: Code = Code(9);

    /// The server has looked at the request and has done nothing. Each of these is given before the
    /// request is proposed to the others, or by its execution, which then changes nothing. Whatever
    /// else there is, a status that has not been thought of among it, may come after the proposal:
    /// a timeout, a leader that changed, a server that is about to stop.
    fn is_refusal(self) -> bool {
        const INVALID_ARGUMENT: Code = Code(3);
        const PERMISSION_DENIED: Code = Code(7);
        const OUT_OF_RANGE: Code = Code(11);
        const UNIMPLEMENTED: Code = Code(12);
        const UNAUTHENTICATED: Code = Code(16);
        [
            INVALID_ARGUMENT,
            Code::NOT_FOUND,
            PERMISSION_DENIED,
            Code::FAILED_PRECONDITION,
            OUT_OF_RANGE,
            UNIMPLEMENTED,
            UNAUTHENTICATED,
        ]
        .contains(&self)
    }
}

/// Why a request has no answer of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// It never left.
    NotSent(String),
    /// The server refused it and has done nothing.
    Refused(Code, String),
    /// Nobody knows.
    Unknown(String),
}

impl From<http_link::NoAnswer> for NoAnswer {
    fn from(none: http_link::NoAnswer) -> NoAnswer {
        match none {
            http_link::NoAnswer::NotSent(why) => NoAnswer::NotSent(why),
            http_link::NoAnswer::Unknown(why) => NoAnswer::Unknown(why),
        }
    }
}

pub(super) fn not_sent(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::NotSent(why.to_string())
}

/// It had left, or a part of it.
pub(super) fn broken(why: &(impl Display + ?Sized)) -> NoAnswer {
    NoAnswer::Unknown(why.to_string())
}

pub(super) fn late() -> NoAnswer {
    NoAnswer::Unknown("no answer in time".into())
}

/// What an answer other than success means.
pub(super) fn no_answer(status: StatusCode, body: &[u8]) -> NoAnswer {
    match serde_json::from_slice::<Value>(body) {
        Ok(said) if said.get("code").is_some() => refused(&said),
        // No gateway speaks so: somebody on the way does, before or behind the server.
        Ok(_) | Err(_) => NoAnswer::Unknown(format!("answered with status {status}")),
    }
}

/// The same, of what the gateway says.
pub(super) fn refused(said: &Value) -> NoAnswer {
    let message = said.get("message").and_then(Value::as_str);
    let why = message.unwrap_or("no reason given").to_owned();
    let number = said.get("code").or_else(|| said.get("grpc_code"));
    match number.and_then(Value::as_u64).map(Code) {
        Some(code) if code.is_refusal() => NoAnswer::Refused(code, why),
        Some(_) | None => NoAnswer::Unknown(why),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(code: u64) -> NoAnswer {
        let body = format!(r#"{{"error":"why","message":"why","code":{code}}}"#);
        no_answer(StatusCode::BAD_REQUEST, body.as_bytes())
    }

    #[test]
    fn only_what_was_refused_before_it_was_done_is_definite() {
        for code in [3, 5, 7, 9, 11, 12, 16] {
            assert_eq!(told(code), NoAnswer::Refused(Code(code), "why".into()));
        }
        // OK without success, cancelled, unknown, deadline, already there, out of space, aborted,
        // internal, unavailable, data loss, and what nobody has thought of.
        for code in [0, 1, 2, 4, 6, 8, 10, 13, 14, 15, 17, 99] {
            assert_eq!(told(code), NoAnswer::Unknown("why".into()), "{code}");
        }
    }

    #[test]
    fn what_no_gateway_says_is_unknown() {
        for body in ["", "Not Found", "{}", "[]", r#"{"code":"x"}"#] {
            let told = no_answer(StatusCode::BAD_GATEWAY, body.as_bytes());
            assert!(matches!(told, NoAnswer::Unknown(_)), "{body}: {told:?}");
        }
    }
}
