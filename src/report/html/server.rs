//! The lock's server, where it is the user's own: its program, and which of its settings the lab
//! replaced.

use crate::plan::Overridden;
use crate::report::model::Model;
use crate::report::words::count;
use maud::{Markup, html};

/// Nothing, if all of it is the lab's.
pub fn section(model: &Model) -> Markup {
    let Some(plan) = model.plan().map(|plan| &plan.server) else {
        return html! {};
    };
    if plan.is_the_labs() {
        return html! {};
    }
    html! {
        section id="server" {
            h2 { "Your own lock server" }
            @if let Some(binary) = &plan.binary {
                p { "Its program is " code { (binary) } "." }
            }
            @if let Some(config) = &plan.config {
                p {
                    "Its settings are those of " code { (config) } ": "
                    (count(plan.kept.len(), "line")) " as they stand"
                    @if plan.overridden.is_empty() { "; the lab replaced none." }
                    @else { ", and what the lab replaced:" }
                }
            }
            @if !plan.overridden.is_empty() { (replaced(&plan.overridden)) }
            @if !plan.kept.is_empty() {
                details { summary { "The lines that the server got as they stand" }
                    pre { @for line in &plan.kept { (line) "\n" } }
                }
            }
        }
    }
}

fn replaced(all: &[Overridden]) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th scope="col" { "setting" } th scope="col" { "yours" }
                    th scope="col" { "in this run" } th scope="col" { "why" }
                }
            }
            tbody {
                @for one in all {
                    tr {
                        th scope="row" { code { (one.setting) } " " small { (one.place) } }
                        td data-of="yours" {
                            @match &one.yours { Some(value) => code { (value) }, None => "not repeated here" }
                        }
                        td data-of="in this run" { (one.lab) }
                        td data-of="why" { (one.why.replace('`', "")) }
                    }
                }
            }
        }
    }
}
