//! One lock service of two servers, `lock` and `two`, on literal histories: what one copies from
//! the other is no grant of its own, and what it grants without knowing is a second one.
#![allow(clippy::unwrap_used)]

use crate::support::history::*;

use lockdrill::ids::FencingToken;
use lockdrill::plan::{FaultPlan, Heal, Service, Target};
use lockdrill::report::scene::Scene;
use lockdrill::report::scene::server::{ServerKind, ServerMark};
use lockdrill::timeline::event::{Answer, By, Change, Event, Line, Outcome};
use lockdrill::timeline::history::{Cause, KeyEnd};
use lockdrill::timeline::names::Namer;

const TWO: &str = "two";

/// The story, and how many effects `two` has had.
struct Pair {
    h: Record,
    pos: u64,
}

fn role(server: &str, primary: bool, links: u64, since: Option<u64>) -> Event {
    Event::ServerRole {
        server: server.to_owned(),
        primary,
        links,
        since: since.map(ns),
    }
}

impl Pair {
    fn new() -> Pair {
        let mut h = Record::new();
        let server = TWO.to_owned();
        h.lab(0, Event::ObserverSynced { server });
        h.lab(0, role(SERVER, true, 1, None));
        h.lab(0, role(TWO, false, 1, None));
        for at in (0..=5000).step_by(50) {
            h.lab(
                at,
                Event::ClockSample {
                    server: TWO.to_owned(),
                    before: ns(at),
                    after: ns(at),
                    server_us: (SERVER_AHEAD_MS + at) * 1000,
                },
            );
        }
        Pair { h, pos: 0 }
    }

    fn on_two(&mut self, at: u64, change: Change) {
        let event = Event::Effect {
            server: TWO.to_owned(),
            pos: self.pos,
            key: KEY.to_owned(),
            change,
        };
        self.pos += 1;
        self.h.push(ns(at), By::Server(TWO.to_owned()), event);
    }

    /// `two` takes over what was granted at a time.
    fn copy(&mut self, held: &Held, granted: u64, at: u64) {
        self.on_two(at, set(held, granted));
    }

    fn promoted(&mut self, at: u64) {
        self.h.lab(at, role(TWO, true, 0, Some(at - 10)));
    }

    fn granted_by_two(&mut self, worker: &str, at: u64, fencing: u64) -> Held {
        let (mut held, op) = self.h.attempt(worker, at - 1);
        held.fencing = Some(FencingToken(fencing));
        self.on_two(at, set(&held, at));
        self.h.told_granted(&held, op, at + 1);
        held
    }
}

fn set(held: &Held, granted: u64) -> Change {
    Change::Set {
        owner: held.owner.clone(),
        fencing: held.fencing,
        until_ms: Some(SERVER_AHEAD_MS + granted + LEASE_MS),
    }
}

/// a gives back at `lock` what `lock` granted, while b holds at `two`: neither can reach the other's.
#[test]
fn a_release_at_one_server_while_another_holds_at_the_other_is_told_so() {
    let mut pair = Pair::new();
    pair.promoted(100);
    pair.granted_by_two("b", 300, 10_000_000_001);
    let a = pair.h.acquire("a", 400);
    pair.h.release(&a, 600);
    let found = pair.h.judge("owner_only");
    assert_vacuous(&found);
    let own = "1 that changed its own key while another grant held the key on another server";
    assert!(found.why.ends_with(own), "{}", found.why);
    assert!(!found.events.is_empty());
}

/// a's own key is still at `lock`, and a is told that it is not its own: so another server said so.
#[test]
fn a_release_that_another_server_answered_is_told_so() {
    let mut pair = Pair::new();
    pair.promoted(100);
    pair.granted_by_two("b", 300, 10_000_000_001);
    let a = pair.h.acquire("a", 400);
    pair.h.release_in_vain(&a, 600);
    let found = pair.h.judge("owner_only");
    assert_vacuous(&found);
    for told in [
        "a's release at 0.60 s was answered that the lock is not its own, although lock, which had \
         granted it, still had its key: another server answered",
        "meanwhile b's grant (fencing token 10000000001) held the key on two, which was not changed",
    ] {
        assert!(found.why.contains(told), "{found:#?}");
    }
    assert!(!found.events.is_empty());
}

