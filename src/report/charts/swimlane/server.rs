//! Marks on a server's lane: grants, moved deadlines, keys that ended.

use super::labels::Rank;
use super::{Canvas, merge, more, samples};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form};
use crate::report::scene::server::{ServerKind, ServerMark};
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::words::at;

impl Canvas<'_> {
    pub(super) fn server_points(&mut self) {
        for index in 0..self.scene.servers.len() {
            let row = self.scene.workers.len() + index;
            let y = self.side_line(row);
            let own = || {
                self.scene
                    .server
                    .iter()
                    .filter(|mark| mark.server == self.scene.servers[index])
            };
            let extended = own().filter(|mark| mark.kind == ServerKind::Extended);
            let ticks = merge(
                extended.map(|mark| (self.axis.x(mark.at), mark)),
                self.merge,
            );
            for group in ticks {
                let form = Form::Path(
                    vec![(group.x, y - 4.0), (group.x, y + 4.0)],
                    Ink::Muted,
                    1.8,
                );
                let note = format!(
                    "the server moved the deadline at {}{}",
                    at(group.first.at),
                    more(group.count)
                );
                self.picture.mark(form, note, group.first.event);
                self.show(samples::RENEWAL);
            }
            // A grant must not vanish behind the removal that comes just before it; and it chooses
            // its place first, because it carries the fencing token.
            for kind in [ServerKind::Grant, ServerKind::Deleted, ServerKind::Flushed] {
                let marks = own().filter(|mark| mark.kind == kind);
                let at_x: Vec<_> = marks.map(|mark| (self.axis.x(mark.at), mark)).collect();
                for group in merge(at_x, self.merge.min(8.0)) {
                    self.server_point(&group, y);
                }
            }
        }
    }

    fn server_point(&mut self, group: &super::Group<'_, ServerMark>, y: f64) {
        let (x, mark) = (group.x, group.first);
        let (form, text, short) = self.server_form(mark, (x, y));
        let note = format!(
            "{}: {text} at {}{}",
            mark.server,
            at(mark.at),
            more(group.count)
        );
        self.picture.mark(form, note, mark.event);
        self.show(match mark.kind {
            ServerKind::Grant => samples::GRANT,
            ServerKind::Deleted => samples::GONE,
            ServerKind::Flushed => samples::FLUSHED,
            ServerKind::Extended => samples::RENEWAL,
        });
        // A grant's mark points up and stands above the line, all others hang below it.
        let (line, free) = if mark.kind == ServerKind::Grant {
            (y - 1.0, y - 14.0)
        } else {
            (y + 11.0, y + 23.0)
        };
        let places = [
            (x + 10.0, line, Anchor::Start),
            (x - 10.0, line, Anchor::End),
            (x, free, Anchor::Middle),
            (x + 4.0, free, Anchor::Start),
            (x - 4.0, free, Anchor::End),
        ];
        let mut texts = vec![text.as_str()];
        texts.extend(short.as_deref());
        self.ask(Rank::Server, &texts, (Ink::Muted, false), &places, false);
    }

    /// What a mark looks like, what it says, and what it says where there is little room: a grant its
    /// fencing token, all others what they are.
    fn server_form(&self, mark: &ServerMark, (x, y): (f64, f64)) -> (Form, String, Option<String>) {
        let tenures = &self.scene.tenures;
        match mark.kind {
            ServerKind::Grant => {
                let index = tenures
                    .iter()
                    .position(|tenure| tenure.granted_by == mark.event);
                let ink = index.map_or(Ink::Muted, Ink::lease);
                let token = index
                    .and_then(|index| tenures[index].fencing)
                    .or(mark.fencing);
                let token = token.map(|token| token.to_string());
                let up = vec![(x - 6.0, y + 1.0), (x, y - 10.0), (x + 6.0, y + 1.0)];
                (
                    Form::Polygon(up, ink),
                    token
                        .as_ref()
                        .map_or_else(|| "grant".to_owned(), |token| format!("grant {token}")),
                    token,
                )
            }
            ServerKind::Deleted => {
                let ended = tenures
                    .iter()
                    .find(|tenure| tenure.ended_by == Some(mark.event));
                let what = ended.map_or("deleted", how);
                let whose = ended.and_then(|tenure| tenure.fencing);
                let text = whose.map_or(what.to_owned(), |token| format!("{token} {what}"));
                let down = vec![(x - 5.0, y + 2.0), (x, y + 12.0), (x + 5.0, y + 2.0)];
                (Form::Polygon(down, Ink::Muted), text, Some(what.to_owned()))
            }
            ServerKind::Flushed => (flushed_form(x, y), "flushed".to_owned(), None),
            ServerKind::Extended => (Form::Disc(x, y, 1.0, Ink::Muted), String::new(), None),
        }
    }
}

/// How a key ended, in a word; nobody deletes what a server has lost.
fn how(tenure: &Tenure) -> &'static str {
    match (tenure.key_taken, tenure.ended) {
        (Some(_), _) if tenure.deleted_by.is_empty() => "gone",
        (Some(_), _) => "deleted",
        (None, Ended::Released) => "released",
        (None, Ended::Expired) if tenure.kept_on => "released",
        (None, Ended::Expired | Ended::Open) => "expired",
    }
}

/// All keys are gone: a broad bar with a point downwards, unlike the cross of a refused write.
pub(super) fn flushed_form(x: f64, y: f64) -> Form {
    let corners = vec![
        (x - 7.0, y - 5.0),
        (x + 7.0, y - 5.0),
        (x + 7.0, y),
        (x, y + 9.0),
        (x - 7.0, y),
    ];
    Form::Polygon(corners, Ink::Alarm)
}
