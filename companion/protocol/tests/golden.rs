//! Every message has a file in `golden/v1`: the stored text remains readable, and the text written now equals it.
//! `UPDATE_GOLDEN=1` writes files that are missing; it never changes one that is there.
//!
//! This file is longer than 400 lines because it has an example of every message.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::fs;
use std::path::{Path, PathBuf};

use protocol::ability::{Abilities, DeviceAbility, KernelAbility, ScopeOff};
use protocol::bench::{
    BenchKind, BenchRecord, BenchSpec, Check, Condition, Precision, Shape, Time,
};
use protocol::client::{Ask, ClientMessage, ContinueJob, Identify, Pair, StartJob};
use protocol::device::DeviceName;
use protocol::engine::{EngineReport, LiveRow, RateRow, WatchEngine};
use protocol::fault::{Fault, FaultCode};
use protocol::hex::Hex;
use protocol::job::{
    CalibrateSpec, JobEvent, JobId, JobSpec, JobState, JobSummary, LaterSpec, NumberedEvent,
    ProgressUnit, ToldSpec,
};
use protocol::limits::Limits;
use protocol::scope::Scope;
use protocol::server::{
    Accepted, Hello, Identified, MachineHere, Paired, Say, ServerMessage, Versions,
};
use protocol::telemetry::{Reading, SensorSeries, Telemetry};
use protocol::tolerant::Later;
use serde::Serialize;
use serde::de::DeserializeOwned;

const REQUEST: Hex<16> = Hex([0xa5; 16]);

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1")
}

fn bench() -> JobSpec {
    JobSpec::Bench(BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 4096, k: 4096 }],
        formats: vec!["int8".into(), "int4_g128".into()],
        sizes: Vec::new(),
        backend: Some("cpu".into()),
        iterations: Some(30),
    })
}

fn sizes() -> BTreeMap<String, u64> {
    let sizes = [
        ("batch", 1),
        ("heads", 32),
        ("kv_heads", 8),
        ("head_dim", 128),
        ("new", 1),
        ("context", 4096),
    ];
    sizes.map(|(name, size)| (name.to_owned(), size)).into()
}

fn fault() -> Fault {
    Fault {
        code: FaultCode::QueueFull,
        message: "32 jobs wait already; cancel one or come back later".into(),
        retry_after_ms: Some(1000),
    }
}

fn asks() -> Vec<(&'static str, ClientMessage)> {
    vec![
        (
            "identify",
            ClientMessage::Identify(Identify {
                protocol: 1,
                key: Hex([1; 8]),
                nonce: Hex([2; 32]),
                proof: Hex([3; 32]),
            }),
        ),
        (
            "pair",
            ClientMessage::Pair(Pair {
                protocol: 1,
                nonce: Hex([2; 32]),
                proof: Hex([3; 32]),
                label: "Firefox on a laptop".into(),
            }),
        ),
        ("start_bench", ClientMessage::StartJob(StartJob { request: REQUEST, job: bench() })),
        (
            "start_roofs",
            ClientMessage::StartJob(StartJob {
                request: REQUEST,
                job: JobSpec::Bench(BenchSpec {
                    what: BenchKind::Roofs,
                    shapes: Vec::new(),
                    formats: Vec::new(),
                    sizes: Vec::new(),
                    backend: None,
                    iterations: None,
                }),
            }),
        ),
        (
            "start_attention",
            ClientMessage::StartJob(StartJob {
                request: REQUEST,
                job: JobSpec::Bench(BenchSpec {
                    what: BenchKind::Attention,
                    shapes: Vec::new(),
                    sizes: vec![sizes()],
                    formats: vec!["fp16".into()],
                    backend: None,
                    iterations: None,
                }),
            }),
        ),
        (
            "start_calibrate",
            ClientMessage::StartJob(StartJob {
                request: REQUEST,
                job: JobSpec::Calibrate(CalibrateSpec { backend: None }),
            }),
        ),
        (
            "start_calibrate_device",
            ClientMessage::StartJob(StartJob {
                request: REQUEST,
                job: JobSpec::Calibrate(CalibrateSpec { backend: Some("cuda:1".into()) }),
            }),
        ),
        (
            "continue_job",
            ClientMessage::ContinueJob(ContinueJob { request: REQUEST, job: JobId(7) }),
        ),
        ("cancel_job", ClientMessage::CancelJob { job: JobId(7) }),
        ("list_jobs", ClientMessage::ListJobs { limit: 20, before: None, later: false }),
        (
            "list_jobs_before",
            ClientMessage::ListJobs { limit: 20, before: Some(JobId(7)), later: false },
        ),
        ("list_jobs_later", ClientMessage::ListJobs { limit: 20, before: None, later: true }),
        ("subscribe_job", ClientMessage::SubscribeJob { job: JobId(7), after: 41 }),
        ("unsubscribe_job", ClientMessage::UnsubscribeJob { job: JobId(7) }),
        ("subscribe_telemetry", ClientMessage::SubscribeTelemetry { hz: 10.0 }),
        ("unsubscribe_telemetry", ClientMessage::UnsubscribeTelemetry {}),
        (
            "watch_engine",
            ClientMessage::WatchEngine(WatchEngine {
                url: "http://127.0.0.1:8080".into(),
                fields: [("hardware".into(), "device.json".into())].into(),
                files: [("device.json".into(), "{}".into())].into(),
            }),
        ),
        ("unwatch_engine", ClientMessage::UnwatchEngine {}),
        ("revoke_key", ClientMessage::RevokeKey {}),
        ("ping", ClientMessage::Ping {}),
    ]
}

