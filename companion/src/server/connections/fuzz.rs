//! Fuzz target: the head of a request, as bytes of a connection to a daemon. It is refused with an answer, or its host is a name of this
//! machine or an allowed one, and its origin this host's or an allowed one; no path leads out of the folder of the page.
//!
//! The clock of the runtime stands still while something can be done, so nobody waits for the time limits of a connection.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fuzz::{Target, Verdict};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;

use super::{Daemon, Peer, attend, none};
use crate::server::Config;

/// Content of a file beside the folder of the page.
const OUTSIDE: &str = "nobody may read this";
const ALLOWED_HOST: &str = "box.test";
const ALLOWED_ORIGIN: &str = "https://pages.test";

const HEADS: [&str; 9] = [
    "GET / HTTP/1.1\r\nHost: localhost:8000\r\nUser-Agent: Mozilla/5.0\r\nAccept: text/html\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nSec-Fetch-Site: none\r\nSec-Fetch-Mode: navigate\r\nConnection: keep-alive\r\n\r\n",
    "GET /style-01234567.css HTTP/1.1\r\nHost: 127.0.0.1:8000\r\nAccept-Encoding: br;q=0.5, *;q=0.1\r\nIf-None-Match: W/\"a\", \"b\"\r\nSec-Fetch-Site: same-origin\r\n\r\n",
    "GET /learn%20b/../../outside.txt HTTP/1.1\r\nHost: [::1]:8000\r\n\r\n",
    "GET /api/v1/formats/int8 HTTP/1.1\r\nHost: box.test\r\nOrigin: https://pages.test\r\nAuthorization: Bearer rp_0123456789abcdef_00\r\n\r\n",
    "OPTIONS /api/v1/estimate HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: http://localhost:8000\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type\r\nSec-Fetch-Site: cross-site\r\n\r\n",
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    "GET /ws HTTP/1.1\r\nHost: localhost:8000\r\nOrigin: http://localhost:8000\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: ridgepoint.v1\r\n\r\n",
    "HEAD http://localhost:8000/healthz?x=1 HTTP/1.1\r\nHost: localhost:8000\r\n\r\n",
    "GET /%2e%2e/outside.txt HTTP/1.0\r\nHost: evil.test\r\nOrigin: https://evil.test\r\n\r\n",
];

const WORDS: [&str; 18] = [
    "\r\n",
    "\r\n\r\n",
    "Host: evil.test\r\n",
    "Host: localhost:8000\r\n",
    "Origin: https://evil.test\r\n",
    "Origin: null\r\n",
    ".evil.test",
    "evil.test@",
    "127.0.0.1",
    "0x7f.1",
    ":80",
    "..%2f",
    "/../",
    "%00",
    "%25",
    "Transfer-Encoding: chunked\r\n",
    "X-HTTP-Method-Override: POST\r\n",
    "?token=a",
];

/// True for a host that the daemon of this test may answer to. It is written anew here, so that it does not repeat a mistake.
fn is_allowed_host(host: &str) -> bool {
    let port = |port: &str| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    let name = match host.rsplit_once(':') {
        Some((name, digits)) if port(digits) && !host.ends_with(']') => {
            if digits.trim_start_matches('0').len() > 5
                || digits.parse::<u64>().unwrap_or(0) > 65_535
            {
                return false;
            }
            name
        }
        _ => host,
    };
    let name = name.to_ascii_lowercase();
    if ["localhost", "localhost.", "[::1]", ALLOWED_HOST].contains(&&*name) {
        return true;
    }
    let numbers: Vec<Option<u32>> = name.split('.').map(|number| number.parse().ok()).collect();
    let is_plain = |number: &Option<u32>| number.is_some_and(|number| number < 256);
    let spelled = numbers.iter().flatten().map(u32::to_string).collect::<Vec<_>>().join(".");
    numbers.len() == 4 && numbers.iter().all(is_plain) && numbers[0] == Some(127) && spelled == name
}

