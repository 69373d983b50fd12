//! Isolation and cleanup, with real processes: whoever is killed, nothing is left and no stopped
//! writer gets to write. Counted from outside, by the identities of the processes.
#![allow(clippy::unwrap_used)]

mod begin;
mod clean;
mod doctor;
mod kill9;
mod lab;
mod roles;
mod serving;
