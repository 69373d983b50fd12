//! Reads `timeline.jsonl` line by line, without holding the file in memory.
//!
//! A torn last line (the lab died while writing) is accepted and told. A newer format is refused.
//! Any other line that cannot be read is skipped and told: the gap in `seq` that it leaves, and
//! the text itself, become defects of the record.

use super::event::{Event, FORMAT, Line};
use super::history::{Defect, History};
use crate::plan::Plan;
use std::io::BufRead;

/// A record that cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error("cannot read the timeline: {0}")]
    Io(#[from] std::io::Error),
    /// It was written by a newer lockdrill.
    #[error("the timeline has format {found}; this lockdrill reads up to {FORMAT}")]
    Newer {
        /// Its format.
        found: u64,
    },
    /// Nothing in it is a line of a timeline.
    #[error("this is not a timeline: no line of it can be read")]
    Foreign,
}

/// What a reader met beside the lines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Read {
    /// The last line is torn: its first bytes are there, its end is not.
    pub torn: bool,
    /// Lines that cannot be read, counted from 1 within the file, with the reason; the first few.
    pub unreadable: Vec<(u64, String)>,
    /// How many such lines there are.
    pub unreadable_count: u64,
    /// Lines read.
    pub lines: u64,
}

/// Gives every readable line of a timeline to `take`, in the order of the file.
///
/// # Errors
/// See [`ReadError`].
pub fn read(mut input: impl BufRead, mut take: impl FnMut(Line)) -> Result<Read, ReadError> {
    let mut read = Read::default();
    let mut text = Vec::new();
    let mut number = 0;
    loop {
        text.clear();
        if input.read_until(b'\n', &mut text)? == 0 {
            break;
        }
        number += 1;
        let whole = text.last() == Some(&b'\n');
        if text.trim_ascii().is_empty() {
            continue;
        }
        match line(&text) {
            Ok(line) => {
                refuse_newer(&line)?;
                read.lines += 1;
                take(line);
            }
            Err(_) if !whole => read.torn = true,
            Err(error) => {
                if let Some(found) = newer_format(&text) {
                    return Err(ReadError::Newer { found });
                }
                read.unreadable_count += 1;
                if read.unreadable.len() < 5 {
                    read.unreadable.push((number, error.to_string()));
                }
            }
        }
    }
    if read.lines == 0 && read.unreadable_count > 0 {
        return Err(ReadError::Foreign);
    }
    Ok(read)
}

/// Reads a timeline straight into a history.
///
/// # Errors
/// See [`ReadError`].
pub fn read_history(plan: &Plan, input: impl BufRead) -> Result<(History, Read), ReadError> {
    let mut collector = History::collector(plan);
    let told = read(input, |line| collector.push(line))?;
    let mut history = collector.finish();
    if let Some((number, why)) = told.unreadable.first() {
        let what = format!(
            "{} lines of the file cannot be read, the first: {number} ({why})",
            told.unreadable_count
        );
        history.defects.push(Defect {
            events: Vec::new(),
            what,
        });
    }
    Ok((history, told))
}

/// One line. Its text is checked once as a whole: to check each string by itself takes longer.
fn line(text: &[u8]) -> serde_json::Result<Line> {
    match std::str::from_utf8(text) {
        Ok(text) => serde_json::from_str(text),
        Err(_) => serde_json::from_slice(text),
    }
}

fn refuse_newer(line: &Line) -> Result<(), ReadError> {
    match &line.event {
        Event::Start { format, .. } if *format > FORMAT => Err(ReadError::Newer {
            found: u64::from(*format),
        }),
        _other => Ok(()),
    }
}

/// The format of a first line that this version cannot read because it has grown.
fn newer_format(text: &[u8]) -> Option<u64> {
    let value: serde_json::Value = serde_json::from_slice(text).ok()?;
    let format = value.get("event")?.get("start")?.get("format")?.as_u64()?;
    (format > u64::from(FORMAT)).then_some(format)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"seq":0,"at":0,"by":"lab","event":{"start":{"format":1,"drill":"d","arm":"main","run":"r","isolation":"guard"}}}"#;
    const NOTE: &str = r#"{"seq":1,"at":5,"by":"lab","event":{"note":{"text":"hello"}}}"#;

    fn lines(text: &str) -> Result<(Vec<Line>, Read), ReadError> {
        let mut lines = Vec::new();
        let read = read(text.as_bytes(), |line| lines.push(line))?;
        Ok((lines, read))
    }

    #[test]
    fn a_torn_last_line_is_told_and_the_rest_is_read() {
        let text = format!("{START}\n{NOTE}\n{}", &NOTE[..20]);
        let (lines, read) = lines(&text).unwrap();
        assert_eq!(
            (lines.len(), read.torn, read.unreadable_count),
            (2, true, 0)
        );
    }

    #[test]
    fn a_whole_last_line_without_its_newline_is_not_torn() {
        let (lines, read) = lines(&format!("{START}\n{NOTE}")).unwrap();
        assert_eq!((lines.len(), read.torn), (2, false));
    }

    #[test]
    fn a_newer_format_is_refused_even_if_its_first_line_has_grown() {
        let newer = START.replace("\"format\":1", "\"format\":2");
        assert!(matches!(lines(&newer), Err(ReadError::Newer { found: 2 })));
        let grown = newer.replace("\"run\":", "\"colour\":1,\"run\":") + "\n";
        assert!(matches!(lines(&grown), Err(ReadError::Newer { found: 2 })));
    }

    #[test]
    fn garbage_in_the_middle_is_told_with_its_place() {
        let (lines, read) = lines(&format!("{START}\n{{]\n{NOTE}\n")).unwrap();
        assert_eq!(lines.len(), 2);
        assert_eq!(read.unreadable[0].0, 2);
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        assert!(matches!(lines("hello\nworld\n"), Err(ReadError::Foreign)));
    }
}
