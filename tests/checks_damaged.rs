//! Damaged records: cut, doubled, shuffled, foreign, with absurd numbers. Whatever is done to a
//! record, nothing panics; and no damage turns it into a pass that it was not.
#![allow(clippy::unwrap_used, reason = "tests")]

use crate::support::pause_drill;

use lockdrill::checks::judge_all;
use lockdrill::plan::Plan;
use lockdrill::timeline::event::Line;
use lockdrill::timeline::history::History;
use lockdrill::timeline::reader::{ReadError, read_history};
use lockdrill::verdict::{ArmResult, Verdict, judge_history};
use pause_drill::pause_drill;
use proptest::prelude::*;
use serde_json::Value;

fn whole() -> (Plan, Vec<Line>) {
    let h = pause_drill(false);
    let lines = h.finished();
    (h.plan, lines)
}

fn text(lines: &[Line]) -> String {
    let lines = lines
        .iter()
        .map(|line| serde_json::to_string(line).unwrap() + "\n");
    lines.collect()
}

/// What `recheck` says of these bytes; none if they are refused.
fn rechecked(plan: &Plan, bytes: &[u8]) -> Option<ArmResult> {
    match read_history(plan, bytes) {
        Ok((history, _)) => Some(judge_history(plan, &history)),
        Err(
            ReadError::Newer { .. } | ReadError::Unreadable { .. } | ReadError::Disordered { .. },
        ) => None,
        Err(ReadError::Io(error)) => panic!("bytes in memory can be read: {error}"),
    }
}

/// What is said of lines that can each be read, in whatever order they come.
fn in_memory<'a>(plan: &Plan, lines: impl IntoIterator<Item = &'a Vec<u8>>) -> ArmResult {
    let readable = lines
        .into_iter()
        .filter_map(|line| serde_json::from_slice(line).ok());
    judge_history(plan, &History::from_lines(plan, readable))
}

fn passes(result: &ArmResult) -> bool {
    result.verdict == Some(Verdict::Pass)
}

#[test]
fn the_undamaged_record_passes() {
    let (plan, lines) = whole();
    let result = rechecked(&plan, text(&lines).as_bytes()).unwrap();
    assert!(passes(&result), "{result:#?}");
    let in_memory = judge_history(&plan, &History::from_lines(&plan, lines));
    assert_eq!(in_memory, result);
}

#[test]
fn a_record_cut_anywhere_never_passes() {
    let (plan, lines) = whole();
    let text = text(&lines);
    for end in (0..text.len() - 1).step_by(7) {
        let result = rechecked(&plan, &text.as_bytes()[..end]);
        assert!(
            !result.as_ref().is_some_and(passes),
            "cut at {end}: {result:#?}"
        );
    }
}

#[test]
fn no_empty_plan_or_record_panics() {
    let (plan, _) = whole();
    let empty = rechecked(&plan, b"").unwrap();
    assert!(empty.defect.is_some(), "{empty:#?}");
    assert!(rechecked(&plan, b"\x00\xff\xfe\n{}\n").is_none());
}

