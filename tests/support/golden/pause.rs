//! The pause drill, told with literal times: a holds, is stopped at its second write, b is
//! granted and writes, a wakes and writes late. Each field of [`Shape`] bends the story.

use super::tape::{Tape, Write, grant, ms, owner};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Call, ChildChange, Event, Line, Outcome, ThreadLook};

/// How the story goes.
#[derive(Clone, Copy)]
pub struct Shape {
    /// The store takes the late write.
    pub late_accepted: bool,
    /// The fault is injected.
    pub injected: bool,
    /// The host stalls for this long in the middle, milliseconds.
    pub stall: u64,
    /// The late write reaches the store at all.
    pub late_arrives: bool,
}

/// The story that a sound lock over a fenced store tells.
pub const SOUND: Shape = Shape {
    late_accepted: false,
    injected: true,
    stall: 0,
    late_arrives: true,
};

/// The places that findings point at.
#[derive(Debug, Clone, Default)]
pub struct Places {
    pub grant_a: u64,
    pub grant_b: u64,
    pub onset: u64,
    pub heal: u64,
    pub check: u64,
    pub expired: u64,
    pub write_b: u64,
    pub late: u64,
    pub lost: u64,
    pub release_a: u64,
    pub stall: u64,
    pub not_injected: u64,
}

const LEASE: u64 = 1500;

pub fn timeline(arm: &str, shape: Shape) -> (Vec<Line>, Places) {
    let mut tape = Tape::start("pause", arm, "20260301-021500-1");
    let mut places = Places::default();
    holder_begins(&mut tape, &mut places);
    if !shape.injected {
        return (undisturbed(tape, &mut places), places);
    }
    let late_op = stopped(&mut tape, &mut places);
    if shape.stall > 0 {
        let event = Event::Stall {
            from: ms(2300),
            to: ms(2300 + shape.stall),
        };
        places.stall = tape.lab(2300 + shape.stall, event);
    }
    successor(&mut tape, &mut places);
    woken(&mut tape, &mut places, (late_op, shape));
    let lines = successor_ends(tape);
    (lines, places)
}

fn holder_begins(tape: &mut Tape, places: &mut Places) {
    tape.clock(410);
    let (step, _) = tape.invoke(430, "a", Some("acquire.1"), Call::Acquire);
    let attempt = Call::Attempt {
        grant: grant("a", 1),
        owner: owner("a", 1),
    };
    let (op, _) = tape.invoke(431, "a", None, attempt);
    places.grant_a = tape.set(433, "a", 1, LEASE);
    tape.ret(434, "a", op, Outcome::Ok, granted("a", 1));
    tape.ret(435, "a", step, Outcome::Ok, granted("a", 1));
    let (_, _) = tape.invoke(445, "b", Some("enter.1"), Call::Enter { wait_ms: 10_000 });
    let attempt = Call::Attempt {
        grant: grant("b", 0),
        owner: owner("b", 0),
    };
    tape.op(
        (446, 448),
        "b",
        None,
        attempt,
        (Outcome::Fail, Answer::Busy),
    );
    tape.write(
        460,
        &Write {
            worker: "a",
            n: 1,
            token: 1,
            based_on: None,
        },
        None,
    );
    tape.op(
        (470, 1160),
        "a",
        Some("hold.1"),
        Call::Hold,
        (Outcome::Ok, Answer::Done),
    );
    tape.clock(900);
    tape.renew(935, "a", 1, LEASE);
    let check = Call::Check {
        grant: Some(grant("a", 1)),
    };
    places.check = tape.op(
        (1165, 1165),
        "a",
        Some("check.1"),
        check,
        (Outcome::Ok, Answer::Locked { locked: true }),
    )[1];
}

fn granted(worker: &str, token: u64) -> Answer {
    Answer::Granted {
        grant: grant(worker, token),
        fencing: Some(FencingToken(token)),
        lease_ms: LEASE,
    }
}

const LATE: Write<'static> = Write {
    worker: "a",
    n: 2,
    token: 1,
    based_on: Some("a.write.1"),
};

fn stopped(tape: &mut Tape, places: &mut Places) -> u64 {
    let (late_op, _) = tape.ask_write(1172, &LATE);
    tape.worker(
        1173,
        "a",
        Event::Point {
            point: "a.write.2.armed".into(),
            waits: true,
        },
    );
    places.onset = tape.lab(
        1180,
        Event::FaultOnset {
            fault: "nap".into(),
            kind: "pause".into(),
            worker: Some("a".into()),
            server: None,
            grant: Some(grant("a", 1)),
            trigger: "a.write.2.armed".into(),
            began: ms(1176),
            effective: ms(1179),
        },
    );
    tape.lab(
        1180,
        Event::ChildSignal {
            worker: "a".into(),
            change: ChildChange::Stopped,
        },
    );
    tape.lab(1181, look("stopped"));
    tape.lab(
        1182,
        Event::Go {
            worker: "a".into(),
            point: "a.write.2.armed".into(),
        },
    );
    tape.lab(1183, look("go"));
    for at in [1400, 1900, 2400] {
        tape.clock(at);
    }
    late_op
}

fn look(moment: &str) -> Event {
    let thread = |tid| ThreadLook {
        pid: 4200,
        start_ticks: 99_000,
        tid,
        state: if moment == "healed" { 'S' } else { 'T' },
        run_ns: 41_200_117,
        switches: 61,
    };
    Event::Look {
        fault: "nap".into(),
        moment: moment.into(),
        threads: vec![thread(4200), thread(4203)],
    }
}