fn started(folder: &Path, runtime: &Runtime) -> Arc<Daemon> {
    let _in = runtime.enter();
    let config = Config::of_test(folder);
    let (hosts, origins) = (vec![ALLOWED_HOST.into()], vec![ALLOWED_ORIGIN.into()]);
    Arc::new(Daemon::new(Config { hosts, origins, ..config }).expect("it starts"))
}

/// Everything that the daemon sends to a connection until it ends it.
async fn reply(daemon: &Arc<Daemon>, bytes: &[u8]) -> Vec<u8> {
    let (mut client, wire) = duplex(1 << 20);
    let (place, _) = none().enter(Peer::Here.group()).expect("an empty table");
    let served = tokio::spawn(attend(Arc::clone(daemon), Box::new(wire), Peer::Here, place));
    // The daemon does not read to its end what is too long.
    let (mut reading, mut writing) = tokio::io::split(&mut client);
    let mut reply = Vec::new();
    let read = async {
        let write = async {
            let _refused_midway = writing.write_all(bytes).await;
        };
        let ((), read) = tokio::join!(write, reading.read_to_end(&mut reply));
        read.expect("memory");
    };
    timeout(Duration::from_mins(5), read).await.expect("each connection ends");
    served.await.expect("no panic");
    reply
}

/// The values that follow a text in a reply, up to a blank or the end of the line.
fn after<'r>(reply: &'r str, text: &str) -> Vec<&'r str> {
    let values = reply.match_indices(text).map(|(at, _)| &reply[at + text.len()..]);
    values.map(|rest| rest.split([' ', '\r']).next().unwrap_or_default()).collect()
}

#[test]
fn a_damaged_head_is_refused_or_names_an_allowed_host_and_origin() {
    let name = format!("ridgepoint-fuzz-head-{}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    let runtime = Builder::new_current_thread().enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let daemon = started(&folder, &runtime);
    let inputs = HEADS.map(|head| head.as_bytes().to_vec()).to_vec();
    Target { name: "head", inputs, words: &WORDS }.run(|case| {
        let reply = runtime.block_on(reply(&daemon, case.bytes));
        let reply = String::from_utf8_lossy(&reply).into_owned();
        assert!(!reply.contains(OUTSIDE), "out of the folder:\n{reply}");
        let (hosts, origins) =
            (after(&reply, " ws://"), after(&reply, "access-control-allow-origin: "));
        let sent = String::from_utf8_lossy(case.bytes).to_ascii_lowercase();
        for host in &hosts {
            assert!(is_allowed_host(host), "host {host}");
            assert!(sent.contains(&host.to_ascii_lowercase()), "nobody named {host}");
        }
        for origin in &origins {
            let own = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
            let is_own = own.is_some_and(|own| hosts.contains(&own));
            assert!(is_own || *origin == ALLOWED_ORIGIN, "origin {origin}");
        }
        // Empty lines before a head are none.
        let start = case.bytes.iter().position(|byte| !b"\r\n".contains(byte));
        let head = &case.bytes[start.unwrap_or(case.bytes.len())..];
        let is_head = head.windows(4).any(|end| end == b"\r\n\r\n");
        let is_other_http = sent.contains("http/2");
        if is_head && !is_other_http {
            assert!(reply.starts_with("HTTP/1."), "no answer: {reply}");
        }
        assert_eq!(daemon.counters.panics.load(super::Ordering::Relaxed), 0);
        if hosts.is_empty() { Verdict::Refused } else { Verdict::Accepted }
    });
    drop(daemon);
    fs::remove_dir_all(folder).expect("ours");
}

#[test]
fn the_hosts_of_this_test_are_those_of_this_machine() {
    for good in [
        "localhost",
        "LOCALHOST:80",
        "127.0.0.1:1",
        "127.1.2.3",
        "[::1]",
        "[::1]:65535",
        "box.test",
    ] {
        assert!(is_allowed_host(good), "{good}");
    }
    for bad in [
        "",
        "evil.test",
        "localhost:",
        "localhost:99999",
        "127.1",
        "127.0.0.01",
        "128.0.0.1",
        "::1",
        "[::1",
    ] {
        assert!(!is_allowed_host(bad), "{bad}");
    }
}
