//! R: places are shared fairly: clients that take all of them keep nobody out, and who asks is not the one that has to go.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::fault::FaultCode;
use protocol::scope::Scope;
use protocol::server::ServerMessage;

use crate::harness::{Daemon, Setup, scripting};
use crate::keys::verb;
use crate::socket::{Client, Heard, Key};

/// Largest number of connections.
const CONNECTIONS: usize = 128;
/// Largest number of sockets without a proof.
pub(crate) const STRANGERS: usize = 96;
/// Time in which a page gets in. It gets in at once unless a place is lost within the 400 ms of a newcomer, as on a loaded machine.
const VISIT: Duration = Duration::from_secs(10);
/// Newcomers that keep their place for a moment.
const SHELTERED: usize = 32;

/// Asks politely, and keeps the connection.
fn ask(stream: &mut TcpStream) -> bool {
    let request = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut answer = [0; 2048];
    stream.write_all(request).is_ok()
        && stream.read(&mut answer).is_ok_and(|read| answer[..read].starts_with(b"HTTP/1.1 200"))
}

/// True if the daemon has closed the connection.
fn is_closed(stream: &mut TcpStream) -> bool {
    stream.set_nonblocking(true).expect("a stream");
    let closed = match stream.read(&mut [0; 16]) {
        Ok(read) => read == 0,
        Err(error) => error.kind() != std::io::ErrorKind::WouldBlock,
    };
    stream.set_nonblocking(false).expect("a stream");
    closed
}

/// The numbers of the connections that the daemon has closed.
fn closed(streams: &mut [TcpStream]) -> Vec<usize> {
    let all = streams.iter_mut().enumerate();
    all.filter_map(|(number, stream)| is_closed(stream).then_some(number)).collect()
}

#[test]
fn a_newcomer_replaces_whoever_is_idle_for_the_longest_time() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    let mut polite: Vec<TcpStream> = (0..CONNECTIONS).map(|_| daemon.tcp()).collect();
    for (number, stream) in polite.iter_mut().enumerate() {
        assert!(ask(stream), "{number}");
    }
    assert!(closed(&mut polite).is_empty(), "all have a place");
    // The first ones ask again, so that the oldest are not the most idle.
    for stream in &mut polite[..3] {
        assert!(ask(stream));
    }
    // One sends a request whose body does not come: it is being answered once the daemon asks for the body.
    let slow = b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n";
    polite[3].write_all(slow).expect("it listens");
    let mut asked = [0; 25];
    polite[3].read_exact(&mut asked).expect("it asks for the body");
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n");
    for newcomers in 1..=3 {
        assert_eq!(daemon.get("/healthz").status, 200, "{newcomers}");
    }
    // A connection that its client closes frees its place, so each newcomer found one that was idle, or a free one.
    let gone = closed(&mut polite);
    assert!(!gone.is_empty() && gone.iter().all(|number| (4..7).contains(number)), "{gone:?}");
    assert!(gone.contains(&4), "{gone:?}");
    let mut held: Vec<TcpStream> = (0..3).map(|_| daemon.tcp()).collect();
    assert!(held.iter_mut().all(ask));
    let gone = closed(&mut polite);
    assert!(gone.iter().all(|number| (4..8).contains(number)), "{gone:?}");
    daemon.connect(&key);
    let metrics = daemon.get("/metrics").body;
    let evicted =
        metrics.lines().find_map(|line| line.strip_prefix("ridgepoint_connections_evicted_total "));
    assert!(
        evicted.is_some_and(|count| count.parse::<u32>().is_ok_and(|count| count >= 3)),
        "{evicted:?}"
    );
}

#[test]
fn silent_strangers_keep_no_paired_page_out() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    let mut strangers: Vec<Client> = (0..STRANGERS).map(|_| daemon.open()).collect();
    // All places are taken, and nobody is refused.
    for _ in 0..10 {
        let mut client = daemon.connect(&key);
        assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    }
    // The first strangers gave way, not the last.
    let first = &mut strangers[..SHELTERED + 10];
    let gone =
        |client: &mut Client| matches!(client.hear(Duration::from_millis(1)), Heard::Closed(_));
    daemon.wait_for("a stranger that gives way", || first.iter_mut().any(gone));
    assert!(matches!(strangers[STRANGERS - 1].hear(Duration::from_millis(1)), Heard::Nothing));
    // Wrong proofs whose answers are delayed keep nobody out either.
    let mut wrong = key;
    wrong.secret[0] ^= 1;
    drop(strangers);
    for _ in 0..14 {
        let _ = daemon.open().identify(&wrong);
    }
    let guessing: Vec<Client> = (0..20)
        .map(|_| {
            let mut client = daemon.open();
            let (message, _) = client.identification(&wrong);
            client.ask_only(message);
            client
        })
        .collect();
    let begin = Instant::now();
    daemon.connect(&key);
    // Those who guess wait for 3.2 s.
    assert!(begin.elapsed() < Duration::from_secs(3), "{:?}", begin.elapsed());
    drop(guessing);
}