/// Fails to compile when a message is added, so that its golden file is not forgotten.
fn ask_kind(message: &ClientMessage) -> &'static str {
    match message {
        ClientMessage::Identify(_) => "identify",
        ClientMessage::Pair(_) => "pair",
        ClientMessage::StartJob(_) => "start_job",
        ClientMessage::ContinueJob(_) => "continue_job",
        ClientMessage::CancelJob { .. } => "cancel_job",
        ClientMessage::ListJobs { .. } => "list_jobs",
        ClientMessage::SubscribeJob { .. } => "subscribe_job",
        ClientMessage::UnsubscribeJob { .. } => "unsubscribe_job",
        ClientMessage::SubscribeTelemetry { .. } => "subscribe_telemetry",
        ClientMessage::UnsubscribeTelemetry {} => "unsubscribe_telemetry",
        ClientMessage::WatchEngine(_) => "watch_engine",
        ClientMessage::UnwatchEngine {} => "unwatch_engine",
        ClientMessage::RevokeKey {} => "revoke_key",
        ClientMessage::Ping {} => "ping",
    }
}
const ASK_KINDS: usize = 14;

fn record() -> BenchRecord {
    BenchRecord {
        schema: 1,
        kernel: "gemv_int8".into(),
        route: "avx2".into(),
        backend: "cpu".into(),
        index: 0,
        device: "a processor".into(),
        catalog_key: None,
        shape: Some(Shape { m: 1, n: 4096, k: 4096 }),
        sizes: BTreeMap::new(),
        precision: Some(Precision { weights: "int8".into(), activations: "fp32".into() }),
        cache: "cold".into(),
        bytes: 16_809_984.0,
        flops: 33_554_432.0,
        accounting: "weights, input and output once".into(),
        footprint_bytes: 67_239_936.0,
        time_s: Time {
            median: 0.001,
            low: 0.000_9,
            high: 0.001_2,
            n: 3,
            mad: 0.000_1,
            p5: 0.000_9,
            p95: 0.001_2,
            min: 0.000_9,
        },
        byte_per_s: Some(16_809_984_000.0),
        flop_per_s: Some(33_554_432_000.0),
        energy_j: None,
        check: Check { worst_error: Some(1e-6), tolerance: 1e-4, passed: true },
        flags: vec!["contended".into()],
        conditions: [
            ("threads".to_owned(), Condition::Number(2.0)),
            ("governor".to_owned(), Condition::Text("performance".into())),
            ("turbo".to_owned(), Condition::Flag(true)),
            ("temperature_before_c".to_owned(), Condition::Missing(())),
            (
                "missing".to_owned(),
                Condition::Reasons(
                    [("temperature_before_c".to_owned(), "no thermal zone".to_owned())].into(),
                ),
            ),
        ]
        .into(),
        stop_rule: [
            ("kind".to_owned(), Condition::Text("iterations".into())),
            ("n".to_owned(), Condition::Number(3.0)),
        ]
        .into(),
        calls_per_window: 8,
        samples_s: vec![0.000_9, 0.001, 0.001_2],
        device_windows: None,
    }
}

