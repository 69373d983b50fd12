//! The matrix as a page of its own: the table, and below it a sentence for every cell. Whatever
//! comes from a history or a file is escaped like everything else.

use super::{Cell, Drill, Lock, Matrix, PAGE, PICTURE, State, text};
use crate::report::bound::{exact_95, per_cent};
use crate::report::html::shell_with;
use crate::report::sentence::{capital, stop};
use crate::report::words::count;
use maud::{Markup, html};

const RULES: &str = include_str!("matrix.css");

/// The whole page.
pub fn page(matrix: &Matrix) -> Markup {
    let body = html! {
        h1 { "Drills and lock back ends" }
        p.lead { "How each drill ended on each back end, and what saved the work there. A cell speaks of its own runs, with the faults shown to have happened in them, and of nothing else: a "
            (sign(State::Pass)) " says that no named check was violated in them." }
        p { (legend()) }
        @if matrix.lost_lines > 0 {
            p.note { (count(matrix.lost_lines, "line")) " of the history could not be read and count nothing." }
        }
        @if matrix.drills.is_empty() { p { "There is no drill here." } } @else { (table(matrix)) }
        (unfit(matrix))
        section id="sums" { h2 { "Back ends" } (sums(matrix)) }
        section id="cells" {
            h2 { "Cell by cell" }
            p.lead { "k of n: executions of this plan that ended so, of those that have an answer, over all nights; the interval is the exact 95 % one. The state is the worst of the last night." }
            @for row in &matrix.drills { (cells(row, &matrix.locks)) }
        }
        p.aside { "The same as a picture: " a href=(PICTURE) { (PICTURE) } ". Made by " code { "lockdrill matrix" } " as " (PAGE) "." }
    };
    shell_with("drills and lock back ends", &body, RULES)
}

fn class(state: State) -> &'static str {
    match state {
        State::Pass => "holds",
        State::Limit => "limit",
        State::Fail => "violated",
        State::Inconclusive => "unknown",
        State::NotApplicable => "vacuous",
        State::NotPlayed => "unplayed",
    }
}

fn sign(state: State) -> Markup {
    html! { span class=(format!("outcome {}", class(state))) { (state.sign()) " " (state.word()) } }
}

fn legend() -> Markup {
    html! {
        (sign(State::Limit)) ": the drill's file says beforehand that the design cannot give it, and so it was; never a pass. "
        (sign(State::Fail)) ": a check was violated that had to hold. "
        (sign(State::Inconclusive)) ": the record cannot tell. "
        (sign(State::NotApplicable)) ": the drill means nothing on this back end. "
        (sign(State::NotPlayed)) ": it could be played and was not; that is no pass."
    }
}

fn table(matrix: &Matrix) -> Markup {
    let shown = matrix.shown();
    html! {
        div.scroll { table.matrix.backends {
            thead { tr {
                th scope="col" { "drill" }
                @for at in &shown { th scope="col" { (matrix.locks[*at].name) } }
            } }
            tbody { @for row in &matrix.drills { tr {
                th scope="row" { (row.drill) }
                @for at in &shown { (field(&row.drill, &row.cells[*at])) }
            } } }
        } }
    }
}

/// A cell of the table leads to its sentence.
fn field(drill: &str, cell: &Cell) -> Markup {
    let title = format!("{drill} on {}: {}", cell.lock, cell.state.word());
    html! {
        td class=(class(cell.state)) data-of=(cell.lock) title=(title) {
            a href=(format!("#{}", anchor(drill, &cell.lock))) {
                @match cell.state {
                    State::NotApplicable => { span.outcome.vacuous { (cell.state.sign()) } }
                    State::NotPlayed => { span.outcome.unplayed { (cell.state.word()) } }
                    _ => { (sign(cell.state)) small { (cell.saved) " " (cell.k) "/" (cell.n) } }
                }
            }
        }
    }
}

/// An id without anything that an address would have to escape.
fn anchor(drill: &str, lock: &str) -> String {
    let plain = |text: &str| -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        text.chars().map(plain).collect()
    };
    format!("{}--{}", plain(drill), plain(lock))
}

/// Back ends on which nothing can be played have no column.
fn unfit(matrix: &Matrix) -> Markup {
    html! {
        @for lock in &matrix.locks {
            @if let Some(why) = &lock.none {
                p { b { (lock.name) } ": not applicable to any drill: " (why) (stop(why)) }
            }
        }
    }
}

fn sums(matrix: &Matrix) -> Markup {
    html! { dl.facts { @for at in matrix.shown() {
        dt { (matrix.locks[at].name) } dd { (text::sums(matrix, at)) }
    } } }
}

fn cells(row: &Drill, locks: &[Lock]) -> Markup {
    let fits = row
        .cells
        .iter()
        .zip(locks)
        .filter(|(_, lock)| lock.none.is_none());
    html! {
        h3 { (row.drill) }
        ul.cells { @for (cell, _) in fits { (told(&row.drill, cell)) } }
    }
}

fn told(drill: &str, cell: &Cell) -> Markup {
    html! {
        li id=(anchor(drill, &cell.lock)) {
            b { (cell.lock) } " " (sign(cell.state)) " "
            @if !cell.saved.is_empty() { "· " (cell.saved) " · " }
            @if let Some(report) = &cell.report { a href=(report) { "report" } " · " }
            (capital(&cell.why)) (stop(&cell.why))
            @if cell.is_played() { small { (counted(cell)) } }
        }
    }
}

/// How often, since when and with which controls.
fn counted(cell: &Cell) -> String {
    let bound = exact_95(u64::from(cell.k), u64::from(cell.n));
    let (low, high) = (per_cent(bound.low), per_cent(bound.high));
    let mut told = format!("{} of {} ended so ({low} to {high})", cell.k, cell.n);
    let mut also = |n: u32, what: &str| {
        if n > 0 {
            told.push_str(&format!(", {n} {what}"));
        }
    };
    if cell.state != State::Fail {
        also(cell.failed, "failed");
    }
    if cell.state != State::Inconclusive {
        also(cell.inconclusive, "could not tell");
    }
    also(cell.other, "of another plan do not count");
    match (cell.controls_red, cell.controls) {
        (_, 0) => told.push_str("; the drill has no control"),
        (0, of) => told.push_str(&format!(
            "; none of {} was played red: this shows less",
            count(of, "control")
        )),
        (red, of) => told.push_str(&format!(
            "; {red} of {} red, as required",
            count(of, "control")
        )),
    }
    if let Some(night) = &cell.night {
        told.push_str(&format!("; last on {night}"));
    }
    if cell.report.is_none() {
        told.push_str("; its run was removed");
    }
    told
}
