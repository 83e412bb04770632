//! The server of the page, over plain TCP: what it serves, to which clients, and what it refuses.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::run::{Ended, Ends, Folder, daemon, line};

/// A running server.
pub(crate) struct Server {
    child: Ends,
    port: u16,
    pub(crate) folder: Folder,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head
            .lines()
            .find_map(|line| line.split_once(": ").filter(|(key, _)| *key == name))
            .map(|(_, value)| value)
    }
}

pub(crate) fn site() -> Folder {
    let folder = Folder::new();
    folder.file("secret.txt", "a secret");
    for (name, content) in [
        ("site/index.html", "<!doctype html>page"),
        ("site/web.js", "import"),
        ("site/web_bg.wasm", "\0asm"),
        ("site/style.css", "a{}"),
        ("site/icon.svg", "<svg/>"),
        ("site/data.json", "{}"),
        ("site/odd.xyz", "?"),
        ("site/a b.txt", "blank"),
        ("site/.hidden", "hidden"),
        ("site/folder/inside.txt", "inside"),
    ] {
        folder.file(name, content);
    }
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path("secret.txt"), folder.path("site/link.txt"))
        .expect("a link");
    folder
}

pub(crate) fn start(ports: &[&str]) -> Server {
    start_in(site(), ports)
}

/// Serves the folder `site` of a folder.
pub(crate) fn start_in(folder: Folder, ports: &[&str]) -> Server {
    let site = folder.path("site");
    started(folder, &[&["--site", &site], ports].concat())
}

/// Serves the page inside the program.
#[cfg(feature = "page")]
pub(crate) fn start_embedded() -> Server {
    started(Folder::new(), &["--port", "0"])
}

fn started(folder: Folder, arguments: &[&str]) -> Server {
    let mut child = Ends(
        daemon(&folder)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the binary starts"),
    );
    let mut address = String::new();
    BufReader::new(child.0.stdout.take().expect("piped"))
        .read_line(&mut address)
        .expect("it prints its address");
    let port =
        address.trim().strip_prefix("http://localhost:").and_then(|rest| rest.strip_suffix('/'));
    let port = port
        .and_then(|port| port.parse().ok())
        .unwrap_or_else(|| panic!("{address:?} is no address"));
    Server { child, port, folder }
}

impl Server {
    /// Sends bytes unchanged.
    pub(crate) fn raw(&self, request: &str) -> Answer {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        stream.write_all(request.as_bytes()).expect("it reads");
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("it answers and closes");
        let end =
            bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("an end of the head");
        let head = String::from_utf8(bytes[..end].to_vec()).expect("text");
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).expect("a status");
        Answer { status, head, body: bytes[end + 4..].to_vec() }
    }

    fn ask(&self, method: &str, target: &str, host: &str) -> Answer {
        self.raw(&format!(
            "{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        ))
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &format!("127.0.0.1:{}", self.port))
    }
}

#[test]
fn files_have_their_types_and_headers() {
    let server = start(&["--port", "0"]);
    for (target, content_type, body) in [
        ("/", "text/html; charset=utf-8", "<!doctype html>page"),
        ("/index.html", "text/html; charset=utf-8", "<!doctype html>page"),
        ("/?hw=t4&m=1", "text/html; charset=utf-8", "<!doctype html>page"),
        ("/web.js", "text/javascript; charset=utf-8", "import"),
        ("/web_bg.wasm", "application/wasm", "\0asm"),
        ("/style.css", "text/css; charset=utf-8", "a{}"),
        ("/icon.svg", "image/svg+xml", "<svg/>"),
        ("/data.json", "application/json", "{}"),
        ("/odd.xyz", "application/octet-stream", "?"),
        ("/a%20b.txt", "text/plain; charset=utf-8", "blank"),
        ("/folder/inside.txt", "text/plain; charset=utf-8", "inside"),
    ] {
        let answer = server.get(target);
        assert_eq!(
            (answer.status, answer.header("content-type")),
            (200, Some(content_type)),
            "{target}"
        );
        assert_eq!(answer.body, body.as_bytes(), "{target}");
    }
    let head = server.ask("HEAD", "/", "localhost");
    assert_eq!((head.status, head.body.len(), head.header("content-length")), (200, 0, Some("19")));
}

