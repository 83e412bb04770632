//! Tests of the handshake over real sockets, with a daemon in this process: what each proof gets, what is logged, and what is kept.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::thread;

use serde_json::Value;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

use super::super::connections::{self, Bound, Listener};
use super::super::daemon::Config;
use super::*;
use crate::keys::random;
use crate::scopes::Restriction;

const BOTH: [Scope; 2] = [Scope::Read, Scope::Bench];

/// A daemon that listens on two ports: one of this machine, and one as of a network.
struct Running {
    daemon: Arc<Daemon>,
    near: u16,
    far: u16,
    folder: PathBuf,
    thread: Option<thread::JoinHandle<()>>,
}

/// A client after the daemon's hello.
struct Client {
    socket: WebSocket<TcpStream>,
    hello: Hello,
    origin: String,
}

/// A key with its secret, as a page keeps it.
#[derive(Clone, Copy, Debug)]
struct Pairing {
    id: KeyId,
    secret: [u8; 32],
}

/// The code of a closed socket, and the last message before it.
type Ended = (Option<u16>, Option<FaultCode>);

impl Running {
    fn start(name: &str, restriction: Restriction) -> Self {
        let name = format!("ridgepoint-handshake-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let config = Config { restriction, ..Config::of_test(&folder) };
        let (tell, told) = std::sync::mpsc::channel();
        let bind = || TcpListener::bind("127.0.0.1:0").expect("a free port");
        let (near, far) = (bind(), bind());
        let port = |listener: &TcpListener| listener.local_addr().expect("bound").port();
        let ports = (port(&near), port(&far));
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.expect("a runtime").block_on(async {
                let daemon = Arc::new(Daemon::new(config).expect("it starts"));
                for (listener, is_local) in [(near, true), (far, false)] {
                    let listener = Listener::of(Bound::Tcp { listener, is_local }).expect("bound");
                    let places = connections::none();
                    tokio::spawn(connections::accept(Arc::clone(&daemon), places, listener));
                }
                let mut ending = daemon.ending.subscribe();
                tell.send(Arc::clone(&daemon)).expect("the test waits");
                let _ended = ending.wait_for(|ending| *ending).await;
            });
        });
        let daemon = told.recv().expect("it starts");
        Self { daemon, near: ports.0, far: ports.1, folder, thread: Some(thread) }
    }

    fn open(&self) -> Client {
        Client::open(self.near)
    }

    fn code(&self, scopes: &[Scope]) -> String {
        let now = self.daemon.clock.now();
        self.daemon.keys.change(|book| book.add_code(scopes.to_vec(), now)).expect("its folder")
    }

    fn paired(&self, scopes: &[Scope]) -> Pairing {
        self.open().pair(&self.code(scopes)).expect("a good code").0
    }

    /// The lines of the audit log about an action, once there are so many.
    fn logged(&self, action: &str, lines: usize) -> Vec<Value> {
        for _ in 0..1200 {
            let text = fs::read_to_string(self.folder.join("state/audit.jsonl")).expect("a log");
            let all = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
            let found: Vec<Value> = all.filter(|line| line["action"] == action).collect();
            if found.len() >= lines {
                return found;
            }
            thread::sleep(Duration::from_millis(50));
        }
        panic!("fewer than {lines} lines about {action}")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.daemon.ending.send_replace(true);
        let ended = self.thread.take().map(thread::JoinHandle::join);
        let _already_gone = fs::remove_dir_all(&self.folder);
        assert!(thread::panicking() || matches!(ended, Some(Ok(()))), "the daemon panicked");
    }
}

impl Client {
    fn open(port: u16) -> Self {
        let origin = format!("http://localhost:{port}");
        let address = format!("ws://localhost:{port}/ws");
        let mut request = address.into_client_request().expect("an address");
        request.headers_mut().insert("Origin", origin.parse().expect("a header"));
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a socket");
        let (mut socket, _) = tungstenite::client(request, stream).expect("a socket");
        let Message::Text(text) = socket.read().expect("a hello") else { panic!("no text") };
        let say: protocol::server::Say = serde_json::from_str(&text).expect("a message");
        let ServerMessage::Hello(hello) = say.say else { panic!("{say:?}") };
        Self { socket, hello, origin }
    }

    fn handshake<'a>(&'a self, nonce: &'a Nonce) -> Handshake<'a> {
        Handshake {
            server_nonce: &self.hello.nonce,
            client_nonce: nonce,
            server: &self.hello.server,
            origin: &self.origin,
        }
    }

    /// The answer to the first message.
    fn first(&mut self, ask: ClientMessage) -> Result<ServerMessage, Ended> {
        let text = serde_json::to_string(&Ask { id: 7, ask }).expect("text keys");
        self.socket.send(Message::text(text)).expect("it listens");
        self.answer()
    }

