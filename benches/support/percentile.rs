//! Percentiles of measured times.

use std::time::Duration;

/// Of sorted times.
pub fn at(times: &[Duration], percent: usize) -> Duration {
    times[(times.len() - 1) * percent / 100]
}

/// The same in microseconds.
pub fn micros(times: &[Duration], percent: usize) -> f64 {
    at(times, percent).as_secs_f64() * 1e6
}
