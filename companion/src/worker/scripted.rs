//! Runs the script of a test job: it misbehaves on demand as a defective worker would.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use protocol::bench::{BenchRecord, Check, Precision, Time};
use protocol::job::ProgressUnit;

use super::WorkerChannel;
use super::script::{Act, Script};
use super::tried::Tries;
use crate::jobs::message::WorkerMessage;

/// Runs the script after its first `done` steps.
pub(super) fn run(script: Script, done: u32, channel: &WorkerChannel, tries: &Tries<'_>) {
    let predicted_s = script.predicted_ms.map(|ms| ms / 1e3);
    channel.send(&WorkerMessage::Plan { predicted_s, device: None });
    for step in done + 1..=script.steps {
        sleep(Duration::from_millis(script.step_ms.into()));
        if channel.stopped() {
            return channel.send(&WorkerMessage::Stopped {});
        }
        let note = format!("step {step}");
        let (done, total) = (step.into(), script.steps.into());
        channel.send(&WorkerMessage::Progress { done, total, unit: ProgressUnit::Points, note });
        channel.send(&WorkerMessage::Result { record: Box::new(record(f64::from(step))) });
    }
    act(script.act, channel, tries);
}

fn act(act: Act, channel: &WorkerChannel, tries: &Tries<'_>) {
    match act {
        Act::Finish => channel.send(&WorkerMessage::Done {}),
        Act::Fail => channel.send(&WorkerMessage::Failed { message: "as asked".into() }),
        Act::Hang => sleep(Duration::from_hours(1)),
        Act::Linger | Act::IgnoreCancel => linger(channel),
        Act::Crash => {
            // The library of a driver may print a path before it aborts.
            eprintln!("/opt/secret-place/libdriver.so: crashing as asked");
            std::process::abort()
        }
        Act::Vanish => {}
        Act::Garble => raw(b"{\"say\":\"done\"\n\xff\xfe\n"),
        Act::Oversize => loop {
            raw(&[b'x'; 4096]);
        },
        Act::Flood => loop {
            channel.send(&WorkerMessage::Log { line: "flood".into() });
        },
        Act::Lie => {
            let mut record = record(1.0);
            record.bytes *= 2.0;
            channel.send(&WorkerMessage::Result { record: Box::new(record) });
            channel.send(&WorkerMessage::Done {});
        }
        Act::Try => {
            for line in tries.results() {
                channel.send(&WorkerMessage::Log { line });
            }
            channel.send(&WorkerMessage::Done {});
        }
        Act::Babble => {
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

/// A record whose figures agree with each other.
pub(crate) fn record(bytes: f64) -> BenchRecord {
    BenchRecord {
        schema: 1,
        kernel: "scripted".into(),
        route: "scripted".into(),
        backend: "scripted".into(),
        index: 0,
        device: "none".into(),
        catalog_key: None,
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
        sizes: std::collections::BTreeMap::new(),
        samples_s: vec![0.25, 0.5, 1.0],
        device_windows: None,
        conditions: BTreeMap::new(),
    }
}
