//! The sentence about a file that a verb cannot read: its name, what is wrong, what was found in it, and which files are read.

use report::input::json_input;
use serde_json::Value;

/// Longest part of a file that is quoted, in characters, and the largest number of keys.
const QUOTED: usize = 40;
const KEYS: usize = 6;

/// The whole sentence. `expected` names the files that are read.
pub(super) fn sentence(file: &str, reason: &str, text: &str, expected: &str) -> String {
    format!("{file}: {reason}; found {}; expected {expected}", found(text))
}

/// The kind of a text: no text, a JSON value with its keys, lines of JSON, or other text with its beginning.
fn found(text: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').trim();
    let Some(line) = text.lines().next() else { return "an empty file".into() };
    match (json_input::value(text), json_input::value(line)) {
        (Ok(Value::Array(values)), _) => match values.first() {
            None => "an empty JSON list".into(),
            Some(first) => {
                format!("a JSON list of {}, the first {}", values.len(), described(first))
            }
        },
        (Ok(value), _) => described(&value),
        (Err(_), Ok(value @ Value::Object(_))) => format!("lines, the first {}", described(&value)),
        (Err(_), _) => format!("text that begins with `{}`", beginning(line)),
    }
}

fn described(value: &Value) -> String {
    let Value::Object(fields) = value else {
        return format!("the JSON value `{}`", beginning(&value.to_string()));
    };
    let mut keys: Vec<String> = fields.keys().take(KEYS).map(|key| beginning(key)).collect();
    if fields.len() > KEYS {
        keys.push(format!("and {} more", fields.len() - KEYS));
    }
    match keys.len() {
        0 => "a JSON object without keys".into(),
        1 => format!("a JSON object with the key {}", keys[0]),
        _ => format!("a JSON object with the keys {}", keys.join(", ")),
    }
}

fn beginning(text: &str) -> String {
    let kept: String = text.chars().filter(|c| !c.is_control()).take(QUOTED).collect();
    if text.chars().count() > QUOTED { format!("{kept}…") } else { kept }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_is_said_of_each_kind_of_text() {
        for (text, expected) in [
            ("", "an empty file"),
            (" \n", "an empty file"),
            ("[]", "an empty JSON list"),
            ("{}", "a JSON object without keys"),
            ("7", "the JSON value `7`"),
            (r#"{"a":1}"#, "a JSON object with the key a"),
            (r#"{"b":1,"a":2}"#, "a JSON object with the keys "),
            (r#"[{"a":1},3]"#, "a JSON list of 2, the first a JSON object with the key a"),
            ("{\"a\":1}\n{\"a\":2}", "lines, the first a JSON object with the key a"),
            ("# Notes\nmore", "text that begins with `# Notes`"),
            (r#"{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1}"#, "and 2 more"),
        ] {
            let said = found(text);
            assert!(said.contains(expected), "{text:?}: {said}");
        }
        let long = found(&"x".repeat(1000));
        assert!(long.chars().count() < 80, "{long}");
        assert!(!found("a\u{1b}[2Jb").contains('\u{1b}'));
    }

    #[test]
    fn the_sentence_names_file_reason_content_and_expectation() {
        let said = sentence("a.json", "it has no kernel", "{}", "records of `bench`");
        assert_eq!(
            said,
            "a.json: it has no kernel; found a JSON object without keys; expected records of `bench`"
        );
    }
}