fn successor(tape: &mut Tape, places: &mut Places) {
    places.expired = tape.effect(2438, lockdrill::timeline::event::Change::Deleted);
    let attempt = Call::Attempt {
        grant: grant("b", 2),
        owner: owner("b", 2),
    };
    let (op, _) = tape.invoke(2440, "b", None, attempt);
    places.grant_b = tape.set(2442, "b", 2, LEASE);
    tape.ret(2443, "b", op, Outcome::Ok, granted("b", 2));
    tape.ret(2444, "b", 1, Outcome::Ok, granted("b", 2));
    places.write_b = tape.write(
        2460,
        &Write {
            worker: "b",
            n: 1,
            token: 2,
            based_on: Some("a.write.1"),
        },
        Some(1),
    );
    tape.renew(2943, "b", 2, LEASE);
    tape.clock(3000);
}

fn woken(tape: &mut Tape, places: &mut Places, (write_op, shape): (u64, Shape)) {
    tape.lab(3280, look("heal"));
    places.heal = tape.lab(
        3290,
        Event::FaultHeal {
            fault: "nap".into(),
            cause: "b.write.accepted".into(),
            began: ms(3282),
            removed: Some(ms(3288)),
        },
    );
    tape.lab(
        3291,
        Event::ChildSignal {
            worker: "a".into(),
            change: ChildChange::Continued,
        },
    );
    tape.lab(3292, look("healed"));
    tape.worker(
        3290,
        "a",
        Event::Resumed {
            point: "a.write.2.armed".into(),
        },
    );
    places.lost = tape.worker(
        3291,
        "a",
        Event::Lost {
            grant: grant("a", 1),
            reason: "the lease ran out at its own deadline".into(),
            deadline: ms(2431),
        },
    );
    if shape.late_arrives {
        places.late = tape.store(3293, &LATE, shape.late_accepted, Some(2));
        let answer = if shape.late_accepted {
            (Outcome::Ok, Answer::Accepted)
        } else {
            (
                Outcome::Fail,
                Answer::Rejected {
                    highest: Some(FencingToken(2)),
                },
            )
        };
        tape.ret(3294, "a", write_op, answer.0, answer.1);
    } else {
        let message = "the worker gave up: the store's socket is gone".to_owned();
        tape.ret(
            3294,
            "a",
            write_op,
            Outcome::Fail,
            Answer::Error { message },
        );
    }
    let release = Call::Release {
        grant: grant("a", 1),
    };
    places.release_a = tape.op(
        (3300, 3302),
        "a",
        Some("release.1"),
        release,
        (Outcome::Fail, Answer::AlreadyLost),
    )[1];
}

fn successor_ends(mut tape: Tape) -> Vec<Line> {
    tape.renew(3443, "b", 2, LEASE);
    tape.write(
        3500,
        &Write {
            worker: "b",
            n: 2,
            token: 2,
            based_on: Some("b.write.1"),
        },
        Some(2),
    );
    let release = Call::Release {
        grant: grant("b", 2),
    };
    let (op, _) = tape.invoke(3520, "b", Some("release.1"), release);
    tape.effect(3521, lockdrill::timeline::event::Change::Deleted);
    tape.ret(3523, "b", op, Outcome::Ok, Answer::Released);
    tape.clock(3600);
    exits(&mut tape, 3610);
    tape.finish(3650, "b.write.2", 2)
}

fn exits(tape: &mut Tape, at: u64) {
    for worker in ["a", "b"] {
        tape.lab(
            at,
            Event::WorkerExited {
                worker: worker.into(),
                code: Some(0),
                signal: None,
            },
        );
    }
}

/// The fault never came: a writes and releases as if nothing were planned.
fn undisturbed(mut tape: Tape, places: &mut Places) -> Vec<Line> {
    tape.write(1180, &LATE, Some(1));
    let release = Call::Release {
        grant: grant("a", 1),
    };
    let (op, _) = tape.invoke(1190, "a", Some("release.1"), release);
    tape.effect(1191, lockdrill::timeline::event::Change::Deleted);
    tape.ret(1192, "a", op, Outcome::Ok, Answer::Released);
    let attempt = Call::Attempt {
        grant: grant("b", 2),
        owner: owner("b", 2),
    };
    let (op, _) = tape.invoke(1195, "b", None, attempt);
    places.grant_b = tape.set(1196, "b", 2, LEASE);
    tape.ret(1197, "b", op, Outcome::Ok, granted("b", 2));
    tape.ret(1198, "b", 1, Outcome::Ok, granted("b", 2));
    places.write_b = tape.write(
        1210,
        &Write {
            worker: "b",
            n: 1,
            token: 2,
            based_on: Some("a.write.2"),
        },
        Some(1),
    );
    let release = Call::Release {
        grant: grant("b", 2),
    };
    let (op, _) = tape.invoke(1230, "b", Some("release.1"), release);
    tape.effect(1231, lockdrill::timeline::event::Change::Deleted);
    tape.ret(1232, "b", op, Outcome::Ok, Answer::Released);
    tape.clock(1250);
    exits(&mut tape, 1260);
    places.not_injected = tape.lab(
        1261,
        Event::FaultNotInjected {
            fault: "nap".into(),
            why: "a.write.2.armed was not on the record when every worker was gone".into(),
        },
    );
    tape.finish(1300, "b.write.1", 2)
}