#[test]
fn what_is_copied_is_no_second_grant() {
    let mut pair = Pair::new();
    let a = pair.h.acquire("a", 100);
    // It may be read there before it is read where it was made.
    pair.copy(&a, 100, 99);
    let history = pair.h.history();
    assert_eq!(history.grants.len(), 1);
    assert_eq!(history.grants[0].server, SERVER);
    assert_eq!(history.grants[0].copies.len(), 1);
    assert_holds_or_vacuous(&pair.h);
}

fn assert_holds_or_vacuous(h: &Record) {
    let found = h.judge("single_holder");
    assert_eq!(
        found.outcome,
        lockdrill::checks::Outcome::Holds,
        "{found:#?}"
    );
    assert_holds(&h.judge("records_agree"));
}

#[test]
fn a_server_that_takes_over_without_a_grant_makes_a_second_holder() {
    let mut pair = Pair::new();
    pair.h.acquire("a", 100);
    pair.promoted(300);
    pair.granted_by_two("b", 400, 2);
    let found = pair.h.judge("single_holder");
    assert_violated(&found, TWO);
    assert_eq!(found.by[0], TWO, "{found:#?}");
    assert!(found.why.contains("had taken over by"), "{found:#?}");
    let end = &pair.h.history().grants[0].end;
    let lost = matches!(
        end,
        KeyEnd::Taken {
            cause: Cause::Failover,
            ..
        }
    );
    assert!(lost, "{end:?}");
    assert_holds(&pair.h.judge("fencing_rises"));
    // The lost server did nothing more.
    let drawn = Scene::of(&pair.h.history()).server;
    let deleted = |mark: &&ServerMark| mark.kind == ServerKind::Deleted;
    assert_eq!(drawn.iter().filter(deleted).count(), 0, "{drawn:?}");
}

#[test]
fn the_fence_keeps_the_work_from_the_holder_that_was_overtaken() {
    let mut pair = Pair::new();
    let a = pair.h.acquire("a", 100);
    pair.promoted(300);
    let b = pair.granted_by_two("b", 400, 2);
    pair.h.write(&b, 450, true);
    pair.h.write(&a, 500, false);
    let found = [pair.h.judge("no_stale_write")];
    let told = &found[0].why;
    assert!(told.contains("1 stale or late and refused"), "{told}");
    assert!(!told.contains("entitled"), "{told}");
    let kept = lockdrill::verdict::protection(&pair.h.history(), &found);
    assert_eq!(kept, lockdrill::verdict::Protection::KeptByFencing);
}

#[test]
fn a_grant_after_the_lease_of_the_lost_one_is_none_too_many() {
    let mut pair = Pair::new();
    pair.h.acquire("a", 100);
    pair.promoted(300);
    pair.granted_by_two("b", 1200, 2);
    assert_holds(&pair.h.judge("single_holder"));
}

#[test]
fn a_grant_that_was_copied_goes_on_at_the_server_that_takes_over() {
    let mut pair = Pair::new();
    let a = pair.h.acquire("a", 100);
    pair.copy(&a, 100, 101);
    pair.promoted(300);
    let op = pair.h.send_release(&a, 399);
    pair.on_two(400, Change::Deleted);
    pair.h.ret("a", op, 401, Outcome::Ok, Answer::Released);
    pair.granted_by_two("b", 500, 2);
    let end = &pair.h.history().grants[0].end;
    assert!(matches!(end, KeyEnd::Released { .. }), "{end:?}");
    for check in [
        "single_holder",
        "outcome_honesty",
        "records_agree",
        "fencing_rises",
    ] {
        assert_holds(&pair.h.judge(check));
    }
}

#[test]
fn a_token_that_the_new_server_had_copied_must_not_come_again() {
    let mut pair = Pair::new();
    let a = pair.h.acquire_with("a", 100, 5);
    pair.copy(&a, 100, 101);
    pair.promoted(300);
    pair.on_two(1150, Change::Deleted);
    pair.granted_by_two("b", 1200, 5);
    assert_violated(&pair.h.judge("fencing_rises"), "b");
    assert_holds(&pair.h.judge("single_holder"));
}

