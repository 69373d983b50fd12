//! Reads `timeline.jsonl` line by line, without holding the file in memory.
//!
//! A torn last line (the lab died while writing) is accepted and told. A newer format is refused.
//! So is a file that was damaged after it was written, with the number of the line that shows it:
//! the recorder writes whole lines, each `seq` higher than the one before, so a line that cannot
//! be read, or whose `seq` does not rise, is none of its own. A gap in `seq` is: it becomes a
//! defect of the record.

use super::event::{Event, FORMAT, Line};
use super::history::History;
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
    /// A line of it is no line of a timeline.
    #[error("the record is damaged: line {number} cannot be read ({why})")]
    Unreadable {
        /// The line, counted from 1 within the file.
        number: u64,
        /// Why it cannot be read.
        why: String,
    },
    /// Lines of it were doubled, moved or put together from several records.
    #[error(
        "the record is damaged: line {number} has seq {seq} and stands after seq {before}; lines \
         were doubled or moved"
    )]
    Disordered {
        /// The line, counted from 1 within the file.
        number: u64,
        /// Its `seq`.
        seq: u64,
        /// The `seq` of the line before it.
        before: u64,
    },
}

/// What a reader met beside the lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Read {
    /// The last line is torn: its first bytes are there, its end is not.
    pub torn: bool,
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
    let mut last = None;
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
                refuse_disorder(&line, number, last)?;
                last = Some(line.seq);
                read.lines += 1;
                take(line);
            }
            Err(_) if !whole => read.torn = true,
            Err(error) => {
                return Err(match newer_format(&text) {
                    Some(found) => ReadError::Newer { found },
                    None => ReadError::Unreadable {
                        number,
                        why: error.to_string(),
                    },
                });
            }
        }
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
    Ok((collector.finish(), told))
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

fn refuse_disorder(line: &Line, number: u64, last: Option<u64>) -> Result<(), ReadError> {
    match last {
        Some(before) if line.seq <= before => Err(ReadError::Disordered {
            number,
            seq: line.seq,
            before,
        }),
        _rises => Ok(()),
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
        assert_eq!((lines.len(), read.torn), (2, true));
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
    fn garbage_in_the_middle_is_refused_with_its_place() {
        for garbage in ["{]", "hello", "\0\0\0", &NOTE.replace("note", "rumour")] {
            let told = lines(&format!("{START}\n\n{garbage}\n{NOTE}\n"));
            let refused = matches!(told, Err(ReadError::Unreadable { number: 3, .. }));
            assert!(refused, "{garbage}: {told:?}");
        }
    }

    #[test]
    fn doubled_and_reversed_lines_are_refused_with_their_place() {
        let doubled = lines(&format!("{START}\n{NOTE}\n{NOTE}\n")).unwrap_err();
        assert_eq!(
            doubled.to_string(),
            "the record is damaged: line 3 has seq 1 and stands after seq 1; lines were doubled or moved"
        );
        let reversed = lines(&format!("{NOTE}\n{START}\n"));
        assert!(matches!(
            reversed,
            Err(ReadError::Disordered {
                number: 2,
                seq: 0,
                before: 1
            })
        ));
    }

    #[test]
    fn a_gap_is_read_over_and_left_to_the_history() {
        let later = NOTE.replace("\"seq\":1", "\"seq\":7");
        let (lines, _) = lines(&format!("{START}\n{later}\n")).unwrap();
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn a_file_of_something_else_is_refused() {
        let told = lines("hello\nworld\n");
        assert!(matches!(told, Err(ReadError::Unreadable { number: 1, .. })));
    }
}
