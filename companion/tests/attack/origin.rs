//! O: host names, origins, and requests that a page of another site can make a browser send.

use crate::harness::{Daemon, Setup};

/// The head of an upgrade request with a host and more headers.
fn upgrade(host: &str, more: &str) -> String {
    format!(
        "GET /ws HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n{more}\r\n"
    )
}

fn pages() -> Setup {
    Setup { flags: vec!["--allow-origin".into(), "https://pages.test".into()], ..Setup::default() }
}

#[test]
fn foreign_pages_open_no_socket() {
    let daemon = Daemon::start(&pages());
    let before = (daemon.effects(), daemon.tree());
    let port = daemon.port;
    let ours = format!("Host: localhost:{port}\r\n");
    let (long, own) = ("a".repeat(8192), format!("http://localhost:{port}"));
    let origin = |value: &str| format!("Origin: {value}\r\n");
    let rows: Vec<(&str, String, u16)> = vec![
        ("O01", upgrade(&ours, &origin("https://evil.test")), 403),
        ("O02", upgrade(&ours, &origin("null")), 403),
        ("O03", upgrade(&ours, "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: websocket\r\n"), 403),
        ("O03 same site", upgrade(&ours, "Sec-Fetch-Site: same-origin\r\n"), 403),
        ("O04", upgrade(&ours, &origin("http://localhost.evil.test")), 403),
        ("O05", upgrade(&ours, &origin("http://127.0.0.1.evil.test")), 403),
        ("O06", upgrade(&ours, &origin("http://localhost:3000")), 403),
        ("O07", upgrade(&ours, &origin("https://pages.test.evil.test")), 403),
        ("O08", upgrade(&ours, &origin("http://pages.test")), 403),
        ("O09", upgrade(&ours, &origin("https://pages.test:444")), 403),
        ("O10", upgrade(&ours, &origin("https://pages.test/")), 403),
        ("O10 path", upgrade(&ours, &origin(&format!("{own}/page"))), 403),
        ("O11", upgrade(&ours, &(origin(&own) + &origin("https://evil.test"))), 400),
        ("O11 the same", upgrade(&ours, &(origin(&own) + &origin(&own))), 400),
        ("O12", upgrade(&ours, &origin(&format!("{own}\0"))), 400),
        ("O12 long", upgrade(&ours, &origin(&long)), 400),
        ("O12 bytes", upgrade(&ours, &origin("http://localhośt")), 400),
        ("O13", upgrade("Host: evil.test\r\n", &origin("http://evil.test")), 403),
        ("O15", upgrade("Host: 0.0.0.0\r\n", &origin("http://0.0.0.0")), 403),
        ("O15 six", upgrade("Host: [::]\r\n", &origin("http://[::]")), 403),
        ("O15 hex", upgrade("Host: 0x7f.1\r\n", ""), 403),
        ("O16", upgrade("Host: 127.evil.test\r\n", ""), 403),
        ("O16 suffix", upgrade("Host: 127.0.0.1.nip.test\r\n", ""), 403),
        ("O17", upgrade("", &origin(&own)), 400),
        ("O18", upgrade(&format!("{ours}Host: evil.test\r\n"), &origin(&own)), 400),
        ("O18 twice", upgrade(&format!("{ours}{ours}"), &origin(&own)), 400),
        ("O18 target", upgrade(&ours, &origin(&own)).replace("/ws", "http://evil.test/ws"), 400),
        ("O19", upgrade("Host: evil.test\r\nX-Forwarded-Host: localhost\r\n", ""), 403),
        ("O26", upgrade(&ours, &format!("{}X-HTTP-Method-Override: POST\r\n", origin(&own))), 400),
        ("O26 h2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 400),
        // Controls: requests that must pass, so that the refusals above mean something.
        ("own page", upgrade(&ours, &origin(&own)), 101),
        ("hosted page", upgrade(&ours, &origin("https://pages.test")), 101),
        ("program", upgrade(&ours, ""), 101),
        (
            "remapped port",
            upgrade("Host: localhost:9000\r\n", &origin("http://localhost:9000")),
            101,
        ),
        ("six", upgrade("Host: [::1]:8000\r\n", &origin("http://[::1]:8000")), 101),
        ("literal", upgrade("Host: 127.1.2.3\r\n", ""), 101),
        ("dot", upgrade("Host: localhost.\r\n", ""), 101),
        ("case", upgrade("Host: LOCALHOST\r\n", ""), 101),
    ];
    for (row, request, status) in rows {
        let answer = daemon.raw(request.as_bytes());
        // The daemon may answer a malformed head by closing the connection.
        let refused = status == 400 && answer.status == 0 && row.starts_with("O26 h2");
        assert!(answer.status == status || refused, "{row}: {answer:?}");
        if status != 101 && !answer.head.is_empty() {
            assert_eq!(answer.header("access-control-allow-origin"), None, "{row}");
        }
    }
    assert!((daemon.effects(), daemon.tree()) == before, "{}", daemon.effects());
}

#[test]
fn foreign_pages_read_and_change_nothing() {
    let daemon = Daemon::start(&pages());
    let before = (daemon.effects(), daemon.tree());
    let body = r#"{"hardware":"t4","m":1,"n":64,"k":64,"weights":"fp16"}"#;
    let json = "Content-Type: application/json";
    let evil = "Origin: https://evil.test";
    let cross = "Sec-Fetch-Site: cross-site";
    for (row, method, target, headers, status) in [
        ("O20", "POST", "/api/v1/analyze", vec!["Content-Type: text/plain", cross], 403),
        (
            "O20 origin",
            "POST",
            "/api/v1/analyze",
            vec!["Content-Type: text/plain", evil, cross],
            403,
        ),
        ("O20 json", "POST", "/api/v1/analyze", vec![json, evil], 403),
        (
            "O21 form",
            "POST",
            "/api/v1/analyze",
            vec!["Content-Type: application/x-www-form-urlencoded"],
            415,
        ),
        (
            "O21 multipart",
            "POST",
            "/api/v1/sweep",
            vec!["Content-Type: multipart/form-data; boundary=x"],
            415,
        ),
        ("O21 none", "POST", "/api/recommend", vec![], 415),
        ("O21 near", "POST", "/api/v1/analyze", vec!["Content-Type: application/jsonx"], 415),
        (
            "O23",
            "OPTIONS",
            "/api/v1/analyze",
            vec![evil, "Access-Control-Request-Method: POST"],
            403,
        ),
        (
            "O23 null",
            "OPTIONS",
            "/healthz",
            vec!["Origin: null", "Access-Control-Request-Method: GET"],
            403,
        ),
        (
            "O24 img",
            "GET",
            "/api/v1/telemetry",
            vec![cross, "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image"],
            401,
        ),
        ("O24 script", "GET", "/api/v1/hardware", vec![cross, "Sec-Fetch-Dest: script"], 401),
        ("O24 metrics", "GET", "/metrics", vec!["Sec-Fetch-Site: same-site"], 401),
        ("O24 origin", "GET", "/healthz", vec![evil], 403),
        (
            "O26 override",
            "POST",
            "/api/v1/analyze",
            vec![json, "X-HTTP-Method-Override: DELETE"],
            400,
        ),
        ("method", "DELETE", "/api/v1/hardware", vec![], 405),
        ("method of jobs", "PUT", "/ws", vec![], 405),
        ("page", "POST", "/", vec![json], 405),
        // Controls.
        ("own json", "POST", "/api/v1/analyze", vec![json], 200),
        ("hosted", "POST", "/api/v1/analyze", vec![json, "Origin: https://pages.test"], 200),
        (
            "hosted preflight",
            "OPTIONS",
            "/api/v1/analyze",
            vec!["Origin: https://pages.test", "Access-Control-Request-Method: POST"],
            204,
        ),
        ("a link from elsewhere", "GET", "/", vec![cross, "Sec-Fetch-Mode: navigate"], 200),
        ("own fetch", "GET", "/api/v1/telemetry", vec!["Sec-Fetch-Site: same-origin"], 200),
    ] {
        let sent = if method == "POST" { body } else { "" };
        let answer = daemon.ask(method, target, &headers, sent);
        assert_eq!(answer.status, status, "{row}: {answer:?}");
        let shared = answer.header("access-control-allow-origin");
        let hosted = headers.iter().any(|header| header.ends_with("https://pages.test"));
        assert_eq!(shared, hosted.then_some("https://pages.test"), "{row}");
        if !hosted {
            assert_eq!(answer.header("cross-origin-resource-policy"), Some("same-origin"), "{row}");
        }
        assert!(answer.header("vary").is_some_and(|vary| vary.contains("Origin")), "{row}");
    }
    assert!((daemon.effects(), daemon.tree()) == before, "{}", daemon.effects());
}

/// O14, O25: the page is not served under another host name, and never in a frame.
#[test]
fn rebound_host_names_get_no_page() {
    let daemon = Daemon::start(&Setup::default());
    for host in ["evil.test", "0.0.0.0:8000", "192.168.1.20", "localhost.evil.test"] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        let answer = daemon.raw(request.as_bytes());
        assert_eq!(answer.status, 403, "{host}");
        assert!(!answer.body.contains("doctype"), "{host}");
    }
    for target in ["/", "/nothing", "/api/v1/hardware", "/api/nothing", "/healthz", "/metrics"] {
        let answer = daemon.get(target);
        let policy = answer.header("content-security-policy").expect("a policy");
        assert!(
            policy.contains("frame-ancestors 'none'") && policy.contains("default-src 'none'"),
            "{target}"
        );
        assert!(policy.contains(&format!(" ws://localhost:{} ", daemon.port)), "{policy}");
        assert_eq!(answer.header("referrer-policy"), Some("no-referrer"), "{target}");
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"), "{target}");
    }
}