#[test]
fn an_old_primary_that_still_grants_makes_a_second_holder() {
    let mut pair = Pair::new();
    pair.promoted(300);
    let b = pair.granted_by_two("b", 400, 2);
    let a = pair.h.acquire("a", 600);
    let found = pair.h.judge("single_holder");
    assert_eq!(found.by[0], SERVER, "{found:#?}");
    assert!(
        found.why.contains("although two had taken over"),
        "{found:#?}"
    );
    // It comes later and is older: whoever refuses its write keeps the work from it.
    pair.h.write(&b, 650, true);
    pair.h.write(&a, 700, false);
    let found = [pair.h.judge("no_stale_write")];
    let kept = lockdrill::verdict::protection(&pair.h.history(), &found);
    assert_eq!(kept, lockdrill::verdict::Protection::KeptByFencing);
    assert!(
        found[0].why.contains("1 stale or late and refused"),
        "{found:#?}"
    );
}

/// b's grant stands behind a's in the order of the server that copied it, and was made before.
#[test]
fn a_copy_does_not_say_when_its_grant_was_made() {
    let mut pair = Pair::new();
    pair.promoted(300);
    let b = pair.granted_by_two("b", 400, 2);
    pair.h.acquire_with("a", 600, 3);
    pair.h.lab(700, role(SERVER, false, 1, Some(690)));
    let copied = Change::Copied {
        owner: Some(b.owner.clone()),
        fencing: b.fencing,
        until_ms: Some(SERVER_AHEAD_MS + 400 + LEASE_MS),
    };
    pair.h.effect(705, copied);
    assert_eq!(pair.h.history().grants[1].copies.len(), 1);
    assert_holds(&pair.h.judge("fencing_rises"));
}

/// `two` takes over, a renews there at 900 and gives back at 1200; meanwhile `lock` goes on.
fn given_back_at_two(meanwhile: impl Fn(&mut Pair)) -> Record {
    let mut pair = Pair::new();
    let a = pair.h.acquire("a", 100);
    pair.copy(&a, 100, 101);
    pair.promoted(300);
    let op = pair.h.send_renewal(&a, 899);
    let until_ms = Some(SERVER_AHEAD_MS + 900 + LEASE_MS);
    pair.on_two(900, Change::Extended { until_ms });
    pair.h.ret("a", op, 901, Outcome::Ok, Answer::Renewed);
    meanwhile(&mut pair);
    let op = pair.h.send_release(&a, 1199);
    pair.on_two(1200, Change::Deleted);
    pair.h.ret("a", op, 1201, Outcome::Ok, Answer::Released);
    pair.granted_by_two("c", 1300, 9);
    for check in ["outcome_honesty", "records_agree", "fencing_rises"] {
        assert_holds(&pair.h.judge(check));
    }
    pair.h
}

#[test]
fn what_ran_out_at_the_old_server_is_given_back_at_the_new_one() {
    let h = given_back_at_two(|pair| {
        pair.h.delete(1150);
    });
    let grant = &h.history().grants[0];
    let expired = matches!(grant.end, KeyEnd::Expired { .. });
    assert!(expired && grant.given_back.is_some(), "{grant:#?}");
    assert_holds(&h.judge("single_holder"));
}

#[test]
fn what_the_old_server_forgot_was_in_force_until_the_new_one_was_given_it_back() {
    let h = given_back_at_two(|pair| {
        pair.h.effect(1000, Change::Flushed);
        pair.h.acquire_with("b", 1050, 5);
    });
    let found = h.judge("single_holder");
    assert_violated(&found, "b");
    assert!(found.why.contains("was flushed by"), "{found:#?}");
}

// ---- cut-replication ----

