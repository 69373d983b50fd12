//! The entries of the legend: what each mark looks like and what it means.

use super::points::{park_forms, sent_on_form};
use super::renewals::renewal_forms;
pub(super) use super::samples_of_work::{
    ACCEPTED, ASKED, BORROWED, DRAWN, LATE_WRITE, PUBLISHED, PUBLISHED_AGAIN, PUBLISHED_KNOWN,
    READ, READ_LATE, READ_REFUSED, REJECTED, SEAL, SEAL_REFUSED, STALE, UNKNOWN,
};
use super::server::flushed_form;
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::{Area, Form};
use crate::report::scene::marks::Renewed;

/// Every entry, in the order of the legend.
pub(super) const ALL: [Entry; 37] = [
    BAR,
    GOES_ON,
    LATE,
    TAKEN,
    FAULT,
    FAULT_ONCE,
    DEATH,
    RENEWAL,
    RENEWAL_FAILED,
    RENEWAL_UNCLEAR,
    RENEWAL_TOLD,
    ASKED,
    ACCEPTED,
    REJECTED,
    STALE,
    BORROWED,
    LATE_WRITE,
    UNKNOWN,
    SEAL,
    SEAL_REFUSED,
    READ,
    READ_REFUSED,
    READ_LATE,
    PUBLISHED,
    PUBLISHED_KNOWN,
    PUBLISHED_AGAIN,
    DRAWN,
    LOST,
    WAITS,
    SENT_ON,
    GRANT,
    GONE,
    FLUSHED,
    REIGN,
    DOWN,
    STALL,
    STRETCHED,
];

/// One entry: what it looks like around (x, y), and what it means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    /// What it means.
    pub(super) meaning: &'static str,
    /// What it looks like.
    pub(super) sample: fn(f64, f64) -> Vec<Form>,
}

