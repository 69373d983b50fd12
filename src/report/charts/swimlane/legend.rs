//! The legend: only what the picture shows, flowing over as many rows as it needs.

use super::samples::{
    ACCEPTED, ASKED, BAR, BORROWED, DEATH, DRAWN, Entry, FAULT, FAULT_ONCE, FLUSHED, GONE, GRANT,
    LATE, LATE_WRITE, LOST, PUBLISHED, READ, READ_LATE, READ_REFUSED, REJECTED, RENEWAL,
    RENEWAL_FAILED, RENEWAL_TOLD, SEAL, SENT_ON, STALE, STALL, TAKEN, UNKNOWN, WAITS,
};
use super::{Canvas, Legend};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Form, Words, text_width, wrap};
use crate::report::scene::Scene;
use crate::report::scene::beside::{BesideMark, Deed};
use crate::report::scene::marks::Renewed;
use crate::report::scene::server::ServerKind;
use crate::report::scene::tenure::Ended;
use crate::report::scene::writes::{Fate, Harm, WriteMark};

impl Canvas<'_> {
    /// Draws the legend from `y` down and returns where it ends.
    pub(super) fn legend(&mut self, y: f64, which: &Legend) -> f64 {
        let told: Vec<&str> = match which {
            Legend::Beyond(scene) => entries(scene).iter().map(|entry| entry.meaning).collect(),
            Legend::All | Legend::None => Vec::new(),
        };
        let mut entries = entries(self.scene);
        entries.retain(|entry| !told.contains(&entry.meaning));
        if entries.is_empty() {
            return y - 6.0;
        }
        let left = if self.narrow { 10.0 } else { self.axis.left };
        let right = self.picture.width - 10.0;
        let (mut x, mut y) = (left, y + 10.0);
        for entry in entries {
            let lines = wrap(entry.meaning, right - left - 26.0, 11.5);
            let widths = lines.iter().map(|line| text_width(line, 11.5, false));
            let width = 26.0 + widths.fold(0.0, f64::max);
            if x > left && x + width > right {
                x = left;
                y += 21.0;
            }
            for form in (entry.sample)(x, y) {
                self.picture.add(form);
            }
            for (n, text) in lines.into_iter().enumerate() {
                // Nothing stands beside an entry of several lines.
                y += if n == 0 { 0.0 } else { 15.0 };
                self.picture.add(Form::Text(Words {
                    x: x + 25.0,
                    y: y + 4.0,
                    size: 11.5,
                    bold: false,
                    anchor: Anchor::Start,
                    ink: Ink::Text,
                    text,
                }));
            }
            x += width + 14.0;
        }
        y + 18.0
    }
}

fn entries(scene: &Scene) -> Vec<Entry> {
    let by_grant = scene.by_grant();
    let late = scene.beliefs.iter().any(|belief| {
        let tenure = by_grant.get(&belief.grant);
        tenure
            .is_none_or(|tenure| tenure.ended != Ended::Released && tenure.entitled < belief.until)
    });
    let server = |kind| scene.server.iter().any(|mark| mark.kind == kind);
    let renewed = |became| scene.renewals.iter().any(|mark| mark.became == became);
    let mut shown = vec![
        (!scene.tenures.is_empty(), BAR),
        (late, LATE),
        (
            scene
                .tenures
                .iter()
                .any(|tenure| tenure.key_taken.is_some()),
            TAKEN,
        ),
        (scene.faults.iter().any(|fault| fault.lasts), FAULT),
        (scene.faults.iter().any(|fault| !fault.lasts), FAULT_ONCE),
        (!scene.deaths.is_empty(), DEATH),
        (renewed(Renewed::Applied), RENEWAL),
        (renewed(Renewed::Failed), RENEWAL_FAILED),
        (renewed(Renewed::OnlyTold), RENEWAL_TOLD),
    ];
    shown.extend(write_entries(scene));
    shown.extend(beside_entries(scene));
    shown.extend([
        (!scene.losses.is_empty(), LOST),
        (!scene.parks.is_empty(), WAITS),
        (!scene.frames.is_empty(), SENT_ON),
        (server(ServerKind::Grant), GRANT),
        (server(ServerKind::Deleted), GONE),
        (server(ServerKind::Flushed), FLUSHED),
        (!scene.stalls.is_empty(), STALL),
    ]);
    let shown = shown.into_iter().filter(|(show, _)| *show);
    shown.map(|(_, entry)| entry).collect()
}

fn beside_entries(scene: &Scene) -> [(bool, Entry); 5] {
    let any = |fits: fn(&BesideMark) -> bool| scene.beside.iter().any(fits);
    [
        (
            any(|mark| mark.is_read() && mark.fate == Fate::Accepted && !mark.is_harmful()),
            READ,
        ),
        (
            any(|mark| mark.is_read() && mark.fate == Fate::Rejected),
            READ_REFUSED,
        ),
        (any(|mark| mark.is_read() && mark.is_harmful()), READ_LATE),
        (
            any(|mark| matches!(mark.deed, Deed::Published(..))),
            PUBLISHED,
        ),
        (any(|mark| matches!(mark.deed, Deed::Drew(_))), DRAWN),
    ]
}

fn write_entries(scene: &Scene) -> [(bool, Entry); 8] {
    let any = |fits: fn(&WriteMark) -> bool| scene.writes.iter().any(fits);
    [
        (any(|write| !write.seal), ASKED),
        (
            any(|write| write.fate == Fate::Accepted && write.harm().is_none() && !write.seal),
            ACCEPTED,
        ),
        (any(|write| write.fate == Fate::Rejected), REJECTED),
        (any(|write| write.harm() == Some(Harm::Stale)), STALE),
        (any(|write| write.harm() == Some(Harm::Borrowed)), BORROWED),
        (any(|write| write.harm() == Some(Harm::Late)), LATE_WRITE),
        (any(|write| write.fate == Fate::Unknown), UNKNOWN),
        (any(|write| write.seal), SEAL),
    ]
}
