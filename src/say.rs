//! Words for a person, on standard output and standard error.
//!
//! A terminal that went away, a full disk behind a redirection or `| head` must not end a run:
//! what cannot be said is dropped, and the exit code still tells the answer.

use std::io::Write;

/// A line on standard output.
pub fn out(line: impl std::fmt::Display) {
    let mut to = std::io::stdout().lock();
    // Nobody is left who could be told.
    let _ = writeln!(to, "{line}").and_then(|()| to.flush());
}

/// A line on standard error.
pub fn err(line: impl std::fmt::Display) {
    // Nobody is left who could be told.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
