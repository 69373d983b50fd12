//! The definitions of the checks, read literally from the truth: slow, and simple enough to believe.

use super::world::{Truth, World, Write};
use crate::support::history::{LEASE_MS, ns};
use lockdrill::timeline::event::{Answer, By, Call, Event, Line, Outcome};

/// Times closer than this prove nothing, ms (ε is a little more than 1 ms, times are 10 ms apart).
const EPSILON: u64 = 2;
const RECOVERY_BOUND: u64 = 500;

/// Each check with whether it is truly violated.
pub fn read(world: &World) -> Vec<(&'static str, bool)> {
    vec![
        ("single_holder", two_hold(world)),
        ("honest_belief", dishonest(world)),
        ("fencing_rises", falls(world)),
        ("no_stale_write", stale(world)),
        ("owner_only", world.trespass),
        ("recovers", overdue(world)),
        ("stops_after_loss", goes_on(world)),
        ("no_lost_update", update_lost(world)),
        ("rightful_served", wronged(world)),
        ("outcome_honesty", lied(world)),
    ]
}

/// Entitlement: from the grant to the earlier of its own applied release and its last own lease.
fn entitled(grant: &Truth) -> (u64, u64) {
    (
        grant.at,
        grant.lease_end.min(grant.released.unwrap_or(u64::MAX)),
    )
}

fn pairs<T>(all: &[T]) -> impl Iterator<Item = (&T, &T)> {
    all.iter()
        .enumerate()
        .flat_map(move |(i, a)| all[i + 1..].iter().map(move |b| (a, b)))
}

/// Two entitlements overlap by more than ε.
fn two_hold(world: &World) -> bool {
    pairs(&world.grants).any(|(a, b)| {
        let ((a_from, a_to), (b_from, b_to)) = (entitled(a), entitled(b));
        a_to.min(b_to) > a_from.max(b_from) + EPSILON
    })
}

/// An operation as the record tells it.
struct Op<'a> {
    worker: &'a str,
    call: &'a Call,
    invoked: u64,
    returned: Option<(u64, Outcome, &'a Answer)>,
}

fn operations(lines: &[Line]) -> Vec<Op<'_>> {
    let mut operations = Vec::new();
    for line in lines {
        let (By::Worker(worker), Event::Invoke { op, call, .. }) = (&line.by, &line.event) else {
            continue;
        };
        let returned = lines.iter().find_map(|other| match &other.event {
            Event::Return {
                op: number,
                outcome,
                answer,
            } if number == op && other.by == line.by => Some((other.at, *outcome, answer)),
            _ => None,
        });
        operations.push(Op {
            worker,
            call,
            invoked: line.at,
            returned,
        });
    }
    operations
}

/// A claim to hold, invoked after sent_at(last granted or renewed) + granted lease + ε.
fn dishonest(world: &World) -> bool {
    let operations = operations(&world.record.lines);
    operations.iter().enumerate().any(|(index, claim)| {
        let (grant, answered) = match (claim.call, claim.returned) {
            (
                Call::Check { grant: Some(grant) },
                Some((at, _, Answer::Locked { locked: true })),
            ) => (grant, at),
            (Call::Renew { grant, .. }, Some((at, _, Answer::Renewed))) => (grant, at),
            _ => return false,
        };
        let confirmed = operations.iter().enumerate().filter(|(other, op)| {
            let of_it = match (op.call, op.returned) {
                (Call::Attempt { grant: of, .. }, Some((_, _, Answer::Granted { .. }))) => {
                    of == grant
                }
                (Call::Renew { grant: of, .. }, Some((_, _, Answer::Renewed))) => of == grant,
                _ => false,
            };
            of_it && *other != index && op.returned.is_some_and(|(at, ..)| at <= answered)
        });
        let sent = confirmed.map(|(_, op)| op.invoked).max().unwrap_or(0);
        claim.invoked > sent + ns(LEASE_MS) + ns(EPSILON)
    })
}

/// A grant's fencing token is not higher than that of one before it in the server's order.
fn falls(world: &World) -> bool {
    pairs(&world.grants).any(|(a, b)| b.held.fencing <= a.held.fencing)
}

/// An accepted write under a pair never issued together, or after an accepted write with a higher
/// token, or an equal one of another grant.
fn stale(world: &World) -> bool {
    let issued = |write: &Write| {
        world.grants.iter().any(|grant| {
            grant.held.grant == world.grants[write.grant].held.grant
                && grant.held.fencing == write.fencing
        })
    };
    let accepted: Vec<&Write> = world.writes.iter().filter(|write| write.accepted).collect();
    accepted.iter().any(|write| !issued(write))
        || pairs(&accepted)
            .any(|(a, b)| b.fencing < a.fencing || (b.fencing == a.fencing && a.grant != b.grant))
}

/// Accepted writes do not form one chain by `based_on`.
fn update_lost(world: &World) -> bool {
    let mut last = None;
    world
        .writes
        .iter()
        .filter(|write| write.accepted)
        .any(|write| {
            let broken = write.based_on != last;
            last = Some(write.id.clone());
            broken
        })
}

/// A refused write of one who was entitled, while nobody else can have been.
fn wronged(world: &World) -> bool {
    world.writes.iter().any(|write| {
        let grant = &world.grants[write.grant];
        let (from, to) = entitled(grant);
        let may_hold = |other: &&Truth| {
            let (from, to) = entitled(other);
            from <= write.at + EPSILON && write.at <= to + EPSILON
        };
        !write.accepted
            && write.fencing == grant.held.fencing
            && from + EPSILON < write.at
            && write.at + EPSILON < to
            && world.grants.iter().filter(may_hold).count() == 1
    })
}

/// A write begun after its handle said Lost.
fn goes_on(world: &World) -> bool {
    let lines = &world.record.lines;
    operations(lines).iter().any(|op| {
        let Call::Write {
            grant: Some(grant), ..
        } = op.call
        else {
            return false;
        };
        lines.iter().any(|line| {
            let by = matches!(&line.by, By::Worker(name) if name == op.worker);
            let lost = matches!(&line.event, Event::Lost { grant: lost, .. } if lost == grant);
            by && lost && op.invoked > line.at + ns(EPSILON)
        })
    })
}

/// Told busy and kept, or told done without effect.
fn lied(world: &World) -> bool {
    world.boast
        || world
            .grants
            .iter()
            .any(|grant| grant.denied && grant.released.is_none())
}

/// After a holder's death a waiter waits too long for a lock that nobody alive holds.
fn overdue(world: &World) -> bool {
    let death = world.deaths.iter().filter(|(worker, at)| {
        world.grants.iter().any(|grant| {
            let (from, to) = entitled(grant);
            grant.worker == *worker && from < *at && *at < to
        })
    });
    let Some(since) = death.map(|(_, at)| *at).min() else {
        return false;
    };
    let alive =
        |worker: usize, t: u64| !world.deaths.iter().any(|(w, at)| *w == worker && *at <= t);
    let taken = |t: u64| {
        world.grants.iter().any(|grant| {
            let (from, to) = entitled(grant);
            from <= t && t < to && alive(grant.worker, t)
        })
    };
    world.waits.iter().any(|(_, from, to)| {
        let mut idle = 0;
        (since.max(*from)..*to).step_by(10).any(|t| {
            idle = if taken(t) { 0 } else { idle + 10 };
            idle > LEASE_MS + RECOVERY_BOUND + EPSILON
        })
    })
}
