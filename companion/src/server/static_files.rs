//! The files of a page, from one folder or from inside this program, compressed: no listings, no path out of the folder, no
//! method but GET and HEAD.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::coding::{Coding, Effort, compressed, inflated};
use super::embedded::File;
use super::freshness::{cache_control, is_current};
use super::kept::{FileForm, Kept, LARGEST};
use super::negotiation::preferred;

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

/// Fast enough for a client that waits: a tenth of a second per megabyte.
const EFFORT: Effort = Effort { brotli: 5, gzip: 6 };

/// A served page.
#[derive(Clone)]
pub(crate) struct Site {
    source: Source,
    kept: Arc<Kept>,
}

/// The place of a page's files.
#[derive(Clone)]
enum Source {
    /// A folder, with its canonical path.
    Folder(PathBuf),
    /// Files inside this program.
    Embedded(&'static [File]),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Folder(folder) => fmt::Display::fmt(&folder.display(), f),
            Source::Embedded(_) => f.write_str("the page inside this program"),
        }
    }
}

/// Prints the place of the files without their bytes.
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
        Ok(Self { source: Source::Folder(folder.canonicalize()?), kept: Arc::default() })
    }

    /// The page inside the program.
    pub(crate) fn embedded(files: &'static [File]) -> Self {
        Self { source: Source::Embedded(files), kept: Arc::default() }
    }

    /// The answer to a request. A range of bytes is not served: `Range` is ignored, as a server may.
    pub(crate) async fn answer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        path: &str,
    ) -> Response {
        if method != Method::GET && method != Method::HEAD {
            let allow = [(header::ALLOW, HeaderValue::from_static("GET, HEAD"))];
            return (StatusCode::METHOD_NOT_ALLOWED, allow, "405: GET and HEAD only\n")
                .into_response();
        }
        let Some(file) = plain_path(path) else { return not_found() };
        if let Some((coding, form)) = self.found(&file, headers).await {
            return reply(headers, &file, coding, form);
        }
        let is_folder = self.found(&format!("{file}/index.html"), headers).await.is_some();
        if is_folder { moved_to_folder(path) } else { not_found() }
    }

    /// A file in the coding that the client prefers among those that it has.
    async fn found(&self, path: &str, headers: &HeaderMap) -> Option<(Coding, FileForm)> {
        let found = match &self.source {
            // The tag of its content is the key of its forms, so a new build is served at once.
            Source::Folder(root) => Found::Read(self.kept.shared(read(root, path).await?)),
            Source::Embedded(files) => Found::Stored(files.iter().find(|file| file.name == path)?),
        };
        for coding in preferred(headers) {
            let form = match &found {
                Found::Read(plain) => self.coded(coding, plain).await,
                Found::Stored(file) => self.stored(coding, file).await,
            };
            if let Some(form) = form {
                return Some((coding, form));
            }
        }
        None
    }

    /// A file of a folder in a coding, if that is smaller.
    async fn coded(&self, coding: Coding, plain: &FileForm) -> Option<FileForm> {
        if coding == Coding::Identity {
            return Some(plain.clone());
        }
        let content = plain.bytes.clone();
        let compress = move || compressed(coding, &content, EFFORT);
        let is_small = plain.bytes.len() <= LARGEST;
        let key = (plain.tag.clone(), coding);
        if is_small { self.kept.found_or_made(key, compress).await } else { None }
    }

    /// A file of this program in a coding. Without a coding it is made from gzip, where gzip is smaller.
    async fn stored(&self, coding: Coding, file: &File) -> Option<FileForm> {
        if let Some(stored) = file.stored(coding) {
            let bytes = Bytes::from_static(stored.bytes);
            return Some(FileForm { bytes, tag: stored.tag.to_owned() });
        }
        let gzip = file.stored(Coding::Gzip).filter(|_| coding == Coding::Identity)?;
        let inflate = || inflated(gzip.bytes).ok();
        self.kept.found_or_made((file.tag.to_owned(), coding), inflate).await
    }
}

/// A file that exists.
enum Found {
    /// The content of a file of a folder.
    Read(FileForm),
    /// A file of this program.
    Stored(&'static File),
}

/// The content of a file of a folder with its tag, if it exists. A slow disk holds up this request alone.
async fn read(root: &Path, path: &str) -> Option<FileForm> {
    let (root, file) = (root.to_owned(), root.join(path));
    let read = move || {
        // A symbolic link inside the folder may point outside of it.
        let file = file.canonicalize().ok()?;
        let inside = file.starts_with(root) && file.is_file();
        inside.then(|| std::fs::read(&file).ok())?.map(FileForm::of)
    };
    tokio::task::spawn_blocking(read).await.ok()?
}

/// Sends a reader of `learn` to `learn/`, where the relative links of its `index.html` are right. `path` is as in the request, so
/// it needs no escapes; a relative address holds behind a proxy's prefix, too.
fn moved_to_folder(path: &str) -> Response {
    let name = path.rsplit('/').next().unwrap_or_default();
    let Ok(folder) = HeaderValue::try_from(format!("{name}/")) else { return not_found() };
    (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, folder)]).into_response()
}

