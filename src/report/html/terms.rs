//! The words of drills and checks that a report explains, and what each means: data alone. Those of
//! servers and machines stand in `terms_of_servers`.

/// One word.
pub struct Term {
    /// As the list names it.
    pub name: &'static str,
    /// Forms that are explained where they stand; none if the word is too common.
    pub forms: &'static [&'static str],
    /// Further forms that show that a page uses the word.
    pub seen: &'static [&'static str],
    /// What it means, in sentences.
    pub meaning: &'static str,
}

pub(super) const fn term(
    name: &'static str,
    forms: &'static [&'static str],
    meaning: &'static str,
) -> Term {
    Term {
        name,
        forms,
        seen: &[],
        meaning,
    }
}

/// A word that is too common to be explained where it stands.
pub(super) const fn common(
    name: &'static str,
    seen: &'static [&'static str],
    meaning: &'static str,
) -> Term {
    Term {
        name,
        forms: &[],
        seen,
        meaning,
    }
}

/// Every word, in the order in which a reader meets them.
pub fn all() -> impl Iterator<Item = &'static Term> {
    let others = super::terms_of_servers::TERMS;
    TERMS
        .iter()
        .chain(others)
        .chain(super::terms_of_nights::TERMS)
}

/// Words of drills and checks.
const TERMS: &[Term] = &[
    term(
        "drill, run, schedule",
        &["schedule"],
        "A drill is one experiment file, a run one execution of it. A schedule is what a drill lays down: who does what, what is broken and when.",
    ),
    term(
        "arm",
        &["arm"],
        "One part of a run with its own servers and workers: the main arm is the drill itself, every other arm is a control.",
    ),
    common(
        "control",
        &["control", "controls", "Controls"],
        "The drill again with one thing changed: a protection taken away, a defect built in, or a worker that does it wrong. It must go red; otherwise the drill could not have seen the damage.",
    ),
    term(
        "lab",
        &["lab"],
        "The program that runs the drill: it starts everything, breaks it and records it.",
    ),
    term(
        "worker, contender",
        &["contender"],
        "A worker is a process that wants the lock and writes to the store; a contender is one that waits for it.",
    ),
    common(
        "relay",
        // A page names it by its step, and with it comes the outbox.
        &["relay", "outbox"],
        "A relay reads the jobs in the outbox, publishes them, and then takes them out. Killed in between it publishes a job again, and the queue has to keep it once.",
    ),
    term(
        "grant, lease",
        &["lease"],
        "A grant is one successful acquisition. It comes with a lease: the lock is the holder's until the lease runs out, unless it is renewed or released before.",
    ),
    term(
        "own deadline",
        &["own deadline", "deadline"],
        "Until when a worker's lock handle counts on its lease: when it first sent the last request that was granted (acquire or renewal), plus the lease, minus a margin for clock drift. It comes a little before the end that the server sees.",
    ),
    term(
        "entitled",
        &["entitled"],
        "Whom the lock server has promised the lock, by its own record and whatever the worker believes: from the grant until the lease that was granted or renewed last has run out, or until the worker's own release took effect. That its key was deleted, flushed or lost with its server before, or that the worker was told of a loss, ends the key and not the promise: this is how two can be entitled at once.",
    ),
    term(
        "entered, overlapping entries",
        &["overlapping entries"],
        "A section is entered when a worker is granted the lock, and left when it asks for the release. A section is completed when its worker asked for the release, in time or late; one that was never left ended with its process or with the record. Entries overlap when one worker goes in while another has not left, whatever the lease: after a lease has ended that is no second holder, but a late one, which the fence is there to keep out.",
    ),
    term(
        "fencing token",
        &["fencing token", "fencing tokens"],
        "A number that rises with each grant. It travels with each write, so that the store can tell an older holder from a newer one.",
    ),
    term(
        "fence: atomic, racy, off",
        &["fence", "racy", "atomic"],
        "How the store uses fencing tokens. Atomic: it compares and writes in one step. Racy: it compares first and writes then, and something may happen in between. Off: it does not compare.",
    ),
    term(
        "seal",
        &["seal", "seals", "sealed"],
        "A new holder tells the store its fencing token on entry, before its first write. It changes no data, but from then on older tokens are refused.",
    ),
    common(
        "refused, accepted",
        &["refused", "accepted", "rejected"],
        "What the store answered to a write; in the raw record a refused write is called rejected.",
    ),
    term(
        "stale",
        &["stale"],
        "A write whose fencing token is lower than one that the store knew already, or the same that another grant has used: of a holder whose time is over, or of one whom a server let in that another had replaced. Accepting it is damage. Where the lock has issued wrong tokens (its counter was lost), the write of the rightful holder looks so, too: that one is told apart, as refused although its writer was entitled, and is not called stale.",
    ),
    term(
        "late",
        &["late"],
        "A write (or a read) that reached the store after its worker's lease had ended. It may be legal by the order of the tokens, if the store has not heard of a newer one.",
    ),
    term(
        "lost update",
        &["lost update"],
        "An accepted write that was replaced by one whose writer had not read it.",
    ),
    term(
        "armed",
        &["armed"],
        "The last moment before something leaves: a write for the store (a.write.2.armed: worker a, second write), or the last command of an acquire step for the lock service. Faults like to begin here: the worker has decided and cannot look again.",
    ),
    term(
        "fault, onset, heal",
        &["heal", "healed", "onset", "faults"],
        "Something broken on purpose: the onset begins it, the heal undoes it. Both count only if their effect was seen; a fault has bitten when its effect was seen, and is told from then on (\"from\", \"in effect\", \"done by\"); when it was begun stands beside that where it is another time. Each fault has a name that its drill's file gives it (nap, late, island), and \"while nap\" means in the time in which that fault was in effect; \"while a.hold.1\" means while worker a was in its first hold step.",
    ),
    term(
        "lost (told)",
        &["losses told", "loss told", "told: lock lost"],
        "The worker's lock handle tells it that it no longer holds the lock.",
    ),
    term(
        "runnable",
        &["runnable"],
        "Not stopped: only the time in which a worker could run is held against it or counted for it.",
    ),
    term(
        "bound",
        &["bound"],
        "The time within which something must have happened, as the plan states it: the lease that was granted plus an allowance for what a command, a wait and a loaded machine take. What takes longer violates the check.",
    ),
    term(
        "flaw, built-in defect",
        &["flaw"],
        "A named defect that a control builds into lockdrill's own lock on purpose.",
    ),
    term(
        "witness",
        &["witness", "witnessed"],
        "The worker or fault whose doing shows a violation. A control names its witness beforehand.",
    ),
    term(
        "evidence",
        &["evidence"],
        "What must be on the record before anything may be concluded: that each fault began, bit and ended, and the order that the drill needs. Without it a run is inconclusive.",
    ),
    common(
        "verdict",
        &["verdict"],
        "pass: no named check was violated, and every control went red. limit: the drill reached a limit that its file names beforehand. fail: a check was violated. inconclusive: the record cannot tell, and says why.",
    ),
    common(
        "outcome of a check",
        &["outcome", "holds", "violated"],
        "holds, violated or unknown. ○ holds: nothing in this run could have violated it.",
    ),
    common(
        "protection of the work",
        &["protection of the work", "Protection of the work"],
        "kept: nothing stale or late was accepted, and each job took effect and was published once. kept by fencing: something stale or late, or a write without any fencing token, reached the store and was refused. lost: it was accepted, or an update was lost, or a job was not done and published exactly once (never, or more than once), or the store took an older holder's write and refused the rightful newer one's. not tested: nothing was put to the test, or what should have done so is not shown to have happened.",
    ),
    term(
        "to within …, host stall",
        &["host stall", "host stalled"],
        "Times of the lock server are known to within the width given; closer times prove no order. A host stall is a moment in which this machine did not let the lab run.",
    ),
    term(
        "handle",
        &["handle"],
        "The object in a worker's program that stands for its grant: it renews the lease and says whether the worker still holds.",
    ),
    term(
        "edge",
        &["edge"],
        "The way from one worker to one service. Faults of the network cut, delay or break it.",
    ),
    term(
        "probe",
        &["probe"],
        "A try by a stranger, on a connection of its own, that shows whether a fault has hit its edge and nothing else.",
    ),
    term(
        "protected step",
        &["protected step"],
        "A step that only the holder may take: a write to the store, or a seal.",
    ),
    term(
        "borrowed token",
        &["borrowed fencing token", "borrowed token"],
        "A fencing token that was never issued to the grant that presents it.",
    ),
    term(
        "queue, outbox",
        &["queue", "outbox"],
        "A queue is a second place that the work must reach and that shares no transaction with the store. An outbox is a table of the store into which a write puts its job in the same step, to be published from there.",
    ),
    term(
        "digest",
        &["digest", "owner digest"],
        "The beginning of a hash of an owner token: it tells owners apart without giving the secret away.",
    ),
    common(
        "event",
        &["event", "events"],
        "One line of the record, by its number; the numbers at the end of a sentence lead to the lines that it rests on.",
    ),
    term(
        "owner token",
        &["owner token", "owner tokens"],
        "A random value that a holder leaves in its key. A renewal or release names it, so that the lock server can refuse one that belongs to another grant.",
    ),
];
