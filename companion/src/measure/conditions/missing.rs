//! Reasons for the conditions of a record that are null.

use serde_json::{Map, Value};

use super::super::sensors::Reading;

/// Reasons for values that are null.
#[derive(Debug, Default)]
pub(super) struct Missing(Map<String, Value>);

impl Missing {
    /// A value, or nothing and its reason under a key.
    pub(super) fn or_why<T>(&mut self, key: &str, reading: Reading<T>) -> Option<T> {
        match reading {
            Ok(value) => Some(value),
            Err(why) => {
                self.0.insert(key.into(), Value::String(why));
                None
            }
        }
    }

    /// The reasons by key.
    pub(super) fn into_reasons(self) -> Map<String, Value> {
        self.0
    }
}
