//! The words of findings: times in seconds, counts, names of grants.

use crate::env::action::Action;
use crate::faults::FaultKind;
use crate::ids::FencingToken;
use crate::timeline::history::{Grant, History};

/// Lab time or a duration in nanoseconds, as seconds: the one unit of all findings.
pub fn secs(ns: u64) -> String {
    let seconds = ns as f64 / 1e9;
    match ns {
        1..500_000 => "less than 0.001 s".to_owned(),
        0..100_000_000 => format!("{seconds:.3} s"),
        _ => format!("{seconds:.2} s"),
    }
}

/// What shows that a fault of a server is over: it runs again, or what was done to it is undone. It
/// may have worked again since the heal began; that is told where it reads as another time.
pub fn seen_over(kind: &FaultKind, began: &str, seen_at: &str) -> String {
    let runs_again =
        |action: &Action| matches!(action, Action::StartServer | Action::ContinueGroup);
    let runs_again = kind.heal.iter().any(runs_again);
    let seen = match runs_again {
        true => "when the server was seen to be back",
        false => "when that was seen to be undone",
    };
    match runs_again {
        _ if began == seen_at => seen.to_owned(),
        true => format!("{seen}, and it may have worked since the heal began at {began}"),
        false => format!("{seen}, and the heal began at {began}"),
    }
}

/// `1 write`, `2 writes`.
pub fn count(n: usize, what: &str) -> String {
    if n == 1 {
        format!("1 {what}")
    } else {
        format!("{n} {what}s")
    }
}

/// The worker of a grant, or its owner digest if no worker's attempt was found.
pub fn who(history: &History, grant: &Grant) -> String {
    match grant.worker {
        Some(worker) => history.worker_name(worker).to_owned(),
        None => format!("owner {}", grant.owner),
    }
}

/// `a's grant (fencing token 3)`.
pub fn whose(history: &History, grant: &Grant) -> String {
    match grant.fencing {
        Some(fencing) => format!("{}'s grant (fencing token {fencing})", who(history, grant)),
        None => format!("{}'s grant", who(history, grant)),
    }
}

/// `fencing token 3`, or that there is none.
pub fn token(fencing: Option<FencingToken>) -> String {
    match fencing {
        Some(fencing) => format!("fencing token {fencing}"),
        None => "no fencing token".to_owned(),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn list(names: &[&str]) -> String {
    match names {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [front @ .., last] => format!("{} and {last}", front.join(", ")),
    }
}

/// The workers of operations, each once, as a list.
pub fn workers_of(history: &History, operations: &[usize]) -> String {
    list(&worker_names(history, operations))
}

/// The names of the workers of operations, each once.
pub fn worker_names<'h>(history: &'h History, operations: &[usize]) -> Vec<&'h str> {
    let mut names: Vec<&str> = Vec::new();
    for operation in operations {
        let name = history.worker_name(history.operations[*operation].worker);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_seconds() {
        assert_eq!(secs(4_812_345_678), "4.81 s");
        assert_eq!(secs(12_345_678), "0.012 s");
        assert_eq!(secs(310_000), "less than 0.001 s");
        assert_eq!(secs(0), "0.000 s");
        assert_eq!(secs(99_999_999), "0.100 s");
        assert_eq!(secs(100_000_000), "0.10 s");
    }

    #[test]
    fn lists_read_as_english() {
        assert_eq!(list(&["a"]), "a");
        assert_eq!(list(&["a", "b", "c"]), "a, b and c");
        assert_eq!(count(1, "write"), "1 write");
        assert_eq!(count(0, "write"), "0 writes");
    }
}
