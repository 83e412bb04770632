//! A meter that hangs: the daemon answers as before, says which meter it is and for how long, keeps the readings of all others, and
//! ends at once. A FIFO that nobody writes to stands for the file of a driver that does not answer.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use protocol::client::ClientMessage;
use protocol::job::{JobEvent, JobState};
use protocol::server::ServerMessage;
use protocol::telemetry::{Reading, Telemetry};
use serde_json::{Value, json};

use crate::binary::{Ends, Folder, program};
use crate::harness::{Daemon, PATIENCE, Setup, hooked};
use crate::script::Act;

/// Time in which a daemon answers while a meter hangs, which hangs for ever. A machine under load is slower than one that rests.
const SOON: Duration = Duration::from_secs(8);

/// A machine with a card whose meter hangs, and with a battery and a chip that answer. Load and memory are those of this machine.
fn machine_that_hangs() -> Folder {
    let folder = Folder::new();
    let card = "sys/devices/pci0000:00/0000:03:00.0";
    for (file, text) in [
        ("sys/class/power_supply/BAT0/status", "Discharging\n"),
        ("sys/class/power_supply/BAT0/power_now", "8500000\n"),
        ("sys/class/hwmon/hwmon0/name", "amd_energy\n"),
        ("sys/class/hwmon/hwmon0/power1_input", "12000000\n"),
    ] {
        folder.file(&format!("machine/{file}"), text);
    }
    for (file, text) in [
        ("uevent", "DRIVER=amdgpu\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n"),
        ("drm/card0/dev", "226:0\n"),
        ("drm/renderD128/dev", "226:128\n"),
        ("gpu_busy_percent", "97\n"),
        ("hwmon/hwmon4/name", "amdgpu\n"),
    ] {
        folder.file(&format!("machine/{card}/{file}"), text);
    }
    let at = |path: &str| folder.path(&format!("machine/{path}"));
    hangs(&at(&format!("{card}/hwmon/hwmon4/power1_average")));
    fs::create_dir_all(at("sys/class/drm")).expect("a folder");
    for (link, target) in [
        ("sys/class/drm/renderD128", format!("{card}/drm/renderD128")),
        ("sys/class/hwmon/hwmon4", format!("{card}/hwmon/hwmon4")),
        (&format!("{card}/drm/renderD128/device"), card.to_owned()),
        (&format!("{card}/hwmon/hwmon4/device"), card.to_owned()),
    ] {
        symlink(at(&target), at(link)).expect("a link");
    }
    symlink("/proc", at("proc")).expect("a link");
    folder
}

/// Makes a file whose readers wait for ever.
fn hangs(path: &str) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo is there").success());
}

fn hooks(machine: &Folder) -> Value {
    json!({ "scripted": true, "silence_ms": 60_000, "slack_ms": 60_000, "sensors": machine.path("machine") })
}

fn setup(machine: &Folder) -> Setup {
    hooked(hooks(machine))
}

/// A machine whose meter hangs, with three thermometers: of a drive, which hangs, of a card, which sleeps, and of the processor.
fn machine_with_thermometers() -> Folder {
    let folder = machine_that_hangs();
    for (file, text) in [
        ("hwmon1/name", "nvme\n"),
        ("hwmon2/name", "nouveau\n"),
        ("hwmon2/device/power/runtime_status", "suspended\n"),
        ("hwmon3/name", "k10temp\n"),
        ("hwmon3/temp1_input", "45500\n"),
    ] {
        folder.file(&format!("machine/sys/class/hwmon/{file}"), text);
    }
    for chip in ["hwmon1", "hwmon2"] {
        hangs(&folder.path(&format!("machine/sys/class/hwmon/{chip}/temp1_input")));
    }
    folder
}

/// The reading of a sensor.
fn of<'a>(telemetry: &'a Telemetry, name: &str) -> &'a Reading {
    let found = telemetry.readings.iter().find(|reading| reading.name == name);
    found.unwrap_or_else(|| panic!("{name}: {telemetry:?}"))
}

