//! A redis.conf to its settings, each with its place: what `server.config` names.
//!
//! Read as Redis reads it: one setting a line, words split by spaces unless quoted, names in any
//! case. An `include` is followed where it stands; a relative path is taken from the file that
//! names it.

use super::place::At;
use super::reading::Reading;
use super::refused::quote;
use crate::env::redis::directives;
use std::fs::File;
use std::io::Read;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Largest file that is looked at.
const BYTES_MAX: u64 = 1 << 20;

/// Most files that include one another.
const DEPTH_MAX: usize = 8;

/// Most settings of all files together.
const SETTINGS_MAX: usize = 2000;

/// One setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Setting {
    /// In lower case.
    pub name: String,
    /// Its words, unquoted.
    pub words: Vec<String>,
    /// The line as it stands, without spaces around it.
    pub line: String,
    pub at: At,
    /// `file:line`.
    pub place: String,
}

impl Setting {
    /// Its words as one value, in lower case if there is only one.
    pub fn value(&self) -> String {
        match self.words.as_slice() {
            [only] => only.to_ascii_lowercase(),
            words => words.join(" "),
        }
    }
}

/// Reads a file of settings; `at` is where it was named. What is wrong is told.
pub(super) fn read(reading: &mut Reading, at: &At, typed: &str) -> Vec<Setting> {
    let mut settings = Vec::new();
    file(reading, (at, Path::new(typed)), DEPTH_MAX, &mut settings);
    settings
}

fn file(
    reading: &mut Reading,
    (named_at, path): (&At, &Path),
    deeper: usize,
    settings: &mut Vec<Setting>,
) {
    let shown = path.display().to_string();
    if deeper == 0 {
        let message = format!("more than {DEPTH_MAX} files include one another");
        return reading.problem(named_at, message);
    }
    let text = match text_of(path) {
        Ok(text) => text,
        Err(why) => {
            let message = format!("{} {why}", quote(&shown));
            let hint = "a relative path starts where lockdrill was called, or beside the file that includes it";
            return reading.hinted(named_at, message, hint);
        }
    };
    let source = reading.sources.add(&shown, &text);
    for (number, span) in lines(&text).enumerate() {
        let at = At { source, span };
        let line = text[at.span.clone()].to_owned();
        let place = format!("{shown}:{}", number + 1);
        let Some(setting) = setting(reading, line, at, place) else {
            continue;
        };
        if setting.name != "include" {
            settings.push(setting);
        } else {
            for named in &setting.words {
                include(reading, (&setting.at, path, named), deeper - 1, settings);
            }
        }
        if settings.len() > SETTINGS_MAX {
            let message = format!("more than {SETTINGS_MAX} settings");
            return reading.problem(named_at, message);
        }
    }
}

fn include(
    reading: &mut Reading,
    (at, from, named): (&At, &Path, &str),
    deeper: usize,
    settings: &mut Vec<Setting>,
) {
    if named.contains(['*', '?', '[']) {
        let message = format!("`include` names many files: {}", quote(named));
        return reading.hinted(at, message, "include each by its name");
    }
    let path: PathBuf = from.parent().unwrap_or(Path::new("")).join(named);
    file(reading, (at, &path), deeper, settings);
}

/// The trimmed range of each line.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.split_inclusive('\n').scan(0, |start, line| {
        let from = *start + (line.len() - line.trim_start().len());
        *start += line.len();
        Some(from..from + line.trim().len())
    })
}

/// A line as a setting; none if it says nothing, or what is wrong with it is told.
fn setting(reading: &mut Reading, line: String, at: At, place: String) -> Option<Setting> {
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    let Some(mut words) = words(&line) else {
        reading.problem(
            &at,
            "a quote is not closed, or something follows it at once",
        );
        return None;
    };
    if words.is_empty() {
        return None;
    }
    let name = words.remove(0).to_ascii_lowercase();
    if let Some(meant) = directives::meant(&name) {
        let message = format!("redis-server has no setting {}", quote(&name));
        reading.hinted(&at, message, format!("did you mean `{meant}`?"));
        return None;
    }
    if words.is_empty() {
        reading.problem(&at, format!("{} has no value", quote(&name)));
        return None;
    }
    Some(Setting {
        name,
        words,
        line,
        at,
        place,
    })
}

/// The words of a line, unquoted; none if a quote does not end, or ends inside a word.
fn words(line: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let (word, after) = match first {
            '"' | '\'' => quoted(&rest[1..], first)?,
            _ => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (rest[..end].to_owned(), &rest[end..])
            }
        };
        if !(after.is_empty() || after.starts_with(char::is_whitespace)) {
            return None;
        }
        words.push(word);
        rest = after.trim_start();
    }
    Some(words)
}

/// What stands up to the closing quote, and what follows it. In double quotes a backslash makes
/// the next character plain; in single ones only a quote.
fn quoted(text: &str, close: char) -> Option<(String, &str)> {
    let mut word = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if close == '"' || text[at + 1..].starts_with('\'') => {
                word.push(chars.next()?.1);
            }
            c if c == close => return Some((word, &text[at + c.len_utf8()..])),
            c => word.push(c),
        }
    }
    None
}

fn text_of(path: &Path) -> Result<String, String> {
    let cannot = |error: std::io::Error| format!("cannot be read: {error}");
    let meta = std::fs::metadata(path).map_err(cannot)?;
    if !meta.is_file() {
        return Err("is no regular file".to_owned());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(cannot)?;
    file.take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)
        .map_err(cannot)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err("is larger than 1 MiB".to_owned());
    }
    let text = String::from_utf8(bytes).ok();
    text.filter(|text| !text.contains('\0'))
        .ok_or_else(|| "is not a text file".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_redis_splits_it() {
        let split = |line: &str| words(line).map(|words| words.join("|"));
        assert_eq!(split("save 900 1").as_deref(), Some("save|900|1"));
        assert_eq!(split("save \"\"").as_deref(), Some("save|"));
        assert_eq!(
            split(r#"a "b \"c" 'd e'"#).as_deref(),
            Some(r#"a|b "c|d e"#)
        );
        for broken in ["a \"b", "a 'b", "a \"b\"c"] {
            assert_eq!(split(broken), None, "{broken}");
        }
    }

    #[test]
    fn places_are_those_of_the_trimmed_lines() {
        let text = "port 1\r\n\n  hz 10  \nlast";
        let found: Vec<&str> = lines(text).map(|span| &text[span]).collect();
        assert_eq!(found, ["port 1", "", "hz 10", "last"]);
    }
}