fn summary() -> JobSummary {
    JobSummary {
        job: JobId(7),
        request: REQUEST,
        spec: bench().into(),
        state: JobState::Running,
        created_ms: 1_790_000_000_000,
        last_seq: 42,
    }
}

fn event(event: JobEvent) -> ServerMessage {
    ServerMessage::Event(NumberedEvent { job: JobId(7), seq: 42, at_ms: 1_790_000_000_000, event })
}

fn jobs(more: bool, passed_over: u32) -> ServerMessage {
    ServerMessage::Jobs { jobs: vec![summary()], more, passed_over }
}

fn abilities() -> Abilities {
    Abilities {
        devices: vec![DeviceAbility {
            backend: "cpu".into(),
            index: 0,
            kernels: vec![KernelAbility {
                kernel: "gemv".into(),
                formats: vec!["fp32".into(), "int8".into()],
                most_tokens: None,
            }],
        }],
        jobs: vec!["bench".into(), "calibrate".into()],
        engines: Vec::new(),
        off: vec![ScopeOff { scope: Scope::Bench, start: "without `--read-only`".into() }],
        grants: Vec::new(),
        own_state: false,
        lists_later: false,
    }
}

/// Abilities of a daemon with a state folder of its own.
fn with_lists_of_later() -> Abilities {
    Abilities { lists_later: true, ..abilities() }
}

fn with_own_state() -> Abilities {
    Abilities { own_state: true, ..abilities() }
}

/// Abilities of a daemon that reads inference servers.
fn reading_engines() -> Abilities {
    Abilities { engines: vec!["llama.cpp".into(), "vllm".into()], ..abilities() }
}

/// Abilities of a daemon whose machine has a card beside its processor.
fn two_devices() -> Abilities {
    let mut all = abilities();
    let DeviceName { backend, index, .. } = card();
    all.devices.push(DeviceAbility { backend, index, kernels: Vec::new() });
    all
}

fn processor() -> DeviceName {
    let name = "a processor".into();
    DeviceName { backend: "cpu".into(), index: 0, name, catalog_key: None }
}

fn card() -> DeviceName {
    DeviceName {
        backend: "cuda".into(),
        index: 1,
        name: "NVIDIA H100 80GB HBM3".into(),
        catalog_key: Some("h100_sxm".into()),
    }
}

fn hello() -> Hello {
    let limits = Limits {
        message_bytes: 262_144,
        sessions: 64,
        messages_per_s: 20,
        subscriptions: 32,
        telemetry_hz: 20.0,
        queued_jobs: 32,
        jobs_per_key: 8,
        points: 4096,
        dimension: 65_536,
        job_s: 3600,
    };
    Hello {
        protocol: Versions { min: 1, max: 1 },
        server: Hex([4; 16]),
        nonce: Hex([5; 32]),
        version: "0.1.0".into(),
        limits,
        can: None,
    }
}

fn able(can: Abilities) -> ServerMessage {
    ServerMessage::Hello(Hello { can: Some(Box::new(can)), ..hello() })
}

/// Abilities of a daemon that can widen keys.
fn granting() -> Abilities {
    Abilities { grants: vec![Scope::Read, Scope::Bench], ..abilities() }
}

/// Abilities of a device whose products take packed weights for several tokens.
fn packing() -> Abilities {
    let mut packing = abilities();
    packing.devices[0].kernels[0].most_tokens = Some(16);
    packing
}

fn reading(name: &str, value: Option<f64>) -> Reading {
    Reading { name: name.into(), value, reason: None, device: None, rail: None, source: None }
}

fn says() -> Vec<(&'static str, ServerMessage)> {
    [answers(), events(), files()].concat()
}