/// A daemon of a machine that hangs, once its sensors have been read: before that it says only that they have not answered yet.
fn read_once(machine: &Folder) -> Daemon {
    let daemon = Daemon::start(&setup(machine));
    daemon.wait_for("the first readings", || {
        daemon.get("/api/v1/telemetry").body.contains("gpu_utilization_ratio")
    });
    daemon
}

/// Fails unless the card is said to be silent and all others have their readings.
fn says_it(telemetry: &Telemetry) {
    let card = of(telemetry, "gpu_utilization_ratio");
    assert_eq!((card.value, card.device.as_deref()), (None, Some("amdgpu@0000:03:00.0")));
    let why = card.reason.as_deref().unwrap_or_default();
    assert!(why.starts_with("no answer from amdgpu@0000:03:00.0 for "), "{why}");
    let battery = of(telemetry, "battery_power_watt");
    // On a loaded machine any sensor may be late.
    let is_late =
        |of: &Reading| of.reason.as_ref().is_some_and(|why| why.starts_with("no answer from "));
    assert!(battery.value == Some(8.5) || is_late(battery), "{battery:?}");
    let memory = of(telemetry, "memory_available_byte");
    assert!(memory.value > Some(0.0) || is_late(memory), "{memory:?}");
}

#[test]
fn a_meter_that_hangs_holds_up_nothing_and_is_named() {
    let machine = machine_that_hangs();
    let daemon = read_once(&machine);
    let (mut client, _) = daemon.paired();
    let answer = client.ask(ClientMessage::SubscribeTelemetry { hz: 10.0 });
    assert!(matches!(answer, ServerMessage::Ok), "{answer:?}");
    let (begin, mut heard) = (Instant::now(), Vec::new());
    while begin.elapsed() < Duration::from_secs(3) {
        for (what, target) in [
            ("health", "/healthz"),
            ("a calculation", "/api/v1/hardware/t4"),
            ("telemetry", "/api/v1/telemetry"),
            ("metrics", "/metrics"),
        ] {
            let sent = Instant::now();
            let answer = daemon.get(target);
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
            assert!(sent.elapsed() < SOON, "{what}: {:?}", sent.elapsed());
            if what == "telemetry" {
                says_it(&serde_json::from_str(&answer.body).expect("readings"));
            }
            if what == "metrics" {
                let silent = "ridgepoint_sensor_success{sensor=\"gpu_utilization_ratio\",device=\"amdgpu@0000:03:00.0\"} 0";
                assert!(answer.body.contains(silent), "{}", answer.body);
                assert!(answer.body.contains("ridgepoint_battery_power_watt"), "{}", answer.body);
            }
        }
        let sent = Instant::now();
        let id = client.ask_only(ClientMessage::Ping {});
        let answer = client.answer(id);
        assert!(matches!(answer, ServerMessage::Pong), "{answer:?}");
        assert!(sent.elapsed() < SOON, "a session: {:?}", sent.elapsed());
        for _ in 0..5 {
            match client.push(PATIENCE) {
                Some(ServerMessage::Telemetry(telemetry)) => heard.push(telemetry),
                other => panic!("{other:?}"),
            }
        }
    }
    heard.iter().for_each(says_it);
    // Readings go on: the other sensors are as fresh as ever.
    let times: Vec<u64> = heard.iter().map(|telemetry| telemetry.at_ms).collect();
    assert!(times.windows(2).filter(|two| two[1] > two[0]).count() >= 4, "{times:?}");
    let threads = fs::read_dir(format!("/proc/{}/task", daemon.pid())).expect("a process").count();
    assert!(threads < 20, "{threads} threads");
}

