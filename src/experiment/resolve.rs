//! One tree to one plan: every name looked up, every default made explicit.

use super::able;
use super::bounds;
use super::cast;
use super::duration::show;
use super::evidence;
use super::fault;
use super::grammar;
use super::judged;
use super::on_keeper;
use super::place::At;
use super::reading::{Reading, Spot};
use super::registry;
use super::section::Section;
use super::server;
use super::several;
use super::tree::{Node, Table};
use super::waits;
use super::wire;
use crate::plan::{Class, FORMAT, FaultPlan, LockPlan, MAIN_ARM, Persist, Plan, RunsOn, StorePlan};
use crate::store::{Condition, Fence, Reads};

/// What every worker locks and writes, unless the file says otherwise.
const KEY: &str = "account";

/// Longest key or resource, in bytes.
const KEY_MAX: usize = 200;

/// Resolves the main arm. None if anything is missing or wrong; why is in `reading`.
pub(super) fn main_arm(
    reading: &mut Reading,
    tree: &Table,
    drill: &str,
    seed: u64,
) -> Option<Plan> {
    let found_before = reading.problems.count();
    let root = root(reading, tree);
    let summary = root.text(reading, "summary");
    let class = root.one_of(reading, "class");
    let mut lock = lock(reading, &root);
    let store = store(reading, &root);
    let lease_ms = lock.as_ref().map(|lock| lock.lease_ms);
    let mut cast = cast::read(reading, &root, lease_ms);
    let deployed = lock.as_ref().map(|lock| registry::deployed(&lock.backend));
    cast.fails_over = deployed.is_none_or(|kind| kind.is_some_and(|kind| kind.fails_over));
    if let Some(lock) = &lock {
        able::fits(reading, &root, (lock, &cast));
    }
    let server = server::read(reading, &root, (lock.as_mut(), &cast.faults));
    let on = (lock.as_ref(), store.as_ref());
    faults_fit(reading, &root, (&cast.faults, on));
    waits::check(reading, &cast);
    let network = wire::network(reading, &root, &cast.faults);
    let evidence = evidence::read(reading, &root, &cast);
    let limit = judged::limit(reading, &root);
    let (required_checks, optional_checks) = judged::check_lists(reading, &root, tree);
    let (patience_ms, recovery_bound_ms) = bounds::read(reading, &root, lease_ms);
    if lease_ms.is_some() {
        bounds::faults_end_in_time(reading, &root, (&cast.faults, patience_ms));
    }
    if reading.problems.count() > found_before {
        return None;
    }
    Some(Plan {
        format: FORMAT,
        drill: drill.to_owned(),
        arm: MAIN_ARM.to_owned(),
        summary: summary?.value.to_owned(),
        class: self::class(class?.value),
        seed,
        lock: lock?,
        store: store?,
        network,
        server,
        workers: cast.workers,
        faults: cast.faults,
        evidence,
        required_checks,
        optional_checks,
        limit,
        control: None,
        controls: control_names(tree),
        patience_ms,
        recovery_bound_ms,
    })
}

/// Refuses faults that the lock's or the store's servers cannot have.
fn faults_fit(
    reading: &mut Reading,
    root: &Section<'_>,
    (faults, (lock, store)): (&[FaultPlan], (Option<&LockPlan>, Option<&StorePlan>)),
) {
    fault::store_has_server(reading, root, (faults, store));
    fault::disk_can_lag(reading, root, (faults, lock));
    several::fits(reading, root, (faults, lock));
    on_keeper::fits(reading, root, (faults, lock));
}

fn control_names(tree: &Table) -> Vec<String> {
    let controls = tree.get("control").into_iter();
    controls.flat_map(Node::keys).map(str::to_owned).collect()
}

/// The top level as a section.
pub(super) fn root<'t>(reading: &mut Reading, tree: &'t Table) -> Section<'t> {
    let at = At {
        source: 0,
        span: 0..0,
    };
    Section::open(reading, (tree, &at), "the file".to_owned(), grammar::ROOT)
}

fn class(name: &str) -> Class {
    if name == "efficiency" {
        Class::Efficiency
    } else {
        Class::Correctness
    }
}