fn events() -> Vec<(&'static str, ServerMessage)> {
    vec![
        ("event_queued", event(JobEvent::Queued)),
        ("event_started", event(JobEvent::Started { predicted_s: Some(2.5), device: None })),
        (
            "event_started_device",
            event(JobEvent::Started { predicted_s: Some(2.5), device: Some(card()) }),
        ),
        (
            "event_progress",
            event(JobEvent::Progress {
                done: 1,
                total: 2,
                unit: ProgressUnit::Points,
                note: "int8 1 × 4096 × 4096".into(),
            }),
        ),
        (
            "event_progress_bytes",
            event(JobEvent::Progress {
                done: 6_442_450_944,
                total: 16_060_522_496,
                unit: ProgressUnit::Bytes,
                note: "model-00002-of-00004.safetensors".into(),
            }),
        ),
        (
            "event_progress_tokens",
            event(JobEvent::Progress {
                done: 512,
                total: 262_144,
                unit: ProgressUnit::Tokens,
                note: String::new(),
            }),
        ),
        ("event_result", event(JobEvent::Result { record: Box::new(record()) })),
        (
            "event_result_attention",
            event(JobEvent::Result {
                record: Box::new(BenchRecord {
                    kernel: "attention".into(),
                    shape: None,
                    sizes: sizes(),
                    precision: Some(Precision {
                        weights: "fp16".into(),
                        activations: "fp32".into(),
                    }),
                    ..record()
                }),
            }),
        ),
        (
            "event_result_device",
            event(JobEvent::Result {
                record: Box::new(BenchRecord {
                    backend: "cuda".into(),
                    index: 1,
                    device: card().name,
                    catalog_key: card().catalog_key,
                    ..record()
                }),
            }),
        ),
    ]
}

fn files() -> Vec<(&'static str, ServerMessage)> {
    vec![
        (
            "event_calibration",
            event(JobEvent::Calibration {
                calibration: "{\"device\":\"a_processor\",\"rows\":[]}".into(),
                device: Some("{\"key\":\"a_processor\"}".into()),
                whole: None,
                whole_device: None,
            }),
        ),
        (
            "event_calibration_whole",
            event(JobEvent::Calibration {
                calibration: "{\"device\":\"a_processor\",\"rows\":[]}".into(),
                device: None,
                whole: Some("{\"device\":\"a_processor\",\"rows\":[{}]}".into()),
                whole_device: None,
            }),
        ),
        (
            "event_calibration_disturbed",
            event(JobEvent::Calibration {
                calibration: "{\"device\":\"a_processor\",\"rows\":[]}".into(),
                device: Some("{\"key\":\"a_processor\"}".into()),
                whole: None,
                whole_device: Some(
                    "{\"key\":\"a_processor\",\"disturbed_roofs\":[\"fp32\"]}".into(),
                ),
            }),
        ),
        (
            "event_device",
            event(JobEvent::Device { file: "{\"key\":\"this_machine\"}".into(), whole: None }),
        ),
        (
            "event_device_disturbed",
            event(JobEvent::Device {
                file: "{\"key\":\"this_machine\"}".into(),
                whole: Some(
                    "{\"key\":\"this_machine\",\"disturbed_roofs\":[\"bandwidth\"]}".into(),
                ),
            }),
        ),
        (
            "event_readings",
            event(JobEvent::Readings {
                at_ms: vec![1_700_000_000_100, 1_700_000_000_200],
                sensors: vec![SensorSeries {
                    name: "cpu_power_watt".into(),
                    device: Some("cpu:0".into()),
                    rail: Some("packages".into()),
                    values: vec![None, Some(14.25)],
                }],
            }),
        ),
        ("event_log", event(JobEvent::Log { line: "two threads".into() })),
        ("event_ended", event(JobEvent::Ended { state: JobState::Done, fault: None })),
        (
            "event_ended_hung",
            event(JobEvent::Ended {
                state: JobState::Failed,
                fault: Some(Fault::new(FaultCode::Hung, "no sign of life for 10 s")),
            }),
        ),
    ]
}

fn answers() -> Vec<(&'static str, ServerMessage)> {
    let mut answers = introductions();
    answers.extend(results());
    answers
}

