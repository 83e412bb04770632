//! Runs the script of a test job: it misbehaves on demand as a defective worker would.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::thread::sleep;
use std::time::Duration;

use protocol::bench::{BenchRecord, Check, Precision, Time};

use super::Voice;
use super::script::{Act, Script};
use crate::jobs::message::WorkerMessage;

/// Runs the script.
pub(super) fn run(script: Script, voice: &Voice) {
    voice.say(&WorkerMessage::Plan { predicted_s: script.predicted_ms.map(|ms| ms / 1e3) });
    for step in 1..=script.steps {
        sleep(Duration::from_millis(script.step_ms.into()));
        if voice.stopped() {
            return voice.say(&WorkerMessage::Stopped {});
        }
        let note = format!("step {step}");
        voice.say(&WorkerMessage::Progress { done: step, total: script.steps, note });
        voice.say(&WorkerMessage::Result { record: Box::new(record(f64::from(step))) });
    }
    act(script.act, voice);
}

fn act(act: Act, voice: &Voice) {
    match act {
        Act::Finish => voice.say(&WorkerMessage::Done {}),
        Act::Fail => voice.say(&WorkerMessage::Failed { message: "as asked".into() }),
        Act::Hang => sleep(Duration::from_hours(1)),
        Act::Linger | Act::IgnoreCancel => linger(voice),
        Act::Crash => {
            eprintln!("crashing as asked");
            std::process::abort()
        }
        Act::Vanish => {}
        Act::Garble => raw(b"{\"say\":\"done\"\n\xff\xfe\n"),
        Act::Oversize => loop {
            raw(&[b'x'; 4096]);
        },
        Act::Flood => loop {
            voice.say(&WorkerMessage::Log { line: "flood".into() });
        },
        Act::Lie => {
            let mut record = record(1.0);
            record.bytes *= 2.0;
            voice.say(&WorkerMessage::Result { record: Box::new(record) });
            voice.say(&WorkerMessage::Done {});
        }
        Act::Babble => {
            voice.say(&WorkerMessage::Done {});
            loop {
                voice.say(&WorkerMessage::Log { line: "one more thing".into() });
            }
        }
    }
}

fn linger(voice: &Voice) {
    loop {
        voice.say(&WorkerMessage::Beat {});
        sleep(Duration::from_millis(50));
        if voice.stopped() {
            return voice.say(&WorkerMessage::Stopped {});
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
fn record(bytes: f64) -> BenchRecord {
    BenchRecord {
        schema: 1,
        kernel: "scripted".into(),
        route: "scripted".into(),
        backend: "scripted".into(),
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
