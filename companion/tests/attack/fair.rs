//! R: places are shared fairly: clients that take all of them keep nobody out, and who asks is not the one that has to go.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::fault::FaultCode;
use protocol::scope::Scope;
use protocol::server::ServerMessage;

use crate::harness::{Daemon, Setup, scripting};
use crate::keys::verb;
use crate::socket::{Client, Heard};

/// Largest number of connections.
const CONNECTIONS: usize = 128;

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
    // One sends a request whose body does not come: it is being answered.
    let slow = b"POST /api/v1/analyze HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n";
    polite[3].write_all(slow).expect("it listens");
    thread::sleep(Duration::from_millis(200));
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
    let mut strangers: Vec<Client> = (0..32).map(|_| daemon.open()).collect();
    // All places are taken by clients that have just come, who have a moment for their proof.
    let upgrade =
        b"GET /ws HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
          Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
    let begin = Instant::now();
    let refused = daemon.raw(upgrade);
    assert!(refused.status == 503 || begin.elapsed() > Duration::from_millis(300), "{refused:?}");
    thread::sleep(Duration::from_millis(500));
    for _ in 0..10 {
        let mut client = daemon.connect(&key);
        assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
    }
    // The first stranger gave way, not the last.
    assert!(matches!(strangers[0].hear(Duration::from_secs(2)), Heard::Closed(_)));
    assert!(matches!(strangers[31].hear(Duration::from_millis(100)), Heard::Nothing));
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
    assert!(begin.elapsed() < Duration::from_millis(1500), "{:?}", begin.elapsed());
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
    thread::sleep(Duration::from_millis(300));
    let gone = closed(&mut many);
    assert!(gone.len() >= 22, "{}", gone.len());
    assert!(
        gone.iter().all(|number| *number < 40),
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
    let job = ClientMessage::CancelJob { job: protocol::job::JobId(1) };
    assert_eq!(client.fault(job), FaultCode::Forbidden);
    assert!(matches!(
        client.ask(ClientMessage::ListJobs { limit: 1, before: None }),
        ServerMessage::Jobs { .. }
    ));
    let token = verb(&daemon, "keys new --name program --scope read");
    thread::sleep(Duration::from_millis(600));
    let bearer = format!("Authorization: Bearer {token}");
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
