//! T: keys, tokens and their file, and that none of them leaks.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::Output;
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::fault::FaultCode;
use protocol::hex::Hex;
use protocol::server::ServerMessage;
use serde_json::json;

use crate::binary::program;
use crate::harness::{Daemon, Setup, hooked, promised, scripting};
use crate::script::Act;
use crate::socket::Closed;

/// Runs a verb on the folders of a daemon, as the user who owns them.
pub(crate) fn verb(daemon: &Daemon, words: &str) -> String {
    let ended = ended(daemon, words);
    assert!(ended.status.success(), "{words}: {}", String::from_utf8_lossy(&ended.stderr));
    String::from_utf8(ended.stdout).expect("text").trim().to_owned()
}

/// The exit status and output, whether it succeeded or not.
pub(crate) fn ended(daemon: &Daemon, words: &str) -> Output {
    use std::os::unix::fs::MetadataExt;
    use std::os::unix::process::CommandExt;
    let owner = fs::metadata(daemon.state()).expect("its state");
    let mut command = program();
    command.args(words.split(' ')).args(["--state", daemon.state().to_str().expect("plain")]);
    if fs::metadata("/proc/self").is_ok_and(|me| me.uid() == 0) {
        command.uid(owner.uid()).gid(owner.gid());
    }
    command.output().expect("it runs")
}

/// T09
#[test]
fn secrets_in_addresses_are_refused_and_not_logged() {
    let daemon = Daemon::start(&scripting());
    let token = verb(&daemon, "keys new --name test --scope read");
    for target in ["/", "/api/v1/telemetry", "/metrics", "/ws", "/healthz"] {
        for name in ["token", "TOKEN", "access_token", "code", "pair", "secret"] {
            let answer = daemon.get(&format!("{target}?x=1&{name}={token}"));
            assert_eq!(answer.status, 400, "{target} {name}");
            assert!(!answer.body.contains(&token) && !answer.head.contains(&token));
        }
    }
    assert!(!daemon.said().contains(&token));
}

#[test]
fn tokens_allow_their_scope_only() {
    let daemon = Daemon::start(&scripting());
    let token = verb(&daemon, "keys new --name prometheus --scope read");
    let bearer = |token: &str| format!("Authorization: Bearer {token}");
    let status = || daemon.ask("GET", "/metrics", &[&bearer(&token)], "").status;
    daemon.wait_for("the token", || status() == 200);
    let wrong = format!("{}0", &token[..token.len() - 1]);
    let wrong = if wrong == token { format!("{}1", &token[..token.len() - 1]) } else { wrong };
    for (header, status) in [
        (bearer(&token), 200),
        (bearer(&wrong), 401),
        (bearer("rp__"), 401),
        (bearer(""), 401),
        ("Authorization: Basic dXNlcjpwYXNz".to_owned(), 401),
        (format!("{}\r\n{}", bearer(&token), bearer(&wrong)), 401),
    ] {
        let answer = daemon.ask("GET", "/metrics", &[&header], "");
        assert_eq!(answer.status, status, "{header}");
    }
    // T14, for tokens: revoked within a second.
    let name = token.split('_').nth(1).expect("a number").to_owned();
    verb(&daemon, &format!("keys revoke {name}"));
    let start = Instant::now();
    daemon.wait_for("its end", || status() == 401);
    assert!(start.elapsed() < promised(Duration::from_secs(1)), "{:?}", start.elapsed());
}

/// T10
#[test]
fn secrets_are_written_only_to_the_key_file() {
    // Everything that the daemon can be made to say: it has no log besides stderr, and a panic prints its whole trace.
    let before = Some("export RUST_BACKTRACE=full".into());
    let hooks = json!({ "scripted": true, "panics": true, "tells_settings": true });
    let daemon = Daemon::start(&Setup { before, ..hooked(hooks) });
    let code = daemon.code();
    let (mut client, key) = daemon.paired();
    let token = verb(&daemon, "keys new --name leak --scope read");
    let mut wrong = key;
    wrong.secret[0] ^= 1;
    let _ = daemon.open().identify(&wrong);
    let _ = daemon.open().pair(&code);
    client.send("{\"id\":9999,\"ask\":{\"type\":\"identify\",\"secret\":\"x\"}}");
    assert_eq!(client.answer_or_push(), Some(FaultCode::Malformed));
    let job = client.scripted(1, 1, Act::Crash);
    client.end_of(job);
    let mut seen = String::new();
    for target in
        ["/metrics", "/healthz", "/healthz?panic", "/api/openapi.json", "/api/nothing", "/"]
    {
        let answer = daemon.get(target);
        seen += &(answer.head + &answer.body);
    }
    daemon.wait_for("a trace", || daemon.said().contains("stack backtrace"));
    seen += &daemon.said();
    for name in ["cmdline", "environ"] {
        let mut bytes = Vec::new();
        let file = fs::File::open(format!("/proc/{}/{name}", daemon.pid()));
        file.and_then(|mut file| file.read_to_end(&mut bytes)).expect("a process");
        seen += &String::from_utf8_lossy(&bytes);
    }
    let mut kept = String::new();
    for entry in fs::read_dir(daemon.state()).expect("its state") {
        let path = entry.expect("a file").path();
        let mode = fs::metadata(&path).expect("a file").permissions().mode() & 0o777;
        let text = String::from_utf8_lossy(&fs::read(&path).expect("a file")).into_owned();
        if path.ends_with("keys.json") || path.ends_with("link") {
            assert_eq!(mode, 0o600, "{}", path.display());
            kept += &text;
        } else {
            seen += &text;
        }
    }
    let secret = Hex(key.secret).to_string();
    let shown = token.rsplit('_').next().expect("a secret");
    // A control: this search finds what is there. A token is not even in the file of keys.
    for (what, needle, is_kept) in
        [("code", code.as_str(), true), ("key", &secret, true), ("token", shown, false)]
    {
        assert!(needle.len() >= 20 && !seen.contains(needle), "{what}");
        assert_eq!(kept.contains(needle), is_kept, "{what}");
    }
    assert!(seen.contains("panicked") && seen.contains("\"action\":\"pair\""), "{seen}");
}

