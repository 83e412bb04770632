//! L1, C03: the largest number of clients, each with telemetry at 10 Hz and one job to follow; none loses an event.

use std::thread;
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::job::{JobEvent, JobId, JobState};
use protocol::server::ServerMessage;

use crate::harness::{Daemon, hooked};
use crate::script::Act;
use crate::socket::{Client, Heard};

const CLIENTS: usize = 64;

/// The observations of one client.
struct Seen {
    events: u64,
    readings: u64,
    pings_ms: Vec<f64>,
}

/// Follows a job to its end, with telemetry, and sends a ping now and then.
fn watch(mut client: Client, job: JobId) -> Seen {
    client.ask(ClientMessage::SubscribeTelemetry { hz: 10.0 });
    let mut last = client.subscribe(job, 0);
    let mut seen = Seen { events: 0, readings: 0, pings_ms: Vec::new() };
    let mut asked = Instant::now();
    loop {
        match client.push(Duration::from_secs(30)) {
            Some(ServerMessage::Event(event)) => {
                assert_eq!(event.seq, last + 1, "no gap and nothing twice");
                last = event.seq;
                seen.events += 1;
                if matches!(event.event, JobEvent::Ended { .. }) {
                    return seen;
                }
            }
            Some(ServerMessage::Telemetry(_)) => seen.readings += 1,
            other => panic!("{other:?}"),
        }
        if asked.elapsed() > Duration::from_secs(1) {
            asked = Instant::now();
            assert!(matches!(client.ask(ClientMessage::Ping {}), ServerMessage::Pong));
            seen.pings_ms.push(asked.elapsed().as_secs_f64() * 1e3);
        }
    }
}

#[test]
fn sixty_four_clients_lose_no_event() {
    let seconds = std::env::var("RIDGEPOINT_SOAK_S").ok().and_then(|text| text.parse().ok());
    let seconds: u32 = seconds.unwrap_or(600);
    let daemon = Daemon::start(&hooked(serde_json::json!({ "scripted": true })));
    let (mut first, key) = daemon.paired();
    let job = first.scripted(2 * seconds, 500, Act::Finish);
    let clients: Vec<_> = std::iter::once(first)
        .chain((1..CLIENTS).map(|_| daemon.connect(&key)))
        .map(|client| thread::spawn(move || watch(client, job)))
        .collect();
    let seen: Vec<Seen> =
        clients.into_iter().map(|client| client.join().expect("no panic")).collect();
    let mut pings: Vec<f64> = seen.iter().flat_map(|seen| seen.pings_ms.clone()).collect();
    pings.sort_by(f64::total_cmp);
    let p99 = pings[(pings.len() * 99 / 100).min(pings.len() - 1)];
    let readings: u64 = seen.iter().map(|seen| seen.readings).sum();
    let rate = readings as f64 / CLIENTS as f64 / f64::from(seconds);
    let rss = daemon.rss_mib();
    println!(
        "{} events each, {rate:.1} readings/s each, p99 {p99:.1} ms, {rss:.1} MiB",
        seen[0].events
    );
    assert!(seen.iter().all(|other| other.events == seen[0].events));
    assert!(rate > 8.0 && rss < 96.0 && p99 < 50.0, "{rate} {rss} {p99}");
}

/// C03: a half-open connection, as after a lost link. No event is lost, and the place is freed.
#[test]
fn a_silent_connection_is_closed_and_its_job_can_be_followed_again() {
    let daemon = Daemon::start(&hooked(serde_json::json!({ "scripted": true })));
    let (mut client, key) = daemon.paired();
    let job = client.scripted(4, 100, Act::Finish);
    let (before, start) = (daemon.open_files(), Instant::now());
    // The client neither reads nor writes, so no ping is answered.
    while daemon.open_files() >= before {
        assert!(start.elapsed() < Duration::from_secs(90), "it is still open");
        thread::sleep(Duration::from_millis(500));
    }
    println!("given up after {:.0} s", start.elapsed().as_secs_f64());
    while !matches!(client.hear(Duration::from_millis(100)), Heard::Closed(_)) {}
    assert_eq!(daemon.connect(&key).end_of(job), (JobState::Done, None));
}
