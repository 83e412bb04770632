//! The cost of readings: processor time of a daemon with one subscriber at 10 Hz, as a share of one core.

use std::fs;
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::server::ServerMessage;

use crate::harness::{Daemon, hooked};

/// Time over which it is measured.
const SPAN: Duration = Duration::from_mins(1);
/// Length of a tick in which Linux counts processor time [s].
const TICK: f64 = 0.01;

/// User and system time of a process so far [s].
fn time_of(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process");
    let (_, rest) = stat.rsplit_once(')').expect("a name");
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) * TICK
}

#[test]
fn telemetry_costs_less_than_a_hundredth_of_a_core() {
    let daemon = Daemon::start(&hooked(serde_json::json!({})));
    let (mut client, _) = daemon.paired();
    let answer = client.ask(ClientMessage::SubscribeTelemetry { hz: 10.0 });
    assert!(matches!(answer, ServerMessage::Ok), "{answer:?}");
    // The first readings open files and start threads.
    client.push(Duration::from_secs(1));
    let (begin, before, mut readings) = (Instant::now(), time_of(daemon.pid()), 0);
    while begin.elapsed() < SPAN {
        readings += u32::from(client.push(Duration::from_secs(1)).is_some());
    }
    let seconds = begin.elapsed().as_secs_f64();
    let share = (time_of(daemon.pid()) - before) / seconds;
    println!("{:.2} % of a core over {seconds:.0} s, {readings} readings", share * 100.0);
    assert!(f64::from(readings) > 9.0 * seconds, "{readings} readings");
    assert!(share < 0.01, "{share}");
}