/// One way to damage a list of lines.
#[derive(Debug, Clone)]
enum Damage {
    Drop(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Renumber,
    /// One number of one line becomes another.
    Number(prop::sample::Index, prop::sample::Index, u64),
    /// One string of one line becomes one of another line.
    Text(
        prop::sample::Index,
        prop::sample::Index,
        prop::sample::Index,
    ),
    Garbage(prop::sample::Index, Vec<u8>),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<prop::sample::Index>;
    let number = prop_oneof![
        Just(0_u64),
        Just(1),
        Just(u64::MAX),
        Just(u64::MAX / 2),
        Just(i64::MAX as u64),
        any::<u64>(),
        0..5_000_000_000_u64,
    ];
    prop_oneof![
        at().prop_map(Damage::Drop),
        at().prop_map(Damage::Double),
        (at(), at()).prop_map(|(a, b)| Damage::Swap(a, b)),
        Just(Damage::Renumber),
        (at(), at(), number).prop_map(|(a, b, n)| Damage::Number(a, b, n)),
        (at(), at(), at()).prop_map(|(a, b, c)| Damage::Text(a, b, c)),
        (at(), prop::collection::vec(any::<u8>(), 0..40)).prop_map(|(a, g)| Damage::Garbage(a, g)),
    ]
}

/// Every number and every text of a value.
fn leaves<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Value>) {
    match value {
        Value::Number(_) | Value::String(_) => found.push(value),
        Value::Array(all) => all.iter_mut().for_each(|value| leaves(value, found)),
        Value::Object(all) => all.values_mut().for_each(|value| leaves(value, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn apply(lines: &mut Vec<Vec<u8>>, damage: &Damage) {
    let len = lines.len();
    if len == 0 {
        return;
    }
    match damage {
        Damage::Drop(at) => {
            lines.remove(at.index(len));
        }
        Damage::Double(at) => lines.insert(at.index(len), lines[at.index(len)].clone()),
        Damage::Swap(a, b) => lines.swap(a.index(len), b.index(len)),
        Damage::Renumber => {
            for (seq, line) in lines.iter_mut().enumerate() {
                edit(line, |value| value["seq"] = seq.into());
            }
        }
        Damage::Number(at, which, number) => edit(&mut lines[at.index(len)], |value| {
            let mut found = Vec::new();
            leaves(value, &mut found);
            found.retain(|value| value.is_number());
            let count = found.len();
            *found[which.index(count)] = (*number).into();
        }),
        Damage::Text(at, which, from) => {
            let mut text = Value::Null;
            edit(&mut lines[from.index(len)], |value| {
                let mut found = Vec::new();
                leaves(value, &mut found);
                text = found
                    .iter()
                    .rev()
                    .find(|v| v.is_string())
                    .map_or(Value::Null, |v| (**v).clone());
            });
            edit(&mut lines[at.index(len)], |value| {
                let mut found = Vec::new();
                leaves(value, &mut found);
                found.retain(|value| value.is_string());
                let count = found.len();
                if count > 0 {
                    *found[which.index(count)] = text.clone();
                }
            });
        }
        Damage::Garbage(at, bytes) => lines.insert(at.index(len), bytes.clone()),
    }
}

fn edit(line: &mut Vec<u8>, change: impl FnOnce(&mut Value)) {
    if let Ok(mut value) = serde_json::from_slice::<Value>(line)
        && value.is_object()
    {
        change(&mut value);
        *line = serde_json::to_vec(&value).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn whatever_is_done_to_a_record_nothing_panics(damages in prop::collection::vec(damage(), 1..12)) {
        let (plan, lines) = whole();
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|l| serde_json::to_vec(l).unwrap()).collect();
        for damage in &damages {
            apply(&mut lines, damage);
        }
        let _ = rechecked(&plan, &lines.join(&b'\n'));
        let _ = in_memory(&plan, &lines);
    }

    #[test]
    fn bytes_that_are_no_record_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (plan, _) = whole();
        let result = rechecked(&plan, &bytes);
        prop_assert!(!result.as_ref().is_some_and(passes));
    }

    #[test]
    fn a_record_that_lacks_or_doubles_lines_never_passes(
        at in any::<prop::sample::Index>(),
        upto in 1..5_usize,
        double in any::<bool>(),
    ) {
        let (plan, mut lines) = whole();
        let from = at.index(lines.len() - upto);
        if double {
            let again = lines[from..from + upto].to_vec();
            lines.splice(from..from, again);
        } else {
            lines.drain(from..from + upto);
        }
        let result = rechecked(&plan, text(&lines).as_bytes());
        prop_assert!(!result.as_ref().is_some_and(passes), "{result:#?}");
        prop_assert!(result.is_none() == double, "doubled lines are refused: {result:#?}");
        let result = judge_history(&plan, &History::from_lines(&plan, lines));
        prop_assert!(!passes(&result), "{result:#?}");
    }

    #[test]
    fn findings_depend_on_the_record_alone(damages in prop::collection::vec(damage(), 0..4)) {
        let (plan, lines) = whole();
        let mut lines: Vec<Vec<u8>> = lines.iter().map(|l| serde_json::to_vec(l).unwrap()).collect();
        for damage in &damages {
            apply(&mut lines, damage);
        }
        let bytes = lines.join(&b'\n');
        if let (Ok((first, _)), Ok((second, _))) =
            (read_history(&plan, &bytes[..]), read_history(&plan, &bytes[..]))
        {
            prop_assert_eq!(judge_all(&first), judge_all(&second));
        }
        prop_assert_eq!(in_memory(&plan, &lines), in_memory(&plan, &lines));
    }
}