#[test]
fn a_job_beside_a_meter_that_hangs_has_its_result_and_the_other_readings() {
    let machine = machine_that_hangs();
    let daemon = Daemon::start(&setup(&machine));
    let (mut client, _) = daemon.paired();
    let job = client.scripted(30, 100, Act::Finish);
    let events = client.follow(job, 0);
    let end = events.last().map(|event| &event.event);
    assert!(matches!(end, Some(JobEvent::Ended { state: JobState::Done, .. })), "{end:?}");
    let read = events.iter().filter_map(|event| match &event.event {
        JobEvent::Readings { sensors, .. } => Some(sensors),
        _ => None,
    });
    let names: Vec<&str> = read.flatten().map(|series| &*series.name).collect();
    assert!(names.contains(&"battery_power_watt"), "{names:?}");
    assert!(!names.iter().any(|name| name.starts_with("gpu_")), "{names:?}");
}

#[test]
fn a_daemon_ends_at_once_though_a_meter_hangs() {
    let machine = machine_that_hangs();
    let daemon = read_once(&machine);
    says_it(&serde_json::from_str(&daemon.get("/api/v1/telemetry").body).expect("readings"));
    let begin = Instant::now();
    let (code, _) = daemon.end_by("-TERM");
    assert_eq!(code, Some(0));
    assert!(begin.elapsed() < SOON, "{:?}", begin.elapsed());
}

#[test]
fn a_meter_that_answers_again_is_read_again() {
    let machine = machine_that_hangs();
    let daemon = read_once(&machine);
    says_it(&serde_json::from_str(&daemon.get("/api/v1/telemetry").body).expect("readings"));
    let file = machine.path("machine/sys/class/hwmon/hwmon4/power1_average");
    // Opening the FIFO lets the reader go on; then it is a file as of a driver that is well.
    let writer = thread::spawn({
        let file = file.clone();
        move || fs::OpenOptions::new().write(true).open(file)
    });
    drop(writer.join().expect("no panic").expect("a FIFO"));
    fs::remove_file(&file).expect("it is ours");
    fs::write(&file, "287000000\n").expect("a file");
    daemon.wait_for("the power of the card", || {
        let read: Telemetry =
            serde_json::from_str(&daemon.get("/api/v1/telemetry").body).expect("readings");
        let power = read.readings.iter().find(|reading| reading.name == "gpu_power_watt");
        power.is_some_and(|reading| reading.value == Some(287.0))
    });
}

#[test]
fn the_verbs_end_and_name_the_meter_that_hangs() {
    let machine = machine_that_hangs();
    let begin = Instant::now();
    let mut verb = program();
    verb.env("RIDGEPOINT_TEST_HOOKS", hooks(&machine).to_string());
    let ended = verb.args(["telemetry", "-o", "json"]).output().expect("it starts");
    assert!(begin.elapsed() < 2 * SOON, "{:?}", begin.elapsed());
    assert_eq!(ended.status.code(), Some(0));
    let value: Value = serde_json::from_slice(&ended.stdout).expect("JSON");
    let readings: Vec<Reading> =
        serde_json::from_value(value["readings"].clone()).expect("readings");
    says_it(&Telemetry { at_ms: 0, readings });

    let summary = machine.path("summary.json");
    let mut verb = program();
    verb.env("RIDGEPOINT_TEST_HOOKS", hooks(&machine).to_string());
    let begin = Instant::now();
    let words = ["monitor", "--output-file", &summary, "--", "sh", "-c", "sleep 1.5; exit 7"];
    let child = verb.args(words).stderr(Stdio::null()).spawn().expect("it starts");
    let mut child = Ends(child);
    let code = child.0.wait().expect("it ends").code();
    assert_eq!(code, Some(7), "the code is the program's");
    assert!(begin.elapsed() < 3 * SOON, "{:?}", begin.elapsed());
    let value: Value =
        serde_json::from_slice(&fs::read(&summary).expect("a summary")).expect("JSON");
    let meters = value["meters"].as_array().expect("a list");
    let of = |name: &str| meters.iter().find(|meter| meter["meter"] == name).expect(name);
    let why = of("hwmon4")["reason"].as_str().unwrap_or_default();
    assert!(why.starts_with("no answer from /sys/class/hwmon/hwmon4 for "), "{value}");
    let watts = of("amd_energy power1")["mean_w"].as_f64().unwrap_or_default();
    assert!((watts - 12.0).abs() < 1e-6, "{value}");
    assert!(of("battery")["energy_j"].as_f64() > Some(0.0), "{value}");
    let card = &value["cards"][0];
    let why = card["missing"]["utilization_mean"].as_str().unwrap_or_default();
    assert!(why.starts_with("no answer from amdgpu@0000:03:00.0 for "), "{value}");
}

