//! Several devices in one machine: the daemon's hello lists them, a job runs on the one that it names, and one that is unknown, gone or
//! vanishes in mid-job ends the job with a sentence. The second device is the scripted one.

use protocol::bench::{BenchKind, BenchRecord, BenchSpec, Shape};
use protocol::device::DeviceName;
use protocol::fault::{Fault, FaultCode};
use protocol::job::{CalibrateSpec, JobEvent, JobId, JobSpec, JobState, NumberedEvent};
use protocol::server::ServerMessage;
use serde_json::json;

use crate::harness::{Daemon, Setup, hooked};
use crate::socket::{Client, random};

/// A daemon of a machine with a second device that follows a script; its jobs take so many samples.
fn with_device(script: &str, samples: u32) -> Setup {
    hooked(json!({ "device": script, "quick_plan": samples }))
}

fn bench(what: BenchKind, backend: &str) -> JobSpec {
    let shapes = if what.has_shapes() { vec![Shape { m: 1, n: 64, k: 64 }] } else { Vec::new() };
    JobSpec::Bench(BenchSpec {
        what,
        shapes,
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: Some(backend.into()),
        iterations: None,
    })
}

fn started(client: &mut Client, job: JobSpec) -> JobId {
    match client.start(random(), job) {
        ServerMessage::Accepted(accepted) => accepted.job,
        other => panic!("{other:?}"),
    }
}

fn records(events: &[NumberedEvent]) -> Vec<BenchRecord> {
    let record = |event: &NumberedEvent| match &event.event {
        JobEvent::Result { record } => Some((**record).clone()),
        _ => None,
    };
    events.iter().filter_map(record).collect()
}

