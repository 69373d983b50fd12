//! The definitions of the checks, read literally from the truth: slow, and simple enough to believe.

use super::world::{Truth, World, Write};
use crate::support::history::{LEASE_MS, ns};
use lockdrill::plan::Evidence;
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
        ("no_stale_read", read_late(world)),
        ("owner_only", world.trespass),
        ("recovers", overdue(world)),
        ("stops_after_loss", goes_on(world)),
        ("no_lost_update", update_lost(world)),
        ("rightful_served", wronged(world)),
        ("outcome_honesty", lied(world)),
        ("loss_noticed", unnoticed(world)),
        ("no_false_loss", falsely_lost(world)),
        ("retry_budget", overspent(world)),
        ("effects_once", not_once(world)),
        ("no_leftovers", something_left(world)),
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
    op: u64,
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
            op: *op,
            worker,
            call,
            invoked: line.at,
            returned,
        });
    }
    operations
}

/// A renewal told as done that the server never made.
fn void(world: &World, op: &Op) -> bool {
    world
        .void
        .iter()
        .any(|(worker, number)| *worker == op.worker && *number == op.op)
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
                (Call::Renew { grant: of, .. }, Some((_, _, Answer::Renewed))) => {
                    of == grant && !void(world, op)
                }
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

/// A read was answered whose reader's entitlement had ended, and another was granted after him.
fn read_late(world: &World) -> bool {
    let answered = world.reads.iter().filter(|read| read.accepted);
    answered.into_iter().any(|read| {
        let (_, to) = entitled(&world.grants[read.grant]);
        let mut later = world.grants[read.grant + 1..].iter();
        to + EPSILON < read.at && later.any(|next| next.at + EPSILON < read.at)
    })
}

/// A refused write or read of one who was entitled, while nobody else can have been. Every writer of
/// this world has been told of its grant before it begins, and is answered before it gives back: only
/// the ends of leases are known by the server's clock alone.
fn wronged(world: &World) -> bool {
    world.writes.iter().chain(&world.reads).any(|write| {
        let grant = &world.grants[write.grant];
        let may_hold = |other: &&Truth| {
            let (from, to) = entitled(other);
            from <= write.at + EPSILON && write.at <= to + 1
        };
        !write.accepted
            && write.fencing == grant.held.fencing
            && grant.at < write.at
            && write.at + EPSILON < grant.lease_end
            && grant.released.is_none_or(|at| write.at < at)
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
    let kept = |grant: &Truth| {
        let over = grant.lease_end.min(grant.released.unwrap_or(u64::MAX));
        grant.denied.is_some_and(|told| over > told + EPSILON)
    };
    world.boast || world.grants.iter().any(kept)
}

/// The worker's process was stopped.
fn asleep(world: &World, worker: usize, t: u64) -> bool {
    world
        .nap
        .is_some_and(|(who, from, to)| who == worker && from <= t && t < to + 2)
}

/// After a holder's death or the last heal a runnable waiter waits too long for a lock that nobody
/// alive holds.
fn overdue(world: &World) -> bool {
    let death = world.deaths.iter().filter(|(worker, at)| {
        world.grants.iter().any(|grant| {
            let (from, to) = entitled(grant);
            grant.worker == *worker && from < *at && *at < to
        })
    });
    let death = death.map(|(_, at)| *at).min();
    let heal = world.nap.map(|(_, _, to)| to + 2);
    let Some(since) = heal.or(death) else {
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
    world.waits.iter().any(|(worker, from, to)| {
        let mut idle = 0;
        (since.max(*from)..*to).step_by(10).any(|t| {
            if taken(t) {
                idle = 0;
            } else if !asleep(world, *worker, t) {
                idle += 10;
            }
            idle > LEASE_MS + RECOVERY_BOUND + EPSILON
        })
    })
}

/// When the last request was sent that a grant's worker knew, at a time, to have succeeded.
fn sent_by(world: &World, grant: &Truth, t: u64) -> Option<u64> {
    let id = &grant.held.grant;
    let confirmed =
        operations(&world.record.lines)
            .into_iter()
            .filter(|op| match (op.call, op.returned) {
                (Call::Attempt { grant, .. }, Some((at, _, Answer::Granted { .. })))
                | (Call::Renew { grant, .. }, Some((at, _, Answer::Renewed))) => {
                    grant == id && at <= ns(t) && !void(world, op)
                }
                _ => false,
            });
    confirmed.map(|op| op.invoked / ns(1)).max()
}

/// An entitlement ended while its worker lived and wanted it, and Lost was told later than its own
/// deadline plus the bound of runnable time, or never; or it was told twice.
fn unnoticed(world: &World) -> bool {
    let late = |grant: &Truth| {
        if grant.released.is_some() {
            return false;
        }
        let Some(sent) = sent_by(world, grant, grant.lease_end + EPSILON) else {
            return false; // It never knew that it held.
        };
        let death = world.deaths.iter().filter(|(w, _)| *w == grant.worker);
        let operations = operations(&world.record.lines);
        let given_back = operations
            .iter()
            .filter(|op| matches!(op.call, Call::Release { grant: of } if *of == grant.held.grant))
            .map(|op| op.invoked / ns(1));
        let until = death.map(|(_, at)| *at).chain(given_back);
        let until = until.chain([world.end]).min().unwrap_or(0);
        let told = grant.lost.first().copied().unwrap_or(until);
        let runnable = (sent + LEASE_MS..told).filter(|t| !asleep(world, grant.worker, *t));
        grant.lease_end < until && runnable.count() as u64 > RECOVERY_BOUND + EPSILON
    };
    world
        .grants
        .iter()
        .any(|grant| grant.lost.len() > 1 || late(grant))
}

/// Lost was told while the server held the key for this grant, and its deadline was further away
/// than one per cent of the lease and two milliseconds.
fn falsely_lost(world: &World) -> bool {
    world.grants.iter().any(|grant| {
        let (from, to) = entitled(grant);
        let to = to.min(grant.taken.unwrap_or(u64::MAX));
        grant.lost.iter().any(|t| {
            let deadline = sent_by(world, grant, *t).map_or(0, |sent| sent + LEASE_MS);
            // Up to a stall that is not on the record, 15 ms, may lie between clock and line; ε is
            // rounded up here by one of them.
            let margin = LEASE_MS / 100 + 2 + EPSILON + 14;
            from <= *t && t + EPSILON < to && t + margin < deadline
        })
    })
}

/// Four commands of one waiter in what certainly was less than a second.
fn overspent(world: &World) -> bool {
    let all = operations(&world.record.lines);
    all.iter().any(|wait| {
        let until = wait.returned.map_or(u64::MAX, |(at, ..)| at);
        let mut sent: Vec<u64> = all
            .iter()
            .filter(|op| op.worker == wait.worker && matches!(op.call, Call::Attempt { .. }))
            .map(|op| op.invoked)
            .filter(|at| wait.invoked <= *at && *at <= until)
            .collect();
        sent.sort_unstable();
        let four = sent.windows(4).any(|four| four[3] - four[0] < ns(900));
        matches!(wait.call, Call::Enter { .. }) && four
    })
}

/// A write took effect twice, or the final data are not those of the last accepted write.
fn not_once(world: &World) -> bool {
    world.doubled || (world.finals.wrong_value && !world.finals.no_value)
}

/// A key without a lease or past it, or anything that the sweep found.
fn something_left(world: &World) -> bool {
    let key = world
        .finals
        .key
        .is_some_and(|(looked, until)| until.is_none_or(|until| looked > until + EPSILON));
    key || (world.finals.left && !world.finals.no_sweep)
}

/// Every fault happened as planned, and so did what the plan asks for beside it.
pub fn evident(world: &World) -> bool {
    let Some((_, from, to)) = world.nap else {
        return !world.finals.broken_off;
    };
    let inside = |t: u64| from + 2 + EPSILON < t && t + EPSILON < to;
    let of = |name: &str| {
        let name = name.to_owned();
        world.grants.iter().filter(move |g| g.held.worker == name)
    };
    let shown = world
        .record
        .plan
        .evidence
        .iter()
        .all(|clause| match clause {
            Evidence::Granted { worker, .. } => of(worker).any(|grant| inside(grant.at)),
            Evidence::LeaseEnded { worker, .. } => {
                of(worker).any(|grant| grant.released.is_none() && inside(grant.lease_end))
            }
            Evidence::Copied { .. }
            | Evidence::ReachedAfter { .. }
            | Evidence::BeganWithin { .. }
            | Evidence::GrantedTimes { .. }
            | Evidence::Waited { .. } => false,
        });
    shown && !world.faked && !world.finals.broken_off
}
