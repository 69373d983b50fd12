//! Everything that is wrong with the experiments of one command, and how it is shown.
//!
//! Plain output is one line a problem, `file:line:column: message; hint`, for editors and CI. On
//! standard error each line is followed by the excerpt it speaks of.

use crate::problem::Problem;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// Longest piece of the input that a message says back, in characters.
const QUOTE_MAX: usize = 60;

/// Longest line that is shown as an excerpt, in bytes.
const LINE_MAX: usize = 240;

/// Why nothing was started.
#[derive(Debug, Clone, Default)]
pub struct Refused {
    told: Vec<Told>,
    /// There are more, beyond the cap.
    untold: bool,
}

/// A problem with the text that it was found in.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub problem: Problem,
    pub excerpt: Option<Excerpt>,
}

/// The line that a problem stands in.
#[derive(Debug, Clone)]
pub(super) struct Excerpt {
    line: String,
    number: usize,
    /// Bytes of the line that are meant.
    span: Range<usize>,
}

impl Refused {
    /// One problem with no text to show.
    pub(super) fn whole(problem: Problem) -> Self {
        let told = Told {
            problem,
            excerpt: None,
        };
        Refused {
            told: vec![told],
            untold: false,
        }
    }

    /// The problems of one file, and whether there are more.
    pub(super) fn of_file(told: Vec<Told>, untold: bool) -> Self {
        Refused { told, untold }
    }

    /// Adds the problems of another file, each only once.
    pub(super) fn merge(&mut self, other: Refused) {
        for told in other.told {
            if !self.told.iter().any(|known| known.problem == told.problem) {
                self.told.push(told);
            }
        }
        self.untold |= other.untold;
    }

    /// Forgets every problem but these, if there are any of these.
    pub(super) fn keep_only(&mut self, wanted: &[Problem]) {
        if !wanted.is_empty() {
            self.told.retain(|told| wanted.contains(&told.problem));
            self.untold = false;
        }
    }

    /// Nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.told.is_empty()
    }

    /// Every problem, in the order of the files and of the places in them.
    pub fn problems(&self) -> Vec<&Problem> {
        self.told.iter().map(|told| &told.problem).collect()
    }

    /// For standard error: each plain line, followed by the excerpt that it speaks of.
    pub fn render(&self, coloured: bool) -> String {
        let renderer = if coloured {
            Renderer::styled()
        } else {
            Renderer::plain()
        };
        let mut out = String::new();
        for told in &self.told {
            out.push_str(&format!("{}\n", told.problem));
            if let Some(excerpt) = &told.excerpt {
                out.push_str(&excerpt.render(&renderer));
                out.push('\n');
            }
        }
        out.push_str(self.untold_line());
        out
    }

    /// No number: beyond the cap, what the main arm and a control have in common counts twice.
    fn untold_line(&self) -> &'static str {
        if self.untold {
            "… and more problems\n"
        } else {
            ""
        }
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for told in &self.told {
            writeln!(f, "{}", told.problem)?;
        }
        f.write_str(self.untold_line())
    }
}

impl std::error::Error for Refused {}

impl Excerpt {
    /// The line around a range, if it is short enough to help. A range over several lines is cut
    /// at the end of its first: the whole would drown the message.
    pub fn of(text: &str, span: &Range<usize>, number: usize) -> Option<Self> {
        let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[span.start..]
            .find('\n')
            .map_or(text.len(), |at| span.start + at);
        let line = text[start..end].trim_end_matches('\r');
        let cut = |at: usize| at.saturating_sub(start).min(line.len());
        (line.len() <= LINE_MAX).then(|| Excerpt {
            line: without_controls(line),
            number,
            span: cut(span.start)..cut(span.end),
        })
    }

    fn render(&self, renderer: &Renderer) -> String {
        let snippet = Snippet::source(&self.line)
            .line_start(self.number)
            .annotation(AnnotationKind::Primary.span(self.span.clone()));
        renderer.render(&[Group::with_level(Level::ERROR).element(snippet)])
    }
}

/// The same number of bytes without what would move the cursor of a terminal.
fn without_controls(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for c in line.chars() {
        if c.is_control() && c != '\t' {
            shown.extend(std::iter::repeat_n('?', c.len_utf8()));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// What was typed, said back: shortened, without control characters.
pub(super) fn quote(typed: &str) -> String {
    let mut shown: String = typed
        .chars()
        .take(QUOTE_MAX)
        .flat_map(|c| {
            if c.is_control() {
                c.escape_default().collect::<Vec<_>>()
            } else {
                vec![c]
            }
        })
        .collect();
    if typed.chars().nth(QUOTE_MAX).is_some() {
        shown.push('…');
    }
    format!("`{shown}`")
}
