//! The raw timeline: rows that stand in the page, and all shown lines once more as compressed
//! data, from which the script makes a table that can be searched line by line.
//!
//! Rows that something links to always stand in the page, so that links work without the script.

use super::links::Links;
use crate::report::describe::Teller;
use crate::report::error::ReportError;
use crate::report::model::{ArmModel, Model};
use crate::report::record::ArmRecord;
use crate::report::words::at_ms;
use crate::timeline::event::Line;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};

/// An arm with more lines than this shows only linked lines without the script.
const STATIC_MAX: usize = 1_000;

pub fn section(model: &Model, links: &Links) -> Result<Markup, ReportError> {
    let mut tables = Vec::new();
    for arm in &model.arms {
        if let Some(record) = arm.record.as_ref().filter(|record| record.total > 0) {
            tables.push(table(arm, record, links)?);
        }
    }
    Ok(html! {
        section id="timeline" {
            h2 { "The raw timeline" }
            p.lead { "Every sentence above rests on lines of this record. Times are seconds since the arm began, when the lab wrote or read the line: what a server or a store did, it did a little before. The number is the order of arrival and no evidence of order." }
            @for table in &tables { (table) }
            @if tables.is_empty() { p { "Nothing was recorded." } }
        }
    })
}

fn table(arm: &ArmModel, record: &ArmRecord, links: &Links) -> Result<Markup, ReportError> {
    let teller = Teller::new(&record.history);
    let used = links.used(arm);
    let all = record.lines.len() <= STATIC_MAX;
    let standing = record
        .lines
        .iter()
        .enumerate()
        .filter(|(place, line)| {
            arm.place(line.seq) == Some(*place) && (all || used.contains(&line.seq))
        })
        .map(|(_, line)| line);
    let prefix = arm.anchor(0);
    let prefix = prefix.trim_end_matches('0');
    Ok(html! {
        details.raw open[arm.index == 0] data-prefix=(prefix) {
            summary { "Arm " code { (arm.result.arm) } ", " (shown(record)) }
            div.filter hidden {
                label { "who " select.who { option value="" { "everybody" } } }
                label { "kind " select.kind { option value="" { "everything" } } }
                label.find { "text " input.text type="search" placeholder="write, fencing token 1, …"; }
                span.count aria-live="polite" {}
            }
            table.lines {
                thead { tr {
                    th scope="col" { "no." } th scope="col" { "s" } th scope="col" { "who" }
                    th scope="col" { "kind" } th scope="col" { "what" }
                } }
                tbody { @for line in standing { (row(arm, line, &teller)) } }
            }
            @if !all { p.unscripted { "Shown are the lines that this page speaks of; the script shows all." } }
            div.pager hidden {
                button.earlier type="button" { "earlier" } " " button.later type="button" { "later" }
            }
            script type="application/octet-stream" { (PreEscaped(data(record, &teller)?)) }
        }
    })
}

fn shown(record: &ArmRecord) -> String {
    let (shown, total) = (record.lines.len(), record.total);
    if shown < total {
        format!("{total} lines, of which {shown} around the findings are on this page")
    } else {
        format!("{total} lines")
    }
}

fn row(arm: &ArmModel, line: &Line, teller: &Teller<'_>) -> Markup {
    let said = teller.say(line);
    html! {
        tr id=(arm.anchor(line.seq)) {
            td { (line.seq) } td { (at_ms(line.at)) } td { (said.who) } td { (said.kind) } td { (said.text) }
        }
    }
}

/// Every shown line as `[seq, time, who, kind, text, raw]`, zlib, base64: none of its letters
/// can end the element that holds it.
fn data(record: &ArmRecord, teller: &Teller<'_>) -> Result<String, ReportError> {
    let mut rows = Vec::with_capacity(record.lines.len());
    for line in &record.lines {
        let said = teller.say(line);
        let raw =
            serde_json::to_string(line).map_err(|error| ReportError::draw("timeline", error))?;
        rows.push((
            line.seq,
            at_ms(line.at),
            said.who,
            said.kind,
            said.text,
            raw,
        ));
    }
    let text = serde_json::to_vec(&rows).map_err(|error| ReportError::draw("timeline", error))?;
    Ok(STANDARD.encode(miniz_oxide::deflate::compress_to_vec_zlib(&text, 6)))
}