fn introductions() -> Vec<(&'static str, ServerMessage)> {
    let scopes = vec![Scope::Read, Scope::Bench];
    vec![
        ("hello", ServerMessage::Hello(hello())),
        ("hello_abilities", able(abilities())),
        ("hello_grants", able(granting())),
        ("hello_engines", able(reading_engines())),
        ("hello_lists_later", able(with_lists_of_later())),
        ("hello_own_state", able(with_own_state())),
        ("hello_tokens", able(packing())),
        ("hello_devices", able(two_devices())),
        (
            "identified",
            ServerMessage::Identified(Identified {
                proof: Hex([6; 32]),
                scopes: scopes.clone(),
                session: 3,
                epoch: Hex([7; 8]),
                machine: String::new(),
                devices: Vec::new(),
                here: None,
            }),
        ),
        (
            "identified_machine",
            ServerMessage::Identified(Identified {
                proof: Hex([6; 32]),
                scopes: scopes.clone(),
                session: 3,
                epoch: Hex([7; 8]),
                machine: "a processor".into(),
                devices: Vec::new(),
                here: None,
            }),
        ),
        (
            "identified_devices",
            ServerMessage::Identified(Identified {
                proof: Hex([6; 32]),
                scopes: scopes.clone(),
                session: 3,
                epoch: Hex([7; 8]),
                machine: processor().name,
                devices: vec![processor(), card()],
                here: None,
            }),
        ),
        (
            "identified_here",
            ServerMessage::Identified(Identified {
                proof: Hex([6; 32]),
                scopes: scopes.clone(),
                session: 3,
                epoch: Hex([7; 8]),
                machine: processor().name,
                devices: vec![processor()],
                here: Some(MachineHere {
                    catalog_key: None,
                    why_not: Some("the catalog has no such device".into()),
                }),
            }),
        ),
        (
            "paired",
            ServerMessage::Paired(Paired {
                key: Hex([1; 8]),
                proof: Hex([6; 32]),
                scopes,
                session: 3,
                epoch: Hex([7; 8]),
                machine: String::new(),
                devices: Vec::new(),
                here: None,
            }),
        ),
    ]
}

fn results() -> Vec<(&'static str, ServerMessage)> {
    vec![
        ("accepted", ServerMessage::Accepted(Accepted { job: JobId(7), fresh: true })),
        ("jobs", jobs(false, 0)),
        ("jobs_more", jobs(true, 0)),
        ("jobs_passed_over", jobs(false, 2)),
        ("snapshot", ServerMessage::Snapshot { job: summary(), after: 41 }),
        (
            "telemetry",
            ServerMessage::Telemetry(Telemetry {
                at_ms: 1_790_000_000_000,
                readings: vec![
                    reading("load_1m", Some(0.5)),
                    Reading {
                        reason: Some("no GPU driver".into()),
                        ..reading("gpu_power_watt", None)
                    },
                ],
            }),
        ),
        (
            "telemetry_devices",
            ServerMessage::Telemetry(Telemetry {
                at_ms: 1_790_000_000_000,
                readings: vec![
                    reading("load_1m", Some(0.5)),
                    Reading {
                        device: Some("cpu:0".into()),
                        rail: Some("packages".into()),
                        source: Some("RAPL, all packages".into()),
                        ..reading("cpu_power_watt", Some(65.0))
                    },
                    Reading {
                        device: Some("cuda:1".into()),
                        reason: Some("it did not answer in 100 ms".into()),
                        ..reading("gpu_power_watt", None)
                    },
                ],
            }),
        ),
        (
            "engine",
            ServerMessage::Engine(EngineReport {
                heading: "llama.cpp at http://127.0.0.1:8080 serves a.gguf".into(),
                live: vec![LiveRow {
                    name: "generated".into(),
                    value: "56.9 token/s".into(),
                    source: "tokens between two readings".into(),
                }],
                subject: "A token of a.gguf".into(),
                sentence: "Possible.".into(),
                rates: vec![RateRow {
                    name: "expected".into(),
                    rate: "87.8 token/s".into(),
                    step: "22.8 ms".into(),
                    share: "0.648×".into(),
                }],
                explanations: vec!["As expected.".into()],
                notes: vec!["a note".into()],
            }),
        ),
        ("engine_ended", ServerMessage::EngineEnded { why: "nothing answers".into() }),
        ("ok", ServerMessage::Ok),
        ("pong", ServerMessage::Pong),
        ("fault", ServerMessage::Fault(fault())),
        ("bye", ServerMessage::Bye(Fault::new(FaultCode::Draining, "the daemon ends"))),
    ]
}

