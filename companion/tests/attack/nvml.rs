//! A daemon whose GPU is metered by NVML: a job under all locks, other programs, heat, a card that falls off its bus, and a question that is
//! never answered. Driver and library are those that the tests build; their values are assumed.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use protocol::bench::{BenchKind, BenchRecord, BenchSpec, Condition, Shape};
use protocol::client::ClientMessage;
use protocol::job::{JobEvent, JobSpec, JobState};
use protocol::server::ServerMessage;
use serde_json::{Value, json};

use crate::binary::Folder;
use crate::devices::emulated_gpu;
use crate::harness::{Daemon, PATIENCE, Setup, hooked, promised};
use crate::socket::{Client, random};

/// The address of the emulated GPU.
const ADDRESS: &str = "0000:0a:00.0";

/// A machine that has a card of NVIDIA's driver at that address.
fn machine() -> Folder {
    let folder = Folder::new();
    let card = format!("proc/driver/nvidia/gpus/{ADDRESS}/information");
    folder.file(&format!("machine/{card}"), "Model: \t\t NVIDIA H100\nDevice Minor: \t 0\n");
    folder.file("machine/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n");
    folder.file("machine/proc/loadavg", "0.5 0.5 0.5 1/200 999\n");
    folder
}

/// A daemon with the libraries of a folder, which the words of `fake_nvml` there steer.
fn setup(machine: &Folder, libraries: &str) -> Setup {
    let root = machine.path("machine");
    let given = json!({ "sensors": { "path": root, "right": "read" } });
    let mut setup = hooked(json!({ "quick_plan": 15, "sensors": root, "gives": given }));
    setup.flags.extend(["--cuda-libs".to_owned(), libraries.to_owned()]);
    setup
}

/// The folder of the library of tests alone, steered by these words.
fn meter(machine: &Folder, words: &str) -> String {
    let libraries = machine.path("nvml");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/cuda/cpu/build-nvml.sh");
    let built = Command::new(script).arg(&libraries).status().expect("a shell");
    assert!(built.success(), "gcc is installed and compiles the library of tests");
    fs::write(format!("{libraries}/fake_nvml"), words).expect("ours");
    // The daemon may be of another user, and the library writes its starts and ends.
    fs::write(format!("{libraries}/fake_nvml_calls"), "").expect("ours");
    let open = Command::new("chmod").args(["-R", "a+rwX", &libraries]).status();
    assert!(open.expect("chmod").success());
    libraries
}

fn measured(client: &mut Client) -> BenchRecord {
    let spec = JobSpec::Bench(BenchSpec {
        what: BenchKind::Gemv,
        shapes: vec![Shape { m: 1, n: 64, k: 256 }],
        formats: vec!["fp16".into()],
        sizes: Vec::new(),
        backend: Some("cuda:0".into()),
        iterations: None,
    });
    let job = match client.start(random(), spec) {
        ServerMessage::Accepted(accepted) => accepted.job,
        other => panic!("{other:?}"),
    };
    let events = client.follow(job, 0);
    let end = events.last().map(|event| event.event.clone());
    assert!(
        matches!(end, Some(JobEvent::Ended { state: JobState::Done, .. })),
        "the meter is no part of the work: {end:?}"
    );
    let record = events.into_iter().find_map(|event| match event.event {
        JobEvent::Result { record } => Some(*record),
        _ => None,
    });
    record.expect("a record")
}

fn number(record: &BenchRecord, key: &str) -> f64 {
    match record.conditions.get(key) {
        Some(Condition::Number(number)) => *number,
        other => panic!("{key}: {other:?} in {:?}", record.conditions),
    }
}

