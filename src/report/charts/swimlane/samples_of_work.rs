//! The entries of the legend that show what workers did at the store and the queue.

use super::beside::{drawn, envelope, read_forms};
use super::samples::Entry;
use super::store::{harm_forms, seal_form};
use crate::report::charts::ink::Ink;
use crate::report::charts::picture::Form;
use crate::report::scene::writes::{Fate, Harm};

pub(super) const ASKED: Entry = Entry {
    meaning: "write, on its worker's lane",
    sample: |x, y| vec![Form::Ring(x + 9.0, y, 3.5, Ink::Accepted)],
};
pub(super) const STALE: Entry = Entry {
    meaning: "accepted although stale (its fencing token is older, or was used by another grant)",
    sample: |x, y| harm_forms(Harm::Stale, (x + 9.0, y)).to_vec(),
};
pub(super) const BORROWED: Entry = Entry {
    meaning: "accepted under a fencing token that the lock never gave to its writer",
    sample: |x, y| harm_forms(Harm::Borrowed, (x + 9.0, y)).to_vec(),
};
pub(super) const LATE_WRITE: Entry = Entry {
    meaning: "accepted although late (its lease was over)",
    sample: |x, y| harm_forms(Harm::Late, (x + 9.0, y)).to_vec(),
};
pub(super) const ACCEPTED: Entry = Entry {
    meaning: "write accepted",
    sample: |x, y| vec![Form::Disc(x + 9.0, y, 5.0, Ink::Accepted)],
};
pub(super) const REJECTED: Entry = Entry {
    meaning: "write refused",
    sample: |x, y| vec![Form::Cross(x + 9.0, y, 5.0, Ink::Rejected)],
};
pub(super) const UNKNOWN: Entry = Entry {
    meaning: "write that never reached the store",
    sample: |x, y| vec![Form::Ring(x + 9.0, y, 3.5, Ink::Unknown)],
};
pub(super) const SEAL: Entry = Entry {
    meaning: "seal: fencing token told on entry",
    sample: |x, y| vec![seal_form((x + 9.0, y), Ink::Accepted)],
};
pub(super) const SEAL_REFUSED: Entry = Entry {
    meaning: "seal refused",
    sample: |x, y| vec![seal_form((x + 9.0, y), Ink::Rejected)],
};
pub(super) const READ: Entry = Entry {
    meaning: "read answered",
    sample: |x, y| read_forms(Ink::Accepted, false, Fate::Accepted, (x + 9.0, y)),
};
pub(super) const READ_REFUSED: Entry = Entry {
    meaning: "read refused",
    sample: |x, y| read_forms(Ink::Rejected, false, Fate::Rejected, (x + 9.0, y)),
};
pub(super) const READ_LATE: Entry = Entry {
    meaning: "read answered although its reader's lease was over and another held",
    sample: |x, y| read_forms(Ink::Alarm, true, Fate::Accepted, (x + 9.0, y)),
};
pub(super) const PUBLISHED: Entry = Entry {
    meaning: "published to the queue",
    sample: |x, y| envelope(Ink::Accepted, (x + 9.0, y)),
};
pub(super) const PUBLISHED_KNOWN: Entry = Entry {
    meaning: "published once more, but the queue knew it and kept it once",
    sample: |x, y| envelope(Ink::Muted, (x + 9.0, y)),
};
pub(super) const PUBLISHED_AGAIN: Entry = Entry {
    meaning: "published once more, and the queue took it again",
    sample: |x, y| envelope(Ink::Alarm, (x + 9.0, y)),
};
pub(super) const DRAWN: Entry = Entry {
    meaning: "fencing token drawn without the lock",
    sample: |x, y| drawn((x + 9.0, y)),
};
