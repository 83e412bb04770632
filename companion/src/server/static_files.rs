//! The files of a page, from one folder or from inside this program: no listings, no path out of the folder, no
//! method but GET and HEAD.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use axum::body::Body;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::embedded::Files;

/// Media types of a built page, by extension.
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

/// The source of the served page.
#[derive(Clone)]
pub(crate) enum Site {
    /// A folder, with its canonical path.
    Folder(PathBuf),
    /// Files inside this program.
    Embedded(Files),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => fmt::Display::fmt(&folder.display(), f),
            Self::Embedded(_) => f.write_str("the page inside this program"),
        }
    }
}

/// Prints the names of the files without their bytes.
impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Site {
    /// The page in a folder.
    ///
    /// # Errors
    /// If the folder does not exist.
    pub(crate) fn of(folder: &Path) -> io::Result<Self> {
        Ok(Self::Folder(folder.canonicalize()?))
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, method: &Method, path: &str) -> Response {
        if method != Method::GET && method != Method::HEAD {
            let allow = [(header::ALLOW, HeaderValue::from_static("GET, HEAD"))];
            return (StatusCode::METHOD_NOT_ALLOWED, allow, "405: GET and HEAD only\n")
                .into_response();
        }
        let Some(path) = plain_path(path) else { return not_found() };
        let Some(body) = self.read(&path) else { return not_found() };
        let headers =
            [(header::CONTENT_TYPE, content_type(&path)), (header::CACHE_CONTROL, "no-cache")];
        (headers, body).into_response()
    }

    /// The content of a file, if it exists.
    fn read(&self, path: &str) -> Option<Body> {
        match self {
            // Files are small and local, so each request reads its file, and a new build is served at once.
            Self::Folder(root) => {
                // A symbolic link inside the folder may point outside of it.
                let file = root.join(path).canonicalize().ok()?;
                let inside = file.starts_with(root) && file.is_file();
                inside.then(|| std::fs::read(&file).ok())?.map(Body::from)
            }
            Self::Embedded(files) => {
                let (_, content) = files.iter().find(|(name, _)| *name == path)?;
                Some(Body::from(*content))
            }
        }
    }
}

/// The relative path of the file that a path of a URL names; `None` if it could lead anywhere else.
fn plain_path(path: &str) -> Option<String> {
    let mut path = percent_decoded(path)?.strip_prefix('/')?.to_owned();
    if path.is_empty() || path.ends_with('/') {
        path.push_str("index.html");
    }
    path.split('/').all(is_plain_name).then_some(path)
}

/// A name of one file or folder, on every system: nothing that climbs, is hidden, or names a drive or stream.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('.')
        && !name.contains(['\\', ':'])
        && !name.chars().any(char::is_control)
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

fn content_type(path: &str) -> &'static str {
    let extension =
        Path::new(path).extension().and_then(|extension| extension.to_str()).unwrap_or_default();
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
    fn paths_out_of_the_folder_are_refused() {
        for name in ["", "..", ".", ".git", "a\\b", "c:", "a\0", "a\n"] {
            assert!(!is_plain_name(name), "{name:?}");
        }
        assert!(is_plain_name("web-0123abcd_bg.wasm") && is_plain_name("a b"));
    }

    const FILES: Files = &[
        ("a b.txt", b"blank"),
        ("index.html", b"<!doctype html>page"),
        ("odd.xyz", b"?"),
        ("style.css", b"a{}"),
        ("web_bg.wasm", b"\0asm"),
    ];

    /// The status, headers and body of an answer.
    fn seen(site: &Site, method: &Method, path: &str) -> (StatusCode, String, Vec<u8>) {
        let (head, body) = site.answer(method, path).into_parts();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let body = runtime.block_on(axum::body::to_bytes(body, 1 << 20)).unwrap();
        (head.status, format!("{:?}", head.headers), body.to_vec())
    }

    #[test]
    fn a_page_inside_the_program_is_served_as_the_same_page_in_a_folder() {
        let name = format!("ridgepoint-site-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        for (name, content) in FILES {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let (outer, inner) = (Site::of(&folder).unwrap(), Site::Embedded(FILES));
        let mut found = 0;
        for path in [
            "/",
            "/index.html",
            "/a%20b.txt",
            "/odd.xyz",
            "/style.css",
            "/web_bg.wasm",
            "/nothing",
            "/INDEX.HTML",
            "//index.html",
            "/index.html/",
            "/../index.html",
            "/%2e%2e/index.html",
            "/x/../index.html",
            "/index.html%00",
            "index.html",
            "",
        ] {
            for method in [Method::GET, Method::HEAD, Method::POST] {
                let (outer, inner) = (seen(&outer, &method, path), seen(&inner, &method, path));
                assert_eq!(outer, inner, "{method} {path}");
                found += usize::from(inner.0 == StatusCode::OK);
            }
        }
        assert_eq!(found, 2 * 6, "six addresses name a file");
        let (_, headers, body) = seen(&inner, &Method::GET, "/web_bg.wasm");
        assert!(headers.contains("application/wasm") && headers.contains("no-cache"), "{headers}");
        assert_eq!(body, b"\0asm");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
