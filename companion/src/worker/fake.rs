//! A scripted job for tests of the daemon: it fails in the ways that a broken job would.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use protocol::bench::{BenchRecord, Check, Precision, Time};
use protocol::job::{FakeAct, FakeSpec};

use super::WorkerChannel;
use crate::jobs::message::WorkerMessage;

/// Runs the script.
pub(super) fn run(fake: &FakeSpec, channel: &WorkerChannel) {
    channel.send(&WorkerMessage::Plan { predicted_s: fake.predicted_s });
    for step in 1..=fake.steps {
        sleep(Duration::from_millis(fake.step_ms.into()));
        if channel.stopped() {
            return channel.send(&WorkerMessage::Stopped {});
        }
        let note = format!("step {step}");
        channel.send(&WorkerMessage::Progress { done: step, total: fake.steps, note });
        channel.send(&WorkerMessage::Result { record: Box::new(record(f64::from(step))) });
    }
    act(fake.act, channel);
}

fn act(act: FakeAct, channel: &WorkerChannel) {
    match act {
        FakeAct::Finish => channel.send(&WorkerMessage::Done {}),
        FakeAct::Fail => channel.send(&WorkerMessage::Failed { message: "as asked".into() }),
        FakeAct::Hang => sleep(Duration::from_hours(1)),
        FakeAct::Linger | FakeAct::IgnoreCancel => linger(channel),
        FakeAct::Crash => {
            eprintln!("crashing as asked");
            std::process::abort()
        }
        FakeAct::Vanish => {}
        FakeAct::Garble => raw(b"{\"say\":\"done\"\n\xff\xfe\n"),
        FakeAct::Oversize => loop {
            raw(&[b'x'; 4096]);
        },
        FakeAct::Flood => loop {
            channel.send(&WorkerMessage::Log { line: "flood".into() });
        },
        FakeAct::Lie => {
            let mut record = record(1.0);
            record.bytes *= 2.0;
            channel.send(&WorkerMessage::Result { record: Box::new(record) });
            channel.send(&WorkerMessage::Done {});
        }
        FakeAct::Babble => {
            channel.send(&WorkerMessage::Done {});
            loop {
                channel.send(&WorkerMessage::Log { line: "one more thing".into() });
            }
        }
    }
}

fn linger(channel: &WorkerChannel) {
    loop {
        channel.send(&WorkerMessage::Beat {});
        sleep(Duration::from_millis(50));
        if channel.stopped() {
            return channel.send(&WorkerMessage::Stopped {});
        }
    }
}

fn raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    if out.write_all(bytes).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

/// A consistent record.
fn record(bytes: f64) -> BenchRecord {
    BenchRecord {
        schema: 1,
        kernel: "fake".into(),
        route: "scripted".into(),
        backend: "fake".into(),
        device: "none".into(),
        shape: None,
        precision: Some(Precision { weights: "int8".into(), activations: "fp32".into() }),
        cache: "hot".into(),
        bytes,
        flops: 2.0 * bytes,
        accounting: "made up".into(),
        footprint_bytes: bytes,
        time_s: Time {
            median: 0.5,
            low: 0.25,
            high: 1.0,
            n: 3,
            mad: 0.25,
            p5: 0.25,
            p95: 1.0,
            min: 0.25,
        },
        byte_per_s: Some(2.0 * bytes),
        flop_per_s: Some(4.0 * bytes),
        energy_j: None,
        check: Check { worst_error: Some(0.0), tolerance: 0.0, passed: true },
        flags: Vec::new(),
        stop_rule: BTreeMap::new(),
        calls_per_window: 1,
        samples_s: vec![0.25, 0.5, 1.0],
        conditions: BTreeMap::new(),
    }
}
