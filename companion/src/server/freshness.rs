//! How long a cache may keep a file, and whether its copy is still current (RFC 9110, 13.1.2).

use axum::http::{HeaderMap, header};

/// Hexadecimal digits of a content hash in a file name; `cargo xtask site` writes as many.
const DIGITS: usize = 8;

/// For ever, because another content has another name.
const FOREVER: &str = "public, max-age=31536000, immutable";
/// Kept, but not used without asking.
const ASKING: &str = "no-cache";

/// The `Cache-Control` of a file.
pub(super) fn cache_control(path: &str) -> &'static str {
    if is_named_by_content(path) { FOREVER } else { ASKING }
}

/// True for `style-01234567.css`. A document is never: its readers type or keep its address.
fn is_named_by_content(path: &str) -> bool {
    let file = path.rsplit('/').next().unwrap_or_default();
    let Some((stem, extension)) = file.rsplit_once('.') else { return false };
    let Some((name, hash)) = stem.rsplit_once('-') else { return false };
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = hash.len() == DIGITS && hash.bytes().all(is_digit);
    extension != "html" && !name.is_empty() && is_hash
}

/// True if `If-None-Match` names the tag of the form that would be sent, so that the client has it.
pub(super) fn is_current(headers: &HeaderMap, tag: &str) -> bool {
    headers.get_all(header::IF_NONE_MATCH).iter().any(|field| names(field.as_bytes(), tag))
}

/// True if a list of tags has this one, weak or strong, or is `*`. A list is read up to its first error.
fn names(field: &[u8], tag: &str) -> bool {
    let mut rest = field.trim_ascii();
    if rest == b"*" {
        return true;
    }
    loop {
        while let [b' ' | b'\t' | b',', after @ ..] = rest {
            rest = after;
        }
        let [b'"', after @ ..] = rest.strip_prefix(b"W/").unwrap_or(rest) else { return false };
        let Some(end) = after.iter().position(|byte| *byte == b'"') else { return false };
        if after[..end] == *tag.as_bytes() {
            return true;
        }
        rest = &after[end + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_content_hash_is_kept_for_ever() {
        for path in [
            "web-0123abcd.js",
            "web_bg-a238ee51.wasm",
            "folder/chunk_10-ecbd7260.wasm",
            "style-12345678.css",
            "a-b-01234567.svg",
        ] {
            assert_eq!(cache_control(path), FOREVER, "{path}");
        }
        for path in [
            "index.html",
            "page-01234567.html",
            "sw.js",
            "web-0123ABCD.js",
            "web-0123abc.js",
            "web-0123abcde.js",
            "web-0123abcg.js",
            "web_0123abcd.js",
            "-0123abcd.js",
            "web-0123abcd",
            "web-0123abcd/style.css",
            "web-0123abcd.min.js",
            "",
        ] {
            assert_eq!(cache_control(path), ASKING, "{path}");
        }
    }

    #[test]
    fn a_list_of_tags_is_compared_weakly() {
        for (field, expected) in [
            ("\"t\"", true),
            ("W/\"t\"", true),
            ("\"a\", W/\"b\",\t\"t\"", true),
            (",, \"a\"\"t\"", true),
            ("\"a,\", \"t\"", true),
            ("*", true),
            (" * ", true),
            ("", false),
            ("t", false),
            ("\"T\"", false),
            ("\"t", false),
            ("'t'", false),
            ("\"a\", *", false),
            ("\"a, t\"", false),
            ("w/\"t\"", false),
            ("x, \"t\"", false),
            ("\"\"", false),
        ] {
            assert_eq!(names(field.as_bytes(), "t"), expected, "{field}");
        }
        assert!(names(b"\"\xff\", \"t\"", "t"));
    }
}
