//! Durations as they stand in an experiment file: a string with a unit, whole milliseconds.

use std::time::Duration;

/// Longest duration that makes sense in a drill: one day, in milliseconds.
const MAX_MS: u64 = 24 * 3600 * 1000;

/// Longest text that is looked at. `humantime` 2.4 panics on sums that overflow its seconds
/// (`18446744073709551615s1000ms`); nothing this short can reach them.
const TEXT_MAX: usize = 16;

/// What is wrong with a text that should be a duration: a message and what to write.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bad {
    pub message: String,
    pub hint: String,
}

/// Reads a duration as whole milliseconds. Zero is a duration; whoever cannot use it says so.
pub(super) fn parse(text: &str) -> Result<u64, Bad> {
    let typed = super::refused::quote(text);
    if !text.is_empty() && text.chars().all(|c| c.is_ascii_digit() || c == '.') {
        return Err(Bad {
            message: format!("{typed} has no unit"),
            hint: format!("{}?", meant(text)),
        });
    }
    let not_one = || Bad {
        message: format!("{typed} is not a duration"),
        hint: "write a number with a unit: `1500ms`, `2s`, `1m`".to_owned(),
    };
    if text.len() > TEXT_MAX {
        return Err(not_one());
    }
    let duration = humantime::parse_duration(text).map_err(|_| not_one())?;
    whole_ms(duration).ok_or_else(|| Bad {
        message: format!("{typed} is not a whole number of milliseconds up to one day"),
        hint: "the smallest step is `1ms`".to_owned(),
    })
}

fn whole_ms(duration: Duration) -> Option<u64> {
    let ms = u64::try_from(duration.as_millis()).ok()?;
    let whole = duration.subsec_nanos().is_multiple_of(1_000_000);
    (whole && ms <= MAX_MS).then_some(ms)
}

/// The durations that a bare number may have meant: `2000` is `2000ms` or `2s`.
pub(super) fn meant(number: &str) -> String {
    match number.parse::<u64>() {
        Ok(ms) if ms >= 1000 && ms.is_multiple_of(1000) => {
            format!("`\"{ms}ms\"` or `\"{}s\"`", ms / 1000)
        }
        Ok(ms) => format!("`\"{ms}ms\"` or `\"{ms}s\"`"),
        Err(_) => format!("`\"{number}s\"`"),
    }
}

/// A duration as one would write it.
pub(super) fn show(ms: u64) -> String {
    if ms >= 1000 && ms.is_multiple_of(1000) {
        format!("{}s", ms / 1000)
    } else {
        format!("{ms}ms")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_whole_milliseconds() {
        for (text, ms) in [
            ("1500ms", 1500),
            ("1.5s", 1500),
            ("2s", 2000),
            ("1m", 60_000),
            ("0s", 0),
            ("1s 500ms", 1500),
            ("1d", MAX_MS),
        ] {
            assert_eq!(parse(text), Ok(ms), "{text}");
        }
    }

    #[test]
    fn a_bad_duration_is_told_what_to_write() {
        let told = |text| match parse(text) {
            Ok(ms) => panic!("{text} is {ms} ms"),
            Err(bad) => format!("{}; {}", bad.message, bad.hint),
        };
        assert_eq!(told("2000"), r#"`2000` has no unit; `"2000ms"` or `"2s"`?"#);
        assert_eq!(told("5"), r#"`5` has no unit; `"5ms"` or `"5s"`?"#);
        assert_eq!(told("1.5"), r#"`1.5` has no unit; `"1.5s"`?"#);
        assert_eq!(
            told("5 parsecs"),
            "`5 parsecs` is not a duration; write a number with a unit: `1500ms`, `2s`, `1m`"
        );
        assert_eq!(
            told("0.5ms"),
            "`0.5ms` is not a whole number of milliseconds up to one day; the smallest step is `1ms`"
        );
        for text in [
            "",
            "-2s",
            "s",
            "2days",
            "1500us",
            "18446744073709551615s1000ms",
            "é",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
