//! The legend: only what the picture shows, flowing over as many rows as it needs.

use super::Canvas;
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Anchor, Area, Form, Words, text_width};
use crate::report::scene::marks::ServerKind;
use crate::report::scene::writes::Fate;

/// One entry: what it looks like around (x, y), and what it means.
struct Entry {
    meaning: &'static str,
    sample: fn(f64, f64) -> Vec<Form>,
}

const BAR: Entry = Entry {
    meaning: "lease: the server entitles this worker",
    sample: |x, y| vec![Form::Fill(bar(x, y), Ink::Lease(0))],
};
const LATE: Entry = Entry {
    meaning: "lease over, the worker still believes it holds",
    sample: |x, y| {
        let area = bar(x, y);
        vec![
            Form::Fill(area, Ink::LateWash),
            Form::Hatch(area, Ink::Late),
            Form::Outline(area, Ink::Late, false),
        ]
    },
};
const FAULT: Entry = Entry {
    meaning: "fault",
    sample: |x, y| {
        vec![
            Form::Fill(bar(x, y), Ink::Fault),
            Form::Outline(bar(x, y), Ink::FaultEdge, true),
        ]
    },
};
const RENEWAL: Entry = Entry {
    meaning: "renewal",
    sample: |x, y| {
        vec![Form::Path(
            vec![(x + 9.0, y - 5.0), (x + 9.0, y + 5.0)],
            Ink::Muted,
            1.8,
        )]
    },
};
const ACCEPTED: Entry = Entry {
    meaning: "write accepted",
    sample: |x, y| vec![Form::Disc(x + 9.0, y, 5.0, Ink::Accepted)],
};
const REJECTED: Entry = Entry {
    meaning: "write rejected",
    sample: |x, y| vec![Form::Cross(x + 9.0, y, 5.0, Ink::Rejected)],
};
const UNKNOWN: Entry = Entry {
    meaning: "write, outcome unknown",
    sample: |x, y| vec![Form::Ring(x + 9.0, y, 5.0, Ink::Unknown)],
};
const SEAL: Entry = Entry {
    meaning: "seal (fencing token told on entry)",
    sample: |x, y| {
        vec![Form::Polygon(
            vec![
                (x + 9.0, y - 5.0),
                (x + 13.0, y),
                (x + 9.0, y + 5.0),
                (x + 5.0, y),
            ],
            Ink::Accepted,
        )]
    },
};
const LOST: Entry = Entry {
    meaning: "the worker is told that it lost the lock",
    sample: |x, y| {
        vec![
            Form::Path(
                vec![(x + 5.0, y - 7.0), (x + 5.0, y + 7.0)],
                Ink::Alarm,
                1.8,
            ),
            Form::Polygon(
                vec![(x + 5.0, y - 7.0), (x + 14.0, y - 3.0), (x + 5.0, y + 1.0)],
                Ink::Alarm,
            ),
        ]
    },
};
const WAITS: Entry = Entry {
    meaning: "waits for the lab",
    sample: |x, y| {
        vec![
            Form::Fill(
                Area {
                    x: x + 5.3,
                    y: y - 5.0,
                    w: 2.4,
                    h: 10.0,
                },
                Ink::FaultEdge,
            ),
            Form::Fill(
                Area {
                    x: x + 10.3,
                    y: y - 5.0,
                    w: 2.4,
                    h: 10.0,
                },
                Ink::FaultEdge,
            ),
        ]
    },
};
const GRANT: Entry = Entry {
    meaning: "server grants",
    sample: |x, y| {
        vec![Form::Polygon(
            vec![(x + 3.0, y + 5.0), (x + 9.0, y - 6.0), (x + 15.0, y + 5.0)],
            Ink::Lease(0),
        )]
    },
};
const GONE: Entry = Entry {
    meaning: "server removes the key",
    sample: |x, y| {
        vec![Form::Polygon(
            vec![(x + 4.0, y - 5.0), (x + 9.0, y + 6.0), (x + 14.0, y - 5.0)],
            Ink::Muted,
        )]
    },
};
const STALL: Entry = Entry {
    meaning: "host stalled",
    sample: |x, y| {
        vec![Form::Fill(
            Area {
                x,
                y: y - 2.0,
                w: 18.0,
                h: 5.0,
            },
            Ink::Stall,
        )]
    },
};

fn bar(x: f64, y: f64) -> Area {
    Area {
        x,
        y: y - 6.0,
        w: 18.0,
        h: 12.0,
    }
}

impl Canvas<'_> {
    /// Draws the legend from `y` down and returns where it ends.
    pub(super) fn legend(&mut self, y: f64) -> f64 {
        let left = if self.narrow { 10.0 } else { self.axis.left };
        let right = self.picture.width - 10.0;
        let (mut x, mut y) = (left, y + 10.0);
        for entry in self.entries() {
            let width = 26.0 + text_width(entry.meaning, 11.5, false);
            if x > left && x + width > right {
                x = left;
                y += 21.0;
            }
            for form in (entry.sample)(x, y) {
                self.picture.add(form);
            }
            self.picture.add(Form::Text(Words {
                x: x + 25.0,
                y: y + 4.0,
                size: 11.5,
                bold: false,
                anchor: Anchor::Start,
                ink: Ink::Text,
                text: entry.meaning.to_owned(),
            }));
            x += width + 14.0;
        }
        y + 18.0
    }

    fn entries(&self) -> Vec<Entry> {
        let scene = self.scene;
        let fate = |fate| {
            scene
                .writes
                .iter()
                .any(|write| write.fate == fate && !write.seal)
        };
        let by_grant = scene.by_grant();
        let late = scene.beliefs.iter().any(|belief| {
            let tenure = by_grant.get(&belief.grant);
            tenure.is_none_or(|tenure| tenure.until < belief.until)
        });
        let gone = scene
            .server
            .iter()
            .any(|mark| mark.kind == ServerKind::Deleted);
        let shown = [
            (!scene.tenures.is_empty(), BAR),
            (late, LATE),
            (!scene.faults.is_empty(), FAULT),
            (!scene.renewals.is_empty(), RENEWAL),
            (fate(Fate::Accepted), ACCEPTED),
            (fate(Fate::Rejected), REJECTED),
            (fate(Fate::Unknown), UNKNOWN),
            (scene.writes.iter().any(|write| write.seal), SEAL),
            (!scene.losses.is_empty(), LOST),
            (!scene.parks.is_empty(), WAITS),
            (
                scene
                    .server
                    .iter()
                    .any(|mark| mark.kind == ServerKind::Grant),
                GRANT,
            ),
            (gone, GONE),
            (!scene.stalls.is_empty(), STALL),
        ];
        shown
            .into_iter()
            .filter(|(show, _)| *show)
            .map(|(_, entry)| entry)
            .collect()
    }
}
