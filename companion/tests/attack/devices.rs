//! Several devices in one machine: the daemon's hello lists them, a job runs on the one that it names, and one that is unknown, gone or
//! vanishes in mid-job ends the job with a sentence. The second device is the scripted one.
//!
//! This file is longer than 400 lines because it has every fault of a device, with the two that a daemon lists.

use protocol::ability::{Abilities, DeviceAbility};
use protocol::bench::{BenchKind, BenchRecord, BenchSpec, Condition, Shape};
use protocol::client::{ClientMessage, ContinueJob};
use protocol::device::DeviceName;
use protocol::fault::{Fault, FaultCode};
use protocol::job::{CalibrateSpec, JobEvent, JobId, JobSpec, JobState, NumberedEvent};
use protocol::server::ServerMessage;
use serde_json::json;
use std::fs;
use std::process::Command;

use crate::binary::Folder;
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
    // A machine may have GPUs, too.
    let ids: Vec<String> = able.devices.iter().map(DeviceAbility::id).collect();
    assert_eq!(ids[0], "cpu:0");
    assert_eq!(ids.iter().filter(|id| *id == "fake:0").count(), 1, "{ids:?}");
    // Names come after the proof.
    let named: Vec<String> = client.devices.iter().map(DeviceName::id).collect();
    assert_eq!(named, ids);
    let fake = client.devices.iter().find(|device| device.id() == "fake:0").expect("named");
    assert!(!client.devices[0].name.is_empty() && fake.name == "scripted device");
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

