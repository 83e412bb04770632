//! Keys and values of a request. Each field is removed as it is read; keys that remain at the end are unknown.

use calc_core::analysis::{MAX_DIMENSION, MAX_EXPERTS};
use calc_core::catalog::nearest;
use calc_core::error::{Error, in_range};
use calc_core::image::{AskedImages, MAX_IMAGE_TOKENS};
use calc_core::units::Bytes;
use calc_core::workload::{MAX_BATCH, MAX_DRAFT, MAX_NEW_TOKENS, MAX_TOKENS};
use serde_json::{Map, Value};

use super::RequestError;
use crate::input::image_input;
use crate::input::json_input;
use crate::input::number_input;

/// The fields of one request.
#[derive(Debug, Clone)]
pub struct Fields {
    values: Map<String, Value>,
    asked: Vec<&'static str>,
}

impl Fields {
    /// The fields of a JSON object.
    pub fn new(values: Map<String, Value>) -> Self {
        Self { values, asked: Vec::new() }
    }

    /// The fields of flags: keys and texts.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let value = |(key, text): (&str, &str)| (key.to_owned(), Value::String(text.to_owned()));
        Self::new(texts.into_iter().map(value).collect())
    }

    /// The fields of one line of JSON.
    ///
    /// # Errors
    /// [`RequestError::NotJson`] for anything but an object.
    pub fn from_line(line: &str) -> Result<Self, RequestError> {
        if line.trim().is_empty() {
            return Err(RequestError::NotJson { reason: "the line is empty".into() });
        }
        let values = json_input::object(line.as_bytes());
        values.map(Self::new).map_err(|error| RequestError::NotJson { reason: error.to_string() })
    }

    /// The error for an absent key; it names a present key that differs only in upper and lower case.
    fn missing(&self, key: &'static str) -> RequestError {
        match self.values.keys().find(|given| given.eq_ignore_ascii_case(key)) {
            Some(given) => {
                RequestError::UnknownField { key: clip(given), nearest: vec![key.into()] }
            }
            None => RequestError::Missing { key },
        }
    }

    /// True when the key has a value.
    pub(super) fn has(&self, key: &str) -> bool {
        self.values.get(key).is_some_and(|value| !value.is_null())
    }

    fn take(&mut self, key: &'static str) -> Option<Value> {
        self.asked.push(key);
        self.values.remove(key).filter(|value| !value.is_null())
    }

    /// The keys read so far.
    pub(super) fn asked(&self) -> &[&'static str] {
        &self.asked
    }

    /// The text of a field, which is not removed.
    pub fn peek_text(&self, key: &str) -> Option<&str> {
        self.values.get(key).and_then(Value::as_str)
    }

    /// The value of a field as a text, which is not removed; `None` for a list or an object.
    pub(super) fn shown_text(&self, key: &str) -> Option<String> {
        match self.values.get(key)? {
            Value::String(text) => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(value) => Some(value.to_string()),
            Value::Null | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// Sets a field to a text.
    pub fn replace_text(&mut self, key: &str, text: &str) {
        self.values.insert(key.into(), Value::String(text.into()));
    }

    /// Removes and returns a text.
    ///
    /// # Errors
    /// [`RequestError::NotText`] for a value that is not a string, [`RequestError::Empty`] for blanks only.
    pub fn text(&mut self, key: &'static str) -> Result<Option<String>, RequestError> {
        match self.take(key) {
            None => Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => Err(RequestError::Empty { key }),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(RequestError::NotText { key: key.into(), value: shown(&other) }),
        }
    }

    /// Removes and returns a text that the request must have.
    ///
    /// # Errors
    /// Those of [`Fields::text`], and [`RequestError::Missing`].
    pub fn required_text(&mut self, key: &'static str) -> Result<String, RequestError> {
        self.text(key)?.ok_or_else(|| self.missing(key))
    }

    /// Removes and returns a flag: true, false or the same as text; false when absent.
    ///
    /// # Errors
    /// [`RequestError::NotOneOf`] for any other value.
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

    /// Removes and returns a real number.
    ///
    /// # Errors
    /// [`RequestError::NotANumber`].
    pub fn real(&mut self, key: &'static str) -> Result<Option<f64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let number = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => match memory_unit(key) {
                Some(unit) => number_input::memory(text, unit.get()),
                None => number_input::real(text),
            },
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        number
            .map(Some)
            .ok_or_else(|| RequestError::NotANumber { key: key.into(), value: shown(&value) })
    }

    /// Removes and returns a whole number of at least zero; `calc-core` checks its range.
    ///
    /// # Errors
    /// [`RequestError::NotANumber`], [`RequestError::NotWhole`], or outside the range of every count.
    pub fn count(&mut self, key: &'static str) -> Result<Option<u64>, RequestError> {
        let Some(value) = self.take(key) else { return Ok(None) };
        let exact = match &value {
            Value::Number(number) => number.as_u64(),
            Value::String(text) => number_input::count(text),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if exact.is_some() {
            return Ok(exact);
        }
        let real = match &value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => number_input::count_as_real(text),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        };
        whole(key, real.unwrap_or(f64::NAN), &value).map(Some)
    }

    /// Removes and returns the images of a request: `1024x768`, or `3x1024x768` for three.
    ///
    /// # Errors
    /// [`RequestError::NotASize`] for any other text, and a number of tokens without images.
    pub(super) fn images(&mut self) -> Result<Option<AskedImages>, RequestError> {
        let key = "image";
        let stated_tokens = self.count("image_tokens")?;
        let Some(text) = self.text(key)? else {
            if stated_tokens.is_some() {
                let (first, second) = ("image_tokens", key);
                return Err(Error::Conflict { first, second, needs: true }.into());
            }
            return Ok(None);
        };
        let Some(images) = image_input::images(&text) else {
            return Err(RequestError::NotASize { key, value: clip(&text) });
        };
        let images = AskedImages { stated_tokens, ..images };
        images.check()?;
        Ok(Some(images))
    }

    /// Removes and returns a count that the request must have.
    ///
    /// # Errors
    /// Those of [`Fields::count`], and [`RequestError::Missing`].
    pub fn required_count(&mut self, key: &'static str) -> Result<u64, RequestError> {
        self.count(key)?.ok_or_else(|| self.missing(key))
    }

    /// Removes and returns a list of objects with from `least` to `most` items.
    ///
    /// # Errors
    /// [`RequestError::Missing`], and [`RequestError::NotObjects`] for anything but such a list.
    pub fn objects(
        &mut self,
        key: &'static str,
        (least, most): (usize, usize),
    ) -> Result<Vec<Map<String, Value>>, RequestError> {
        let refusal = || RequestError::NotObjects { key, least, most };
        let given = self.take(key).ok_or_else(|| self.missing(key))?;
        let Value::Array(items) = given else { return Err(refusal()) };
        if !(least..=most).contains(&items.len()) {
            return Err(refusal());
        }
        let object = |item| match item {
            Value::Object(fields) => Ok(fields),
            _ => Err(refusal()),
        };
        items.into_iter().map(object).collect()
    }

    /// The fields with those of `others` in their place.
    #[must_use]
    pub fn overlaid(&self, others: Map<String, Value>) -> Self {
        let mut values = self.values.clone();
        values.extend(others);
        Self::new(values)
    }

    /// The fields with other values; a null removes a field.
    pub(super) fn changed(&self, change: &[(&'static str, Value)]) -> Self {
        let own = change.iter().map(|(key, value)| ((*key).to_owned(), value.clone()));
        self.overlaid(own.collect())
    }

    /// Refuses keys that were never read.
    ///
    /// # Errors
    /// [`RequestError::UnknownField`] with the nearest known keys.
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

/// True for fields that hold a count, where `k` means 1,024.
pub fn is_count(key: &str) -> bool {
    range(key).is_some()
}

/// Unit of a bare number in a field that holds an amount of memory; `None` for other fields.
///
/// Installed memory is in the GB in which it is sold, 2^30 bytes; sizes and limits are in 10^9 bytes.
pub fn memory_unit(key: &str) -> Option<Bytes> {
    match key {
        "memory_gb" | "host_memory_gb" => Some(Bytes::from_gib(1.0)),
        "memory_limit_gb" | "reserve_gb" | "weight_gb" | "streamed_gb" => Some(Bytes::from_gb(1.0)),
        _ => None,
    }
}

/// Refuses a text that is not a count in the range of this field; fields that hold no count pass.
///
/// # Errors
/// Those of [`Fields::count`], and a value outside the range.
pub fn check_count(key: &'static str, typed: &str) -> Result<(), RequestError> {
    let Some((min, max)) = range(key) else { return Ok(()) };
    let mut fields = Fields::new(Map::new());
    fields.replace_text(key, typed);
    in_range(key, fields.required_count(key)?, min, max)?;
    Ok(())
}

/// Range of a count; `calc-core` checks the same range. `None` for fields that hold no count.
fn range(key: &str) -> Option<(u64, u64)> {
    Some(match key {
        "batch" => (1, MAX_BATCH),
        "prompt" | "new" => (1, MAX_TOKENS),
        "context" | "cached" | "cached_prefix" => (0, MAX_TOKENS),
        "new_tokens" => (1, MAX_NEW_TOKENS),
        "draft_tokens" => (1, MAX_DRAFT),
        "image_tokens" => (1, MAX_IMAGE_TOKENS),
        "shared_width" => (0, MAX_DIMENSION),
        "n_experts" => (1, MAX_EXPERTS),
        "heads" | "kv_heads" | "head_dim" | "v_dim" | "tensor_parallel" | "pipeline_parallel"
        | "expert_parallel" => (1, 65_536),
        "m" | "n" | "k" | "tokens" | "hidden" | "width" | "window" | "per_token" | "max_batch" => {
            (1, MAX_DIMENSION)
        }
        _ => return None,
    })
}

fn whole(key: &'static str, real: f64, value: &Value) -> Result<u64, RequestError> {
    if real.is_nan() {
        return Err(RequestError::NotANumber { key: key.into(), value: shown(value) });
    }
    if real % 1.0 != 0.0 {
        return Err(RequestError::NotWhole { key: key.into(), value: shown(value) });
    }
    let (min, max) = range(key).unwrap_or((0, u64::MAX));
    let (min, max) = (min as f64, max as f64);
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

/// A value shortened for a message.
fn clip(text: &str) -> String {
    if text.chars().count() <= 60 {
        text.into()
    } else {
        text.chars().take(60).chain("…".chars()).collect()
    }
}