/// O22, and the OpenAPI document: every address in it exists.
#[test]
fn get_requests_change_nothing_and_documented_addresses_exist() {
    let daemon = Daemon::start(&Setup::default());
    let before = (daemon.effects(), daemon.tree());
    let document = daemon.get("/api/openapi.json").json();
    let paths = document["paths"].as_object().expect("paths");
    assert!(paths.len() >= 20, "{}", paths.len());
    // /mcp needs a token, and its refusal is logged.
    for (path, operations) in paths.iter().filter(|(path, _)| *path != "/mcp") {
        let key = if path.contains("models") { "llama-3.1-8b" } else { "int8" };
        let key = if path.contains("hardware") { "t4" } else { key };
        let target = path.replace("{key}", key);
        for method in operations.as_object().expect("operations").keys() {
            let answer = match method.as_str() {
                "get" => {
                    assert_eq!(daemon.ask("HEAD", &target, &[], "").body, "", "{target}");
                    daemon.get(&target)
                }
                _ => daemon.post(&target, "{}"),
            };
            // The socket requires an upgrade, a calculation requires fields.
            let expected: &[u16] = match (method.as_str(), path.as_str()) {
                ("get", "/ws") => &[426],
                ("get", _) => &[200],
                _ => &[400],
            };
            assert!(expected.contains(&answer.status), "{method} {target}: {answer:?}");
        }
    }
    assert!((daemon.effects(), daemon.tree()) == before, "{}", daemon.effects());
    assert!(paths.contains_key("/mcp"));
    assert_eq!(daemon.post("/mcp", "{}").status, 401);
}