#[test]
fn every_answer_has_the_security_headers() {
    let server = start(&["--port", "0"]);
    for answer in [
        server.get("/"),
        server.get("/nothing"),
        server.ask("GET", "/", "evil.test"),
        server.ask("POST", "/", "localhost"),
    ] {
        let policy = answer.header("content-security-policy").expect("a policy");
        for part in [
            "default-src 'none'",
            "'wasm-unsafe-eval'",
            "frame-ancestors 'none'",
            "base-uri 'none'",
        ] {
            assert!(policy.contains(part), "{policy}");
        }
        assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{policy}");
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "no-referrer"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), Some(value));
        }
        assert_eq!(answer.header("access-control-allow-origin"), None);
    }
}

#[test]
fn only_names_of_this_machine_are_answered() {
    let server = start(&["--port", "0"]);
    for host in
        ["localhost", "localhost:9000", "127.0.0.1", "127.0.0.1:1", "[::1]:8000", "LocalHost"]
    {
        assert_eq!(server.ask("GET", "/", host).status, 200, "{host}");
    }
    for host in [
        "evil.test",
        "evil.test:8000",
        "localhost.evil.test",
        "127.0.0.1.evil.test",
        "0.0.0.0",
        "128.0.0.1",
        "[::]",
        "192.168.1.20",
        "localhost:80@evil.test",
        "evil.test#localhost",
    ] {
        let answer = server.ask("GET", "/", host);
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.body.starts_with(b"<!doctype"), "{host}");
    }
    for request in [
        "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\nConnection: close\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: evil.test\r\nX-Forwarded-Host: localhost\r\nConnection: close\r\n\r\n",
        "GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
    ] {
        assert!(matches!(server.raw(request).status, 400 | 403), "{request}");
    }
}

#[test]
fn paths_out_of_the_served_folder_are_refused() {
    let server = start(&["--port", "0"]);
    for target in [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/%2e%2e%2fsecret.txt",
        "/%252e%252e/secret.txt",
        "/folder/../../secret.txt",
        "/folder/%2e%2e/%2e%2e/secret.txt",
        "/..\\secret.txt",
        "/..%5csecret.txt",
        "/%c0%ae%c0%ae/secret.txt",
        "//secret.txt",
        "/./../secret.txt",
        "/.hidden",
        "/%2ehidden",
        "/link.txt",
        "/index.html%00.txt",
        "/index.html/",
        "/folder",
        "/folder/",
        "//etc/passwd",
        "/etc/passwd",
        "/C:/secret.txt",
        "/index.html::$DATA",
        "/%",
        "/%zz",
        "*",
    ] {
        let answer = server.get(target);
        assert!(matches!(answer.status, 400 | 404), "{target}: {}", answer.status);
        let body = String::from_utf8_lossy(&answer.body);
        assert!(
            !body.contains("secret") && !body.contains("inside") && !body.contains("hidden"),
            "{target}: {body}"
        );
    }
    let long = server.get(&format!("/{}", "a".repeat(50_000)));
    assert!(matches!(long.status, 404 | 414 | 431), "{}", long.status);
}

#[test]
fn only_get_and_head_are_allowed() {
    let server = start(&["--port", "0"]);
    for method in ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"] {
        let answer = server.ask(method, "/index.html", "localhost");
        assert!(matches!(answer.status, 400 | 405), "{method}: {}", answer.status);
    }
    assert_eq!(server.ask("DELETE", "/", "localhost").header("allow"), Some("GET, HEAD"));
    assert_eq!(server.get("/").status, 200, "all is still there");
}

