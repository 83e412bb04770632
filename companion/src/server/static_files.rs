//! The files of one folder, and nothing else: no listings, no way out of the folder, no method but GET and HEAD.

use std::io;
use std::path::{Path, PathBuf};

use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

/// What the extensions of a built page are.
const TYPES: [(&str, &str); 14] = [
    ("html", "text/html; charset=utf-8"),
    ("js", "text/javascript; charset=utf-8"),
    ("mjs", "text/javascript; charset=utf-8"),
    ("css", "text/css; charset=utf-8"),
    ("wasm", "application/wasm"),
    ("json", "application/json"),
    ("map", "application/json"),
    ("webmanifest", "application/manifest+json"),
    ("svg", "image/svg+xml"),
    ("png", "image/png"),
    ("ico", "image/x-icon"),
    ("woff2", "font/woff2"),
    ("txt", "text/plain; charset=utf-8"),
    ("xml", "application/xml"),
];

/// A folder that is served.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    root: PathBuf,
}

impl Site {
    /// # Errors
    /// When the folder is not there.
    pub(crate) fn new(root: &Path) -> io::Result<Self> {
        Ok(Self { root: root.canonicalize()? })
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, method: &Method, path: &str) -> Response {
        if method != Method::GET && method != Method::HEAD {
            let allow = [(header::ALLOW, HeaderValue::from_static("GET, HEAD"))];
            return (StatusCode::METHOD_NOT_ALLOWED, allow, "405: GET and HEAD only\n")
                .into_response();
        }
        let Some(file) = self.file(path) else { return not_found() };
        // A page is small and this machine is near: read whole, per request, so that a new build shows at once.
        let Ok(body) = std::fs::read(&file) else { return not_found() };
        let headers =
            [(header::CONTENT_TYPE, content_type(&file)), (header::CACHE_CONTROL, "no-cache")];
        (headers, body).into_response()
    }

    /// The file that a path of a URL names; `None` if it names none, or one outside the folder.
    fn file(&self, path: &str) -> Option<PathBuf> {
        let decoded = percent_decoded(path)?;
        let mut file = self.root.clone();
        for name in decoded.strip_prefix('/')?.split('/') {
            if !is_plain_name(name) {
                return None;
            }
            file.push(name);
        }
        if decoded.ends_with('/') {
            file.push("index.html");
        }
        // Links inside the folder may point outside of it.
        let file = file.canonicalize().ok()?;
        (file.starts_with(&self.root) && file.is_file()).then_some(file)
    }
}

/// A name of one file or folder, on every system: nothing that climbs, is hidden, or names a drive or stream.
fn is_plain_name(name: &str) -> bool {
    !name.starts_with('.') && !name.contains(['\\', ':']) && !name.chars().any(char::is_control)
}

/// A path with its %xx replaced, once; `None` for bad escapes and for what is not UTF-8.
fn percent_decoded(path: &str) -> Option<String> {
    let mut bytes = path.bytes();
    let mut decoded = Vec::with_capacity(path.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let digit =
                |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
            let (high, low) = (digit(bytes.next()?)?, digit(bytes.next()?)?);
            decoded.push(high << 4 | low);
        } else {
            decoded.push(byte);
        }
    }
    String::from_utf8(decoded).ok()
}

fn content_type(file: &Path) -> &'static str {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let known = TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(extension));
    known.map_or("application/octet-stream", |(_, content_type)| content_type)
}

fn not_found() -> Response {
    (StatusCode::NOT_FOUND, "404: no such file\n").into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_decoded_once() {
        for (path, expected) in [
            ("/a%20b", Some("/a b")),
            ("/%2e%2e/x", Some("/../x")),
            ("/%252e", Some("/%2e")),
            ("/%", None),
            ("/%2", None),
            ("/%+1", None),
            ("/%ff", None),
        ] {
            assert_eq!(percent_decoded(path).as_deref(), expected, "{path}");
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_none() {
        for name in ["..", ".", ".git", "a\\b", "c:", "a\0", "a\n"] {
            assert!(!is_plain_name(name), "{name:?}");
        }
        assert!(is_plain_name("web-0123abcd_bg.wasm") && is_plain_name("a b"));
    }
}