fn end(events: &[NumberedEvent]) -> (JobState, Option<Fault>) {
    match events.last().map(|event| event.event.clone()) {
        Some(JobEvent::Ended { state, fault }) => (state, fault),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_job_runs_on_the_device_that_it_names() {
    let daemon = Daemon::start(&with_device("time_us=200", 5));
    let (mut client, _) = daemon.paired();
    let able = client.hello.can.clone().expect("abilities");
    let [cpu, fake] = &able.devices[..] else { panic!("{:?}", able.devices) };
    assert_eq!((cpu.id(), fake.id()), ("cpu:0".into(), "fake:0".into()));
    // Names come after the proof.
    let named: Vec<String> = client.devices.iter().map(DeviceName::id).collect();
    assert_eq!(named, ["cpu:0", "fake:0"]);
    assert!(!client.devices[0].name.is_empty() && client.devices[1].name == "scripted device");
    let hello = serde_json::to_string(&client.hello).expect("text keys");
    assert!(!hello.contains("scripted device") && !hello.contains(&client.devices[0].name));
    for name in ["fake:0", "fake"] {
        let job = started(&mut client, bench(BenchKind::Bandwidth, name));
        let events = client.follow(job, 0);
        assert_eq!(end(&events), (JobState::Done, None));
        let told = events.iter().find_map(|event| match &event.event {
            JobEvent::Started { device, .. } => Some(device.clone()),
            _ => None,
        });
        let told = told.flatten().expect("the device that was opened");
        assert_eq!((told.id(), told.name), ("fake:0".into(), "scripted device".into()));
        let records = records(&events);
        assert_eq!(records.len(), 3);
        for record in records {
            assert_eq!((&*record.backend, record.index), ("fake", 0));
            assert_eq!((&*record.device, &*record.route), ("scripted device", "script"));
        }
    }
}

#[test]
fn measured_roofs_come_with_a_device_file_of_the_device() {
    let daemon = Daemon::start(&with_device("time_us=200", 5));
    let (mut client, _) = daemon.paired();
    for (name, key, class) in
        [("fake:0", "this_machine_fake_0", "discrete_gpu"), ("cpu:0", "this_machine", "cpu")]
    {
        let job = started(&mut client, bench(BenchKind::Roofs, name));
        let events = client.follow(job, 0);
        assert_eq!(end(&events), (JobState::Done, None));
        let files = events.iter().filter_map(|event| match &event.event {
            JobEvent::Device { file } => Some(file.as_str()),
            _ => None,
        });
        let [file] = files.collect::<Vec<_>>()[..] else { panic!("one file: {events:?}") };
        let file: serde_json::Value = serde_json::from_str(file).expect("JSON");
        assert_eq!((&file["key"], &file["class"]), (&key.into(), &class.into()));
        let peaks = file["measured_peaks_tflops"].as_object().expect("peaks");
        assert_eq!(peaks.keys().collect::<Vec<_>>(), ["fp32", "int8"], "{name}");
        assert!(file["measured_bandwidth_gb_s"].as_f64().is_some_and(|rate| rate > 0.0));
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_by_name() {
    let daemon = Daemon::start(&with_device("time_us=200", 5));
    let (mut client, _) = daemon.paired();
    let before = daemon.effects();
    let calibrate = |name: &str| JobSpec::Calibrate(CalibrateSpec { backend: Some(name.into()) });
    for (spec, expected) in [
        (bench(BenchKind::Roofs, "fake:1"), "no device `fake:1`; it has cpu:0 ("),
        (bench(BenchKind::Gemv, "cuda:0"), "no device `cuda:0`"),
        (bench(BenchKind::Gemv, "cpu:4294967295"), "no device `cpu:4294967295`"),
        (bench(BenchKind::Gemv, "cpu:4294967296"), "`cpu:4294967296` is no device"),
        (bench(BenchKind::Gemv, "gpu"), "`gpu` is no device"),
        (bench(BenchKind::Gemv, "fake:0"), "gemv is not measured on fake:0"),
        (calibrate("cuda:7"), "no device `cuda:7`"),
        (calibrate("fake:0"), "gemv is not measured on fake:0"),
        (calibrate("../cpu"), "not a valid name"),
    ] {
        let ServerMessage::Fault(fault) = client.start(random(), spec) else {
            panic!("accepted: {expected}")
        };
        assert_eq!(fault.code, FaultCode::BadInput, "{expected}");
        assert!(fault.message.contains(expected), "{expected}: {}", fault.message);
    }
    assert_eq!(daemon.effects(), before, "nothing was started");
}

#[test]
fn a_device_that_vanishes_ends_its_job_with_a_sentence_and_the_results_stay() {
    // Nine points of at least 100 calls each; the first has at most 300.
    let daemon = Daemon::start(&with_device("time_us=1000,gone_from=500", 100));
    let (mut client, _) = daemon.paired();
    let job = started(&mut client, bench(BenchKind::Roofs, "fake:0"));
    let events = client.follow(job, 0);
    let (state, fault) = end(&events);
    let fault = fault.expect("a reason");
    assert_eq!((state, fault.code), (JobState::Failed, FaultCode::Failed));
    let expected = "on fake:0 (scripted device): it is gone, or its driver does not answer";
    assert!(fault.message.contains(expected), "{}", fault.message);
    let kept = records(&events);
    assert!(!kept.is_empty() && kept.len() < 9, "{}", kept.len());
    // The processor is measured as before.
    let next = started(&mut client, bench(BenchKind::Flops, "cpu:0"));
    assert_eq!(client.end_of(next), (JobState::Done, None));
    assert_eq!(records(&client.follow(job, 0)), kept);
}

#[test]
fn a_device_that_does_not_open_fails_its_job_alone() {
    let daemon = Daemon::start(&with_device("absent", 5));
    let (mut client, _) = daemon.paired();
    let job = started(&mut client, bench(BenchKind::Roofs, "fake:0"));
    let (state, fault) = end(&client.follow(job, 0));
    let message = fault.map(|fault| fault.message).unwrap_or_default();
    assert_eq!(state, JobState::Failed);
    assert!(
        message.contains("fake:0 (scripted device) cannot be measured: it is gone"),
        "{message}"
    );
    let next = started(&mut client, bench(BenchKind::Flops, "cpu"));
    assert_eq!(client.end_of(next), (JobState::Done, None));
}

#[test]
fn metrics_name_the_device_and_the_rail() {
    let daemon = Daemon::start(&with_device("time_us=200", 5));
    let metrics = daemon.get("/metrics").body;
    let labels = r#"{sensor="cpu_power_watt",device="cpu:0",rail="packages"}"#;
    assert!(metrics.contains(&format!("\nridgepoint_sensor_success{labels} ")), "{metrics}");
    assert!(!metrics.contains("DCGM"), "no card was read");
}
