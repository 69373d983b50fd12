//! Values of a section that are neither text nor lists: flags, numbers, durations.

use super::Section;
use crate::experiment::duration;
use crate::experiment::reading::{Reading, Spot};
use crate::experiment::refused::quote;
use crate::experiment::shape::Shape;
use crate::experiment::tree::Value;

impl Section<'_> {
    /// True or false.
    pub fn flag(&self, reading: &mut Reading, name: &str) -> Option<bool> {
        let node = self.table.get(name)?;
        let Value::Flag(flag) = node.value else {
            self.wrong(reading, name, node, "true or false");
            return None;
        };
        Some(flag)
    }

    /// A whole number within the limits that the grammar gives for this key.
    pub fn count(&self, reading: &mut Reading, name: &str) -> Option<Spot<u64>> {
        let Shape::Count(max) = self.key(name).shape else {
            return None;
        };
        let node = self.table.get(name)?;
        let Value::Number(number) = &node.value else {
            self.wrong(reading, name, node, "a whole number");
            return None;
        };
        match number.parse::<u64>() {
            Ok(count) if (1..=max).contains(&count) => Some(Spot {
                value: count,
                at: node.at.clone(),
            }),
            Ok(_) | Err(_) => {
                let message = format!("`{name}` is a whole number from 1 to {max}, not {number}");
                reading.problem(&node.at, message);
                None
            }
        }
    }

    /// A duration in milliseconds; zero included.
    pub fn duration(&self, reading: &mut Reading, name: &str) -> Option<Spot<u64>> {
        let node = self.table.get(name)?;
        let bad = match &node.value {
            Value::Text(text) => match duration::parse(text) {
                Ok(ms) => {
                    return Some(Spot {
                        value: ms,
                        at: node.at.clone(),
                    });
                }
                Err(bad) => bad,
            },
            Value::Number(number) => duration::Bad {
                message: format!("{} is a number", quote(number)),
                hint: format!(
                    "a duration is a string with a unit: {}?",
                    duration::meant(number)
                ),
            },
            Value::Flag(_) | Value::Date | Value::List(_) | Value::Table(_) => {
                self.wrong(reading, name, node, "a duration, as `\"2s\"`");
                return None;
            }
        };
        reading.hinted(&node.at, format!("`{name}`: {}", bad.message), bad.hint);
        None
    }
}
