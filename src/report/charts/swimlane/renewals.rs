//! Ticks on a lease bar: renewals that the server applied, those that a worker was only told of,
//! and those that failed. Each stands at the time that its note tells; what was under way without
//! renewing anything reaches from its request to its answer.

use super::{BAR, Canvas, merge, more, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::Form;
use crate::report::scene::marks::{Renewal, Renewed};
use crate::report::words::at;

/// The last are drawn on top.
const KINDS: [Renewed; 5] = [
    Renewed::Applied,
    Renewed::Unclear,
    Renewed::Unknown,
    Renewed::Failed,
    Renewed::OnlyTold,
];

impl Canvas<'_> {
    pub(super) fn renewals(&mut self) {
        for row in 0..self.scene.workers.len() {
            let y = self.bar_top(row) + BAR;
            for kind in KINDS {
                let own = self.scene.renewals.iter().filter(|renewal| {
                    renewal.worker == self.scene.workers[row] && renewal.became == kind
                });
                let at_x = own.map(|renewal| (self.axis.x(renewal.at()), renewal));
                let gap = if kind == Renewed::Applied {
                    self.merge
                } else {
                    self.merge.max(6.0)
                };
                for group in merge(at_x, gap) {
                    let text = format!("{}{}", note(group.first), more(group.count));
                    self.show(match kind {
                        Renewed::Applied => samples::RENEWAL,
                        Renewed::Failed | Renewed::Unknown => samples::RENEWAL_FAILED,
                        Renewed::Unclear => samples::RENEWAL_UNCLEAR,
                        Renewed::OnlyTold => samples::RENEWAL_TOLD,
                    });
                    let sent = self.axis.x(group.first.sent);
                    for form in renewal_forms(kind, (sent, group.x, y)) {
                        self.picture.mark(form, text.clone(), group.first.event);
                    }
                }
            }
        }
    }
}

/// What a renewal looks like on the lower edge of a bar: a tick where the lease was renewed; of one
/// that was not, a line from when it was sent to a tick where its worker was told.
pub(super) fn renewal_forms(became: Renewed, (sent, x, y): (f64, f64, f64)) -> Vec<Form> {
    let tick = vec![(x, y - 5.0), (x, y + 5.0)];
    let (tick, end) = match became {
        Renewed::Applied => return vec![Form::Path(tick, Ink::Muted, 1.8)],
        Renewed::Unclear => {
            let ring = Form::Ring(x, y + 4.0, 3.5, Ink::Muted);
            return vec![Form::Path(tick, Ink::Muted, 1.8), ring];
        }
        Renewed::Failed | Renewed::Unknown => (Form::Path(tick, Ink::Alarm, 2.4), None),
        Renewed::OnlyTold => (
            Form::Path(tick, Ink::Alarm, 1.8),
            Some(Form::Ring(x, y + 4.0, 3.5, Ink::Alarm)),
        ),
    };
    let under_way = (x - sent >= 3.0).then(|| {
        let line = vec![(sent, y - 2.0), (sent, y + 2.0), (x, y + 2.0)];
        Form::Path(line, Ink::Alarm, 1.4)
    });
    under_way.into_iter().chain([tick]).chain(end).collect()
}

fn note(renewal: &Renewal) -> String {
    let (who, sent, when) = (&renewal.worker, at(renewal.sent), at(renewal.at()));
    match (renewal.became, renewal.answered) {
        (Renewed::Applied, _) => format!("the lease of {who} was renewed at {when}"),
        (Renewed::OnlyTold, _) => format!(
            "{who} was told at {when} that its lease was renewed, but the server shows no such effect"
        ),
        (Renewed::Unclear, _) => format!(
            "{who} was told at {when} that its lease was renewed; the server shows fewer renewals than were told, and it cannot be told whether this is one of them"
        ),
        (Renewed::Unknown, Some(_)) => format!(
            "{who} was told at {when} that nobody knows what became of the renewal sent at {sent}"
        ),
        (Renewed::Failed, Some(_)) => format!(
            "{who} was told at {when} that the renewal sent at {sent} did not extend its lease"
        ),
        (Renewed::Failed | Renewed::Unknown, None) => {
            format!("a renewal that {who} sent at {when} was never answered and extended nothing")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_renewed_nothing_reaches_from_its_request_to_its_answer() {
        let first = |became, sent| match renewal_forms(became, (sent, 50.0, 20.0)).remove(0) {
            Form::Path(points, ..) => (points[0].0, points[points.len() - 1].0),
            other => panic!("{other:?}"),
        };
        for became in [Renewed::Failed, Renewed::Unknown, Renewed::OnlyTold] {
            assert_eq!(first(became, 10.0), (10.0, 50.0));
            assert_eq!(first(became, 49.0), (50.0, 50.0), "no room for a line");
        }
        assert_eq!(first(Renewed::Applied, 10.0), (50.0, 50.0));
    }
}
