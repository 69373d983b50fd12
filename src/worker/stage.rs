//! The points of a script: where a worker says that it is there and, if told to, waits.

use super::lab;
use super::record::Record;
use crate::timeline::event::Event;
use std::collections::HashSet;

/// Knows where to wait.
pub(super) struct Stage<'a> {
    park_at: HashSet<&'a str>,
    record: &'a Record,
}

impl<'a> Stage<'a> {
    pub(super) fn new(park_at: &'a [String], record: &'a Record) -> Self {
        Stage {
            park_at: park_at.iter().map(String::as_str).collect(),
            record,
        }
    }

    /// Stands at a point; waits there if the lab asked for it.
    pub(super) fn pass(&self, point: String) {
        let waits = self.park_at.contains(point.as_str());
        self.stand(point, waits);
    }

    /// Stands at a point and waits there.
    pub(super) fn wait(&self, point: String) {
        self.stand(point, true);
    }

    /// `Resumed` is the first thing after the byte: whoever stops this process while it waits,
    /// and writes the byte while it is stopped, sees no `Resumed` until it is continued.
    fn stand(&self, point: String, waits: bool) {
        tracing::debug!(%point, waits, "at a point");
        self.record.tell(Event::Point {
            point: point.clone(),
            waits,
        });
        if waits {
            lab::wait_for_go();
            self.record.tell(Event::Resumed { point });
        }
    }
}