/// A point that the device refuses has no result, and is not counted as one that is left.
#[test]
fn a_canceled_job_with_a_refused_point_is_continued_without_measuring_twice() {
    let daemon = Daemon::start(&with_device("time_us=150000,refuses=read", 5));
    let (mut client, key) = daemon.paired();
    let job = started(&mut client, bench(BenchKind::Bandwidth, "fake:0"));
    let mut watcher = daemon.connect(&key);
    watcher.follow_until(job, 0, |event| matches!(event, JobEvent::Result { .. }));
    client.ask(ClientMessage::CancelJob { job });
    let events = client.follow(job, 0);
    assert_eq!(end(&events), (JobState::Canceled, None));
    let kernels = |events: &[NumberedEvent]| -> Vec<String> {
        records(events).into_iter().map(|record| record.kernel).collect()
    };
    assert_eq!(kernels(&events), ["copy"]);
    let order = ContinueJob { request: random(), job };
    let ServerMessage::Accepted(rest) = client.ask(ClientMessage::ContinueJob(order)) else {
        panic!("not accepted")
    };
    let events = client.follow(rest.job, 0);
    assert_eq!(end(&events), (JobState::Done, None));
    assert_eq!(kernels(&events), ["copy", "triad"]);
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
            JobEvent::Device { file, .. } => Some(file.as_str()),
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
fn the_record_of_a_card_has_its_own_conditions_and_names_the_other_processes_that_use_it() {
    let machine = Folder::new();
    let card = "sys/devices/pci0000:00/0000:03:00.0";
    for (file, text) in [
        (&*format!("{card}/uevent"), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n"),
        (&format!("{card}/drm/card0/dev"), "226:0\n"),
        (&format!("{card}/drm/renderD128/dev"), "226:128\n"),
        (&format!("{card}/hwmon/hwmon4/power1_average"), "287000000\n"),
        (&format!("{card}/hwmon/hwmon4/power1_cap"), "303000000\n"),
        (&format!("{card}/hwmon/hwmon4/temp1_input"), "54000\n"),
        (&format!("{card}/hwmon/hwmon4/temp1_label"), "edge\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n"),
        ("sys/class/drm/version", "drm 1.1.0\n"),
        ("proc/9000001/fdinfo/3", "drm-client-id:\t1\ndrm-memory-vram:\t2048 KiB\n"),
        ("proc/9000001/fd/none", ""),
    ] {
        machine.file(file, text);
    }
    for (target, link) in [
        (machine.path(&format!("{card}/drm/renderD128")), "sys/class/drm/renderD128"),
        (machine.path(card), &format!("{card}/drm/renderD128/device")),
        ("/dev/dri/renderD128".to_owned(), "proc/9000001/fd/3"),
    ] {
        std::os::unix::fs::symlink(target, machine.path(link)).expect("a link");
    }
    let of = |script: &str| {
        let given = json!({ "sensors": { "path": machine.path(""), "right": "read" } });
        let hooks = json!({
            "device": script, "quick_plan": 5, "sensors": machine.path(""), "gives": given,
        });
        let daemon = Daemon::start(&hooked(hooks));
        let (mut client, _) = daemon.paired();
        let job = started(&mut client, bench(BenchKind::Flops, "fake:0"));
        records(&client.follow(job, 0)).remove(0)
    };
    let record = of("time_us=200,bus=3");
    let watts = 287.0;
    assert_eq!(record.energy_j, Some(watts * record.time_s.median));
    let known = record.conditions;
    for (key, value) in [("power_w", watts), ("power_cap_w", 303.0), ("temperature_before_c", 54.0)]
    {
        assert_eq!(known[key], Condition::Number(value), "{key}: {known:?}");
    }
    let Condition::Reasons(missing) = &known["missing"] else { panic!("{known:?}") };
    assert_eq!(known["governor"], Condition::Missing(()));
    assert_eq!(missing["governor"], "of the processor, not of this device");
    assert!(missing["device_throttle_reasons"].contains("gpu_metrics"), "{missing:?}");
    assert_eq!(known["device_other_processes"], Condition::Number(1.0), "{known:?}");
    assert_eq!(known["device_other_memory_byte"], Condition::Number(2_097_152.0));
    let none = of("time_us=200").conditions;
    assert_eq!(none["governor"], Condition::Missing(()), "it is no processor");
    assert!(!none.contains_key("device_other_processes"), "it has no place on a bus: {none:?}");
}

#[test]
fn a_device_that_is_not_there_is_refused_by_name() {
    let daemon = Daemon::start(&with_device("time_us=200", 5));
    let (mut client, _) = daemon.paired();
    let before = daemon.effects();
    let calibrate = |name: &str| JobSpec::Calibrate(CalibrateSpec { backend: Some(name.into()) });
    for (spec, expected) in [
        (bench(BenchKind::Roofs, "fake:1"), "no device `fake:1` here; it finds cpu:0 ("),
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
    // A machine with its own cards has their fields.
    let machine = Folder::new();
    machine.file("sys/class/drm/version", "drm 1.1.0\n");
    let daemon = Daemon::start(&hooked(json!({
        "device": "time_us=200", "quick_plan": 5, "sensors": machine.path(""),
    })));
    let metrics = daemon.get("/metrics").body;
    let labels = r#"{sensor="cpu_power_watt",device="cpu:0",rail="packages"}"#;
    assert!(metrics.contains(&format!("\nridgepoint_sensor_success{labels} ")), "{metrics}");
    assert!(!metrics.contains("DCGM"), "no card was read");
}

/// A folder with the driver and the compiler of tests, which run CUDA kernels on the processor.
pub(crate) fn emulated_gpu(folder: &Folder) -> String {
    let libraries = folder.path("libraries");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../kernels/cuda/cpu/build.sh");
    let built = Command::new(script).arg(&libraries).status().expect("a shell");
    assert!(built.success(), "g++ is installed and compiles the driver of tests");
    let readable = Command::new("chmod").args(["-R", "a+rX", &libraries]).status();
    assert!(readable.expect("chmod").success());
    libraries
}

/// A daemon of a machine with the GPU of tests.
struct EmulatedGpu {
    folder: Folder,
    libraries: String,
    daemon: Daemon,
    client: Client,
    able: Box<Abilities>,
}

impl EmulatedGpu {
    fn start() -> Self {
        let folder = Folder::new();
        let libraries = emulated_gpu(&folder);
        let mut setup = hooked(json!({ "quick_plan": 3 }));
        setup.flags.extend(["--cuda-libs".to_owned(), libraries.clone()]);
        let daemon = Daemon::start(&setup);
        let (client, _) = daemon.paired();
        let able = client.hello.can.clone().expect("abilities");
        Self { folder, libraries, daemon, client, able }
    }
}

/// Products of matrices by the library of tests, in a worker under all locks.
#[test]
fn a_gpu_multiplies_matrices_and_its_products_are_roofs() {
    let gpu = EmulatedGpu::start();
    let EmulatedGpu { folder: _folder, daemon: _daemon, libraries, mut client, able } = gpu;
    let matrices = able.devices[1].kernels.iter().find(|it| it.kernel == "gemm").expect("GEMM");
    let elements = ["fp32", "tf32", "fp16", "bf16", "fp8_e4m3", "int8"];
    assert_eq!(matrices.formats, elements);
    let mut product = |tokens: &[u64], n: u64, formats: &[&str]| {
        let JobSpec::Bench(mut spec) = bench(BenchKind::Gemm, "cuda:0") else { panic!("a bench") };
        spec.shapes = tokens.iter().map(|m| Shape { m: *m, n, k: 64 }).collect();
        spec.formats = formats.iter().map(|format| (*format).to_owned()).collect();
        let job = started(&mut client, JobSpec::Bench(spec));
        client.follow(job, 0)
    };
    let events = product(&[32], 64, &[]);
    assert_eq!(end(&events), (JobState::Done, None), "{events:?}");
    let measured = records(&events);
    let weights = measured.iter().filter_map(|record| record.precision.as_ref());
    let weights: Vec<&str> = weights.map(|precision| &*precision.weights).collect();
    assert_eq!(weights, elements);
    for record in &measured {
        assert!(record.check.passed, "{record:?}");
        assert!(record.route.starts_with("cuBLASLt 12.9.1, algorithm 6"), "{}", record.route);
    }
    // FP8 and INT8 have a rule that others do not have: these two are left out, and the log says so.
    let events = product(&[32], 40, &[]);
    assert_eq!(end(&events), (JobState::Done, None), "{events:?}");
    assert_eq!(records(&events).len(), 4);
    let is_told = |event: &NumberedEvent| matches!(&event.event, JobEvent::Log { line } if line.contains("outputs (N) in multiples of 16"));
    assert_eq!(events.iter().filter(|event| is_told(event)).count(), 2);
    // Products for 32 tokens fail for the first time while they are timed: the job goes on with those for 33.
    fs::write(format!("{libraries}/fake_cuda"), "lt_no_graph=32").expect("ours");
    let events = product(&[32, 33], 64, &["fp16"]);
    assert_eq!(end(&events), (JobState::Done, None), "{events:?}");
    let measured = records(&events);
    assert_eq!(measured.iter().map(|it| it.shape.map(|it| it.m)).collect::<Vec<_>>(), [Some(33)]);
    let told = |line: &str| line.contains("32 × 64 × 64") && line.contains("(status 14)");
    let is_told =
        |event: &NumberedEvent| matches!(&event.event, JobEvent::Log { line } if told(line));
    assert_eq!(events.iter().filter(|event| is_told(event)).count(), 1, "{events:?}");
    fs::write(format!("{libraries}/fake_cuda"), "lt_none").expect("ours");
    let said = end(&product(&[32], 64, &[])).1.expect("a reason").message;
    assert!(said.contains("it has no algorithm for this product on this GPU"), "{said}");
    fs::remove_file(format!("{libraries}/fake_cuda")).expect("ours");
    // FP8 has no kernel in registers on 9.0, so its roof is that of a product.
    let job = started(&mut client, bench(BenchKind::Roofs, "cuda:0"));
    let events = client.follow(job, 0);
    assert_eq!(end(&events), (JobState::Done, None), "{events:?}");
    let file = events.iter().find_map(|event| match &event.event {
        JobEvent::Device { file, .. } => Some(file.clone()),
        _ => None,
    });
    let file: serde_json::Value = serde_json::from_str(&file.expect("a file")).expect("JSON");
    let peaks = file["measured_peaks_tflops"].as_object().expect("peaks");
    let classes: Vec<&str> = peaks.keys().map(String::as_str).collect();
    assert_eq!(classes, ["fp32", "tf32", "fp16", "bf16", "fp8", "int8"]);
}

/// The daemon, its worker under all locks, and the CUDA backend, with a driver that runs the kernels on the processor: only the driver
/// and the GPU are not real.
#[test]
fn a_gpu_is_measured_and_a_failure_of_it_ends_one_job_only() {
    let gpu = EmulatedGpu::start();
    let EmulatedGpu { folder: _folder, daemon: _daemon, libraries, mut client, able } = gpu;
    let ids: Vec<String> = able.devices.iter().map(DeviceAbility::id).collect();
    assert_eq!(ids, ["cpu:0", "cuda:0"]);
    let formats = able.devices[1].kernels.iter().find(|it| it.kernel == "gemv").expect("products");
    assert!(formats.formats.iter().any(|format| format == "nvfp4"), "{formats:?}");
    let mut product = |formats: &[&str]| {
        let JobSpec::Bench(mut spec) = bench(BenchKind::Gemv, "cuda:0") else { panic!("a bench") };
        spec.formats = formats.iter().map(|format| (*format).to_owned()).collect();
        spec.shapes = vec![Shape { m: 1, n: 64, k: 256 }, Shape { m: 5, n: 64, k: 256 }];
        let job = started(&mut client, JobSpec::Bench(spec));
        client.follow(job, 0)
    };
    let events = product(&["fp16", "int4_g128", "nvfp4"]);
    assert_eq!(end(&events), (JobState::Done, None), "{events:?}");
    let measured = records(&events);
    assert_eq!(measured.len(), 6);
    for record in &measured {
        assert_eq!((&*record.backend, &*record.device), ("cuda", "Emulated GPU 0"));
        assert!(record.check.passed && record.route.starts_with("v3 on tensor cores, NVRTC"));
    }
    fs::write(format!("{libraries}/fake_cuda"), "fails_at=9").expect("ours");
    let (state, fault) = end(&product(&["fp16"]));
    let said = fault.expect("a reason").message;
    assert_eq!(state, JobState::Failed);
    assert!(said.contains("a kernel failed; this job ends, and the next one works"), "{said}");
    fs::write(format!("{libraries}/fake_cuda"), "exclusive").expect("ours");
    let (_, fault) = end(&product(&["fp16"]));
    let said = fault.expect("a reason").message;
    assert!(said.contains("another process has it for itself"), "{said}");
    fs::remove_file(format!("{libraries}/fake_cuda")).expect("ours");
    assert_eq!(end(&product(&["fp16"])).0, JobState::Done);
    let JobSpec::Bench(mut large) = bench(BenchKind::Gemv, "cuda:0") else { panic!("a bench") };
    large.shapes = vec![Shape { m: 1, n: 65_536, k: 65_536 }];
    large.formats = vec!["fp32".to_owned()];
    let ServerMessage::Fault(fault) = client.start(random(), JobSpec::Bench(large)) else {
        panic!("accepted: more than the memory of the GPU")
    };
    assert!(fault.message.contains("memory"), "{fault:?}");
}
