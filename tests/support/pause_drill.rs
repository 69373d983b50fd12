//! The pause drill as a literal history: worker a is stopped from 500 to 3200 ms while it stands at
//! its second write; b is granted and writes; a wakes, is told Lost, its late write reaches the
//! store, and its release finds nothing of its own.
#![allow(dead_code, reason = "each test binary uses its own part")]

use super::history::{Record, ns, stopped_threads};
use lockdrill::plan::{Evidence, FaultPlan, Heal, Target};
use lockdrill::timeline::event::{Answer, By, ChildChange, Event, Outcome};

/// Where a stands.
pub const POINT: &str = "a.write.2.armed";

/// The whole drill; `accepted`: the store takes the late write.
pub fn pause_drill(accepted: bool) -> Record {
    let mut h = Record::new();
    h.plan.faults.push(FaultPlan {
        name: "nap".to_owned(),
        kind: "pause".to_owned(),
        target: Target::Holder,
        edge: None,
        command: None,
        by_ms: None,
        when: POINT.to_owned(),
        heal: Some(Heal::After("b.write.accepted".to_owned())),
    });
    let a = h.acquire("a", 100);
    let first = h.write(&a, 200, true);
    let late = h.write_id("a");
    let asked = h.ask_write(&a, 490, &late, Some(first.clone()));
    point(&mut h, 495);
    h.signal("a", 502, ChildChange::Stopped);
    h.onset("nap", "a", Some(a.grant.clone()), 500);
    h.look("nap", "stopped", 503, stopped_threads());
    go(&mut h, 504);
    h.look("nap", "go", 505, stopped_threads());
    h.delete(1101);
    let b = h.acquire("b", 2500);
    let early = h.write(&b, 3000, true);
    h.look("nap", "heal", 3199, stopped_threads());
    h.heal("nap", 3200);
    resumed(&mut h, 3201);
    h.signal("a", 3202, ChildChange::Continued);
    h.lost(&a, 3204, 1087);
    h.log(&a, 3205, (&late, Some(first)), accepted);
    let answer = if accepted {
        Answer::Accepted
    } else {
        Answer::Rejected { highest: b.fencing }
    };
    h.ret("a", asked, 3206, Outcome::Ok, answer);
    h.release_in_vain(&a, 3210);
    h.release(&b, 3220);
    let (worker, fault) = ("a".to_owned(), "nap".to_owned());
    h.plan.evidence = vec![
        Evidence::LeaseEnded {
            worker,
            fault: fault.clone(),
        },
        Evidence::Granted {
            worker: "b".to_owned(),
            fault,
        },
        Evidence::ReachedAfter { late, early },
    ];
    h
}

pub fn point(h: &mut Record, at: u64) {
    let point = POINT.to_owned();
    let by = By::Worker("a".to_owned());
    h.push(ns(at), by, Event::Point { point, waits: true });
}

pub fn go(h: &mut Record, at: u64) {
    let (worker, point) = ("a".to_owned(), POINT.to_owned());
    h.lab(at, Event::Go { worker, point });
}

pub fn resumed(h: &mut Record, at: u64) {
    let point = POINT.to_owned();
    let by = By::Worker("a".to_owned());
    h.push(ns(at), by, Event::Resumed { point });
}
