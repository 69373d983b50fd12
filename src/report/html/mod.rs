//! `report.html`: one file that needs no network and no server, with a content policy that allows
//! its own style and script by hash and nothing else. Everything from outside goes through maud's
//! escaping.

mod arms;
mod checks;
mod controls;
mod figures;
mod glossary;
mod links;
mod raw;
mod server;
mod shell;
mod siblings;
mod signals;
mod summary;
mod tail;
mod terms;
mod terms_of_nights;
mod terms_of_servers;
mod units;

use super::error::ReportError;
use super::model::Model;
use super::{Writer, put, runs};
use links::Links;
use maud::{Markup, PreEscaped, html};
use std::path::{Path, PathBuf};

pub(super) use glossary::section as words_used;
pub(super) use shell::{shell, shell_with};

/// Name of the page in a run directory.
pub const FILE: &str = "report.html";

/// The page of a run from the folder of all runs, if it is still there.
pub(super) fn of_run(root: &Path, drill: &str, run: &str) -> Option<String> {
    let page = format!("{drill}/{run}/{FILE}");
    root.join(&page).is_file().then_some(page)
}

/// The writer.
pub(super) struct Html;

impl Writer for Html {
    fn name(&self) -> &'static str {
        FILE
    }

    fn write(&self, model: &Model) -> Result<Option<PathBuf>, ReportError> {
        let path = model.dir.join(FILE);
        put(&path, page(model)?.as_bytes())?;
        Ok(Some(path))
    }
}

/// The page as text.
///
/// # Errors
/// When its script or data cannot be made.
pub fn page(model: &Model) -> Result<String, ReportError> {
    let links = Links::new(model);
    let series = runs::series(model);
    // The raw lines come last: they must know what was linked.
    let body = html! {
        (summary::section(model, &series, &links))
        (figures::timeline(model, &links))
        (arms::holders(model, &links))
        (checks::section(model, &links))
        (controls::section(model, &links))
        (figures::charts(model, &links))
        (signals::section(model, &links))
        (tail::untested(model, &links))
        (tail::what_ran(model))
        (server::section(model))
        (siblings::section(model, &series))
    }
    .into_string();
    let words = glossary::section(&body);
    let raw: Markup = raw::section(model, &links)?;
    let title = format!(
        "{}: {}",
        model.result.drill,
        super::words::verdict_word(model.result.verdict)
    );
    Ok(shell(&title, &html! { (PreEscaped(body)) (words) (raw) }).into_string())
}
