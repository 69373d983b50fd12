//! Steps of the lock: faults, servers that take over, grants, how their keys ended, what workers were
//! told of it.

use super::Step;
use crate::report::scene::Scene;
use crate::report::scene::faults::FaultMark;
use crate::report::scene::frames::Did;
use crate::report::scene::marks::{Renewal, Renewed};
use crate::report::scene::tenure::{Ended, Tenure};
use crate::report::sentence::Sentence;
use crate::report::story::free::blur;
use crate::report::story::holding::unheard;
use crate::report::words::{at, at_ms};

/// Begin and end of each fault.
pub(super) fn faults(scene: &Scene) -> Vec<Step> {
    let mut steps = Vec::new();
    for fault in &scene.faults {
        let event = |nth: usize| fault.events.get(nth).copied().unwrap_or(0);
        let whom = fault
            .whom()
            .map_or(String::new(), |whom| format!(" of {whom}"));
        let told = Sentence::of("fault ")
            .event(fault.name.as_str(), event(0))
            .text(onset(fault, &whom));
        steps.push(Step::telling(fault.stands(), told));
        if let Some(ended) = fault.over().filter(|_| fault.lasts) {
            let told = Sentence::of("fault ")
                .event(fault.name.as_str(), event(1))
                .text(over(fault));
            steps.push(Step::telling(ended, told));
        }
    }
    steps
}

/// What lasts is told from when it was seen to work; what is over at once stands where it was
/// begun, before all that came of it.
fn onset(fault: &FaultMark, whom: &str) -> String {
    let seconds = |ns| format!("{} s", at_ms(ns));
    match fault.begun(seconds) {
        Some(begun) if fault.lasts => {
            format!(" is in effect: {}{whom}, begun at {begun}", fault.kind)
        }
        Some(_) => {
            let done = seconds(fault.effective);
            format!(" is begun: {}{whom}, done by {done}", fault.kind)
        }
        None if fault.lasts => format!(" is in effect: {}{whom}", fault.kind),
        None => format!(": {}{whom}", fault.kind),
    }
}

fn over(fault: &FaultMark) -> String {
    match &fault.server {
        Some(server) => format!(" is over: {server} is seen to work again"),
        None => " ends".to_owned(),
    }
}

/// Servers that took over, as long as the drill ran.
pub(super) fn servers(scene: &Scene) -> Vec<Step> {
    let during = scene.promotions.iter().filter(|one| one.1 <= scene.to);
    let told = during.map(|(server, at, event)| {
        let told = Sentence::default()
            .event(format!("{server} takes over"), *event)
            .text(" (by then; it knows what had been copied to it, and no more)");
        Step::telling(*at, told)
    });
    told.collect()
}

/// How a grant ended.
fn end(tenure: &Tenure) -> Option<Step> {
    let who = tenure.who();
    let event = tenure.ended_by.unwrap_or(tenure.granted_by);
    if let (Some(taken), Some(how)) = (tenure.key_taken, tenure.taken()) {
        let promised = match tenure.entitled > tenure.until && !tenure.endless {
            true => format!("; {who} stays entitled until {}", at(tenure.entitled)),
            false => String::new(),
        };
        let told = Sentence::of(format!("the key of {}", whose(tenure)))
            .event(format!(" is {how}"), taken.event)
            .text(promised);
        return Some(Step::telling(taken.at, told));
    }
    match tenure.ended {
        Ended::Released => {
            let told = Sentence::default().event(format!("{who} releases the lock"), event);
            Some(Step::usual(tenure.until, told))
        }
        Ended::Expired if !tenure.endless => {
            let told = Sentence::of("the lease of ").event(whose(tenure), event);
            Some(Step::telling(tenure.until, told.text(" runs out")))
        }
        Ended::Expired | Ended::Open => None,
    }
}

/// How the grants ended.
pub(super) fn ends(scene: &Scene) -> Vec<Step> {
    scene.tenures.iter().filter_map(end).collect()
}

/// `a's grant (fencing token 1)`.
fn whose(tenure: &Tenure) -> String {
    let who = tenure.who();
    match tenure.fencing {
        Some(token) => format!("{who}'s grant (fencing token {token})"),
        None => format!("{who}'s grant"),
    }
}

