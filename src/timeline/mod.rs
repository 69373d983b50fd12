//! The record of one arm: an append-only list of events, and the same read back as a history.

pub mod event;
pub mod history;
pub mod names;
pub mod reader;
