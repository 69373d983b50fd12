//! A long run: two workers take turns for as many lines as asked, with one stale write.

use super::findings::{arm, drill, finding};
use super::tape::{Tape, Write, grant, owner};
use super::{Golden, plans};
use lockdrill::checks::Outcome as Found;
use lockdrill::ids::FencingToken;
use lockdrill::timeline::event::{Answer, Call, Change, Outcome};
use lockdrill::verdict::{Protection, Verdict};

const LEASE: u64 = 1500;

/// A run of at least so many lines.
pub fn run(lines: u64) -> Golden {
    let mut tape = Tape::start("pause", "main", "20260301-021500-1");
    let (mut at, mut token) = (450, 0);
    let (mut late, mut before) = (0, 0);
    while tape.len() < lines {
        token += 1;
        let worker = if token % 2 == 0 { "b" } else { "a" };
        turn(&mut tape, at, worker, token);
        at += 40;
        if token == 20 {
            let stale = Write {
                worker: "a",
                n: 99_000,
                token: 19,
                based_on: None,
            };
            let (op, _) = tape.ask_write(at, &stale);
            late = tape.store(at + 1, &stale, false, Some(20));
            before = late - 4;
            tape.ret(
                at + 2,
                "a",
                op,
                Outcome::Fail,
                Answer::Rejected {
                    highest: Some(FencingToken(20)),
                },
            );
        }
    }
    let checks = vec![
        finding("evidence", Found::Holds, "all of it happened", &[5]),
        finding(
            "no_stale_write",
            Found::Holds,
            "one stale write, refused",
            &[before, late],
        ),
    ];
    let main = arm(Verdict::Pass, Protection::KeptByFencing, checks);
    Golden {
        name: "long",
        arms: vec![(plans::pause(), tape.finish(at + 50, "a.write.1", token))],
        result: drill(
            "pause",
            Verdict::Pass,
            "no named check was violated",
            vec![main],
        ),
    }
}

fn turn(tape: &mut Tape, at: u64, worker: &str, token: u64) {
    tape.clock(at);
    let attempt = Call::Attempt {
        grant: grant(worker, token),
        owner: owner(worker, token),
    };
    let granted = Answer::Granted {
        grant: grant(worker, token),
        fencing: Some(FencingToken(token)),
        lease_ms: LEASE,
    };
    let (step, _) = tape.invoke(at, worker, Some("acquire.1"), Call::Acquire);
    let (op, _) = tape.invoke(at + 1, worker, None, attempt);
    tape.set(at + 2, worker, token, LEASE);
    tape.ret(at + 3, worker, op, Outcome::Ok, granted.clone());
    tape.ret(at + 3, worker, step, Outcome::Ok, granted);
    tape.renew(at + 5, worker, token, LEASE);
    for n in 0..4 {
        let write = Write {
            worker,
            n: token * 10 + n,
            token,
            based_on: None,
        };
        tape.write(at + 10 + 5 * n, &write, Some(token.saturating_sub(1)));
    }
    let release = Call::Release {
        grant: grant(worker, token),
    };
    let (op, _) = tape.invoke(at + 32, worker, Some("release.1"), release);
    tape.effect(at + 33, Change::Deleted);
    tape.ret(at + 34, worker, op, Outcome::Ok, Answer::Released);
}
