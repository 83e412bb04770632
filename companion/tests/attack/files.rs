//! F: requests for files of the page with hostile headers, and many at once.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use crate::binary::Folder;
use crate::harness::{Daemon, Setup};

const PAGE: &str = "<!doctype html>page";

/// A daemon whose page has a file of 1 MB that compresses.
fn with_a_large_file() -> Daemon {
    let folder = Folder::new();
    folder.file("site/index.html", PAGE.repeat(10));
    let lines: String = (0..75_000_u64).map(|n| format!("{:x}\n", n * n * n)).collect();
    folder.file("site/large-01234567.js", lines);
    Daemon::start_in(Arc::new(folder), &Setup::default()).expect("it starts")
}

/// F01 to F03: what cannot be understood is ignored, and heads over the limit are refused.
#[test]
fn hostile_headers_change_nothing() {
    let daemon = Daemon::start(&Setup::default());
    let before = (daemon.effects(), daemon.tree());
    let many = |part: &str, bytes: usize| part.repeat(bytes / part.len());
    for (row, header, value, status) in [
        ("F01 many codings", "Accept-Encoding", many("br;q=0.001,", 15_000), 200),
        ("F01 one name", "Accept-Encoding", many("g", 15_000), 200),
        ("F01 blanks", "Accept-Encoding", many("\t ", 15_000) + ";q=1", 200),
        ("F01 semicolons", "Accept-Encoding", many(";", 15_000), 200),
        (
            "F01 a number without end",
            "Accept-Encoding",
            format!("br;q=0.{}", many("9", 15_000)),
            200,
        ),
        ("F01 over the limit", "Accept-Encoding", many("br, ", 200_000), 431),
        ("F02 quality NaN", "Accept-Encoding", "br;q=NaN, gzip;q=inf, *;q=-0".into(), 200),
        (
            "F02 large quality",
            "Accept-Encoding",
            "br;q=1e308, gzip;q=99999999999999999999".into(),
            200,
        ),
        ("F02 bytes", "Accept-Encoding", "br;q=\u{664}, \u{feff}gzip".into(), 200),
        ("F03 many tags", "If-None-Match", many("\"a\",", 15_000), 200),
        ("F03 many weak tags", "If-None-Match", many("W/\"\"", 15_000), 200),
        ("F03 quotes", "If-None-Match", many("\"", 15_001), 200),
        ("F03 commas", "If-None-Match", many(",", 15_000), 200),
        ("F03 weak prefixes", "If-None-Match", many("W/", 15_000), 200),
        ("F03 over the limit", "If-None-Match", many("\"a\", ", 200_000), 431),
        ("F03 a star among tags", "If-None-Match", "\"a\", *".into(), 200),
        ("F04 first byte", "Range", "bytes=0-0".into(), 200),
        ("F04 many ranges", "Range", format!("bytes={}", many("0-,", 15_000)), 200),
        ("F04 beyond the end", "Range", "bytes=999999999999999999999-".into(), 200),
        ("F04 not bytes", "Range", "pages=1-2".into(), 200),
    ] {
        let answer = daemon.ask("GET", "/", &[&format!("{header}: {value}")], "");
        // The daemon may answer and close before it has read the whole head.
        let refused = status == 431 && answer.status == 0;
        assert!(answer.status == status || refused, "{row}: {}", answer.head);
        if status == 200 {
            assert_eq!((answer.header("content-encoding"), &*answer.body), (None, PAGE), "{row}");
            assert_eq!(answer.header("content-range"), None, "{row}");
        }
    }
    let fields = vec!["If-None-Match: \"a\""; 50];
    assert_eq!(daemon.ask("GET", "/", &fields, "").status, 200, "F03 many fields");
    let ranged = ["Range: bytes=0-0", "If-Range: \"a\"", "If-None-Match: *"];
    assert_eq!(daemon.ask("GET", "/", &ranged, "").status, 304, "F04 with a condition");
    assert!((daemon.effects(), daemon.tree()) == before, "{}", daemon.effects());
}

/// F05: forms of a file are not files.
#[test]
fn a_coding_opens_no_other_path() {
    let daemon = with_a_large_file();
    for target in [
        "/index.html.br",
        "/index.html.gz",
        "/index.html%00.br",
        "/..%2fstate%2fkeys.json",
        "/%2e%2e/state/keys.json",
        "/large-01234567.js/../../state/link",
    ] {
        for accepted in ["identity", "gzip", "br"] {
            let answer = daemon.ask("GET", target, &[&format!("Accept-Encoding: {accepted}")], "");
            assert_eq!(answer.status, 404, "{target} {accepted}");
            assert_eq!(answer.header("etag"), None, "{target} {accepted}");
        }
    }
}

/// F06: a hundred clients at once want a file that is not compressed yet; half of them do not wait, and half do not read. Each
/// form is made once, and all share it.
#[test]
fn many_clients_share_one_compression() {
    let daemon = with_a_large_file();
    let files = daemon.open_files();
    let ask = |accepted: &str| {
        let mut stream = daemon.tcp();
        let head = format!(
            "GET /large-01234567.js HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: {accepted}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("it reads");
        stream
    };
    let mut silent = Vec::new();
    for number in 0..100 {
        let stream = ask(["br", "gzip", "identity"][number % 3]);
        if number % 2 == 0 {
            silent.push(stream);
        }
    }
    for accepted in ["br", "gzip", "identity"] {
        let mut stream = ask(accepted);
        let mut start = [0; 12];
        stream.read_exact(&mut start).expect("an answer");
        assert_eq!(&start, b"HTTP/1.1 200", "{accepted}");
    }
    thread::sleep(Duration::from_millis(100));
    assert!(daemon.rss_mib() < 128.0, "{} MiB", daemon.rss_mib());
    drop(silent);
    daemon.wait_for("closed connections", || daemon.open_files() <= files + 2);
    assert_eq!(daemon.get("/").body, PAGE.repeat(10));
}