/// See [`ask_kind`].
fn say_kind(message: &ServerMessage) -> &'static str {
    match message {
        ServerMessage::Hello(_) => "hello",
        ServerMessage::Identified(_) => "identified",
        ServerMessage::Paired(_) => "paired",
        ServerMessage::Accepted(_) => "accepted",
        ServerMessage::Jobs { .. } => "jobs",
        ServerMessage::Event(event) => match event.event {
            JobEvent::Queued => "event_queued",
            JobEvent::Started { .. } => "event_started",
            JobEvent::Progress { .. } => "event_progress",
            JobEvent::Result { .. } => "event_result",
            JobEvent::Calibration { .. } => "event_calibration",
            JobEvent::Device { .. } => "event_device",
            JobEvent::Readings { .. } => "event_readings",
            JobEvent::Log { .. } => "event_log",
            JobEvent::Ended { .. } => "event_ended",
            JobEvent::Unknown => unreachable!("nobody sends it"),
        },
        ServerMessage::Snapshot { .. } => "snapshot",
        ServerMessage::Telemetry(_) => "telemetry",
        ServerMessage::Engine(_) => "engine",
        ServerMessage::EngineEnded { .. } => "engine_ended",
        ServerMessage::Ok => "ok",
        ServerMessage::Pong => "pong",
        ServerMessage::Fault(_) => "fault",
        ServerMessage::Bye(_) => "bye",
        ServerMessage::Unknown => unreachable!("nobody sends it"),
    }
}
const SAY_KINDS: usize = 22;

fn is_golden<T: Serialize + DeserializeOwned + PartialEq + Debug>(name: &str, value: &T) {
    let path = folder().join(name);
    let written = format!("{}\n", serde_json::to_string_pretty(value).expect(name));
    if std::env::var_os("UPDATE_GOLDEN").is_some() && !path.exists() {
        fs::write(&path, &written).expect(name);
    }
    let golden = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(golden, written, "{name}");
    assert_eq!(&serde_json::from_str::<T>(&golden).expect(name), value, "{name}");
}

#[test]
fn every_message_equals_its_golden_file() {
    let mut files = BTreeSet::new();
    for (name, ask) in asks() {
        let name = format!("client_{name}.json");
        is_golden(&name, &Ask { id: 1, ask });
        files.insert(name);
    }
    for (name, say) in says() {
        let name = format!("server_{name}.json");
        is_golden(&name, &Say { id: None, say });
        files.insert(name);
    }
    let there: BTreeSet<String> = fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(there, files);
}

#[test]
fn every_message_has_a_golden_file() {
    let kinds: BTreeSet<_> = asks().iter().map(|(_, ask)| ask_kind(ask)).collect();
    assert_eq!(kinds.len(), ASK_KINDS);
    let kinds: BTreeSet<_> = says().iter().map(|(_, say)| say_kind(say)).collect();
    assert_eq!(kinds.len(), SAY_KINDS);
}