/// T12
#[test]
fn key_files_that_others_may_read_or_swap_prevent_the_start() {
    let setup = Setup::default();
    for row in [
        "file 0644",
        "file 0640",
        "file 0602",
        "folder 0755",
        "folder 0710",
        "symbolic link",
        "linked folder",
        "a folder",
        "damaged",
        "empty",
    ] {
        let folder = Daemon::start(&setup).kill();
        let (state, keys) = (folder.path("state"), folder.path("state/keys.json"));
        let mode = |mode| PermissionsExt::from_mode(mode);
        match row {
            "file 0644" => fs::set_permissions(&keys, mode(0o644)).expect("ours"),
            "file 0640" => fs::set_permissions(&keys, mode(0o640)).expect("ours"),
            "file 0602" => fs::set_permissions(&keys, mode(0o602)).expect("ours"),
            "folder 0755" => fs::set_permissions(&state, mode(0o755)).expect("ours"),
            "folder 0710" => fs::set_permissions(&state, mode(0o710)).expect("ours"),
            "damaged" => fs::write(&keys, "{").expect("ours"),
            "empty" => fs::write(&keys, "").expect("ours"),
            "a folder" => {
                fs::remove_file(&keys).expect("ours");
                fs::create_dir(&keys).expect("ours");
            }
            "linked folder" => {
                fs::rename(&state, folder.path("elsewhere")).expect("ours");
                std::os::unix::fs::symlink(folder.path("elsewhere"), &state).expect("a link");
            }
            _ => {
                fs::rename(&keys, folder.path("elsewhere.json")).expect("ours");
                std::os::unix::fs::symlink(folder.path("elsewhere.json"), &keys).expect("a link");
            }
        }
        let said =
            Daemon::start_in(folder, &setup).err().unwrap_or_else(|| panic!("{row}: it starts"));
        let code = if matches!(row, "damaged" | "empty") { "Some(1)" } else { "Some(5)" };
        assert!(said.starts_with(code) && said.contains("state"), "{row}: {said}");
    }
}

/// T14
#[test]
fn sessions_of_a_revoked_key_end_within_a_second() {
    let daemon = Daemon::start(&scripting());
    let (mut client, key) = daemon.paired();
    let mut other = daemon.connect(&key);
    verb(&daemon, &format!("keys revoke {}", key.name));
    let start = Instant::now();
    assert_eq!(client.closed().code, Some(4403));
    assert_eq!(other.closed().code, Some(4403));
    assert!(start.elapsed() < promised(Duration::from_secs(1)), "{:?}", start.elapsed());
    assert_eq!(daemon.open().identify(&key).expect_err("revoked").code, Some(4401));
}

#[test]
fn the_tools_for_programs_need_a_token_on_this_machine_too() {
    let daemon = Daemon::start(&scripting());
    let token = verb(&daemon, "keys new --name client --scope read");
    let bearer = format!("Authorization: Bearer {token}");
    daemon.wait_for("the token", || daemon.ask("GET", "/metrics", &[&bearer], "").status == 200);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let json = "Content-Type: application/json";
    let foreign = "Origin: https://evil.test";
    for (method, headers, status) in [
        ("POST", vec![json], 401),
        ("POST", vec![json, "Authorization: Bearer wrong"], 401),
        ("POST", vec![json, &*bearer, &*bearer], 401),
        ("POST", vec![json, &*bearer, foreign], 403),
        ("POST", vec![&*bearer], 415),
        ("GET", vec![&*bearer], 405),
        ("POST", vec![json, &*bearer], 200),
    ] {
        let body = if method == "POST" { ping } else { "" };
        let answer = daemon.ask(method, "/mcp", &headers, body);
        assert_eq!(answer.status, status, "{method} {headers:?}: {}", answer.body);
        assert_eq!(answer.body.contains("\"result\":{}"), status == 200);
    }
    let page = daemon.ask("POST", "/mcp", &[json, &bearer], &" ".repeat(300 * 1024));
    assert_eq!(page.status, 413);
}

#[test]
fn a_page_revokes_its_own_key_and_no_other() {
    let daemon = Daemon::start(&scripting());
    assert!(daemon.open().hello.can.expect("abilities").own_state, "its folder is that of --state");
    let (mut other, _) = daemon.paired();
    let link = verb(&daemon, "pair --scope read");
    let mut client = daemon.open();
    let key = client.pair(link.split_once("#pair=").expect("a link").1).expect("good");
    client.send(r#"{"id":7,"ask":{"type":"revoke_key","key":"0000000000000000"}}"#);
    assert_eq!(client.answer_or_push(), Some(FaultCode::Malformed), "it names no key");
    client.send(r#"{"id":8,"ask":{"type":"revoke_key"}}"#);
    let expected = Closed { code: Some(4403), bye: Some(FaultCode::Unauthenticated) };
    assert_eq!(client.closed(), expected);
    assert_eq!(daemon.open().identify(&key).expect_err("it is gone").code, Some(4401));
    assert!(!verb(&daemon, "keys list").contains(&key.name.to_string()));
    assert!(matches!(other.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    let logged = daemon.audit();
    let line = logged.iter().find(|line| line.action == "revoke_keys").expect("a line");
    assert_eq!(line.whole["key_id"], key.name.to_string());
}