/// Every grant; one that another's entitlement or number stands against says so.
pub(super) fn grants(scene: &Scene) -> Vec<Step> {
    let all = scene.tenures.iter().enumerate();
    let told = all.map(|(index, tenure)| {
        let before = &scene.tenures[..index];
        let who = tenure.who();
        let token = tenure.fencing.map_or(String::new(), |token| {
            format!(" with fencing token {token}")
        });
        let (number, both) = (number(before, tenure), both(scene, before, tenure));
        let telling = number.is_some() || both.is_some() || tenure.unheard;
        let by = match (scene.promotions.is_empty(), &tenure.server) {
            (false, Some(server)) => format!(" by {server}"),
            _ => String::new(),
        };
        let told = Sentence::default()
            .event(format!("{who} is granted the lock"), tenure.granted_by)
            .text(by)
            .text(token)
            .text(unheard(tenure))
            .text(number.unwrap_or_default())
            .text(both.unwrap_or_default());
        Step {
            at: tenure.from,
            told,
            telling,
        }
    });
    told.collect()
}

/// A number that does not rise.
fn number(before: &[Tenure], tenure: &Tenure) -> Option<String> {
    let own = tenure.fencing?;
    let highest = before.iter().filter(|other| other.fencing.is_some());
    let highest = highest.max_by_key(|other| other.fencing)?;
    let who = highest.who();
    let of = of_another(highest, tenure, "on");
    match highest.fencing? {
        same if same == own => Some(format!(
            ", the same number that {who} was granted before{of}"
        )),
        higher if higher > own => Some(format!(
            ", a lower number than the {higher} that {who} was granted before{of}"
        )),
        _lower => None,
    }
}

/// Somebody else is still entitled.
fn both(scene: &Scene, before: &[Tenure], tenure: &Tenure) -> Option<String> {
    let still = |other: &&Tenure| {
        let apart = tenure.from.saturating_add(blur(scene, tenure));
        other.worker != tenure.worker && other.entitled > apart
    };
    let other = before.iter().rfind(still)?;
    let (who, to) = (other.who(), of_another(other, tenure, "to"));
    Some(format!(", while {who} is still entitled{to}"))
}

/// That this is about another key than the one that was granted now.
fn of_another(other: &Tenure, now: &Tenure, to: &str) -> String {
    let both = other.other_key(now).zip(now.key.as_deref());
    both.map_or_else(String::new, |(other, own)| {
        format!(" {to} the key `{other}`, which is not its own `{own}`")
    })
}

/// What workers were told and what became of them.
pub(super) fn workers(scene: &Scene) -> Vec<Step> {
    let mut steps = Vec::new();
    for loss in &scene.losses {
        let words = format!("{} is told that its lock is lost", loss.worker);
        let told = Sentence::default().event(words, loss.event);
        steps.push(Step::telling(loss.at, told));
    }
    // Whom a fault killed is told with the fault.
    let killed = |name: &str| {
        let mut done = scene.faults.iter().filter(|fault| !fault.lasts);
        done.any(|fault| fault.worker.as_deref() == Some(name))
    };
    for death in scene.deaths.iter().filter(|death| !killed(&death.worker)) {
        let told = Sentence::of("the process of ").event(death.worker.as_str(), death.event);
        steps.push(Step::telling(death.at, told.text(" is gone")));
    }
    for held in &scene.frames {
        let told = Sentence::of(format!("the held {} of {} ", held.what, held.worker))
            .event("is sent on", held.event);
        let told = match &held.did {
            Did::Nothing => told.text(" and changes nothing"),
            Did::Done(what, seq) => told.text("; it ").event(what.as_str(), *seq),
            Did::Unclear => told,
        };
        steps.push(Step::telling(held.at, told));
    }
    steps.extend(scene.renewals.iter().filter_map(renewal));
    steps
}

/// A renewal that its worker was misled about, or that failed.
fn renewal(renewal: &Renewal) -> Option<Step> {
    let who = &renewal.worker;
    let told = Sentence::default()
        .event(format!("{who} is told"), renewal.event)
        .text(format!(
            " that the renewal that it sent at {} ",
            at(renewal.sent)
        ));
    match renewal.became {
        Renewed::OnlyTold => Some(Step::telling(
            renewal.at(),
            told.text("worked; the server shows no such effect"),
        )),
        Renewed::Failed => Some(Step::usual(renewal.at(), told.text("failed"))),
        Renewed::Unknown => {
            renewal.answered?;
            let told = told.text("got no answer");
            Some(Step::usual(renewal.at(), told))
        }
        Renewed::Applied => None,
    }
}