#[test]
fn answers_carry_the_number_of_their_message() {
    let say = Say { id: Some(9), say: ServerMessage::Pong };
    let text = serde_json::to_string(&say).unwrap();
    assert_eq!(text, r#"{"id":9,"say":{"type":"pong"}}"#);
    assert_eq!(serde_json::from_str::<Say>(&text).unwrap(), say);
}

#[test]
fn unknown_fields_of_clients_are_refused() {
    for bad in [
        r#"{"id":1,"ask":{"type":"reboot"}}"#,
        r#"{"id":1,"ask":{"type":"ping"},"more":1}"#,
        r#"{"id":1,"ask":{"type":"ping","more":1}}"#,
        r#"{"id":1,"ask":{"type":"cancel_job","job":7,"force":true}}"#,
        r#"{"id":1,"ask":{"type":"cancel_job","job":-7}}"#,
        r#"{"id":1,"ask":{"type":"cancel_job","job":"7"}}"#,
        r#"{"id":-1,"ask":{"type":"ping"}}"#,
        r#"{"id":1,"ask":{"type":"subscribe_telemetry","hz":NaN}}"#,
        r#"{"id":1,"ask":{"type":"start_job","request":"a5","job":{"kind":"calibrate"}}}"#,
        r#"{"id":1,"ask":{"type":"start_job","request":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5","job":{"kind":"shell"}}}"#,
        r#"{"id":1,"ask":{"type":"start_job","request":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5","job":{"kind":"calibrate","file":"x"}}}"#,
        r#"{"id":1,"ask":{"type":"start_job","request":"a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5a5","job":{"kind":"bench","what":"gemv","shapes":[{"m":1,"n":1}]}}}"#,
    ] {
        assert!(serde_json::from_str::<Ask>(bad).is_err(), "{bad}");
    }
}

#[test]
fn clients_ignore_additions_of_later_daemons() {
    for (text, expected) in [
        (r#"{"say":{"type":"fireworks","color":"red"}}"#, ServerMessage::Unknown),
        (r#"{"say":{"type":"pong","color":"red"},"more":1}"#, ServerMessage::Pong),
        (
            r#"{"say":{"type":"fault","code":"tired","message":"m","mood":1}}"#,
            ServerMessage::Fault(Fault::new(FaultCode::Unknown, "m")),
        ),
        (
            r#"{"say":{"type":"event","job":7,"seq":42,"at_ms":1790000000000,"event":{"type":"paused"}}}"#,
            event(JobEvent::Unknown),
        ),
        // A known event whose content cannot be read keeps its number, too.
        (
            r#"{"say":{"type":"event","job":7,"seq":42,"at_ms":1790000000000,"event":{"type":"result","record":{"schema":9}}}}"#,
            event(JobEvent::Unknown),
        ),
        (
            r#"{"say":{"type":"event","job":7,"seq":42,"at_ms":1790000000000,"event":{"type":"started","predicted_s":null,"device":"cpu"}}}"#,
            event(JobEvent::Started { predicted_s: None, device: None }),
        ),
        (
            r#"{"say":{"type":"telemetry","at_ms":1,"readings":[{"name":{"rail":"cpu"}},{"name":"load_1m","value":0.5}]}}"#,
            ServerMessage::Telemetry(Telemetry {
                at_ms: 1,
                readings: vec![reading("load_1m", Some(0.5))],
            }),
        ),
    ] {
        assert_eq!(serde_json::from_str::<Say>(text).unwrap().say, expected, "{text}");
    }
}

/// A list of jobs as a daemon of a later version may send it: every job that can be named is there.
#[test]
fn jobs_of_later_versions_spoil_no_list() {
    let job = |number: u64, spec: &str, state: &str| {
        format!(
            r#"{{"job":{number},"request":"{REQUEST}","spec":{spec},"state":"{state}","created_ms":1,"last_seq":2}}"#
        )
    };
    let jobs = [
        job(9, r#"{"kind":"quantize","model":"m"}"#, "running"),
        job(8, r#"{"kind":"bench","what":"convolution","widths":[3]}"#, "done"),
        job(7, r#"{"kind":"calibrate","device":{"backend":"cuda","index":0}}"#, "done"),
        job(6, r#"{"kind":"calibrate"}"#, "paused"),
        job(5, "7", "done"),
        r#"{"job":"four"}"#.to_owned(),
        job(3, r#"{"kind":"calibrate"}"#, "done"),
    ];
    let text = format!(r#"{{"say":{{"type":"jobs","jobs":[{}]}}}}"#, jobs.join(","));
    let ServerMessage::Jobs { jobs, more, .. } = serde_json::from_str::<Say>(&text).unwrap().say
    else {
        panic!("no list")
    };
    let numbers: Vec<u64> = jobs.iter().map(|job| job.job.0).collect();
    assert_eq!((numbers, more), (vec![9, 8, 7, 6, 3], false));
    let later = |kind: &str| ToldSpec::Later(LaterSpec { kind: kind.into() });
    let specs: Vec<&ToldSpec> = jobs.iter().map(|job| &job.spec).collect();
    let known = ToldSpec::Known(JobSpec::Calibrate(CalibrateSpec { backend: None }));
    assert_eq!(specs, [&later("quantize"), &later("bench"), &later("calibrate"), &known, &known]);
    assert_eq!(jobs[3].state, JobState::Unknown);
}

#[test]
fn scopes_and_conditions_of_later_versions_are_passed_over() {
    let proof = Hex([6; 32]);
    let text = format!(
        r#"{{"say":{{"type":"identified","proof":"{proof}","scopes":["read","fly",["bench"],"bench"],"session":1,"epoch":"{}"}}}}"#,
        Hex([7; 8])
    );
    let ServerMessage::Identified(it) = serde_json::from_str::<Say>(&text).unwrap().say else {
        panic!("not identified")
    };
    assert_eq!(it.scopes, [Scope::Read, Scope::Bench]);
    let conditions: BTreeMap<String, Condition> =
        serde_json::from_str(r#"{"power_w":[1,2],"load":0.5,"fan":null}"#).unwrap();
    assert_eq!(conditions["power_w"], Condition::Later(Later));
    assert_eq!(conditions["load"], Condition::Number(0.5));
    assert_eq!(conditions["fan"], Condition::Missing(()));
}
