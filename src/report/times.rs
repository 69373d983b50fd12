//! What measured times ask of a lease: the least that they allow, and whether the one there is too
//! short for them by more than they can tell. The page of a run and the index say the same by this.

use super::measures::{renewal_times, work_times};
use super::past::trend::Night;
use super::words::{span, span_beside};
use crate::timeline::history::{History, ms};

/// The times that bear upon the lease, ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The lease.
    pub lease: u64,
    /// How often it is renewed; none if it is not.
    pub renew: Option<u64>,
    /// The slowest renewal that worked; 0 if none did.
    pub slowest: u64,
    /// The longest work that was finished; none if none was.
    pub longest: Option<u64>,
    /// Less than this they do not tell.
    pub noise: u64,
}

/// How a lease stands to what the times ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stands {
    /// Nothing was measured.
    Untold,
    /// At least as long.
    LongEnough,
    /// Shorter by less than the noise of the times.
    WithinNoise,
    /// Shorter by more.
    TooShort,
}

impl Times {
    /// Of one run.
    pub fn of(history: &History) -> Times {
        let lock = &history.plan.lock;
        Times {
            lease: ms(lock.lease_ms),
            renew: lock.renew_ms.map(ms),
            slowest: renewal_times(history).into_iter().max().unwrap_or(0),
            longest: work_times(history).into_iter().max(),
            noise: noise(history),
        }
    }

    /// Of all runs of a night, by the figures that are kept of them.
    pub fn of_night(night: &Night) -> Option<Times> {
        let figure = |name: &str| night.figure(name).map(i64::unsigned_abs);
        Some(Times {
            lease: figure("lease_min_ns")?,
            renew: figure("renew_max_ns"),
            slowest: figure("renewal_max_ns").unwrap_or(0),
            longest: figure("work_max_ns"),
            noise: figure("noise_max_ns").unwrap_or(NOISE),
        })
    }

    /// The least lease that they allow, ns; none if nothing was measured.
    pub fn least(&self) -> Option<u64> {
        match self.renew {
            Some(every) => Some(outlives(every, self.slowest)),
            None => self.longest.map(suggested),
        }
    }

    /// How the lease stands to that.
    pub fn stands(&self) -> Stands {
        match self.least() {
            None => Stands::Untold,
            Some(least) if least <= self.lease => Stands::LongEnough,
            Some(least) if least - self.lease <= self.noise => Stands::WithinNoise,
            Some(_) => Stands::TooShort,
        }
    }

    /// What they suggest, in a sentence without its full stop.
    pub fn suggestion(&self) -> String {
        let Some(least) = self.least() else {
            return format!(
                "no work was finished here, so nothing is suggested; the lease is {}",
                span(self.lease)
            );
        };
        let (lease, beside) = (
            span_beside(self.lease, least),
            span_beside(least, self.lease),
        );
        match (self.renew, self.longest.map(span)) {
            // What no renewal has shown is not in it.
            (Some(every), _) if self.slowest == 0 => format!(
                "it is renewed every {}, so work of any length fits as long as renewals get through. None worked here. Three such intervals are {beside}; this lease of {lease} is {}",
                span(every),
                self.compared(least)
            ),
            (Some(every), _) => format!(
                "it is renewed every {}, so work of any length fits as long as renewals get through. Three such intervals and the slowest renewal on top are {beside}: so long a lease outlives two renewals in a row that fail. This one of {lease} is {}",
                span(every),
                self.compared(least)
            ),
            (None, Some(longest)) => match self.stands() {
                Stands::TooShort => format!(
                    "a lease of {beside} at least, which is twice the longest work of {longest}, rounded up; the lease here is {lease} and is not renewed"
                ),
                Stands::WithinNoise => format!(
                    "nothing: twice the longest work of {longest}, rounded up, is {beside}, and the lease of {lease}, which is not renewed, is {}",
                    self.compared(least)
                ),
                Stands::LongEnough | Stands::Untold => format!(
                    "nothing: the lease of {lease} is at least twice as long as the longest work of {longest}; that is no reason to shorten it, because a lease must also outlast pauses of the process and a slow network"
                ),
            },
            (None, None) => String::new(),
        }
    }

    /// The lease beside the least, in words that follow *it is*.
    fn compared(&self, least: u64) -> String {
        let by = span(least.abs_diff(self.lease));
        match self.stands() {
            Stands::WithinNoise => format!(
                "as long as that: {by} are less than the noise of these times ({})",
                span(self.noise)
            ),
            Stands::TooShort => format!("{by} shorter than that"),
            Stands::LongEnough | Stands::Untold if least == self.lease => "just as long".to_owned(),
            Stands::LongEnough | Stands::Untold => {
                format!("{by} longer; that is no reason to shorten it")
            }
        }
    }

    /// The same in a cell of a table.
    pub fn cell(&self) -> String {
        let Some(least) = self.least() else {
            return format!("has {}", span(self.lease));
        };
        let (lease, beside) = (
            span_beside(self.lease, least),
            span_beside(least, self.lease),
        );
        let so = match self.stands() {
            Stands::TooShort => ": too short for these times".to_owned(),
            Stands::WithinNoise => {
                format!(
                    ": the same within the noise of these times, {}",
                    span(self.noise)
                )
            }
            Stands::LongEnough | Stands::Untold => String::new(),
        };
        format!("has {lease}; least {beside}{so}")
    }
}

/// What no machine tells apart even if no line says that it stalled, ns.
const NOISE: u64 = 15_000_000;

/// Less than this the times of a run do not tell: for so long the host kept the lab from running at a
/// stretch, or may have, without a line that says so, ns.
pub fn noise(history: &History) -> u64 {
    let stalls = history.stalls.iter().map(|stall| stall.span.len());
    stalls.max().unwrap_or(0).max(NOISE)
}

/// The least lease, if it is not renewed, that the longest work time allows, ns: twice as long, rounded
/// up to two digits, so that work which takes twice as long as ever measured still fits.
pub fn suggested(longest: u64) -> u64 {
    let twice = longest.saturating_mul(2);
    let mut unit = 1;
    while twice / unit >= 100 {
        unit *= 10;
    }
    twice.div_ceil(unit).saturating_mul(unit)
}

/// How long a lease outlives two renewals in a row that fail, ns: three intervals and the slowest
/// renewal on top.
pub fn outlives(every: u64, slowest: u64) -> u64 {
    every.saturating_mul(3).saturating_add(slowest)
}
