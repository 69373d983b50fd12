//! Marks on a server's lane: grants, moved deadlines, keys that ended.

use super::{Canvas, merge, more};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form};
use crate::report::scene::server::{ServerKind, ServerMark};
use crate::report::scene::tenure::Ended;
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
                self.shelf.take(Area {
                    x: group.x - 2.0,
                    y: y - 5.0,
                    w: 4.0,
                    h: 10.0,
                });
            }
            let mut labels = Vec::new();
            // A grant must not vanish behind the removal that comes just before it.
            for kind in [ServerKind::Deleted, ServerKind::Flushed, ServerKind::Grant] {
                let marks = own().filter(|mark| mark.kind == kind);
                let at_x = marks.map(|mark| (self.axis.x(mark.at), mark));
                for group in merge(at_x, self.merge.min(8.0)) {
                    labels.push(self.server_point(&group, y));
                }
            }
            // Labels come last, so that they keep off every mark of the lane; grants come before
            // what ended them, because they carry the fencing tokens.
            labels.sort_by_key(|(text, _)| !text.starts_with("grant"));
            for (text, places) in labels {
                self.label(&text, Ink::Muted, false, &places);
            }
        }
    }

    /// Draws a mark; answers its label and where that may stand.
    fn server_point(
        &mut self,
        group: &super::Group<'_, ServerMark>,
        y: f64,
    ) -> (String, [(f64, f64, Anchor); 5]) {
        let (x, mark) = (group.x, group.first);
        let (form, text) = self.server_form(mark, (x, y));
        let note = format!(
            "{}: {text} at {}{}",
            mark.server,
            at(mark.at),
            more(group.count)
        );
        self.picture.mark(form, note, mark.event);
        // A grant's mark points up and stands above the line, all others hang below it.
        let (top, line, free) = if mark.kind == ServerKind::Grant {
            (y - 10.0, y - 1.0, y - 13.0)
        } else {
            (y + 2.0, y + 11.0, y + 21.0)
        };
        self.shelf.take(Area {
            x: x - 6.0,
            y: top,
            w: 12.0,
            h: 10.0,
        });
        let places = [
            (x + 9.0, line, Anchor::Start),
            (x - 9.0, line, Anchor::End),
            (x, free, Anchor::Middle),
            (x + 2.0, free, Anchor::Start),
            (x - 2.0, free, Anchor::End),
        ];
        (text, places)
    }

    /// What a mark looks like, and what it says.
    fn server_form(&self, mark: &ServerMark, (x, y): (f64, f64)) -> (Form, String) {
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
                let up = vec![(x - 6.0, y + 1.0), (x, y - 10.0), (x + 6.0, y + 1.0)];
                (
                    Form::Polygon(up, ink),
                    token.map_or_else(|| "grant".to_owned(), |token| format!("grant {token}")),
                )
            }
            ServerKind::Deleted => {
                let ended = tenures
                    .iter()
                    .find(|tenure| tenure.ended_by == Some(mark.event));
                let what = match ended.map(|tenure| (tenure.ended, tenure.key_taken)) {
                    Some((Ended::Released, _)) => "released",
                    Some((Ended::Expired | Ended::Open, None)) => "expired",
                    Some((_, Some(_))) | None => "deleted",
                };
                let whose = ended.and_then(|tenure| tenure.fencing);
                let text = whose.map_or(what.to_owned(), |token| format!("{token} {what}"));
                let down = vec![(x - 5.0, y + 2.0), (x, y + 12.0), (x + 5.0, y + 2.0)];
                (Form::Polygon(down, Ink::Muted), text)
            }
            ServerKind::Flushed => (flushed_form(x, y), "flushed".to_owned()),
            ServerKind::Extended => (Form::Disc(x, y, 1.0, Ink::Muted), String::new()),
        }
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
