//! The points of a script: where a worker says that it is there and, if told to, waits.

use super::lab;
use super::record::Record;
use crate::timeline::event::Event;
use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Knows where to wait.
pub(super) struct Stage {
    park_at: HashSet<String>,
    record: Arc<Record>,
    /// The point at which the next acquire stands before it is decided, if it is the first of its
    /// step.
    acquire: Mutex<Option<String>>,
}

impl Stage {
    pub(super) fn new(park_at: &[String], record: &Arc<Record>) -> Self {
        Stage {
            park_at: park_at.iter().cloned().collect(),
            record: Arc::clone(record),
            acquire: Mutex::default(),
        }
    }

    /// The next acquire that is about to be decided stands at this point; none: at no point.
    pub(super) fn arm(&self, point: Option<String>) {
        *self.acquire.lock().unwrap_or_else(PoisonError::into_inner) = point;
    }

    /// An acquire is about to be decided.
    pub(super) fn acquire_armed(&self) {
        let mut armed = self.acquire.lock().unwrap_or_else(PoisonError::into_inner);
        let point = armed.take();
        // Nobody else may have to wait for the lab.
        drop(armed);
        if let Some(point) = point {
            self.pass(point);
        }
    }

    /// Stands at a point; waits there if the lab asked for it.
    pub(super) fn pass(&self, point: String) {
        let waits = self.park_at.contains(&point);
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
