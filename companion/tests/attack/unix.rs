//! A Unix socket, reached as by `ssh -L 8000:PATH HOST`: the same guards apply, and files of others are not touched.

use std::fs;
use std::io;
use std::net::{Shutdown, TcpListener};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use protocol::job::JobState;

use crate::binary::Folder;
use crate::harness::{Daemon, Setup, scripting};
use crate::script::Act;

/// A path that is removed at the end; socket paths must be short.
struct Short(PathBuf);

impl Short {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("ridgepoint-{name}-{}", std::process::id())))
    }

    fn setup(&self) -> Setup {
        let path = format!("unix:{}", self.0.display());
        Setup { flags: vec!["--listen".into(), path], ..scripting() }
    }
}

impl Drop for Short {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn folder() -> Arc<Folder> {
    let folder = Folder::new();
    folder.file("site/index.html", "<!doctype html>page");
    Arc::new(folder)
}

/// Forwards a local port to the socket, as `ssh -L` does.
fn bridge(path: &Path) -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let path = path.to_owned();
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = UnixStream::connect(&path) else { continue };
            let (mut near_in, mut far_out) =
                (near.try_clone().expect("a stream"), far.try_clone().expect("a stream"));
            thread::spawn(move || {
                let _ = io::copy(&mut near_in, &mut far_out);
                let _ = far_out.shutdown(Shutdown::Write);
            });
            let (mut far_in, mut near_out) = (far, near);
            thread::spawn(move || {
                let _ = io::copy(&mut far_in, &mut near_out);
                let _ = near_out.shutdown(Shutdown::Both);
            });
        }
    });
    port
}

fn started(folder: Arc<Folder>, short: &Short) -> Daemon {
    Daemon::start_in(folder, &short.setup()).expect("it starts").through(bridge(&short.0))
}

#[test]
fn the_same_guards_apply_through_a_unix_socket() {
    let short = Short::new("guards");
    let daemon = started(folder(), &short);
    let known = fs::symlink_metadata(&short.0).expect("a socket");
    assert!(known.file_type().is_socket());
    assert_eq!(known.permissions().mode() & 0o777, 0o600);
    for (host, more, status) in [
        ("localhost:8000", "", 200),
        ("localhost", "", 200),
        ("evil.test", "", 403),
        ("0.0.0.0:8000", "", 403),
        ("localhost:8000", "Origin: https://evil.test\r\n", 403),
        ("localhost:8000", "Origin: http://localhost:3000\r\n", 403),
    ] {
        let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        let answer = daemon.raw(request.as_bytes());
        assert_eq!(answer.status, status, "{host} {more}");
        assert_eq!(answer.body.contains("doctype"), status == 200, "{host} {more}");
    }
    // Paired through the forwarded port, the page may measure: only this user reaches the socket.
    let (mut client, key) = daemon.paired();
    let job = client.scripted(2, 1, Act::Finish);
    assert_eq!(client.end_of(job).0, JobState::Done);
    let mut wrong = key;
    wrong.secret[0] ^= 1;
    assert_eq!(daemon.open().identify(&wrong).expect_err("refused").code, Some(4401));
    let lines = daemon.audit();
    let peers: Vec<_> = lines.iter().filter(|line| line.action == "pair").collect();
    assert!(!peers.is_empty() && peers.iter().all(|line| line.whole["peer"] == "unix socket"));
    daemon.end_by("-TERM");
    assert!(fs::symlink_metadata(&short.0).is_err(), "it takes its socket along");
}

#[test]
fn only_a_stale_socket_is_replaced() {
    let short = Short::new("stale");
    let first = started(folder(), &short);
    let other = || Daemon::start_in(folder(), &short.setup()).err().expect("refused");
    assert!(other().contains("a program listens on"), "{}", other());
    first.get("/healthz");
    let state = first.kill();
    assert!(fs::symlink_metadata(&short.0).is_ok(), "killed, it leaves its socket");
    let again = started(state, &short);
    assert_eq!(again.get("/healthz").status, 200);
    again.end_by("-TERM");
    // A file that is not a socket is left as it is.
    fs::write(&short.0, "a file of somebody").expect("ours");
    assert!(other().contains("is not a socket"), "{}", other());
    assert_eq!(fs::read_to_string(&short.0).expect("still there"), "a file of somebody");
    fs::remove_file(&short.0).expect("ours");
    std::os::unix::fs::symlink("/nonexistent", &short.0).expect("a link");
    assert!(other().contains("is not a socket"), "{}", other());
}

#[test]
fn a_socket_without_a_name_is_refused() {
    // The system would choose a name that every user of the machine may open.
    let setup = Setup { flags: vec!["--listen".into(), "unix:".into()], ..scripting() };
    let said = Daemon::start_in(folder(), &setup).err().expect("refused");
    assert!(said.contains("needs the path of a socket"), "{said}");
}
