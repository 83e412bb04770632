//! A daemon with its own folders, plain HTTP requests to it, and the state that it has stored.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::binary::{Ends, Folder, daemon};
pub(crate) use crate::patience::{PATIENCE, limited, promised, scripting};

/// A running daemon.
pub(crate) struct Daemon {
    child: Ends,
    pub(crate) port: u16,
    folder: Arc<Folder>,
    said: Arc<Mutex<String>>,
}

/// A line of the audit log.
#[derive(Debug, Clone)]
pub(crate) struct Logged {
    pub(crate) action: String,
    pub(crate) decision: String,
    pub(crate) count: u64,
    pub(crate) whole: Value,
}

impl Logged {
    /// True for an allowed action with a lasting effect.
    pub(crate) fn changes(&self) -> bool {
        let lasts = ["new_code", "pair", "start_job", "cancel_job", "new_token", "revoke_keys"];
        let lasts = [&lasts[..], &["grant_scopes", "withdraw_scopes"]].concat();
        self.decision == "allowed" && lasts.contains(&self.action.as_str())
    }
}

/// Options for starting a daemon.
#[derive(Debug, Clone, Default)]
pub(crate) struct Setup {
    pub(crate) hooks: Option<Value>,
    pub(crate) flags: Vec<String>,
    /// Shell commands before the program, such as a limit. They may set `through` to a program that starts ours.
    pub(crate) before: Option<String>,
}

/// An answer over HTTP.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines.find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub(crate) fn hooked(hooks: Value) -> Setup {
    Setup { hooks: Some(hooks), ..Setup::default() }
}

impl Daemon {
    pub(crate) fn start(setup: &Setup) -> Self {
        let folder = Folder::new();
        folder.file("site/index.html", "<!doctype html>page");
        Self::start_in(Arc::new(folder), setup).expect("it starts")
    }

