//! What `inspect` prints of what a server said.

use super::{Found, Seen};
use crate::ids::OwnerDigest;

/// The lines for one lock.
pub(super) fn told(seen: &Seen, lock: &str) -> Vec<String> {
    let at = humantime::format_rfc3339_seconds(seen.server_time);
    let mut lines = vec![format!("{lock}, server time {at}")];
    let fencing = match &seen.lock {
        Found::Text(value) => holder(&mut lines, value, seen.left_ms),
        Found::Nothing | Found::Other(_) => {
            lines.push("  held by     nobody".to_owned());
            None
        }
    };
    lines.push(format!("  counter     {}", counter(&seen.counter, fencing)));
    lines
}

/// Who holds it; the fencing token, if the value has one.
fn holder(lines: &mut Vec<String>, value: &[u8], left_ms: i64) -> Option<u64> {
    let split = value.iter().rposition(|byte| *byte == b':');
    let fencing = split.and_then(|at| number(&value[at + 1..]));
    let owner = match (split, fencing) {
        (Some(at), Some(_)) => &value[..at],
        _other => value,
    };
    let digest = OwnerDigest::of(owner);
    lines.push(format!(
        "  held by     {digest} (digest of the owner token)"
    ));
    lines.push(match fencing {
        Some(fencing) => format!("  fencing     {fencing}"),
        None => "  fencing     none: lockdrill's lock writes no such value".to_owned(),
    });
    lines.push(match left_ms {
        -1 => "  lease       none: this key never ends by itself".to_owned(),
        -2 => "  lease       over since it was asked who holds it".to_owned(),
        ms => format!("  lease       {ms} ms left"),
    });
    fencing
}

/// Where the counter stands. A grant's fencing token came from it, so that below the token it can
/// only be if the server lost data.
fn counter(counter: &Found, fencing: Option<u64>) -> String {
    let text = match counter {
        Found::Nothing => return "none: lost, or never granted".to_owned(),
        Found::Other(kind) => return format!("none: there is a {kind} in its place"),
        Found::Text(text) => text,
    };
    match (number(text), fencing) {
        (None, _) => "none: there is something else in its place".to_owned(),
        (Some(counter), Some(fencing)) if counter < fencing => {
            format!("{counter}: BELOW the fencing token, so data was lost")
        }
        (Some(counter), _) => counter.to_string(),
    }
}

/// Digits and nothing else: whatever else lies there may be somebody's secret.
fn number(text: &[u8]) -> Option<u64> {
    let digits = !text.is_empty() && text.iter().all(u8::is_ascii_digit);
    std::str::from_utf8(text)
        .ok()
        .filter(|_| digits)?
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::super::time;
    use super::*;

    fn seen(value: &str, left_ms: i64, counter: &str) -> String {
        let seen = Seen {
            lock: Found::Text(value.as_bytes().to_vec()),
            left_ms,
            counter: Found::Text(counter.as_bytes().to_vec()),
            server_time: time(1),
        };
        told(&seen, "{k}").join("\n")
    }

    #[test]
    fn no_owner_token_is_ever_shown() {
        let text = seen("secretsecret:7", 1500, "9");
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains(&OwnerDigest::of(b"secretsecret").0), "{text}");
        assert!(
            text.contains("fencing     7") && text.contains("1500 ms left"),
            "{text}"
        );
        let foreign = seen("secret", -1, "secret:2");
        assert!(
            !foreign.contains("secret") && foreign.contains("never ends"),
            "{foreign}"
        );
    }

    #[test]
    fn a_counter_that_was_lost_is_pointed_out() {
        assert!(seen("o:7", 1, "6").contains("6: BELOW"));
        assert!(!seen("o:7", 1, "7").contains("BELOW"));
    }
}