#[test]
fn a_key_that_takes_all_sessions_gives_one_up() {
    let daemon = Daemon::start(&scripting());
    let (first, key) = daemon.paired();
    let most = first.hello.limits.sessions as usize;
    let mut sessions: Vec<Client> = vec![first];
    sessions.extend((1..most).map(|_| daemon.connect(&key)));
    // All but one have spoken since.
    for (number, session) in sessions.iter_mut().enumerate() {
        if number != 5 {
            session.ask(ClientMessage::Ping {});
        }
    }
    assert_eq!(daemon.open().identify(&key).expect_err("no place").code, Some(4429));
    let link = verb(&daemon, "pair");
    let mut other = daemon.open();
    other.pair(link.split_once("#pair=").expect("a link").1).expect("it gets a place");
    assert!(matches!(other.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    let closed = sessions[5].closed();
    assert_eq!((closed.code, closed.bye), (Some(4429), Some(FaultCode::Rate)));
    for (number, session) in sessions.iter_mut().enumerate().filter(|(number, _)| *number != 5) {
        assert!(matches!(session.ask(ClientMessage::Ping {}), ServerMessage::Pong), "{number}");
    }
}

/// Asks and connects again for ever: a crowd that takes every place that becomes free, and never proves anything.
struct Crowd {
    stop: Arc<AtomicBool>,
    members: Vec<JoinHandle<()>>,
    /// Times that a member had to come again.
    again: Arc<AtomicUsize>,
}

impl Crowd {
    /// `polite` connections that ask, and `silent` sockets that say nothing.
    fn around(daemon: &Daemon, polite: usize, silent: usize) -> Self {
        let (stop, again) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let port = daemon.port;
        let member = |act: fn(u16, usize, &AtomicBool, &AtomicUsize), number| {
            let (stop, again) = (Arc::clone(&stop), Arc::clone(&again));
            thread::spawn(move || act(port, number, &stop, &again))
        };
        let askers = 4;
        let mut members: Vec<_> =
            (0..askers).map(|_| member(go_on_asking, polite / askers)).collect();
        members.push(member(go_on_saying_nothing, silent));
        Self { stop, members, again }
    }

    fn end(self) -> usize {
        self.stop.store(true, Ordering::Relaxed);
        self.members.into_iter().for_each(|member| member.join().expect("no panic"));
        self.again.load(Ordering::Relaxed)
    }
}

/// A connection; `None` once the daemon has ended.
fn connection(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(5))).ok()?;
    Some(stream)
}

fn go_on_asking(port: u16, count: usize, stop: &AtomicBool, again: &AtomicUsize) {
    let mut all: Vec<TcpStream> = (0..count).filter_map(|_| connection(port)).collect();
    while !stop.load(Ordering::Relaxed) {
        for stream in &mut all {
            if !ask(stream) {
                again.fetch_add(1, Ordering::Relaxed);
                let Some(new) = connection(port) else { return };
                *stream = new;
            }
        }
        thread::sleep(Duration::from_millis(1));
    }
}

fn go_on_saying_nothing(port: u16, count: usize, stop: &AtomicBool, again: &AtomicUsize) {
    let socket = || {
        let mut stream = connection(port)?;
        // A socket that is not opened is tried again below.
        let _ = stream.write_all(UPGRADE);
        let _ = stream.read(&mut [0; 4096]);
        Some(stream)
    };
    let mut all: Vec<TcpStream> = (0..count).filter_map(|_| socket()).collect();
    while !stop.load(Ordering::Relaxed) {
        for stream in all.iter_mut().filter_map(|stream| is_closed(stream).then_some(stream)) {
            again.fetch_add(1, Ordering::Relaxed);
            let Some(new) = socket() else { return };
            *stream = new;
        }
        thread::sleep(Duration::from_millis(10));
    }
}

const UPGRADE: &[u8] =
    b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
      Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// A page far away: its request and its proof are on their way for a while each.
