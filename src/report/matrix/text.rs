//! The matrix on a terminal: a row a drill, what has to be looked at, and the sums.

use super::{Cell, Matrix, State};
use crate::report::words::count;

/// Many lines, without a line end at the last.
pub fn text(matrix: &Matrix) -> String {
    let shown = matrix.shown();
    let mut rows = vec![head(matrix, &shown)];
    for row in &matrix.drills {
        let cells = shown.iter().map(|at| short(&row.cells[*at]));
        rows.push(std::iter::once(row.drill.clone()).chain(cells).collect());
    }
    let mut lines = table(&rows);
    lines.push(String::new());
    lines.extend(to_look_at(matrix));
    for lock in &matrix.locks {
        if let Some(why) = &lock.none {
            lines.push(format!(
                "{}: no drill can be played on it: {why}",
                lock.name
            ));
        }
    }
    for at in shown {
        lines.push(format!("{}: {}", matrix.locks[at].name, sums(matrix, at)));
    }
    if matrix.lost_lines > 0 {
        let lost = count(matrix.lost_lines, "line");
        lines.push(format!(
            "{lost} of the history could not be read and count nothing"
        ));
    }
    lines.join("\n")
}

fn head(matrix: &Matrix, shown: &[usize]) -> Vec<String> {
    let names = shown.iter().map(|at| matrix.locks[*at].name.clone());
    std::iter::once("drill".to_owned()).chain(names).collect()
}

fn short(cell: &Cell) -> String {
    match cell.state {
        State::NotApplicable | State::NotPlayed => cell.state.sign().to_owned(),
        state => format!("{} {} {}/{}", state.word(), cell.saved, cell.k, cell.n),
    }
}

/// Columns as wide as their widest cell.
fn table(rows: &[Vec<String>]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|at| {
            let cells = rows.iter().filter_map(|row| row.get(at));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        })
        .collect();
    let line = |row: &Vec<String>| {
        let padded = row.iter().zip(&widths).map(|(cell, width)| {
            let gap = width.saturating_sub(cell.chars().count());
            format!("{cell}{}", " ".repeat(gap))
        });
        let line = padded.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// What failed and what could not tell, each with its reason.
fn to_look_at(matrix: &Matrix) -> Vec<String> {
    let mut lines = Vec::new();
    for row in &matrix.drills {
        for cell in &row.cells {
            if matches!(cell.state, State::Fail | State::Inconclusive) {
                let (state, why) = (cell.state.word(), &cell.why);
                lines.push(format!("{} on {}: {state}: {why}", row.drill, cell.lock));
            }
        }
    }
    lines
}

/// `36 pass, 8 limit, 1 not applicable`.
pub(super) fn sums(matrix: &Matrix, column: usize) -> String {
    let all = State::ALL.map(|state| (matrix.count(column, state), state.word()));
    let told = all.iter().filter(|(n, _)| *n > 0);
    let told: Vec<String> = told.map(|(n, word)| format!("{n} {word}")).collect();
    told.join(", ")
}
