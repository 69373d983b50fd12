//! Small pictures of many nights: a bar a night, and a line of one figure. A night has the same
//! place in all of them.

use crate::report::past::trend::{Night, Series};
use maud::{Markup, html};

/// Nights in a picture.
pub(super) const NIGHTS: usize = 40;

/// Width of a picture of many nights; few nights take less.
const WIDTH: usize = 320;
const BAR_MAX: usize = 16;
const HEIGHT: usize = 30;
const BELOW: usize = 10;
const LINE: usize = 22;

/// The nights that are shown, oldest first.
pub(super) struct Shown<'d> {
    pub dates: Vec<&'d String>,
    step: usize,
}

impl<'d> Shown<'d> {
    pub fn new(dates: Vec<&'d String>) -> Self {
        let step = (WIDTH / dates.len().max(1)).clamp(WIDTH / NIGHTS, BAR_MAX);
        Shown { dates, step }
    }

    fn width(&self) -> usize {
        self.step * self.dates.len().max(1)
    }

    /// A bar a night, its parts its executions, and below it the share that was not settled at once.
    pub fn verdicts(&self, series: &Series) -> Markup {
        let label = format!("{}: {} nights", series.drill, series.nights.len());
        let (width, height) = (self.width(), HEIGHT + BELOW);
        html! {
            svg.trend viewBox=(format!("0 0 {width} {height}")) width=(width) height=(height) role="img" aria-label=(label) {
                @for (place, date) in self.dates.iter().enumerate() {
                    @if let Some(night) = series.nights.get(*date) { (self.bar(place, date, night)) }
                }
                line x1="0" x2=(width) y1=(HEIGHT) y2=(HEIGHT) class="t-axis" {}
            }
        }
    }

    fn bar(&self, place: usize, date: &str, night: &Night) -> Markup {
        let all = night.executions().max(1) as usize;
        let words = ["pass", "limit", "fail", "inconclusive"];
        let mut parts = Vec::new();
        let mut below = 0;
        let mut told = date.to_owned() + ":";
        for (n, word) in night.counts.iter().zip(words) {
            if *n == 0 {
                continue;
            }
            let upto = below + *n as usize;
            // A single bad one among a thousand is still seen.
            let height = ((upto - below) * (HEIGHT - 2) / all).max(3);
            let top = HEIGHT.saturating_sub(below * (HEIGHT - 2) / all + height);
            parts.push((top, height, word));
            below = upto;
            told.push_str(&format!(" {n} {word}"));
        }
        if night.unsettled > 0 {
            told.push_str(&format!("; {} inconclusive or repeated", night.unsettled));
        }
        let unsettled = (night.unsettled as usize * (BELOW - 2)).div_ceil(all);
        let (x, w) = (place * self.step, self.step - 1);
        html! {
            g {
                title { (told) }
                @for (y, height, word) in parts {
                    rect x=(x) y=(y) width=(w) height=(height) class=(format!("t-{word}")) {}
                }
                @if unsettled > 0 { rect x=(x) y=(HEIGHT + 1) width=(w) height=(unsettled) class="t-flake" {} }
            }
        }
    }

    /// One figure over the nights, from nothing to its most; none if no night has it, or if one
    /// night alone would make a line.
    pub fn line(&self, series: &Series, value: impl Fn(&Night) -> Option<i64>) -> Markup {
        let values: Vec<(usize, i64)> = self
            .dates
            .iter()
            .enumerate()
            .filter_map(|(place, date)| Some((place, value(series.nights.get(*date)?)?)))
            .collect();
        if values.len() < 2 {
            return html! {};
        }
        let least = values.iter().map(|(_, value)| *value).fold(0, i64::min);
        let most = values.iter().map(|(_, value)| *value).fold(1, i64::max);
        let range = most.saturating_sub(least).max(1) as f64;
        let y = |value: i64| {
            let part = value.saturating_sub(least) as f64 / range;
            // Nothing below zero: it is in 0..=1.
            1 + ((1.0 - part) * (LINE - 3) as f64) as usize
        };
        let points = values
            .iter()
            .map(|(place, value)| format!("{},{}", place * self.step + self.step / 2, y(*value)));
        let points = points.collect::<Vec<_>>().join(" ");
        html! {
            svg.line viewBox=(format!("0 0 {} {LINE}", self.width())) width=(self.width() / 2) height=(LINE) aria-hidden="true" {
                @if least < 0 { line x1="0" x2=(self.width()) y1=(y(0)) y2=(y(0)) class="t-zero" {} }
                polyline points=(points) class="t-line" {}
            }
        }
    }
}