fn visit(daemon: &Daemon, key: &Key) -> Result<(), String> {
    let way = Duration::from_millis(150);
    let stream = daemon.tcp();
    thread::sleep(way);
    let mut client = daemon.open_on(stream)?;
    thread::sleep(way);
    client.identify(key).map_err(|closed| format!("{closed:?}"))?;
    assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    Ok(())
}

/// All connections are taken by clients that ask without a pause, and come again when they have to go; a page gets in nevertheless.
#[test]
fn a_crowd_keeps_no_paired_page_out() {
    let daemon = Daemon::start(&scripting());
    let (client, key) = daemon.paired();
    drop(client);
    let crowd = Crowd::around(&daemon, CONNECTIONS, 24);
    daemon.wait_for("the crowd", || daemon.open_files() > CONNECTIONS + 20);
    for number in 0..8 {
        let begin = Instant::now();
        let mut tries = Vec::new();
        while let Err(why) = visit(&daemon, &key) {
            tries.push(why);
            assert!(begin.elapsed() < VISIT, "visit {number}: {tries:?}");
        }
    }
    let again = crowd.end();
    assert!(again > 20, "places were fought for: {again}");
}

fn on_the_network() -> Setup {
    let words = "--listen 0.0.0.0:0 --lan-plaintext --dangerously-listen-all";
    Setup { flags: words.split(' ').map(str::to_owned).collect(), ..scripting() }
}

/// A connection from another address of this machine.
fn from(address: &str, port: u16) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build();
    let stream = runtime.expect("a runtime").block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{address}:0").parse().expect("an address")).expect("it is ours");
        let to = SocketAddr::from(([127, 0, 0, 1], port));
        socket.connect(to).await.expect("it listens").into_std().expect("a stream")
    });
    stream.set_nonblocking(false).expect("a stream");
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
    stream
}

#[test]
fn the_peer_with_the_most_connections_pays() {
    let daemon = Daemon::start(&on_the_network());
    let mut few: Vec<TcpStream> = (0..2).map(|_| from("127.0.0.2", daemon.port)).collect();
    assert!(few.iter_mut().all(ask));
    let mut many: Vec<TcpStream> =
        (0..CONNECTIONS + 20).map(|_| from("127.0.0.3", daemon.port)).collect();
    daemon.wait_for("22 that gave way", || closed(&mut many).len() >= 22);
    let gone = closed(&mut many);
    assert!(
        gone.iter().all(|number| *number < SHELTERED + 40),
        "the latest of them have their places: {gone:?}"
    );
    assert!(closed(&mut few).is_empty(), "older and as idle, but few");
    assert!(few.iter_mut().all(ask));
}

/// A plain network: sessions only look, and REST needs a token.
#[test]
fn peers_of_the_network_only_look() {
    let daemon = Daemon::start(&on_the_network());
    let (mut client, _) = daemon.paired();
    assert_eq!(client.scopes, [Scope::Read]);
    // The terminal and the hello name the way in which other machines measure.
    assert!(daemon.said().contains("`ssh -L 8000:localhost:8000 HOST`"), "{}", daemon.said());
    let off = &client.hello.can.as_ref().expect("abilities").off;
    assert!(off.iter().any(|off| off.start.contains("`ssh -L`")), "{off:?}");
    let job = ClientMessage::CancelJob { job: protocol::job::JobId(1) };
    assert_eq!(client.fault(job), FaultCode::Forbidden);
    assert!(matches!(
        client.ask(ClientMessage::ListJobs { limit: 1, before: None, later: true }),
        ServerMessage::Jobs { .. }
    ));
    let token = verb(&daemon, "keys new --name program --scope read");
    let bearer = format!("Authorization: Bearer {token}");
    daemon.wait_for("the token", || daemon.ask("GET", "/metrics", &[&bearer], "").status == 200);
    for target in ["/api/v1/telemetry", "/api/v1/hardware", "/metrics", "/api/openapi.json"] {
        assert_eq!(daemon.get(target).status, 401, "{target}");
        assert_eq!(daemon.ask("GET", target, &[&bearer], "").status, 200, "{target}");
    }
    assert_eq!(daemon.post("/api/v1/analyze", "{}").status, 401);
    assert_eq!(daemon.get("/healthz").status, 200, "health has nothing to hide");
    let pair = daemon.audit().into_iter().find(|line| line.action == "pair").expect("a line");
    assert_eq!(pair.whole["peer"], "127.0.0.1");
    // Control: the same on this machine alone needs none.
    let daemon = Daemon::start(&scripting());
    assert_eq!(daemon.get("/metrics").status, 200);
    assert_eq!(daemon.paired().0.scopes, [Scope::Read, Scope::Bench]);
}
