//! JSON written by Python: `Infinity`, `-Infinity` and `NaN` are values there, in fields such as `time_step_limit`.

use std::borrow::Cow;

/// Literals of Python's JSON that standard JSON lacks, longer ones before their parts.
const LITERALS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];

/// The text with `null` for each such literal outside of strings. An infinite window or limit is no limit; `null` is padded, so
/// that line and column in messages stay right.
pub(super) fn without_infinities(text: &str) -> Cow<'_, str> {
    if !LITERALS.iter().any(|literal| text.contains(literal)) {
        return Cow::Borrowed(text);
    }
    let (mut result, mut rest, mut in_string) = (String::with_capacity(text.len()), text, false);
    while let Some(letter) = rest.chars().next() {
        let literal = LITERALS.iter().find(|literal| !in_string && rest.starts_with(**literal));
        let length = match (literal, letter) {
            (Some(literal), _) => {
                result += &format!("{:1$}", "null", literal.len());
                rest = &rest[literal.len()..];
                continue;
            }
            (None, '\\') if in_string => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, letter) => letter.len_utf8(),
        };
        in_string ^= letter == '"';
        result += &rest[..length];
        rest = &rest[length..];
    }
    Cow::Owned(result)
}

#[cfg(test)]
mod tests {
    use super::without_infinities;

    #[test]
    fn only_literals_outside_of_strings_change() {
        for (text, expected) in [
            (r#"{"a": Infinity, "b": 1}"#, r#"{"a": null    , "b": 1}"#),
            (r#"{"a": [-Infinity, NaN]}"#, r#"{"a": [null     , null]}"#),
            (r#"{"Infinity": "NaN \" Infinity"}"#, r#"{"Infinity": "NaN \" Infinity"}"#),
            (r#"{"a": "\\", "b": NaN}"#, r#"{"a": "\\", "b": null}"#),
            (r#"{"a": "é\"#, r#"{"a": "é\"#),
        ] {
            assert_eq!(without_infinities(text), expected);
        }
    }
}