    /// Starts another daemon in the same folders; `Err` with its messages if it exits at once.
    pub(crate) fn start_in(folder: Arc<Folder>, setup: &Setup) -> Result<Self, String> {
        let mut command = daemon(&folder);
        command.args(["--site", &folder.path("site")]).args(&setup.flags);
        let listens = setup.flags.iter().any(|flag| flag == "--listen");
        if !listens {
            command.args(["--port", "0"]);
        }
        if let Some(hooks) = &setup.hooks {
            command.env("RIDGEPOINT_TEST_HOOKS", hooks.to_string());
        }
        let mut command = match &setup.before {
            Some(words) => through_shell(&command, words),
            None => command,
        };
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let mut child = Ends(child.expect("the binary starts"));
        let said = Arc::new(Mutex::new(String::new()));
        let (stderr, kept) = (child.0.stderr.take().expect("piped"), Arc::clone(&said));
        let reads = thread::spawn(move || {
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                kept.lock().expect("nobody panics with it").push_str(&format!("{line}\n"));
            }
        });
        let mut address = String::new();
        let mut stdout = BufReader::new(child.0.stdout.take().expect("piped"));
        stdout.read_line(&mut address).expect("its stdout");
        let address = address.trim();
        let port = ["http://localhost:", "http://0.0.0.0:"]
            .iter()
            .find_map(|start| address.strip_prefix(start)?.strip_suffix('/'));
        let Some(port) = port.and_then(|port| port.parse().ok()) else {
            let code = child.0.wait().expect("it ends").code();
            // Its last words may still be in the pipe.
            reads.join().expect("it only reads");
            return Err(format!("{code:?}: {}", said.lock().expect("as above")));
        };
        let daemon = Self { child, port, folder, said };
        if !listens {
            daemon.wait_for("its port", || TcpStream::connect(("127.0.0.1", port)).is_ok());
        }
        Ok(daemon)
    }

    /// Reaches this daemon through another port, as `ssh -L` forwards it.
    pub(crate) fn through(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Kills the daemon and starts another one in the same folders.
    pub(crate) fn kill_and_restart(self, setup: &Setup) -> Self {
        let folder = self.kill();
        Self::start_in(folder, setup).expect("it starts again")
    }

    pub(crate) fn kill(mut self) -> Arc<Folder> {
        let _ = self.child.0.kill();
        let _ = self.child.0.wait();
        Arc::clone(&self.folder)
    }

    /// Sends a signal and returns the exit code.
    pub(crate) fn end_by(mut self, signal: &str) -> (Option<i32>, Arc<Folder>) {
        self.signal(signal);
        let code = self.child.0.wait().expect("it ends").code();
        (code, Arc::clone(&self.folder))
    }

    pub(crate) fn signal(&self, signal: &str) {
        let sent = Command::new("kill").args([signal, &self.pid().to_string()]).status();
        assert!(sent.expect("kill is there").success());
    }

    /// Waits until the daemon exits by itself.
    pub(crate) fn wait_for_end(mut self) -> Arc<Folder> {
        let start = Instant::now();
        while self.child.0.try_wait().expect("a child").is_none() {
            assert!(start.elapsed() < PATIENCE, "it goes on");
            thread::sleep(Duration::from_millis(10));
        }
        Arc::clone(&self.folder)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.0.id()
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path("state").into()
    }

    pub(crate) fn folder(&self) -> Arc<Folder> {
        Arc::clone(&self.folder)
    }

    /// The daemon's stderr so far.
    pub(crate) fn said(&self) -> String {
        self.said.lock().expect("nobody panics with it").clone()
    }

    /// The pairing code of its link.
    pub(crate) fn code(&self) -> String {
        let link = fs::read_to_string(self.state().join("link")).expect("a link");
        link.trim().split_once("#pair=").expect("a code").1.to_owned()
    }

    pub(crate) fn tcp(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// Sends bytes and reads the answer to its end, or to the end of its head if it is an upgrade.
    pub(crate) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.tcp();
        // A server may answer and close before it has read everything.
        let _ = stream.write_all(request);
        read_answer(&mut stream)
    }

    pub(crate) fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, &[], "")
    }

    pub(crate) fn post(&self, target: &str, body: &str) -> Answer {
        self.ask("POST", target, &["Content-Type: application/json"], body)
    }

    /// A request with more headers than the needed ones.
    pub(crate) fn ask(&self, method: &str, target: &str, headers: &[&str], body: &str) -> Answer {
        let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
        let (port, length) = (self.port, body.len());
        self.raw(
            format!(
                "{method} {target} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
            )
            .as_bytes(),
        )
    }

    /// Everything that an attack may have changed: jobs, events, keys, files.
    pub(crate) fn effects(&self) -> String {
        let mut files: BTreeMap<String, u64> = BTreeMap::new();
        for entry in fs::read_dir(self.state()).expect("its state") {
            let entry = entry.expect("a file");
            let name = entry.file_name().into_string().expect("a plain name");
            // The write-ahead log grows and shrinks by itself; the lock file appears with the first change.
            if !name.contains("-wal") && !name.contains("-shm") && !name.contains(".lock") {
                files.insert(name, 0);
            }
        }
        let keys = fs::read_to_string(self.state().join("keys.json")).expect("keys");
        let keys: Value = serde_json::from_str(&keys).expect("JSON");
        let keys = keys["keys"].as_array().map_or(0, Vec::len);
        let (jobs, events) = counts(&self.state());
        let done = self.audit().iter().filter(|line| line.changes()).count();
        let files = files.keys();
        let workers = self.children().len();
        format!(
            "{keys} keys, {jobs} jobs, {events} events, {done} done, {workers} workers, files {files:?}"
        )
    }

    /// Every byte that the daemon stores, except the audit log, which also grows with refusals.
    pub(crate) fn tree(&self) -> BTreeMap<String, Vec<u8>> {
        let entries = fs::read_dir(self.state()).expect("its state").flatten();
        let read = |entry: fs::DirEntry| {
            let name = entry.file_name().into_string().expect("a plain name");
            // The index of the write-ahead log depends on its readers.
            let kept = !name.starts_with("audit") && !name.ends_with("-shm");
            kept.then(|| (name, fs::read(entry.path()).expect("a file")))
        };
        entries.filter_map(read).collect()
    }

    /// The lines of the audit log.
    pub(crate) fn audit(&self) -> Vec<Logged> {
        let text = fs::read_to_string(self.state().join("audit.jsonl")).expect("a log");
        // A line that is being written has no line end yet.
        let whole = text.rfind('\n').map_or("", |end| &text[..end]);
        let read = |line: &str| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            let word = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            Logged {
                action: word("action"),
                decision: word("decision"),
                count: line["count"].as_u64().unwrap_or_default(),
                whole: line,
            }
        };
        whole.lines().map(read).collect()
    }

    pub(crate) fn rss_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a process");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a size");
        let kib: f64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
        kib / 1024.0
    }

    pub(crate) fn open_files(&self) -> usize {
        fs::read_dir(format!("/proc/{}/fd", self.pid())).expect("a process").count()
    }

    /// The child processes that still run.
    pub(crate) fn children(&self) -> Vec<u32> {
        children_of(self.pid())
    }

    /// Waits until a condition holds.
    pub(crate) fn wait_for(&self, what: &str, mut so: impl FnMut() -> bool) {
        let start = Instant::now();
        while !so() {
            assert!(start.elapsed() < PATIENCE, "{what}: {}", self.said());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

/// Reads an answer: to the end of the stream, or to the end of its head if it is an upgrade.
pub(crate) fn read_answer(stream: &mut TcpStream) -> Answer {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
        if is_whole(&bytes) {
            let _ = stream.shutdown(Shutdown::Both);
            break;
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0);
    let answer = Answer { status, head: head.into(), body: body.into() };
    // Row O23: no answer ever has this header.
    assert_ne!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    answer
}

/// True after the head of an upgrade, and after the last byte of a body whose length is known.
fn is_whole(bytes: &[u8]) -> bool {
    let Some(end) = bytes.windows(4).position(|end| end == b"\r\n\r\n") else { return false };
    let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
    head.starts_with("http/1.1 101") || length.is_some_and(|length| bytes.len() >= end + 4 + length)
}

/// The same command through a shell that sets a limit first.
fn through_shell(command: &Command, words: &str) -> Command {
    let quoted = |word: &std::ffi::OsStr| format!("'{}'", word.to_str().expect("a plain word"));
    let line: Vec<String> =
        std::iter::once(command.get_program()).chain(command.get_args()).map(quoted).collect();
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("{words}; exec $through {}", line.join(" "))]).stdin(Stdio::null());
    for (key, value) in command.get_envs() {
        if let Some(value) = value {
            shell.env(key, value);
        }
    }
    if let Some(folder) = command.get_current_dir() {
        shell.current_dir(folder);
    }
    let name = command.get_args().find_map(|word| Some(Path::new(word.to_str()?)));
    let state = command.get_args().skip_while(|word| *word != "--state").nth(1);
    let owner = state.and_then(|state| fs::metadata(state).ok());
    if let (Some(owner), Some(_)) = (owner, name) {
        use std::os::unix::fs::MetadataExt;
        use std::os::unix::process::CommandExt;
        shell.uid(owner.uid()).gid(owner.gid());
    }
    shell
}

/// Jobs and events of a state folder, read from a copy, because opening a database may change it.
pub(crate) fn counts(state: &Path) -> (u64, u64) {
    let copy = Folder::new();
    for name in ["jobs.db", "jobs.db-wal"] {
        if let Ok(bytes) = fs::read(state.join(name)) {
            copy.file(name, bytes);
        }
    }
    let db = rusqlite::Connection::open(copy.path("jobs.db")).expect("a database");
    let count = |table: &str| {
        let sql = format!("SELECT count(*) FROM {table}");
        db.query_row(&sql, [], |row| row.get(0)).unwrap_or(0)
    };
    (count("jobs"), count("events"))
}

/// The child processes of this process.
pub(crate) fn children_of(pid: u32) -> Vec<u32> {
    let parent = |entry: &fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let mut rest = stat.rsplit_once(") ")?.1.split(' ');
        let state = rest.next()?.to_owned();
        Some((state, rest.next()?.parse::<u32>().ok()?))
    };
    let processes = fs::read_dir("/proc").expect("Linux").flatten();
    processes
        .filter(|entry| parent(entry).is_some_and(|(state, ppid)| ppid == pid && state != "Z"))
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}
