//! A number and its unit stand on one line: each such pair is held together where it is shown.

use maud::{Markup, html};

const UNITS: [&str; 4] = ["s", "ms", "µs", "%"];

/// Words in which no line ends between a number and its unit.
pub fn tied(words: &str) -> Markup {
    let (mut rest, mut parts) = (words, Vec::new());
    while let Some((from, to)) = first(rest) {
        parts.push((&rest[..from], &rest[from..to]));
        rest = &rest[to..];
    }
    html! {
        @for (before, pair) in parts { (before) span.u { (pair) } }
        (rest)
    }
}

/// From where to where the first number with its unit stands.
fn first(words: &str) -> Option<(usize, usize)> {
    words.match_indices(' ').find_map(|(space, _)| {
        let number = words[..space].rfind(|c: char| !c.is_ascii_digit() && c != '.');
        let from = number.map_or(0, |last| {
            last + words[last..].chars().next().map_or(1, char::len_utf8)
        });
        let after = &words[space + 1..];
        let unit = UNITS.iter().find(|unit| {
            let end = after.strip_prefix(**unit);
            end.is_some_and(|end| !end.starts_with(char::is_alphanumeric))
        })?;
        let is_number = words[from..space].ends_with(|c: char| c.is_ascii_digit());
        is_number.then_some((from, space + 1 + unit.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_keeps_its_unit_and_nothing_else_changes() {
        let told = tied("at 3.10 s, 42 ms after; 97.5 % of 3 seals, 5 µs; <b> 7 s").into_string();
        assert_eq!(
            told,
            "at <span class=\"u\">3.10 s</span>, <span class=\"u\">42 ms</span> after; <span class=\"u\">97.5 %</span> of 3 seals, <span class=\"u\">5 µs</span>; &lt;b&gt; <span class=\"u\">7 s</span>"
        );
        assert_eq!(tied("no number s").into_string(), "no number s");
        assert_eq!(tied("é s").into_string(), "é s");
    }
}