/// The answer with a file, or 304 without it if the client has it.
fn reply(asked: &HeaderMap, path: &str, coding: Coding, form: FileForm) -> Response {
    let tag = form.tag;
    let caching = [
        (header::ETAG, format!("\"{tag}\"")),
        (header::CACHE_CONTROL, cache_control(path).to_owned()),
        (header::VARY, "Accept-Encoding".to_owned()),
    ];
    if is_current(asked, &tag) {
        return (StatusCode::NOT_MODIFIED, caching).into_response();
    }
    let content_type = [(header::CONTENT_TYPE, content_type(path))];
    let mut response = (caching, content_type, Body::from(form.bytes)).into_response();
    if coding != Coding::Identity {
        let token = HeaderValue::from_static(coding.token());
        response.headers_mut().insert(header::CONTENT_ENCODING, token);
    }
    response
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
    use crate::server::coding::tag;
    use crate::server::embedded::Stored;

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

    const FILES: &[(&str, &[u8])] = &[
        ("a b.txt", b"blank"),
        ("index.html", b"<!doctype html>page page page page page page page page page"),
        ("learn b/index.html", b"<!doctype html>lesson"),
        ("odd.xyz", b"?"),
        ("style-01234567.css", &[b'a'; 3000]),
        ("web_bg.wasm", b"\0asm"),
    ];

    /// The files as the build script stores them, with the effort of a folder.
    fn stored() -> &'static [File] {
        let form = |coding, bytes: Vec<u8>| Stored {
            coding,
            tag: tag(&bytes).leak(),
            bytes: bytes.leak(),
        };
        let file = |(name, content): &(&'static str, &'static [u8])| {
            let coded = [Coding::Brotli, Coding::Gzip].into_iter();
            let mut forms: Vec<Stored> = coded
                .filter_map(|coding| Some(form(coding, compressed(coding, content, EFFORT)?)))
                .collect();
            if !forms.iter().any(|form| form.coding == Coding::Gzip) {
                forms.push(form(Coding::Identity, content.to_vec()));
            }
            File { name, tag: tag(content).leak(), forms: forms.leak() }
        };
        FILES.iter().map(file).collect::<Vec<_>>().leak()
    }

    /// The status, headers and body of an answer.
    async fn seen(
        site: &Site,
        method: &Method,
        path: &str,
        accepted: &'static str,
    ) -> (StatusCode, String, Vec<u8>) {
        let accepted = HeaderValue::from_static(accepted);
        let headers = HeaderMap::from_iter([(header::ACCEPT_ENCODING, accepted)]);
        let (head, body) = site.answer(method, &headers, path).await.into_parts();
        let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
        (head.status, format!("{:?}", head.headers), body.to_vec())
    }

    #[tokio::test]
    async fn a_page_inside_the_program_is_served_as_the_same_page_in_a_folder() {
        let name = format!("ridgepoint-site-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(folder.join("learn b")).unwrap();
        for (name, content) in FILES {
            std::fs::write(folder.join(name), content).unwrap();
        }
        let (outer, inner) = (Site::of(&folder).unwrap(), Site::embedded(stored()));
        let mut found = 0;
        for path in [
            "/",
            "/index.html",
            "/a%20b.txt",
            "/odd.xyz",
            "/style-01234567.css",
            "/web_bg.wasm",
            "/learn%20b/",
            "/learn%20b/index.html",
            "/learn%20b",
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
                for accepted in ["", "gzip", "br, gzip", "br", "identity, gzip;q=0.5"] {
                    let outer = seen(&outer, &method, path, accepted).await;
                    let inner = seen(&inner, &method, path, accepted).await;
                    assert_eq!(outer, inner, "{method} {path} {accepted}");
                    found += usize::from(inner.0 == StatusCode::OK);
                }
            }
        }
        assert_eq!(found, 2 * 5 * 8, "eight addresses name a file");
        let (_, headers, body) = seen(&inner, &Method::GET, "/web_bg.wasm", "br").await;
        assert!(headers.contains("application/wasm") && headers.contains("no-cache"), "{headers}");
        assert_eq!(body, b"\0asm");
        let (_, headers, body) = seen(&inner, &Method::GET, "/style-01234567.css", "br").await;
        assert!(headers.contains("\"br\"") && headers.contains("immutable"), "{headers}");
        assert!(body.len() < 100, "{}", body.len());
        for site in [&inner, &outer] {
            let (status, headers, _) = seen(site, &Method::GET, "/learn%20b", "").await;
            assert_eq!(status, StatusCode::PERMANENT_REDIRECT);
            assert!(headers.contains("\"learn%20b/\""), "{headers}");
            for path in ["//learn%20b", "/learn%20b/index.html/", "/learn%20b/x"] {
                assert_eq!(seen(site, &Method::GET, path, "").await.0, StatusCode::NOT_FOUND);
            }
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_changed_file_is_served_at_once() {
        let name = format!("ridgepoint-changed-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        let site = Site::of(&folder).unwrap();
        for letter in *b"abab" {
            std::fs::write(folder.join("index.html"), [letter; 1000]).unwrap();
            let (_, headers, body) = seen(&site, &Method::GET, "/", "gzip").await;
            assert_eq!(inflated(&body).unwrap(), [letter; 1000], "{headers}");
        }
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[tokio::test]
    async fn a_file_too_large_to_keep_is_served_as_it_is() {
        let name = format!("ridgepoint-large-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("large.txt"), vec![b'a'; LARGEST + 1]).unwrap();
        let site = Site::of(&folder).unwrap();
        let headers =
            HeaderMap::from_iter([(header::ACCEPT_ENCODING, "br, gzip".parse().unwrap())]);
        let answer = site.answer(&Method::GET, &headers, "/large.txt").await;
        assert_eq!(answer.headers().get(header::CONTENT_ENCODING), None);
        assert!(answer.headers().contains_key(header::ETAG));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
