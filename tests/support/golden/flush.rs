//! The flush drill: the server loses its data, the fencing counter too, while a holds. b is granted
//! at once, under the fencing token that a has; the store refuses b and takes a's next write.

use super::pause::Places;
use super::tape::{Tape, Write, grant, ms, owner};
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Call, Change, Event, Line, Outcome};

const LEASE: u64 = 1500;

/// `fenced`: the store compares fencing tokens.
pub fn timeline(arm: &str, fenced: bool) -> (Vec<Line>, Places) {
    let mut tape = Tape::start("flush", arm, "20260302-021500-1");
    let mut places = Places::default();
    tape.clock(410);
    let (step, _) = tape.invoke(430, "a", Some("acquire.1"), Call::Acquire);
    places.grant_a = acquire(&mut tape, 431, "a", 1);
    tape.ret(436, "a", step, Outcome::Ok, granted("a", 1));
    let (enter, _) = tape.invoke(445, "b", Some("enter.1"), Call::Enter { wait_ms: 10_000 });
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
    tape.renew(935, "a", 1, LEASE);
    places.onset = tape.push(
        ms(1105),
        lockdrill::timeline::event::By::Lab,
        Event::FaultOnset {
            fault: "amnesia".into(),
            kind: "flush".into(),
            worker: None,
            server: Some("redis".into()),
            grant: None,
            trigger: "a.renewed".into(),
            began: ms(1100),
            effective: ms(1103),
        },
    );
    tape.lab(
        1102,
        Event::ServerAsked {
            fault: "amnesia".into(),
            server: "redis".into(),
            command: "FLUSHALL".into(),
            answer: "OK".into(),
            ok: true,
        },
    );
    places.expired = tape.effect(1101, Change::Flushed);
    places.grant_b = acquire(&mut tape, 1150, "b", 1);
    tape.ret(1156, "b", enter, Outcome::Ok, granted("b", 1));
    let early = Write {
        worker: "b",
        n: 1,
        token: 1,
        based_on: Some("a.write.1"),
    };
    let (op, _) = tape.ask_write(1180, &early);
    places.write_b = tape.store(1182, &early, !fenced, Some(1));
    let answer = match fenced {
        true => (
            Outcome::Fail,
            Answer::Rejected {
                highest: Some(FencingToken(1)),
            },
        ),
        false => (Outcome::Ok, Answer::Accepted),
    };
    tape.ret(1183, "b", op, answer.0, answer.1);
    tape.clock(1200);
    let late = Write {
        worker: "a",
        n: 2,
        token: 1,
        based_on: Some("a.write.1"),
    };
    places.late = tape.write(1300, &late, Some(1));
    let renew = Call::Renew {
        grant: grant("a", 1),
        auto: true,
    };
    tape.op(
        (1436, 1438),
        "a",
        None,
        renew,
        (
            Outcome::Fail,
            Answer::Lost {
                reason: "somebody else's owner token is there".into(),
            },
        ),
    );
    places.lost = tape.worker(
        1439,
        "a",
        Event::Lost {
            grant: grant("a", 1),
            reason: "somebody else's owner token is there".into(),
            deadline: ms(2430),
        },
    );
    let release = Call::Release {
        grant: grant("b", 1),
    };
    let (op, _) = tape.invoke(1600, "b", Some("release.1"), release);
    tape.effect(1601, Change::Deleted);
    tape.ret(1603, "b", op, Outcome::Ok, Answer::Released);
    tape.clock(1700);
    (tape.finish(1750, "a.write.2", 1), places)
}

fn acquire(tape: &mut Tape, at: u64, worker: &str, token: u64) -> u64 {
    let attempt = Call::Attempt {
        grant: grant(worker, token),
        owner: owner(worker, token),
    };
    let (op, _) = tape.invoke(at, worker, None, attempt);
    let value = Some(token);
    tape.effect(at + 2, Change::Counter { value });
    let seq = tape.set(at + 2, worker, token, LEASE);
    tape.ret(at + 4, worker, op, Outcome::Ok, granted(worker, token));
    seq
}

fn granted(worker: &str, token: u64) -> Answer {
    Answer::Granted {
        grant: grant(worker, token),
        fencing: Some(FencingToken(token)),
        lease_ms: LEASE,
    }
}
