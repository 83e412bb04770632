//! A bag of keys and values that is emptied field by field; what is left over was never a field.

use calc_core::analysis::{MAX_DIMENSION, MAX_EXPERTS};
use calc_core::catalog::nearest;
use calc_core::error::Error;
use calc_core::workload::{MAX_BATCH, MAX_DRAFT, MAX_NEW_TOKENS, MAX_TOKENS};
use serde_json::{Map, Value};

use super::RequestError;

/// The fields of one request.
#[derive(Debug, Clone)]
pub struct Fields {
    values: Map<String, Value>,
    asked: Vec<&'static str>,
}

impl Fields {
    /// From a JSON object.
    pub fn new(values: Map<String, Value>) -> Self {
        Self { values, asked: Vec::new() }
    }

    /// From keys and texts, as flags are given.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let value = |(key, text): (&str, &str)| (key.to_owned(), Value::String(text.to_owned()));
        Self::new(texts.into_iter().map(value).collect())
    }

    /// From one line of JSON.
    ///
    /// # Errors
    /// [`RequestError::NotJson`] for anything but an object.
    pub fn from_line(line: &str) -> Result<Self, RequestError> {
        if line.trim().is_empty() {
            return Err(RequestError::NotJson { reason: "the line is empty".into() });
        }
        match serde_json::from_str(line) {
            Ok(Value::Object(values)) => Ok(Self::new(values)),
            Ok(other) => Err(RequestError::NotJson {
                reason: format!("{} where an object belongs", kind(&other)),
            }),
            Err(error) => Err(RequestError::NotJson { reason: error.to_string() }),
        }
    }

    /// Nothing under this key; under the same one in other letters, perhaps.
    fn missing(&self, key: &'static str) -> RequestError {
        match self.values.keys().find(|given| given.eq_ignore_ascii_case(key)) {
            Some(given) => {
                RequestError::UnknownField { key: clip(given), nearest: vec![key.into()] }
            }
            None => RequestError::Missing { key },
        }
    }

    /// Whether there is something under this key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|value| !value.is_null())
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.asked.push(key);
        self.values.remove(key).filter(|value| !value.is_null())
    }

    /// The name under a key, which stays there.
    pub fn peek_text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    /// Puts a text under a key.
    pub fn replace_text(&mut self, key: &str, text: &str) {
        self.values.insert(key.into(), Value::String(text.into()));
    }

    /// A name.
    ///
    /// # Errors
    /// [`RequestError::NotText`] for anything but a string.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(RequestError::NotText { key: key.into(), value: shown(&other) }),
        }
    }

    /// A name that must be there.
    ///
    /// # Errors
    /// As [`Fields::text`], and [`RequestError::Missing`].
    pub fn required_text(&mut self, key: &'static str) -> Result<String, RequestError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// A yes or no: true or "true".
    ///
    /// # Errors
    /// [`RequestError::NotOneOf`] for anything else.
    pub fn flag(&mut self, key: &'static str) -> Result<bool, RequestError> {
        match self.take(key) {
            None => Ok(false),
            Some(Value::Bool(value)) => Ok(value),
            Some(Value::String(text)) if text == "true" || text == "false" => Ok(text == "true"),
            Some(other) => Err(RequestError::NotOneOf {
                key,
                value: shown(&other),
                allowed: vec!["true", "false"],
            }),
        }
    }

    /// A real number.
    ///
    /// # Errors
    /// [`RequestError::NotANumber`].
    pub fn real(&mut self, key: &'static str) -> Result<Option<f64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number
            .map(Some)
            .ok_or_else(|| RequestError::NotANumber { key: key.into(), value: shown(&value) })
    }

    /// A whole number that is not negative; its range is checked by the model.
    ///
    /// # Errors
    /// [`RequestError::NotANumber`], [`RequestError::NotWhole`], or out of the range of any count.
    pub fn count(&mut self, key: &'static str) -> Result<Option<u64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let exact = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => text.trim().replace('_', "").parse().ok(),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if exact.is_some() {
            return Ok(exact);
        }
        self.values.insert(key.into(), value.clone());
        let real = self.real(key)?.unwrap_or(f64::NAN);
        whole(key, real, &value).map(Some)
    }

    /// A count that must be there.
    ///
    /// # Errors
    /// As [`Fields::count`], and [`RequestError::Missing`].
    pub fn required_count(&mut self, key: &'static str) -> Result<u64, RequestError> {
        self.count(key)?.ok_or_else(|| self.missing(key))
    }

    /// Refuses what nobody asked for.
    ///
    /// # Errors
    /// [`RequestError::UnknownField`] with the nearest fields.
    pub fn finish(self) -> Result<(), RequestError> {
        match self.values.into_iter().next() {
            None => Ok(()),
            Some((key, _)) => {
                let nearest = nearest(&key, self.asked.iter().copied());
                Err(RequestError::UnknownField { key: clip(&key), nearest })
            }
        }
    }
}

/// What the model accepts for a count; it checks the same ranges itself.
fn range(key: &str) -> (u64, u64) {
    match key {
        "batch" => (1, MAX_BATCH),
        "prompt" | "new" => (1, MAX_TOKENS),
        "context" | "cached" | "cached_prefix" => (0, MAX_TOKENS),
        "new_tokens" => (1, MAX_NEW_TOKENS),
        "draft_tokens" => (1, MAX_DRAFT),
        "shared_width" => (0, MAX_DIMENSION),
        "n_experts" => (1, MAX_EXPERTS),
        "heads" | "kv_heads" | "head_dim" | "v_dim" | "tensor_parallel" | "pipeline_parallel"
        | "expert_parallel" => (1, 65_536),
        _ => (1, MAX_DIMENSION),
    }
}

fn whole(key: &'static str, real: f64, value: &Value) -> Result<u64, RequestError> {
    if real.is_nan() {
        return Err(RequestError::NotANumber { key: key.into(), value: shown(value) });
    }
    if real % 1.0 != 0.0 {
        return Err(RequestError::NotWhole { key: key.into(), value: shown(value) });
    }
    let (min, max) = (range(key).0 as f64, range(key).1 as f64);
    if !(min..=max).contains(&real) {
        return Err(Error::OutOfRange { what: key.into(), value: real, min, max }.into());
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole and in a range of counts"
    )]
    Ok(real as u64)
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => clip(text),
        other => clip(&other.to_string()),
    }
}

/// A value as it goes into a message.
fn clip(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.into()
    } else {
        text.chars().take(60).chain("…".chars()).collect()
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