    fn answer(&mut self) -> Result<ServerMessage, Ended> {
        let mut bye = None;
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => {
                    let say: protocol::server::Say = serde_json::from_str(&text).expect("JSON");
                    match say.say {
                        ServerMessage::Bye(fault) => bye = Some(fault.code),
                        other => {
                            assert_eq!(say.id, Some(7), "{other:?}");
                            return Ok(other);
                        }
                    }
                }
                Ok(Message::Close(frame)) => {
                    return Err((frame.map(|frame| frame.code.into()), bye));
                }
                Ok(_) => {}
                Err(error) => panic!("{error} after {bye:?}"),
            }
        }
    }

    fn pair(mut self, code: &str) -> Result<(Pairing, Vec<Scope>), Ended> {
        let nonce = Hex(random());
        let proof = crate::keys::sign(code.as_bytes(), &proof::pair(&self.handshake(&nonce)));
        let pair = Pair { protocol: protocol::VERSION, nonce, proof, label: "a page".into() };
        let ServerMessage::Paired(paired) = self.first(ClientMessage::Pair(pair))? else {
            panic!("no pairing")
        };
        assert!(paired.session > 0, "sessions count from one");
        let handshake = self.handshake(&nonce);
        let proved = crate::keys::sign(code.as_bytes(), &proof::paired(&handshake, paired.key));
        assert_eq!(paired.proof, proved, "the daemon knows the code");
        let secret = crate::keys::sign(code.as_bytes(), &proof::pair_key(&handshake, paired.key)).0;
        Ok((Pairing { id: paired.key, secret }, paired.scopes))
    }

    fn identification(&self, key: Pairing) -> (Identify, Nonce) {
        let nonce = Hex(random());
        let proof = crate::keys::sign(&key.secret, &proof::identify(&self.handshake(&nonce)));
        (Identify { protocol: protocol::VERSION, key: key.id, nonce, proof }, nonce)
    }

    fn identify(mut self, key: Pairing) -> Result<Identified, Ended> {
        let (identify, nonce) = self.identification(key);
        let ServerMessage::Identified(identified) =
            self.first(ClientMessage::Identify(identify))?
        else {
            panic!("no session")
        };
        assert!(identified.session > 0, "sessions count from one");
        let proved = crate::keys::sign(&key.secret, &proof::identified(&self.handshake(&nonce)));
        assert_eq!(identified.proof, proved, "the daemon knows the key");
        Ok(identified)
    }
}

fn failures(running: &Running) -> u64 {
    running.daemon.counters.auth_failures.load(Ordering::Relaxed)
}

#[test]
fn a_code_and_then_its_key_open_sessions_that_are_logged() {
    let running = Running::start("opens", Restriction::default());
    let (key, scopes) = running.open().pair(&running.code(&BOTH)).expect("a good code");
    assert_eq!(scopes, BOTH);
    let first = running.open().identify(key).expect("a good key");
    let second = running.open().identify(key).expect("a good key");
    assert!(second.session > first.session, "{} after {}", second.session, first.session);
    assert_eq!((first.scopes, first.epoch), (BOTH.to_vec(), running.daemon.epoch));
    assert_eq!(failures(&running), 0);
    for action in ["pair", "identify"] {
        let line = &running.logged(action, 1)[0];
        assert_eq!(line["key_id"], key.id.to_string(), "{line}");
        assert!(line["session"].as_u64().is_some_and(|session| session > 0), "{line}");
        assert_eq!(line["decision"], "allowed");
    }
}

#[test]
fn what_proves_nothing_is_refused_by_its_reason() {
    let running = Running::start("refuses", Restriction::default());
    let key = running.paired(&BOTH);
    let unauthenticated = (Some(close::UNAUTHENTICATED), Some(FaultCode::Unauthenticated));
    let mut wrong = key;
    wrong.secret[0] ^= 1;
    assert_eq!(running.open().identify(wrong).unwrap_err(), unauthenticated);
    let unknown = Pairing { id: Hex([0; 8]), ..key };
    assert_eq!(running.open().identify(unknown).unwrap_err(), unauthenticated);
    assert_eq!(running.open().pair("aaaaaaaaaaaaaaaaaaaa").unwrap_err(), unauthenticated);
    assert_eq!(running.open().first(ClientMessage::Ping {}).unwrap_err(), unauthenticated);
    assert_eq!(failures(&running), 4);
    // Other versions, of both proofs; nothing counts as a guess.
    let version = (Some(close::VERSION), Some(FaultCode::Version));
    let mut client = running.open();
    let (identify, _) = client.identification(key);
    let later = Identify { protocol: protocol::VERSION + 1, ..identify };
    assert_eq!(client.first(ClientMessage::Identify(later)).unwrap_err(), version);
    let later =
        Pair { protocol: 0, nonce: Hex([1; 32]), proof: Hex([2; 32]), label: String::new() };
    assert_eq!(running.open().first(ClientMessage::Pair(later)).unwrap_err(), version);
    // A first message is one of the protocol, and not too long.
    let long = serde_json::to_string(&Ask { id: 7, ask: ClientMessage::Ping {} }).expect("text");
    let padded = |length: usize| format!("{long}{}", " ".repeat(length - long.len()));
    for (message, code) in [
        (Message::text("hello"), close::MALFORMED),
        (Message::binary(vec![1]), close::MALFORMED),
        (Message::text(padded(FIRST_BYTES)), close::UNAUTHENTICATED),
        (Message::text(padded(FIRST_BYTES + 1)), 1009),
    ] {
        let mut client = running.open();
        client.socket.send(message.clone()).expect("it listens");
        assert_eq!(client.answer().unwrap_err().0, Some(code), "{message:.30}");
    }
    assert_eq!(failures(&running), 5);
}

