//! How near each drill was to losing its lock, and its seven signals, over the nights: the figure
//! of the last night beside a line of all that are shown.

use super::super::past::trend::{Night, Series};
use super::super::signals::look_first;
use super::strip::Shown;
use super::trend::SERIES_MAX;
use cells::{done_to_servers, granted, held, lease, share, share_told, signed, tenths, tokenless};
use maud::{Markup, html};

mod cells;

/// One column of a table.
struct Column {
    name: &'static str,
    /// What stands below the name: how to read it, or where to look first.
    hint: &'static str,
    /// What its line draws.
    value: fn(&Night) -> Option<i64>,
    /// What the last night's cell says.
    text: fn(&Night) -> Option<String>,
}

const NEAR: [Column; 4] = [
    Column {
        name: "least lease left at a renewal",
        hint: "below zero the lease was over before the renewal was sent",
        value: |night| night.figure("margin_min_ns"),
        text: |night| signed(night.figure("margin_min_ns")?),
    },
    Column {
        name: "longest from its deadline to being told of the loss",
        hint: "time in which a worker was stopped is in it",
        value: |night| night.figure("notice_max_ns"),
        text: |night| signed(night.figure("notice_max_ns")?),
    },
    Column {
        name: "longest work",
        hint: "from the grant to the release that was asked for",
        value: |night| night.figure("work_max_ns"),
        text: |night| signed(night.figure("work_max_ns")?),
    },
    Column {
        name: "lease, and the least that these times allow",
        hint: "not renewed: twice the longest work, rounded up to two digits; renewed: three intervals and the slowest renewal; never a reason to go lower",
        value: |night| night.figure("lease_min_ns"),
        text: lease,
    },
];

const SIGNALS: [Column; 7] = [
    Column {
        name: "grants; longest wait",
        hint: look_first::ACQUISITIONS,
        value: |night| night.figure("wait_max_ns"),
        text: |night| {
            let (n, all) = (granted(night)?, night.figure("attempts_n")?);
            let wait = night.figure("wait_max_ns").and_then(signed);
            let unheard = match night.figure("unheard_n") {
                Some(n) if n > 0 => format!("; of {n} the worker never heard"),
                _none => String::new(),
            };
            Some(format!(
                "{n} by {all} commands; {}{unheard}",
                wait.unwrap_or("–".to_owned())
            ))
        },
    },
    Column {
        name: "held longest",
        hint: look_first::HOLD,
        value: |night| night.figure("hold_max_ns"),
        text: held,
    },
    Column {
        name: "renewals that worked; slowest",
        hint: look_first::RENEWALS,
        value: |night| night.figure("renewal_max_ns"),
        text: |night| {
            let all = night.figure("renewals_n").filter(|all| *all > 0)?;
            let slowest = night.figure("renewal_max_ns").and_then(signed);
            let n = night.figure("renewed_n")?;
            Some(format!(
                "{n} of {all}; {}",
                slowest.unwrap_or("–".to_owned())
            ))
        },
    },
    Column {
        name: "commands for each grant",
        hint: look_first::ATTEMPTS,
        value: |night| tenths(night.figure("attempts_n")?, granted(night)?),
        text: |night| {
            let tenths = tenths(night.figure("attempts_n")?, granted(night)?)?;
            Some(format!("{}.{}", tenths / 10, tenths % 10))
        },
    },
    Column {
        name: "longest work, of the lease",
        hint: look_first::WORK,
        value: share,
        text: share_told,
    },
    Column {
        name: "stale writes",
        hint: look_first::STALE,
        value: |night| Some(night.figure("stale_refused_n")? + night.figure("stale_accepted_n")?),
        text: |night| {
            let refused = night.figure("stale_refused_n")?;
            let accepted = night.figure("stale_accepted_n")?;
            Some(format!(
                "{refused} refused, {accepted} accepted{}",
                tokenless(night)
            ))
        },
    },
    Column {
        name: "lock service",
        hint: look_first::SERVICE,
        value: |night| night.figure("server_ends_n"),
        text: |night| {
            let ends = night.figure("server_ends_n")?;
            let losses = night.figure("losses_n")?;
            let ends = match ends {
                0 => "no server ended".to_owned(),
                1 => "a server ended once".to_owned(),
                n => format!("servers ended {n} times"),
            };
            let losses = match losses {
                0 => "no loss told".to_owned(),
                1 => "1 loss told".to_owned(),
                n => format!("{n} losses told"),
            };
            Some(format!("{ends}{}; {losses}", done_to_servers(night)))
        },
    },
];

/// How near each drill was.
pub(super) fn nearness(series: &[Series], shown: &Shown) -> Markup {
    let lead = "The last night of each drill in figures, with the nights that are drawn above as bars. They describe these runs and bound nothing: in a drill the work is scripted, so put the slow tail (p99) of your own work times in the place of its longest. A lease above the least is no reason to shorten it: it must also outlast pauses of the process and a slow network.";
    table(
        "near",
        "How near each drill was",
        lead,
        &NEAR,
        (series, shown),
    )
}

/// The seven signals of each drill.
pub(super) fn signals(series: &[Series], shown: &Shown) -> Markup {
    let lead = "What to watch of a lock in service, as each drill shows it, all its executions of the last night together. Below each name stands where to look first if it is off.";
    table(
        "signals",
        "The seven signals",
        lead,
        &SIGNALS,
        (series, shown),
    )
}

fn table(
    id: &str,
    title: &str,
    lead: &str,
    columns: &[Column],
    (series, shown): (&[Series], &Shown),
) -> Markup {
    let any = |series: &Series| {
        let last = series.last();
        last.is_some_and(|night| columns.iter().any(|column| (column.text)(night).is_some()))
    };
    html! {
        @if series.iter().any(any) {
            h2 id=(id) { (title) }
            p.lead { (lead) }
            // Where the table is shown as cards, it has no heads to carry the hints.
            dl.hints { @for column in columns { dt { (column.name) } dd { (column.hint) } } }
            table.figures {
                thead { tr { th scope="col" { "drill" }
                    @for column in columns { th scope="col" { (column.name) small { (column.hint) } } } } }
                tbody {
                    @for series in series.iter().filter(|one| any(one)).take(SERIES_MAX) {
                        tr { th scope="row" { (series.drill) }
                            @for column in columns { (cell(column, series, shown)) } }
                    }
                }
            }
        }
    }
}

fn cell(column: &Column, series: &Series, shown: &Shown) -> Markup {
    let text = series.last().and_then(column.text);
    html! {
        td data-of=(column.name) { @match text {
            Some(text) => { (text) (shown.line(series, column.value)) },
            None => "–",
        } }
    }
}
