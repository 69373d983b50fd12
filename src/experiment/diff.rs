//! Two plans compared field by field: a control must differ from the main arm in one path.

use crate::plan::Plan;
use serde_json::{Map, Value};

/// One path that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Difference {
    pub path: String,
    pub from: Value,
    pub to: Value,
}

/// Every path in which `arm` differs from `main`; what says which arm it is does not count. What
/// differs in the same way in every worker of a group is one path, that of the group.
pub(super) fn differences(main: &Plan, arm: &Plan) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", &plain(main), &plain(arm), &mut found);
    let mut paths: Vec<Difference> = Vec::new();
    for mut difference in found {
        if let Some(path) = of_group(main, &difference.path) {
            difference.path = path;
        }
        if !paths.contains(&difference) {
            paths.push(difference);
        }
    }
    paths
}

/// `workers.w1.key` as `workers.w.key`, if w1 is one of the group w.
fn of_group(plan: &Plan, path: &str) -> Option<String> {
    let (name, rest) = path.strip_prefix("workers.")?.split_once('.')?;
    let mut workers = plan.workers.iter();
    let worker = workers.find(|worker| worker.name == name)?;
    Some(format!("workers.{}.{rest}", worker.group.as_ref()?))
}

/// A plan as JSON without `arm` and `control`.
fn plain(plan: &Plan) -> Value {
    let mut value = serde_json::to_value(plan).unwrap_or(Value::Null);
    if let Value::Object(fields) = &mut value {
        fields.remove("arm");
        fields.remove("control");
    }
    value
}

fn compare(path: &str, from: &Value, to: &Value, found: &mut Vec<Difference>) {
    if from == to {
        return;
    }
    match pairs(from, to) {
        Some(pairs) => {
            for (key, from, to) in pairs {
                let below = if path.is_empty() {
                    key
                } else {
                    format!("{path}.{key}")
                };
                compare(&below, from, to, found);
            }
        }
        None => found.push(Difference {
            path: path.to_owned(),
            from: from.clone(),
            to: to.clone(),
        }),
    }
}

/// The parts of two values side by side, if they have the same parts: the same fields, some of them
/// left out on one side, or named elements of the same names in the same order. Otherwise the whole
/// is what differs.
fn pairs<'v>(from: &'v Value, to: &'v Value) -> Option<Vec<(String, &'v Value, &'v Value)>> {
    match (from, to) {
        (Value::Object(from), Value::Object(to)) => {
            let (more, less) = if from.len() < to.len() {
                (to, from)
            } else {
                (from, to)
            };
            let same = less.keys().all(|key| more.contains_key(key));
            same.then(|| {
                let of =
                    |fields: &'v Map<String, Value>, key| fields.get(key).unwrap_or(&Value::Null);
                let keys = more.keys();
                keys.map(|key| (key.clone(), of(from, key), of(to, key)))
                    .collect()
            })
        }
        (Value::Array(from), Value::Array(to)) => {
            let names: Option<Vec<&str>> = from.iter().map(name).collect();
            let same = names.is_some() && from.iter().map(name).eq(to.iter().map(name));
            let names = names.filter(|_| same)?;
            let pairs = names.into_iter().zip(from.iter().zip(to));
            Some(
                pairs
                    .map(|(name, (from, to))| (name.to_owned(), from, to))
                    .collect(),
            )
        }
        _ => None,
    }
}

fn name(element: &Value) -> Option<&str> {
    element.get("name")?.as_str()
}
