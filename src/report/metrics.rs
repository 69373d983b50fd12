//! `metrics.prom`: the seven signals of the main arm, the verdict and how near it was, in the text
//! format of Prometheus. Durations are seconds and counters end in `_total`, as its conventions
//! want; a figure that the run has not is not there.

use super::counts::{Counts, counts};
use super::error::ReportError;
use super::holds;
use super::measures;
use super::model::Model;
use super::nearness;
use super::scene::Scene;
use super::words::verdict_word;
use super::{Writer, put};
use crate::timeline::history::History;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Name of the file.
pub const FILE: &str = "metrics.prom";

/// The writer.
pub(super) struct Metrics;

impl Writer for Metrics {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let path = model.dir.join(FILE);
        put(&path, text(model).as_bytes())?;
        Ok(Some(path))
    }
}

/// The whole file.
pub fn text(model: &Model) -> String {
    let drill = escaped(&model.result.drill);
    let mut page = Page {
        text: String::new(),
        drill: format!("drill=\"{drill}\""),
    };
    let verdicts = ["pass", "limit", "fail", "inconclusive"].map(|word| {
        let is = u64::from(word == verdict_word(model.result.verdict));
        (format!("verdict=\"{word}\""), is as f64)
    });
    page.family(
        "lockdrill_verdict",
        "gauge",
        "1 for the verdict of the drill, 0 for the others.",
        verdicts,
    );
    let main = model.main();
    if let Some((main, record)) = main.and_then(|main| Some((main, main.record.as_ref()?))) {
        signals_of(&mut page, &record.history, &main.scene);
        let margin = nearness::margins(&main.scene).into_iter().min();
        let margin = margin.map(|ns| (String::new(), ns as f64 / 1e9));
        page.family(
            "lockdrill_renewal_margin_seconds",
            "gauge",
            "Least time left of the lease when a renewal was sent; negative if it had ended.",
            margin,
        );
    }
    page.text
}

fn signals_of(page: &mut Page, history: &History, scene: &Scene) {
    let (counts, held) = (counts(history, scene), holds::holds(scene));
    let by = |label: &'static str, of: &[(&'static str, usize)]| -> Vec<(String, f64)> {
        let sample = |(name, n): &(&str, usize)| (format!("{label}=\"{name}\""), *n as f64);
        of.iter().map(sample).collect()
    };
    page.family(
        "lockdrill_acquire_attempts_total",
        "counter",
        "Acquire commands by their outcome.",
        by("outcome", &counts.attempts),
    );
    page.summary(
        "lockdrill_wait_seconds",
        "Time until a step that asked for the lock had it.",
        measures::waits(history),
    );
    page.summary(
        "lockdrill_hold_seconds",
        "Time for which the server named a holder, of grants that ended on the record.",
        holds::ended(&held),
    );
    page.family(
        "lockdrill_renewals_total",
        "counter",
        "Renewals by their outcome.",
        by("outcome", &counts.renewals),
    );
    page.summary(
        "lockdrill_renewal_seconds",
        "Time that a renewal that worked took.",
        measures::renewal_times(history),
    );
    nearness_of(page, history);
    page.family(
        "lockdrill_stale_writes_total",
        "counter",
        "Writes with an older fencing token than the store knew, by what the store did.",
        by("store", &counts.stale),
    );
    page.family(
        "lockdrill_tokenless_writes_total",
        "counter",
        "Writes without a grant and without a fencing token, by what the store did.",
        by("store", &counts.tokenless),
    );
    page.family(
        "lockdrill_unknown_outcomes_total",
        "counter",
        "Operations whose outcome nobody was told.",
        by("kind", &[("operation", counts.unknown)]),
    );
    beside(page, &counts, &held);
}

/// What the seven signals do not say: what has not ended, what nobody heard of, what was done to servers.
fn beside(page: &mut Page, counts: &Counts, held: &[holds::Hold]) {
    let one = |label: &str, n: usize| [(label.to_owned(), n as f64)];
    page.family(
        "lockdrill_held_at_end",
        "gauge",
        "Grants still held when the record ends.",
        [(String::new(), holds::open(held).len() as f64)],
    );
    page.family(
        "lockdrill_unheard_grants_total",
        "counter",
        "Grants that the server made and of which the worker that had asked never heard.",
        one("kind=\"grant\"", counts.unheard),
    );
    page.family(
        "lockdrill_lock_server_exits_total",
        "counter",
        "Times that a server of the lab ended during the run.",
        one("kind=\"server\"", counts.server_exits),
    );
    let done = counts.done_to_servers.iter().map(|(kind, server, times)| {
        let labels = format!("kind=\"{}\",server=\"{}\"", escaped(kind), escaped(server));
        (labels, *times as f64)
    });
    page.family(
        "lockdrill_lock_server_faults_total",
        "counter",
        "What the drill did to servers, by kind of fault.",
        done,
    );
}

fn nearness_of(page: &mut Page, history: &History) {
    page.summary(
        "lockdrill_work_seconds",
        "Time from the grant to the release asked for.",
        measures::work_times(history),
    );
    page.summary(
        "lockdrill_loss_notice_seconds",
        "Time from a holder's own deadline until it was told of its loss.",
        nearness::notices(history),
    );
}

struct Page {
    text: String,
    drill: String,
}

impl Page {
    /// One metric with its samples, if there are any: labels beyond the drill's, and value.
    fn family(
        &mut self,
        name: &str,
        kind: &str,
        help: &str,
        samples: impl IntoIterator<Item = (String, f64)>,
    ) {
        let mut samples = samples.into_iter().peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            self.sample(name, &labels, value);
        }
    }

    fn summary(&mut self, name: &str, help: &str, ns: Vec<u64>) {
        let mut sorted = ns;
        sorted.sort_unstable();
        if sorted.is_empty() {
            return;
        }
        let at = |percent| measures::nearest_rank(&sorted, percent).unwrap_or(0) as f64 / 1e9;
        let _ = writeln!(self.text, "# HELP {name} {help}\n# TYPE {name} summary");
        for (quantile, percent) in [("0.5", 50), ("0.95", 95), ("0.99", 99), ("1", 100)] {
            self.sample(name, &format!("quantile=\"{quantile}\""), at(percent));
        }
        let sum: f64 = sorted.iter().map(|ns| *ns as f64 / 1e9).sum();
        self.sample(&format!("{name}_sum"), "", sum);
        self.sample(&format!("{name}_count"), "", sorted.len() as f64);
    }

    fn sample(&mut self, name: &str, labels: &str, value: f64) {
        let comma = if labels.is_empty() { "" } else { "," };
        let _ = writeln!(self.text, "{name}{{{}{comma}{labels}}} {value}", self.drill);
    }
}

/// A label's value as the format wants it.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}