#[test]
fn those_who_guess_wait_and_the_owner_does_not() {
    let running = Running::start("guesses", Restriction::default());
    let key = running.paired(&BOTH);
    let wrong = Pairing { secret: [0; 32], ..key };
    let mut ends = Vec::new();
    for _ in 0..12 {
        let start = Instant::now();
        let code = running.open().identify(wrong).unwrap_err().0;
        ends.push((code, start.elapsed()));
    }
    // Each answer may be late on a loaded machine, but not all ten of those that nobody delays.
    let (soon, late) = ends.split_at(10);
    assert!(soon.iter().all(|end| end.0 == Some(close::UNAUTHENTICATED)), "{ends:?}");
    assert!(soon.iter().any(|end| end.1 < Duration::from_millis(90)), "{ends:?}");
    assert!(late.iter().all(|end| end.0 == Some(close::RATE)), "{ends:?}");
    assert!(late.iter().all(|end| end.1 >= Duration::from_millis(90)), "{ends:?}");
    running.open().identify(key).expect("the owner gets in");
}

#[test]
fn a_key_that_opens_too_many_sessions_is_told_to_wait() {
    let running = Running::start("many", Restriction::default());
    let key = running.paired(&BOTH);
    let ended = (0..2000).find_map(|_| running.open().identify(key).err());
    assert_eq!(ended, Some((Some(close::RATE), Some(FaultCode::Rate))));
    assert_eq!(failures(&running), 0, "that is no guess");
}

#[test]
fn scopes_are_those_of_key_daemon_and_connection_together() {
    let running = Running::start("scopes", Restriction::default());
    let (both, bench) = (running.paired(&BOTH), running.paired(&[Scope::Bench]));
    let far = |key| Client::open(running.far).identify(key).expect("a good key").scopes;
    let near = |key| running.open().identify(key).expect("a good key").scopes;
    assert_eq!((near(both), far(both)), (BOTH.to_vec(), vec![Scope::Read]));
    assert_eq!((near(bench), far(bench)), (vec![Scope::Bench], vec![]));
    let restriction = Restriction { read_only: true, on_network: false };
    let running = Running::start("read-only", restriction);
    let (key, scopes) = running.open().pair(&running.code(&BOTH)).expect("a good code");
    assert_eq!(scopes, [Scope::Read]);
    assert_eq!(running.open().identify(key).expect("a good key").scopes, [Scope::Read]);
}

#[test]
fn a_key_that_cannot_be_logged_is_not_kept_and_the_others_are() {
    let running = Running::start("unlogged", Restriction::default());
    let key = running.paired(&BOTH);
    let code = running.code(&BOTH);
    let log = running.folder.join("state/audit.jsonl");
    fs::rename(&log, running.folder.join("kept")).expect("its folder");
    fs::create_dir(&log).expect("its folder");
    let storage = (Some(close::FORBIDDEN), Some(FaultCode::Storage));
    assert_eq!(running.open().pair(&code).unwrap_err(), storage);
    let kept: Vec<KeyId> = running.daemon.keys.book().keys.iter().map(|key| key.id).collect();
    assert_eq!(kept, [key.id]);
    assert_eq!(failures(&running), 0);
    running.open().identify(key).expect("it goes on");
}

#[test]
fn the_last_use_of_a_key_is_stored() {
    let running = Running::start("used", Restriction::default());
    let key = running.paired(&BOTH);
    let used = || running.daemon.keys.book().paired(key.id).map_or(0, |key| key.used_ms);
    let before = used();
    fs::write(running.folder.join("clock"), "7200").expect("its folder");
    running.open().identify(key).expect("a good key");
    let stored = (0..1200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        used() >= before + 7_200_000
    });
    assert!(stored, "used at {} and at {before}", used());
}