#[test]
fn a_thermometer_that_hangs_hides_neither_the_processor_nor_a_meter() {
    let machine = machine_with_thermometers();
    let daemon = Daemon::start(&setup(&machine));
    let read = || -> Telemetry {
        serde_json::from_str(&daemon.get("/api/v1/telemetry").body).expect("readings")
    };
    let celsius = |telemetry: &Telemetry| {
        let found = of(telemetry, "temperature_celsius");
        (found.value, found.source.clone().unwrap_or_default())
    };
    daemon.wait_for("the processor's temperature", || {
        celsius(&read()) == (Some(45.5), "k10temp".to_owned())
    });
    says_it(&read());
    // Without the processor's, that of the drive is asked, hangs and is named; the card that sleeps is not read.
    let file = machine.path("machine/sys/class/hwmon/hwmon3/temp1_input");
    fs::remove_file(&file).expect("ours");
    fs::remove_dir_all(machine.path("machine/sys/class/hwmon/hwmon3")).expect("ours");
    let mut why = String::new();
    daemon.wait_for("the reason", || {
        why = of(&read(), "temperature_celsius").reason.clone().unwrap_or_default();
        why.starts_with("nvme: no answer from /sys/class/hwmon/hwmon1 for ")
    });
    fs::remove_dir_all(machine.path("machine/sys/class/hwmon/hwmon1")).expect("ours");
    daemon.wait_for("the reason of the card", || {
        why = of(&read(), "temperature_celsius").reason.clone().unwrap_or_default();
        why == "nouveau: it sleeps, and reading would wake it up"
    });
    // The processor's own hangs, and no other one stands for it.
    machine.file("machine/sys/class/hwmon/hwmon3/name", "k10temp\n");
    hangs(&file);
    machine.file("machine/sys/class/hwmon/hwmon5/name", "nvme\n");
    machine.file("machine/sys/class/hwmon/hwmon5/temp1_input", "61000\n");
    daemon.wait_for("the reason of the processor", || {
        why = of(&read(), "temperature_celsius").reason.clone().unwrap_or_default();
        why.starts_with("k10temp: no answer from /sys/class/hwmon/hwmon3 for ")
    });
}

#[test]
fn a_measurement_beside_a_meter_that_hangs_has_its_record() {
    let machine = Folder::new();
    let zone = "machine/sys/class/powercap/intel-rapl:0";
    machine.file(&format!("{zone}/name"), "package-0\n");
    machine.file(&format!("{zone}/max_energy_range_uj"), "262143328850\n");
    hangs(&machine.path(&format!("{zone}/energy_uj")));
    symlink("/proc", machine.path("machine/proc")).expect("a link");
    let mut verb = program();
    verb.env("RIDGEPOINT_TEST_HOOKS", hooks(&machine).to_string());
    let words = "bench flops --iterations 5 --warm-up 0 -o json";
    let ended = verb.args(words.split_whitespace()).output().expect("it starts");
    let said = String::from_utf8_lossy(&ended.stderr);
    let records: Vec<Value> = serde_json::from_slice(&ended.stdout).expect(&said);
    assert!(ended.status.success() && !records.is_empty(), "{said}");
    for record in records {
        assert!(record["time_s"]["median"].as_f64() > Some(0.0), "{record}");
        let conditions = &record["conditions"];
        let why = conditions["missing"]["power_w"].as_str().unwrap_or_default();
        assert!(why.starts_with("no answer from RAPL for "), "{conditions}");
        assert!(conditions["load_before"].is_f64(), "{conditions}");
        assert!(conditions["missing"]["governor"].is_string(), "{conditions}");
    }
}