/// Requests from scripts written for the prototypes.
#[test]
fn calls_of_the_prototypes_work() {
    let daemon = Daemon::start(&Setup::default());
    let shape = r#"{"M":1,"N":4096,"K":4096}"#;
    let query = "?hardware_key=jetson_orin_nano";
    let ranked = daemon.post(&format!("/api/recommend{query}"), shape).json();
    assert!(ranked["ranked"].as_array().is_some_and(|rows| !rows.is_empty()), "{ranked}");
    let one = daemon.post(&format!("/api/analyze{query}"), shape).json();
    assert_eq!(one["bound"], "memory", "{one}");
    let tiles = daemon.post("/api/tiling?hardware_key=a100", r#"{"M":512,"N":512,"K":512}"#).json();
    assert!(tiles["tiles"].as_array().is_some_and(|rows| !rows.is_empty()), "{tiles}");
    let rows = daemon.post(
        &format!("/api/sweep{query}"),
        r#"{"M":[1,2,4],"N":4096,"K":4096,"precisions":["fp16","int8"]}"#,
    );
    assert_eq!(rows.json().as_array().map(Vec::len), Some(6), "{rows:?}");
    assert!(daemon.get("/api/hardware").json().as_array().is_some_and(|rows| rows.len() > 50));
    assert!(daemon.get("/api/nvml/status").json()["readings"].is_array());
    let unknown = daemon.post("/api/recommend?hardware_key=h10", shape);
    assert_eq!(unknown.status, 400);
    assert!(unknown.json()["error"].as_str().is_some_and(|line| line.contains("h10")));
}

/// REST answers are identical to the command line's.
#[test]
fn rest_answers_equal_the_command_lines() {
    let daemon = Daemon::start(&Setup::default());
    for (verb, fields, words) in [
        (
            "analyze",
            r#"{"hardware":"t4","m":1,"n":4096,"k":4096,"weights":"int8"}"#,
            "--hardware t4 -m 1 -n 4096 -k 4096 --weights int8",
        ),
        (
            "estimate",
            r#"{"hardware":"t4","model":"llama-3.1-8b","weights":"int8","batch":1,"prompt":512}"#,
            "--hardware t4 --model llama-3.1-8b --weights int8 --batch 1 --prompt 512",
        ),
        (
            "recommend",
            r#"{"hardware":"t4","model":"llama-3.1-8b","batch":1,"prompt":512}"#,
            "--hardware t4 --model llama-3.1-8b --batch 1 --prompt 512",
        ),
        (
            "tiling",
            r#"{"hardware":"t4","m":512,"n":512,"k":512,"weights":"fp16"}"#,
            "--hardware t4 -m 512 -n 512 -k 512 --weights fp16",
        ),
        (
            "sweep",
            r#"{"hardware":"t4","m":"1,2","n":64,"k":64,"weights":"fp16,int8"}"#,
            "--hardware t4 -m 1,2 -n 64 -k 64 --weights fp16,int8",
        ),
    ] {
        let rest = daemon.post(&format!("/api/v1/{verb}"), fields).json();
        let printed =
            crate::binary::program().arg(verb).args(words.split(' ')).args(["-o", "json"]).output();
        let printed: serde_json::Value =
            serde_json::from_slice(&printed.expect("it runs").stdout).expect("JSON");
        assert_eq!(rest, printed, "{verb}");
    }
}