/// The cut takes effect at 502 ms; the links are seen to be down just before.
fn cut(change: impl Fn(&mut Pair)) -> Record {
    let mut pair = Pair::new();
    pair.h.plan.faults.push(FaultPlan {
        name: "alone".to_owned(),
        kind: "cut-replication".to_owned(),
        target: Target::Server(Service::Lock),
        edge: None,
        command: None,
        when: "a.acquired".to_owned(),
        heal: None,
        by_ms: None,
    });
    for (at, command) in [
        (500, "ACL SETUSER repl off"),
        (501, "CLIENT KILL USER repl"),
    ] {
        pair.h.lab(
            at,
            Event::ServerAsked {
                fault: "alone".to_owned(),
                server: SERVER.to_owned(),
                command: command.to_owned(),
                answer: "OK".to_owned(),
                ok: true,
            },
        );
    }
    pair.h.lab(501, role(SERVER, true, 0, Some(500)));
    pair.h.lab(502, role(TWO, false, 0, Some(500)));
    pair.h.lab(
        502,
        Event::FaultOnset {
            fault: "alone".to_owned(),
            kind: "cut-replication".to_owned(),
            worker: None,
            server: Some(SERVER.to_owned()),
            grant: None,
            trigger: "t".to_owned(),
            began: ns(500),
            effective: ns(502),
        },
    );
    change(&mut pair);
    pair.h
}

#[test]
fn replicas_that_are_cut_off_are_seen_to_be() {
    let alone = |pair: &mut Pair| drop(pair.h.acquire("a", 600));
    assert_holds(&cut(alone).judge("evidence"));
    // Somebody lets a replica in again, before the primary is gone.
    let again = cut(|pair| {
        alone(pair);
        pair.h.lab(700, role(TWO, false, 1, Some(690)));
    });
    assert_unknown(&again.judge("evidence"), "two had a link again");
    // After another took over it does not matter.
    let later = cut(|pair| {
        alone(pair);
        pair.promoted(700);
        pair.h.lab(800, role(SERVER, false, 1, Some(790)));
    });
    assert_holds(&later.judge("evidence"));
    // Nobody saw a link, but the grant is there.
    let reached = cut(|pair| {
        let a = pair.h.acquire("a", 600);
        pair.copy(&a, 600, 601);
    });
    assert_unknown(&reached.judge("evidence"), "reached two");
    // The links were not seen to be down.
    let mut up = cut(alone);
    up.lines.retain(|line| {
        let down = role(TWO, false, 0, Some(500));
        line.event != down
    });
    for (seq, line) in up.lines.iter_mut().enumerate() {
        line.seq = seq as u64;
    }
    assert_unknown(&up.judge("evidence"), "two was not seen to be cut off");
}

/// The cut is undone at 700 ms; `linked` and `answer` are what shows it.
fn healed(linked: bool, answer: &str) -> Record {
    let asked = |at: u64, command: &str, answer: &str| {
        let event = Event::ServerAsked {
            fault: "alone".to_owned(),
            server: SERVER.to_owned(),
            command: command.to_owned(),
            answer: answer.to_owned(),
            ok: true,
        };
        (at, event)
    };
    cut(|pair| {
        pair.h.plan.faults[0].heal = Some(Heal::For(200));
        let a = pair.h.acquire("a", 600);
        let mut seen = vec![asked(701, "ACL SETUSER repl on", "OK")];
        if linked {
            seen.push((710, role(SERVER, true, 1, Some(705))));
            seen.push((711, role(TWO, false, 1, Some(705))));
        }
        seen.push(asked(720, "SET lab:{orders}:copied 1 PX 3000", "OK"));
        seen.push(asked(730, "WAIT 1 3000", answer));
        for (at, event) in seen {
            pair.h.lab(at, event);
        }
        pair.copy(&a, 600, 715);
        let heal = Event::FaultHeal {
            fault: "alone".to_owned(),
            cause: "200 ms".to_owned(),
            began: ns(700),
            removed: Some(ns(731)),
        };
        pair.h.lab(731, heal);
    })
}

#[test]
fn replicas_that_are_let_in_again_are_seen_to_have_everything() {
    assert_holds(&healed(true, "int(1)").judge("evidence"));
    let unlinked = healed(false, "int(1)").judge("evidence");
    assert_unknown(&unlinked, "two was not seen to be linked again");
    let behind = healed(true, "int(0)").judge("evidence");
    assert_unknown(&behind, "have all that lock has");
    // A heal that the plan names has to come.
    let mut never = healed(true, "int(1)");
    never.lines.pop();
    assert_unknown(&never.judge("evidence"), "alone was never healed");
}

