//! Parses and encodes queries: pairs of texts with percent encoding and plus signs.

/// The pairs of a query, with or without its question mark.
pub fn pairs(query: &str) -> Vec<(String, String)> {
    let query = query.strip_prefix('?').unwrap_or(query);
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
        .map(|(key, value)| (decoded(key), decoded(value)))
        .collect()
}

/// Decodes percent codes and plus signs. Malformed codes are kept; invalid UTF-8 becomes the replacement character.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|byte| char::from(*byte).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.extend(u8::try_from(high * 16 + low));
                at += 3;
                continue;
            }
            (b'+', ..) => out.push(b' '),
            _ => out.push(*byte),
        }
        at += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Percent-encodes everything except letters, digits and `-_.~`.
pub fn encoded(text: &str) -> String {
    encoded_but(text, b"-_.~")
}

/// Percent-encodes everything except letters, digits and these bytes.
pub fn encoded_but(text: &str, kept: &[u8]) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.extend(
                [byte >> 4, byte & 15]
                    .map(|half| char::from(b"0123456789ABCDEF"[usize::from(half)])),
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_codes_come_back() {
        for text in ["MAXN_SUPER", "a b&c=d%+ü", "§", ""] {
            assert_eq!(decoded(&encoded(text)), text);
        }
        assert_eq!(decoded("a+b%2"), "a b%2");
        assert_eq!(decoded("%ff"), "\u{fffd}");
    }
}
