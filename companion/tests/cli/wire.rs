//! Files of the page on the wire: codings, tags, and how long caches may keep them.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::run::Folder;
use crate::serve::{Answer, Server, start_in};

const TEXT: &str = "to be or not to be, that is the question; ";

fn server() -> Server {
    let folder = Folder::new();
    folder.file("site/index.html", format!("<!doctype html>{}", TEXT.repeat(100)));
    folder.file("site/web-0123abcd.js", TEXT.repeat(100));
    folder.file("site/web_bg-0123abcd.wasm", format!("\0asm{}", TEXT.repeat(100)));
    folder.file("site/sw.js", TEXT.repeat(100));
    folder.file("site/short.txt", "?");
    start_in(folder, &["--port", "0"])
}

impl Server {
    fn ask_with(&self, method: &str, target: &str, headers: &[&str]) -> Answer {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        self.raw(&format!(
            "{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
        ))
    }
}

/// The body without its coding.
fn decoded(answer: &Answer) -> Vec<u8> {
    let mut content = Vec::new();
    match answer.header("content-encoding") {
        None => content.clone_from(&answer.body),
        Some("gzip") => {
            GzDecoder::new(&*answer.body).read_to_end(&mut content).expect("gzip");
        }
        Some("br") => brotli::BrotliDecompress(&mut &*answer.body, &mut content).expect("brotli"),
        Some(other) => panic!("{other}"),
    }
    content
}

