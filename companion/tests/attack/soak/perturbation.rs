//! L4: the effect of subscribers on a measurement: medians of one GEMV with sixteen subscribed clients and without, alternating.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use protocol::bench::{BenchKind, BenchSpec, Shape};
use protocol::client::ClientMessage;
use protocol::job::{JobEvent, JobSpec};
use protocol::server::ServerMessage;

use crate::harness::{Daemon, hooked};
use crate::socket::{Client, Key, random};

const WATCHERS: usize = 16;
const ROUNDS: usize = 15;

/// The median of one GEMV, in s.
fn median_s(client: &mut Client) -> f64 {
    let spec = BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 4096, k: 4096 }],
        formats: vec!["int8".into()],
        sizes: Vec::new(),
        backend: Some("cpu".into()),
        iterations: Some(200),
    };
    let ServerMessage::Accepted(accepted) = client.start(random(), JobSpec::Bench(spec)) else {
        panic!("a job that may be started")
    };
    let events = client.follow(accepted.job, 0);
    let record = events.into_iter().find_map(|event| match event.event {
        JobEvent::Result { record } => Some(record),
        _ => None,
    });
    record.expect("a result").time_s.median
}

/// Median time per call while clients read telemetry at 10 Hz.
fn watched_median_s(daemon: &Daemon, client: &mut Client, key: &Key) -> f64 {
    let stop = Arc::new(AtomicBool::new(false));
    let watcher = |_| watch(daemon.connect(key), stop.clone());
    let watchers: Vec<_> = (0..WATCHERS).map(watcher).collect();
    let time = median_s(client);
    stop.store(true, Relaxed);
    for watcher in watchers {
        watcher.join().expect("no panic");
    }
    time
}

fn watch(mut client: Client, stop: Arc<AtomicBool>) -> JoinHandle<()> {
    client.ask(ClientMessage::SubscribeTelemetry { hz: 10.0 });
    thread::spawn(move || {
        while !stop.load(Relaxed) {
            client.push(Duration::from_secs(1));
        }
    })
}

#[test]
fn sixteen_subscribers_hardly_slow_a_measurement() {
    let daemon = Daemon::start(&hooked(serde_json::json!({})));
    let (mut client, key) = daemon.paired();
    median_s(&mut client);
    // Each case is first in half of the rounds, because a machine changes while it is measured.
    let mut ratios: Vec<f64> = (0..ROUNDS)
        .map(|round| {
            let first = (round % 2 == 0).then(|| watched_median_s(&daemon, &mut client, &key));
            let alone = median_s(&mut client);
            first.unwrap_or_else(|| watched_median_s(&daemon, &mut client, &key)) / alone
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    println!("time with {WATCHERS} watching clients over time with none: {ratios:.3?}");
    assert!(ratios[ROUNDS / 2] < 1.2, "a machine at rest is 0.99 to 1.01");
}
