//! JSON without repeated keys: a second value for a key is refused by name, because the parser would silently keep one of them.

use core::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::error::Category;
use serde_json::{Map, Value};

/// Parses an object.
///
/// # Errors
/// Any other JSON value, and repeated keys at any depth.
pub fn object(text: &[u8]) -> Result<Map<String, Value>, serde_json::Error> {
    match serde_json::from_slice(text)? {
        Unique(Value::Object(fields)) => Ok(fields),
        Unique(other) => Err(Error::custom(format!("{} where an object belongs", kind(&other)))),
    }
}

/// Parses any value.
///
/// # Errors
/// Malformed JSON, and repeated keys at any depth.
pub fn value(text: &str) -> Result<Value, serde_json::Error> {
    serde_json::from_str(text).map(|Unique(value)| value)
}

/// Parses a file of values: a list, one value, or a value on each line.
///
/// # Errors
/// A line without JSON, by its number; repeated keys.
pub fn values(text: &str) -> Result<Vec<Value>, String> {
    match value(text) {
        Ok(Value::Array(values)) => Ok(values),
        Ok(value) => Ok(vec![value]),
        Err(_) => {
            let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
            lines.map(|(i, line)| value(line).map_err(|error| of_line(i + 1, &error))).collect()
        }
    }
}

/// An error of a line. The parser counts its lines from the first of its text, which is that line.
fn of_line(line: usize, error: &serde_json::Error) -> String {
    let text = error.to_string();
    let (what, _) = text.rsplit_once(" at line ").unwrap_or((&text, ""));
    match (error.classify(), error.column()) {
        (Category::Syntax | Category::Eof, 0 | 1) => format!("line {line} is no JSON"),
        (_, column) => format!("line {line}, column {column}: {what}"),
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(UniqueVisitor).map(Unique)
    }
}

struct UniqueVisitor;

impl<'de> Visitor<'de> for UniqueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Unique(item)) = items.next_element()? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = items.next_key::<String>()? {
            if fields.contains_key(&key) {
                let key: String = key.chars().take(60).collect();
                return Err(Error::custom(format!("`{key}` is given twice")));
            }
            let Unique(value) = items.next_value()?;
            fields.insert(key, value);
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_a_list_a_value_or_lines() {
        for (text, count) in [("[1, 2]", 2), ("{\n}", 1), ("1\n\n2\n3\n", 3), ("", 0)] {
            assert_eq!(values(text).map(|found| found.len()), Ok(count), "{text}");
        }
        for (text, expected) in [
            ("hello", "line 1 is no JSON"),
            ("{}\n\n# note", "line 3 is no JSON"),
            ("{}\n{\"a\":1,\"a\":2}", "line 2, column 10: `a` is given twice"),
            ("{}\n{\"a\":", "line 2, column 5: EOF while parsing a value"),
        ] {
            assert_eq!(values(text), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_repeated_key_is_named_at_any_depth() {
        for (text, expected) in [
            (r#"{"batch":1,"batch":8}"#, "`batch` is given twice at line 1 column 18"),
            (r#"{"a":[{"b":1,"b":1}]}"#, "`b` is given twice"),
            (r#"{"m":1,"\u006d":2}"#, "`m` is given twice"),
            ("[1]", "a list where an object belongs"),
            ("", "EOF"),
            ("{}x", "trailing characters"),
        ] {
            let error = object(text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
        assert!(object(&vec![b'['; 100_000]).is_err());
    }

    #[test]
    fn other_json_is_read_unchanged() {
        let text = r#"{"a":null,"b":[true,-1,18446744073709551615,1.5e3,"x\n"],"c":{"a":{}}}"#;
        assert_eq!(value(text).expect("JSON"), serde_json::from_str::<Value>(text).expect("JSON"));
    }
}