fn lock(reading: &mut Reading, root: &Section<'_>) -> Option<LockPlan> {
    let section = root.table(reading, "lock")?;
    let backend = section.one_of(reading, "backend");
    let lease = section.duration(reading, "lease");
    let renew = section.duration(reading, "renew");
    let flaw = section.one_of(reading, "flaw");
    let key = key_text(reading, &section, "key");
    let renewal = section.one_of(reading, "renewal");
    let persist = section.one_of(reading, "persist");
    let copies = section.count(reading, "copies");
    let backups = section.count(reading, "backups");
    several::replicas(reading, backend.as_ref(), [&copies, &backups]);
    let voters = several::voters(reading, backend.as_ref(), &section);
    if let (Some(backend), Some(flaw)) = (&backend, &flaw) {
        flaw_fits(reading, backend, flaw);
    }
    let lease = lease.filter(|lease| {
        if lease.value == 0 {
            reading.hinted(&lease.at, "a lease of 0 is no lease", "at least `1ms`");
        }
        lease.value > 0
    })?;
    if let Some(renew) = renew.as_ref().filter(|renew| renew.value >= lease.value) {
        let (every, lease) = (show(renew.value), show(lease.value));
        let message = format!("renewal every {every} is too late for a lease of {lease}");
        reading.hinted(&renew.at, message, "`renew` must be shorter than `lease`");
    }
    Some(LockPlan {
        backend: backend?.value.to_owned(),
        lease_ms: lease.value,
        renew_ms: renew.map(|renew| renew.value).filter(|every| *every > 0),
        flaw: flaw.map(|flaw| flaw.value.to_owned()),
        key,
        renewal: match renewal.map(|word| word.value) {
            Some("script") => RunsOn::Script,
            _ => RunsOn::Own,
        },
        persist: persist.map_or(Persist::None, |word| match word.value {
            "always" => Persist::Always,
            "everysec" => Persist::Everysec,
            _ => Persist::None,
        }),
        copies: copies.map_or(0, |copies| copies.value),
        backups: backups.map_or(0, |backups| backups.value),
        voters,
    })
}

fn flaw_fits(reading: &mut Reading, backend: &Spot<&str>, flaw: &Spot<&str>) {
    let fits = registry::backends_with(flaw.value);
    if !fits.contains(&backend.value) {
        let (flawed, lock) = (flaw.value, backend.value);
        let message = format!("the lock `{lock}` cannot be given the flaw `{flawed}`");
        let hint = format!("it fits `{}`", fits.join("`, `"));
        reading.hinted(&flaw.at, message, hint);
    }
}

fn store(reading: &mut Reading, root: &Section<'_>) -> Option<StorePlan> {
    let section = root.table(reading, "store")?;
    let kind = section.one_of(reading, "kind");
    let fence = section.one_of(reading, "fence");
    let seal = section.flag(reading, "seal").unwrap_or(false);
    let once = section.flag(reading, "once").unwrap_or(false);
    let idempotent = section.flag(reading, "idempotent").unwrap_or(false);
    let condition = section.one_of(reading, "condition");
    let reads = section.one_of(reading, "reads");
    let outbox = section.flag(reading, "outbox").unwrap_or(false);
    let resource = key_text(reading, &section, "resource");
    let fenced = reads.as_ref().is_some_and(|word| word.value == "fenced");
    if once && fenced {
        let message = "`once` with fenced `reads`: the read uses up the fencing token that the first write would present";
        let hint = "leave out one of the two";
        reading.hinted(&section.place("once"), message, hint);
    }
    if seal && once {
        let message = "`once` with `seal`: the seal uses up the fencing token that the first write would present";
        let hint = "leave out one of the two";
        reading.hinted(&section.place("once"), message, hint);
    }
    Some(StorePlan {
        kind: kind?.value.to_owned(),
        fence: match fence?.value {
            "racy" => Fence::Racy,
            "off" => Fence::Off,
            _ => Fence::Atomic,
        },
        seal,
        once,
        resource,
        idempotent,
        condition: match condition.map(|word| word.value) {
            Some("racy") => Condition::Racy,
            Some("off") => Condition::Off,
            _ => Condition::Atomic,
        },
        reads: if fenced { Reads::Fenced } else { Reads::Open },
        outbox,
    })
}

/// A key or resource: any text, but not endless and without control characters.
pub(super) fn key_text(reading: &mut Reading, section: &Section<'_>, name: &str) -> String {
    let Some(typed) = section.text(reading, name) else {
        return KEY.to_owned();
    };
    if typed.value.len() > KEY_MAX {
        reading.problem(
            &typed.at,
            format!("`{name}` is longer than {KEY_MAX} bytes"),
        );
    }
    if typed.value.chars().any(char::is_control) {
        reading.problem(&typed.at, format!("`{name}` has a control character in it"));
    }
    typed.value.to_owned()
}
