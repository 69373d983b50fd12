//! The JSON schema of experiment files, generated from the grammar, for editors.

use super::grammar;
use super::script::VERBS;
use super::shape::{Key, Names, Shape};
use serde_json::{Map, Value, json};

/// The schema, draft 2020-12.
pub fn schema() -> Value {
    let mut schema = object(grammar::ROOT);
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "lockdrill experiment",
        "description": "One drill: a lock, a protected store, workers, what is broken on purpose, and controls.",
    });
    if let (Value::Object(schema), Value::Object(head)) = (&mut schema, head) {
        schema.extend(head);
    }
    schema
}

fn object(keys: &[Key]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|key| (key.name.to_owned(), described(key)))
        .collect();
    let required: Vec<&str> = keys
        .iter()
        .filter(|key| key.required)
        .map(|key| key.name)
        .collect();
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn described(key: &Key) -> Value {
    let mut value = shape(&key.shape);
    if let Value::Object(fields) = &mut value {
        fields.insert("description".to_owned(), key.about.into());
    }
    value
}

fn shape(shape: &Shape) -> Value {
    match shape {
        Shape::Text | Shape::Event => json!({ "type": "string", "minLength": 1 }),
        Shape::Flag => json!({ "type": "boolean" }),
        Shape::Duration => json!({ "type": "string", "examples": ["1500ms", "2s"] }),
        Shape::Count(max) => json!({ "type": "integer", "minimum": 1, "maximum": max }),
        Shape::OneOf(names) => one_of(*names),
        Shape::ListOf(names) => json!({
            "type": "array", "items": one_of(*names), "uniqueItems": true,
        }),
        Shape::Script => {
            let words = VERBS.iter().map(|verb| verb.word);
            let pattern = format!("^({})\\b", words.collect::<Vec<_>>().join("|"));
            json!({
                "type": "array",
                "items": { "type": "string", "pattern": pattern },
                "minItems": 1,
            })
        }
        Shape::Sentences => json!({ "type": "array", "items": { "type": "string" } }),
        Shape::Table(keys) => object(keys),
        Shape::Named(keys) => json!({
            "type": "object",
            "propertyNames": { "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,31}$" },
            "additionalProperties": object(keys),
        }),
        Shape::Setting => json!({ "type": "object", "minProperties": 1, "maxProperties": 1 }),
    }
}

fn one_of(names: Names) -> Value {
    json!({ "enum": names.allowed() })
}