#[test]
fn a_taken_port_is_reported() {
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    let folder = site();
    let mut daemon = daemon(&folder);
    daemon.args(["--site", &folder.path("site"), "--port", &port]);
    let ended: Ended = daemon.output().expect("it starts").into();
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
    let (told, page) = (format!("port {port} is taken"), "(see docs/guides/troubleshooting.md)");
    assert!(ended.stderr.contains(&told) && ended.stderr.contains(page), "{}", ended.stderr);
}

#[test]
fn the_server_listens_on_loopback_only() {
    let server = start(&["--port", "0"]);
    // Every address of 127.0.0.0/8 is this machine's; the server listens on one of them.
    if cfg!(target_os = "linux") {
        assert!(TcpStream::connect(("127.0.0.2", server.port)).is_err());
    }
    assert_eq!(server.get("/").status, 200);
}

#[test]
fn a_folder_without_a_page_is_refused() {
    let folder = Folder::new();
    let mut cases = vec![vec!["--site".to_owned(), folder.path("")]];
    // A program with an embedded page serves that page.
    if !cfg!(feature = "page") {
        cases.push(vec![]);
    }
    for site in cases {
        let ended: Ended = daemon(&folder).args(&site).output().expect("it starts").into();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{site:?}");
        assert!(ended.stderr.contains("no page"), "{}", ended.stderr);
    }
}

#[test]
fn other_addresses_need_their_flags() {
    let folder = site();
    for (words, expected) in [
        ("--listen 0.0.0.0:0", "every network"),
        ("--listen [::]:0", "every network"),
        ("--listen [::ffff:0.0.0.0]:0", "every network"),
        ("--listen [0:0:0:0:0:0:0:0]:0", "every network"),
        ("--listen 0.0.0.0:0 --lan-plaintext", "every network"),
        ("--listen 0:0", "is not an address"),
        ("--listen 0x0:0", "is not an address"),
        ("--listen *:0", "is not an address"),
        ("--listen :0", "is not an address"),
        ("--listen localhost:0", "is not an address"),
        ("--listen 192.0.2.1:0", "reached from other machines"),
        ("--listen 192.0.2.1:0", "`ssh -L 8000:localhost:8000 HOST`"),
        ("--listen 127.0.0.1:0 --port 1", "cannot be used with"),
        ("--allow-origin *", "is not an origin"),
        ("--allow-origin null", "is not an origin"),
        ("--allow-host *", "is not a host name"),
    ] {
        let mut daemon = daemon(&folder);
        daemon.args(["--site", &folder.path("site")]).args(words.split(' '));
        let ended: Ended = daemon.output().expect("it starts").into();
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}

#[test]
fn root_is_refused_until_it_is_allowed() {
    let ended = line("serve --site /nonexistent");
    let is_root = ended.code == Some(5);
    assert!(is_root || ended.code == Some(2), "{ended:?}");
    if is_root {
        assert!(ended.stderr.contains("--allow-root"), "{}", ended.stderr);
        let allowed = line("serve --site /nonexistent --allow-root");
        assert_eq!(allowed.code, Some(2), "{allowed:?}");
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_with_130() {
    let mut server = start(&["--port", "0"]);
    assert_eq!(server.get("/").status, 200);
    let sent = Command::new("kill")
        .args(["-INT", &server.child.0.id().to_string()])
        .status()
        .expect("kill is there");
    assert!(sent.success());
    assert_eq!(server.child.0.wait().expect("it ends").code(), Some(130));
}

/// Built with the feature `page`, the program needs no folder.
#[cfg(feature = "page")]
#[test]
fn the_page_inside_the_program_is_served() {
    let server = start_embedded();
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.body.starts_with(b"<!doctype html>"));
    // `--site` takes precedence.
    let named = start(&["--port", "0"]);
    assert_eq!(named.get("/").body, b"<!doctype html>page");
}