#[test]
fn a_file_is_sent_in_the_coding_that_the_client_prefers() {
    let server = server();
    let page = format!("<!doctype html>{}", TEXT.repeat(100));
    for (accepted, expected) in [
        (None, None),
        (Some(""), None),
        (Some("gzip, deflate, br, zstd"), Some("br")),
        (Some("gzip, deflate"), Some("gzip")),
        (Some("br;q=0, gzip;q=0.5"), Some("gzip")),
        (Some("br;q=0.5, gzip;q=0.6"), Some("gzip")),
        (Some("identity, br;q=0.5"), None),
        (Some("*"), Some("br")),
        (Some("br;q=0, *;q=0"), None),
        (Some("br;q=garbage"), None),
        (Some("deflate, zstd, br;q=1.5"), None),
        (Some("identity;q=0"), None),
    ] {
        let header = accepted.map(|accepted| format!("Accept-Encoding: {accepted}"));
        let headers: Vec<&str> = header.iter().map(String::as_str).collect();
        let answer = server.ask_with("GET", "/", &headers);
        assert_eq!(
            (answer.status, answer.header("content-encoding")),
            (200, expected),
            "{header:?}"
        );
        assert_eq!(answer.header("content-type"), Some("text/html; charset=utf-8"));
        assert_eq!(answer.header("vary"), Some("Accept-Encoding, Origin"), "{}", answer.head);
        let length = answer.body.len().to_string();
        assert_eq!(answer.header("content-length"), Some(&*length), "{header:?}");
        assert!(expected.is_none() || answer.body.len() < 200, "{header:?}: {length}");
        assert_eq!(decoded(&answer), page.as_bytes(), "{header:?}");
        let head = server.ask_with("HEAD", "/", &headers);
        let without_date = |answer: &Answer| {
            let lines = answer.head.lines().filter(|line| !line.starts_with("date"));
            lines.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!((without_date(&head), head.body.len()), (without_date(&answer), 0));
    }
    let short = server.ask_with("GET", "/short.txt", &["Accept-Encoding: br, gzip"]);
    assert_eq!((short.header("content-encoding"), &*short.body), (None, &b"?"[..]));
}

#[test]
fn a_client_that_has_a_file_gets_304() {
    let server = server();
    let tag_of = |accepted: &str| {
        let answer = server.ask_with("GET", "/", &[&format!("Accept-Encoding: {accepted}")]);
        answer.header("etag").expect("a tag").to_owned()
    };
    let tags = ["identity", "gzip", "br"].map(|accepted| (accepted, tag_of(accepted)));
    for (accepted, tag) in &tags {
        assert!(tag.starts_with('"') && tag.ends_with('"'), "a strong tag: {tag}");
        let asked = |method: &str, list: &str| {
            let headers =
                [format!("Accept-Encoding: {accepted}"), format!("If-None-Match: {list}")];
            server.ask_with(method, "/", &headers.each_ref().map(String::as_str))
        };
        for list in [tag.clone(), format!("W/{tag}"), format!("\"a\", W/\"b,\" ,{tag}"), "*".into()]
        {
            for method in ["GET", "HEAD"] {
                let answer = asked(method, &list);
                assert_eq!((answer.status, answer.body.len()), (304, 0), "{list}: {answer:?}");
                assert_eq!(answer.header("etag"), Some(tag.as_str()));
                assert_eq!(answer.header("cache-control"), Some("no-cache"));
                assert_eq!(answer.header("vary"), Some("Accept-Encoding, Origin"));
                for none in ["content-encoding", "content-type", "content-length"] {
                    assert_eq!(answer.header(none), None, "{}", answer.head);
                }
                assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
            }
        }
        let others = tags.iter().filter(|(other, _)| other != accepted);
        for (other, tag) in others {
            assert_eq!(asked("GET", tag).status, 200, "the tag of {other} for {accepted}");
        }
        for list in ["\"a\"", "", "x", &tag.replace('"', ""), &tag.to_uppercase()] {
            assert_eq!(asked("GET", list).status, 200, "{list}");
        }
    }
    let (_, old) = &tags[1];
    server.folder.file("site/index.html", TEXT.repeat(99));
    let asked = ["Accept-Encoding: gzip", &format!("If-None-Match: {old}")];
    let answer = server.ask_with("GET", "/", &asked);
    assert_eq!((answer.status, decoded(&answer)), (200, TEXT.repeat(99).into_bytes()));
    let missing = server.ask_with("GET", "/nothing", &["If-None-Match: *"]);
    assert_eq!(missing.status, 404);
}

#[test]
fn only_names_with_a_content_hash_are_kept_without_asking() {
    let server = server();
    let forever = Some("public, max-age=31536000, immutable");
    for (target, content_type, expected) in [
        ("/web-0123abcd.js", "text/javascript; charset=utf-8", forever),
        ("/web_bg-0123abcd.wasm", "application/wasm", forever),
        ("/", "text/html; charset=utf-8", Some("no-cache")),
        ("/index.html?hw=t4", "text/html; charset=utf-8", Some("no-cache")),
        ("/sw.js", "text/javascript; charset=utf-8", Some("no-cache")),
    ] {
        for accepted in ["identity", "gzip", "br"] {
            let accepted = format!("Accept-Encoding: {accepted}");
            let answer = server.ask_with("GET", target, &[&accepted]);
            assert_eq!(answer.header("cache-control"), expected, "{target} {accepted}");
            assert_eq!(answer.header("content-type"), Some(content_type), "{target} {accepted}");
            assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        }
    }
    for target in ["/api/v1/formats", "/healthz", "/api/nothing"] {
        let answer = server.ask_with("GET", target, &["Accept-Encoding: br, gzip"]);
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{target}");
        assert_eq!((answer.header("content-encoding"), answer.header("etag")), (None, None));
    }
}

/// Built with the feature `page`: what the page fetches first comes compressed, under names that are kept for ever.
#[cfg(feature = "page")]
#[test]
fn the_page_inside_the_program_is_compressed_and_kept() {
    let server = crate::serve::start_embedded();
    let page = server.get("/");
    let text = String::from_utf8(page.body).expect("a page");
    let links = text.split("\"./").skip(1).filter_map(|part| part.split('"').next());
    let is_program =
        |name: &&str| ["js", "css", "wasm"].iter().any(|end| name.rsplit('.').next() == Some(end));
    let names: Vec<&str> = links.filter(is_program).collect();
    assert!(names.len() >= 4, "script, loader, program and style: {names:?}");
    for name in names {
        let plain = server.get(&format!("/{name}"));
        assert_eq!(plain.header("content-encoding"), None, "{name}");
        let cache = plain.header("cache-control").expect("how long");
        assert!(cache.contains("immutable"), "{name}: {cache}");
        for coding in ["gzip", "br"] {
            let asked = format!("Accept-Encoding: {coding}");
            let answer = server.ask_with("GET", &format!("/{name}"), &[&asked]);
            assert_eq!(answer.header("content-encoding"), Some(coding), "{name}");
            assert!(answer.body.len() < plain.body.len(), "{name}");
            assert_eq!(decoded(&answer), plain.body, "{name}");
        }
    }
}