pub(super) const BAR: Entry = Entry {
    meaning: "lease (each grant has its own colour)",
    sample: |x, y| {
        let third = |n: u8| Area {
            x: x + 6.0 * f64::from(n),
            w: 6.0,
            ..bar(x, y)
        };
        let colours = [0, 1, 2].into_iter();
        colours
            .map(|n| Form::Fill(third(n), Ink::Lease(n)))
            .collect()
    },
};
pub(super) const GOES_ON: Entry = Entry {
    meaning: "the lease goes on beyond the end of the record, or of this picture",
    sample: |x, y| {
        let own = Area {
            w: 9.0,
            ..bar(x, y)
        };
        let head = vec![(x + 9.0, y - 6.0), (x + 17.0, y), (x + 9.0, y + 6.0)];
        vec![
            Form::Fill(own, Ink::Lease(0)),
            Form::Polygon(head, Ink::Lease(0)),
        ]
    },
};
pub(super) const LATE: Entry = Entry {
    meaning: "lease over, worker still believes it holds",
    sample: |x, y| {
        let area = bar(x, y);
        vec![
            Form::Fill(area, Ink::LateWash),
            Form::Hatch(area, Ink::Late),
            Form::Outline(area, Ink::Late, false),
        ]
    },
};
pub(super) const TAKEN: Entry = Entry {
    meaning: "its key was taken before its time; what was promised goes on as an outline",
    sample: |x, y| {
        let stroke = vec![(x + 9.0, y - 8.0), (x + 9.0, y + 8.0)];
        vec![
            Form::Fill(bar(x, y), Ink::Lease(1)),
            Form::Path(stroke, Ink::Alarm, 2.0),
        ]
    },
};
pub(super) const FAULT: Entry = Entry {
    meaning: "fault, from when it was seen to work",
    sample: |x, y| {
        vec![
            Form::Fill(bar(x, y), Ink::Fault),
            Form::Outline(bar(x, y), Ink::FaultEdge, true),
        ]
    },
};
pub(super) const FAULT_ONCE: Entry = Entry {
    meaning: "fault that is over as soon as it is done, where it was begun",
    sample: |x, y| {
        let head = vec![(x + 4.0, y - 7.0), (x + 14.0, y - 7.0), (x + 9.0, y)];
        let line = vec![(x + 9.0, y - 7.0), (x + 9.0, y + 7.0)];
        vec![
            Form::Path(line, Ink::FaultEdge, 2.0),
            Form::Polygon(head, Ink::FaultEdge),
        ]
    },
};
pub(super) const DEATH: Entry = Entry {
    meaning: "the worker's process is gone",
    sample: |x, y| {
        let line = vec![(x + 2.0, y - 7.0), (x + 2.0, y + 7.0)];
        let rest = Area {
            x: x + 3.0,
            w: 15.0,
            ..bar(x, y)
        };
        vec![
            Form::Path(line, Ink::Muted, 3.0),
            Form::Hatch(rest, Ink::Grid),
        ]
    },
};
pub(super) const RENEWAL: Entry = Entry {
    meaning: "lease renewed",
    sample: |x, y| renewal_forms(Renewed::Applied, (x + 9.0, x + 9.0, y)),
};
pub(super) const RENEWAL_FAILED: Entry = Entry {
    meaning: "renewal that failed or got no answer, from when it was sent to when its worker was told",
    sample: |x, y| renewal_forms(Renewed::Failed, (x + 1.0, x + 17.0, y)),
};
pub(super) const RENEWAL_UNCLEAR: Entry = Entry {
    meaning: "told renewed; the server shows fewer than were told, perhaps this one",
    sample: |x, y| renewal_forms(Renewed::Unclear, (x + 9.0, x + 9.0, y)),
};
pub(super) const RENEWAL_TOLD: Entry = Entry {
    meaning: "told renewed, but not on the server, from when it was sent to when its worker was told",
    sample: |x, y| renewal_forms(Renewed::OnlyTold, (x + 1.0, x + 15.0, y)),
};
pub(super) const LOST: Entry = Entry {
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
pub(super) const WAITS: Entry = Entry {
    meaning: "waits for the lab's go",
    sample: |x, y| park_forms((x + 9.0, y)).to_vec(),
};
pub(super) const SENT_ON: Entry = Entry {
    meaning: "a held request is sent on to the server",
    sample: |x, y| vec![sent_on_form(x + 9.0, y)],
};
pub(super) const GRANT: Entry = Entry {
    meaning: "server grants the lock",
    sample: |x, y| {
        vec![Form::Polygon(
            vec![(x + 3.0, y + 5.0), (x + 9.0, y - 6.0), (x + 15.0, y + 5.0)],
            Ink::Lease(0),
        )]
    },
};
pub(super) const GONE: Entry = Entry {
    meaning: "server removes the key",
    sample: |x, y| {
        vec![Form::Polygon(
            vec![(x + 4.0, y - 5.0), (x + 9.0, y + 6.0), (x + 14.0, y - 5.0)],
            Ink::Muted,
        )]
    },
};
pub(super) const FLUSHED: Entry = Entry {
    meaning: "server loses all keys",
    sample: |x, y| vec![flushed_form(x + 9.0, y - 1.0)],
};
pub(super) const STALL: Entry = Entry {
    meaning: "host stalled",
    sample: |x, y| {
        let (y, h) = (y - 2.0, 5.0);
        vec![Form::Fill(Area { y, h, ..bar(x, y) }, Ink::Stall)]
    },
};

pub(super) const REIGN: Entry = Entry {
    meaning: "the server is the primary, which takes writes, by its own word; a head where it took over from another",
    sample: |x, y| {
        let (y, h) = (y + 1.0, 4.0);
        let head = vec![(x, y - 10.0), (x + 7.0, y - 5.0), (x, y)];
        vec![
            Form::Fill(Area { y, h, ..bar(x, y) }, Ink::Muted),
            Form::Polygon(head, Ink::Muted),
        ]
    },
};
pub(super) const DOWN: Entry = Entry {
    meaning: "the server does not run",
    sample: |x, y| {
        vec![
            Form::Hatch(bar(x, y), Ink::Grid),
            Form::Outline(bar(x, y), Ink::Grid, false),
        ]
    },
};
pub(super) const STRETCHED: Entry = Entry {
    meaning: "much at once: here the axis of time is stretched",
    sample: |x, y| vec![Form::Path(vec![(x, y), (x + 18.0, y)], Ink::Muted, 4.0)],
};

fn bar(x: f64, y: f64) -> Area {
    Area {
        x,
        y: y - 6.0,
        w: 18.0,
        h: 12.0,
    }
}