fn why<'a>(record: &'a BenchRecord, key: &str) -> &'a str {
    match record.conditions.get("missing") {
        Some(Condition::Reasons(reasons)) => reasons.get(key).map_or("", String::as_str),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_job_on_a_gpu_is_metered_under_all_locks_and_goes_on_without_the_meter() {
    let machine = machine();
    let libraries = emulated_gpu(&machine);
    let steer = |words: &str| {
        fs::write(format!("{libraries}/fake_nvml"), words).expect("ours");
    };
    steer("others=1,reasons=64,xid=31");
    let daemon = Daemon::start(&setup(&machine, &libraries));
    let (mut client, _) = daemon.paired();
    let record = measured(&mut client);
    assert!((number(&record, "power_w") - 200.0).abs() < 20.0, "{record:?}");
    for (key, expected) in
        [("power_cap_w", 700.0), ("device_other_processes", 1.0), ("device_other_memory_byte", 1e9)]
    {
        assert_eq!(record.conditions[key], Condition::Number(expected), "{key}");
    }
    let reasons = &record.conditions["device_throttle_reasons"];
    let starts = |text: &str| text.starts_with("temperature, by hardware (");
    assert!(matches!(reasons, Condition::Text(text) if starts(text)), "{reasons:?}");
    for flag in ["contended", "throttled"] {
        assert!(record.flags.iter().any(|it| it == flag), "{flag}: {:?}", record.flags);
    }
    assert!(record.energy_j > Some(0.0));
    let metrics = daemon.get("/metrics").body;
    for (field, value) in [
        ("POWER_USAGE", "195"),
        ("FB_USED", "2861.02294921875"),
        // 80 GB without 3 GB in use and 0.5 GB that the driver keeps.
        ("FB_FREE", "72956.08520507813"),
        ("XID_ERRORS", "31"),
        ("SM_CLOCK", "1755"),
        ("MEMORY_TEMP", "71"),
    ] {
        let start = format!("DCGM_FI_DEV_{field}{{gpu=\"0\"");
        let line = metrics.lines().find(|line| line.starts_with(&start));
        assert!(line.is_some_and(|it| it.ends_with(&format!("}} {value}"))), "{field}: {line:?}");
    }

    // No heat, no other program: no flag of either.
    steer("");
    let calm = measured(&mut client);
    assert!(!calm.flags.iter().any(|it| it == "contended" || it == "throttled"), "{calm:?}");

    // The card falls off its bus for its meter: the job goes on, and its energy is null with the reason.
    steer("lost_at=1");
    let lost = measured(&mut client);
    assert_eq!(lost.energy_j, None);
    for key in ["power_w", "temperature_before_c", "power_cap_w"] {
        assert!(!why(&lost, key).is_empty(), "{key}: {lost:?}");
    }
    assert!(why(&lost, "power_w").contains("the GPU is lost"), "{lost:?}");
    // The daemon says so too, and goes on.
    let power = reading(&daemon, "gpu_power_watt");
    let said = power["reason"].as_str().unwrap_or_default();
    assert!(said.contains("the GPU is lost"), "{power}");
    assert!(reading(&daemon, "memory_available_byte")["value"].is_f64());
}

fn reading(daemon: &Daemon, name: &str) -> Value {
    let all = daemon.get("/api/v1/telemetry").json();
    let found = all["readings"].as_array().expect("a list").iter().find(|it| it["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {all}")).clone()
}

#[test]
fn a_question_to_nvml_that_is_never_answered_stops_no_other_sensor_and_no_job() {
    let machine = machine();
    let libraries = meter(&machine, "hangs_at=30");
    let daemon = Daemon::start(&setup(&machine, &libraries));
    let silent = format!("no answer from nvidia@{ADDRESS} for ");
    let (begin, mut heard) = (Instant::now(), 0);
    while heard < 3 {
        assert!(begin.elapsed() < PATIENCE, "it is never silent");
        let asked = Instant::now();
        let card = reading(&daemon, "gpu_utilization_ratio");
        assert!(asked.elapsed() < promised(Duration::from_secs(3)), "{:?}", asked.elapsed());
        let why = card["reason"].as_str().unwrap_or_default();
        heard += u32::from(why.starts_with(&silent));
        assert!(reading(&daemon, "load_1m")["value"].is_f64());
        thread::sleep(Duration::from_millis(50));
    }
    // The processor is measured as before.
    let (mut client, _) = daemon.paired();
    let spec = JobSpec::Bench(BenchSpec {
        what: BenchKind::Flops,
        shapes: Vec::new(),
        formats: Vec::new(),
        sizes: Vec::new(),
        backend: Some("cpu:0".into()),
        iterations: None,
    });
    let ServerMessage::Accepted(accepted) = client.start(random(), spec) else {
        panic!("it is refused")
    };
    assert_eq!(client.end_of(accepted.job).0, JobState::Done);
    let (code, _) = daemon.end_by("-TERM");
    assert_eq!(code, Some(0), "the silent library holds up no end");
}

/// Waits until the library was started and ended so often.
fn called(libraries: &str, expected: &[&str]) {
    let begin = Instant::now();
    loop {
        let calls = fs::read_to_string(format!("{libraries}/fake_nvml_calls")).expect("ours");
        if calls.lines().eq(expected.iter().copied()) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "{calls:?}, not {expected:?}");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_idle_daemon_has_nvml_closed_and_a_card_that_sleeps_stays_asleep() {
    let machine = machine();
    let libraries = meter(&machine, "calls,xid=31");
    let mut setup = setup(&machine, &libraries);
    let ms = 700;
    let idle = Duration::from_millis(ms);
    setup.hooks.as_mut().expect("hooks")["meter_idle_ms"] = json!(ms);
    let daemon = Daemon::start(&setup);
    // Neither pairing nor the page is a question about the card.
    let (mut client, _) = daemon.paired();
    daemon.get("/");
    thread::sleep(idle);
    called(&libraries, &[]);

    let watts = |daemon: &Daemon| {
        let begin = Instant::now();
        // The first reading may be late.
        while !reading(daemon, "gpu_power_watt")["value"].is_f64() {
            assert!(begin.elapsed() < PATIENCE, "no power");
        }
    };
    watts(&daemon);
    assert_eq!(reading(&daemon, "gpu_last_xid")["value"], 31.0);
    called(&libraries, &["init", "shutdown"]);

    // The error was told to the process once, and stays known when the library is opened anew.
    watts(&daemon);
    let xid = reading(&daemon, "gpu_last_xid");
    assert_eq!(xid["value"], 31.0, "{xid}");
    called(&libraries, &["init", "shutdown", "init", "shutdown"]);

    // A subscriber keeps it open, and its end closes it.
    client.ask(ClientMessage::SubscribeTelemetry { hz: 10.0 });
    thread::sleep(3 * idle);
    let open = ["init", "shutdown", "init", "shutdown", "init"];
    called(&libraries, &open);
    client.ask(ClientMessage::UnsubscribeTelemetry {});
    let closed = [&open[..], &["shutdown"]].concat();
    called(&libraries, &closed);

    // Metrics of a card that sleeps open nothing.
    let state = format!("machine/sys/bus/pci/devices/{ADDRESS}/power/runtime_status");
    machine.file(&state, "suspended\n");
    let begin = Instant::now();
    while begin.elapsed() < 2 * idle {
        daemon.get("/metrics");
    }
    called(&libraries, &closed);
    let why = reading(&daemon, "gpu_power_watt");
    assert!(why["reason"].as_str().is_some_and(|it| it.starts_with("it sleeps")), "{why}");
}

/// The Linux of Windows lists no card in `/proc`, and the daemon knows it by the library.
#[test]
fn a_daemon_in_the_linux_of_windows_has_the_readings_of_the_card() {
    let machine = Folder::new();
    machine.file("machine/usr/lib/wsl/lib/libnvidia-ml.so.1", "");
    machine.file("machine/proc/meminfo", "MemTotal: 9000000 kB\nMemAvailable: 8000000 kB\n");
    let libraries = emulated_gpu(&machine);
    fs::write(format!("{libraries}/fake_nvml"), "bus=10").expect("ours");
    let daemon = Daemon::start(&setup(&machine, &libraries));
    let begin = Instant::now();
    let power = loop {
        let power = reading(&daemon, "gpu_utilization_ratio");
        if power["value"].is_f64() {
            break power;
        }
        assert!(begin.elapsed() < PATIENCE, "{power}");
    };
    assert_eq!(power["device"], "cuda:0", "{power}");
    let metrics = daemon.get("/metrics").body;
    let line = metrics.lines().find(|line| line.starts_with("DCGM_FI_DEV_POWER_USAGE{gpu=\"0\""));
    let line = line.unwrap_or_else(|| panic!("{metrics}"));
    assert!(line.ends_with("} 195") && line.contains("00000000:0A:00.0"), "{line}");
    let (mut client, _) = daemon.paired();
    let record = measured(&mut client);
    assert!((number(&record, "power_w") - 200.0).abs() < 20.0, "{record:?}");
}