#[test]
fn a_fault_of_a_server_that_takes_no_writes_shows_nothing() {
    let alone = |pair: &mut Pair| drop(pair.h.acquire("a", 600));
    let mut aside = cut(alone);
    for line in &mut aside.lines {
        if let Event::FaultOnset { server, .. } = &mut line.event {
            *server = Some(TWO.to_owned());
        }
    }
    assert_unknown(&aside.judge("evidence"), "did not take writes then");
}

#[test]
fn a_promotion_after_a_fault_of_the_server_has_a_name() {
    let mut namer = Namer::new();
    let line = |event| Line {
        seq: 0,
        at: 0,
        by: By::Lab,
        event,
    };
    let promoted = || line(role(TWO, true, 0, Some(5)));
    assert!(namer.names_of(&promoted()).is_empty());
    namer.names_of(&line(role(TWO, false, 1, Some(5))));
    namer.names_of(&line(Event::FaultOnset {
        fault: "crash".to_owned(),
        kind: "lose-server".to_owned(),
        worker: None,
        server: Some(SERVER.to_owned()),
        grant: None,
        trigger: "t".to_owned(),
        began: 1,
        effective: 2,
    }));
    assert!(
        namer
            .names_of(&line(role(SERVER, true, 0, None)))
            .is_empty()
    );
    // Whoever ruled all the time and has lost a link was not promoted.
    assert!(
        namer
            .names_of(&line(role(SERVER, true, 1, Some(5))))
            .is_empty()
    );
    assert_eq!(namer.names_of(&promoted()), ["crash.promoted"]);
}

/// The first primary is stopped with a's request, and wakes when `two` has granted b the lock.
fn asked_before_and_granted_after() -> Pair {
    let mut pair = Pair::new();
    let (mut a, asked) = pair.h.attempt("a", 200);
    pair.promoted(300);
    pair.granted_by_two("b", 400, 2);
    a.fencing = Some(FencingToken(1));
    pair.h.set(&a, 600);
    pair.h.told_granted(&a, asked, 601);
    pair
}

#[test]
fn tokens_that_no_order_compares_are_told_and_put_nothing_to_the_test() {
    let found = asked_before_and_granted_after().h.judge("fencing_rises");
    assert_vacuous(&found);
    for told in [
        "no order compares these grants: two granted b fencing token 2 at 0.40 s, and lock granted \
         a fencing token 1 at 0.60 s. The later one is not higher",
        "a had asked at 0.20 s, before b was answered at 0.40 s",
        "two had taken over from lock by 0.30 s",
    ] {
        assert!(found.why.contains(told), "{found:#?}");
    }
    assert_eq!(found.events.len(), 2, "{found:#?}");
}

#[test]
fn what_two_servers_granted_is_told_in_order_of_time() {
    let scene = Scene::of(&asked_before_and_granted_after().h.history());
    let who: Vec<&str> = scene
        .tenures
        .iter()
        .filter_map(|one| one.worker.as_deref())
        .collect();
    assert_eq!(who, ["b", "a"]);
}

/// A grant that only the lost server knew ends with that server, not when another one is made.
#[test]
fn a_lost_grant_ends_with_its_server_or_when_another_takes_over() {
    let ends = |died: bool| {
        let mut pair = Pair::new();
        pair.h.acquire("a", 100);
        if died {
            let gone = Event::ServerExited {
                server: SERVER.to_owned(),
                pid: 1,
                code: None,
                signal: Some(9),
            };
            pair.h.lab(
                50,
                Event::ServerStarted {
                    server: SERVER.to_owned(),
                    pid: 1,
                    start_ticks: 1,
                },
            );
            pair.h.lab(200, gone);
        }
        pair.promoted(300);
        pair.granted_by_two("b", 400, 2);
        let scene = Scene::of(&pair.h.history());
        let taken = scene.tenures[0].key_taken.unwrap();
        (taken.at / 1_000_000, taken.how)
    };
    assert_eq!(ends(true), (200, "lost with its server, which died"));
    assert_eq!(
        ends(false),
        (300, "left behind when another server took over")
    );
}
