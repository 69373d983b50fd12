//! Writes the timeline: one line an event, in arrival order.
//!
//! Lines are gathered and written in batches; the director flushes at least every 10 ms and
//! always before a fault, a go or a kill, so that the record never lags behind what was done.

use crate::timeline::event::{By, Event, Line};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Append-only writer of one timeline.
#[derive(Debug)]
pub struct Recorder<W: Write = File> {
    out: BufWriter<W>,
    next_seq: u64,
}

impl Recorder<File> {
    /// Creates the file; it must not exist yet.
    ///
    /// # Errors
    /// When it cannot be created.
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Recorder::new(File::create_new(path)?))
    }
}

impl<W: Write> Recorder<W> {
    /// A recorder that writes to anything.
    pub fn new(out: W) -> Self {
        Recorder {
            out: BufWriter::with_capacity(1 << 16, out),
            next_seq: 0,
        }
    }

    /// Appends one event and returns its line.
    ///
    /// # Errors
    /// When the disk is full or gone; what was written before stays readable.
    pub fn append(&mut self, at: u64, by: By, event: Event) -> io::Result<Line> {
        let line = Line {
            seq: self.next_seq,
            at,
            by,
            event,
        };
        serde_json::to_writer(&mut self.out, &line)?;
        self.out.write_all(b"\n")?;
        self.next_seq += 1;
        Ok(line)
    }

    /// Hands everything to the operating system.
    ///
    /// # Errors
    /// When the disk is full or gone.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_without_gaps_and_read_back_equal() {
        let mut bytes = Vec::new();
        let mut written = Vec::new();
        {
            let mut recorder = Recorder::new(&mut bytes);
            for text in ["one", "t\nwo"] {
                let event = Event::Note { text: text.into() };
                written.push(recorder.append(7, By::Lab, event).unwrap());
            }
            recorder.flush().unwrap();
        }
        let text = String::from_utf8(bytes).unwrap();
        let read: Vec<Line> = text
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(read, written);
        assert_eq!(read.iter().map(|line| line.seq).collect::<Vec<_>>(), [0, 1]);
    }
}
