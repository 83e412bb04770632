//! `monitor`: the program's streams, signals and exit code are its own; the summary and the series say what was read and what not.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::run::{Ended, Ends, Folder, line, program, run, with_stdin};

/// Monitors a shell script and returns how it ended, with its summary.
fn monitored(script: &str) -> (Ended, Value) {
    let folder = Folder::new();
    let summary = folder.path("summary.json");
    let ended = run(["monitor", "--output-file", &summary, "--", "sh", "-c", script]);
    let text = fs::read_to_string(&summary).expect("a summary");
    (ended, serde_json::from_str(&text).expect("JSON"))
}

/// Shell commands that wait until a series has so many lines; the first one of a CSV has its heads.
fn until(lines: usize, series: &str) -> String {
    format!("while [ \"$(cat {series} 2> /dev/null | wc -l)\" -lt {lines} ]; do sleep 0.02; done")
}

#[test]
fn streams_and_exit_code_are_the_programs() {
    let folder = Folder::new();
    let script = folder.file("script.sh", "cat; echo trouble >&2; exit 7\n");
    let ended = with_stdin(&format!("monitor -- sh {script}"), b"in\0put\n");
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(7), "in\0put\n"));
    assert!(
        ended.stderr.starts_with("trouble\n\nMonitored: sh")
            || ended.stderr.starts_with("trouble\nMonitored: sh"),
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("exit code 7"), "{}", ended.stderr);
    let ended = run(["monitor", "-o", "json", "--", "sh", "-c", "echo out; kill -9 $$"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(137), "out\n"));
    let value: Value = serde_json::from_str(&ended.stderr).expect("JSON on stderr");
    assert_eq!((&value["exit_code"], &value["signal"]), (&137.into(), &9.into()));
}

#[test]
fn time_and_memory_are_those_of_all_processes() {
    // tail keeps all it reads, until its reader wakes up.
    let folder = Folder::new();
    let (series, summary) = (folder.path("run.csv"), folder.path("summary.json"));
    let script = format!(
        "head -c 60000000 /dev/zero | tail -c 60000000 | (sleep 0.5; {}; cat > /dev/null); \
         i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done",
        until(6, &series)
    );
    let words =
        ["monitor", "--series", &series, "--output-file", &summary, "--", "sh", "-c", &script];
    let ended = run(words);
    let text = fs::read_to_string(&summary).expect("a summary");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((ended.code, ended.stdout.as_str(), ended.stderr.as_str()), (Some(0), "", ""));
    let of = |key: &str| value[key].as_f64().unwrap_or_else(|| panic!("{key}: {value}"));
    assert!((0.5..60.0).contains(&of("wall_s")), "{value}");
    assert!(of("cpu_s") >= 0.05 && of("cpu_s") < 4.0 * of("wall_s"), "{value}");
    assert!((60e6..300e6).contains(&of("peak_rss_byte")), "{value}");
    assert!(of("processes") >= 3.0 && value["processes_left"] == 0, "{value}");
    assert!(of("samples") >= 4.0 && value["interval_s"] == 0.1, "{value}");
    assert!((0.0..=1.0).contains(&of("cpu_utilization_mean")), "{value}");
    assert!((0.0..=1.0).contains(&of("others_share")), "{value}");
}

#[test]
fn what_is_missing_is_null_with_a_reason() {
    let (_, value) = monitored("sleep 0.3");
    let missing = value["missing"].as_object().expect("an object");
    for (key, value) in value.as_object().expect("an object") {
        let optional = ["signal", "temperature_source", "device"].contains(&key.as_str());
        assert!(optional || value.is_null() == missing.contains_key(key), "{key}: {value}");
    }
    assert!(missing.values().all(|why| why.as_str().is_some_and(|why| !why.is_empty())));
    let meters = value["meters"].as_array().expect("a list");
    assert!(meters.iter().any(|meter| meter["meter"] == "battery"), "{value}");
    for meter in meters {
        assert!(meter["source"].is_string(), "{meter}");
        assert_eq!(meter["energy_j"].is_null(), meter["reason"].is_string(), "{meter}");
        assert_ne!(meter["energy_j"], 0.0, "{meter}");
    }
    // A sleeping program uses no time that could be mistaken for that of others.
    assert!(value["cpu_s"].as_f64() < Some(0.1), "{value}");
}

#[test]
fn processes_that_stay_are_told() {
    let folder = Folder::new();
    let pid = folder.path("pid");
    let (ended, value) =
        monitored(&format!("sleep 600 > /dev/null 2>&1 & echo $! > {pid}; exit 4"));
    let pid = fs::read_to_string(pid).expect("a number").trim().parse().expect("a number");
    kill_process(Pid::from_raw(pid).expect("above 0"), Signal::TERM).expect("it still runs");
    assert_eq!((ended.code, &value["processes_left"]), (Some(4), &1.into()));
    let why = value["missing"]["others_share"].as_str().expect("a reason");
    assert!(value["others_share"].is_null() && why.contains("still run"), "{why}");
}

fn ready(script: &str) -> (Ends, impl Iterator<Item = String>) {
    let mut child: Child = program()
        .args(["monitor", "-o", "json", "--", "sh", "-c", script])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        // Not in the foreground of the terminal in which the tests may run.
        .process_group(0)
        .spawn()
        .expect("the binary starts");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    (Ends(child), lines.map(|line| line.expect("text")))
}

#[test]
fn signals_reach_the_program() {
    for (name, signal) in [("TERM", Signal::TERM), ("INT", Signal::INT), ("USR1", Signal::USR1)] {
        let script = format!(
            "trap 'echo got {name}; exit 9' {name}; echo ready; for i in $(seq 400); do sleep 0.05; done"
        );
        let (mut child, mut lines) = ready(&script);
        assert_eq!(lines.next().as_deref(), Some("ready"));
        kill_process(Pid::from_child(&child.0), signal).expect("it runs");
        assert_eq!(lines.next(), Some(format!("got {name}")));
        assert_eq!(child.0.wait().expect("it ends").code(), Some(9), "{name}");
    }
    // A program without a handler ends by the signal, as shells report it.
    let (mut child, mut lines) = ready("echo ready; exec sleep 30");
    assert_eq!(lines.next().as_deref(), Some("ready"));
    kill_process(Pid::from_child(&child.0), Signal::TERM).expect("it runs");
    assert_eq!(child.0.wait().expect("it ends").code(), Some(143));
}

#[test]
fn a_series_has_a_line_per_sample() {
    let folder = Folder::new();
    let (csv, lines) = (folder.path("run.csv"), folder.path("run.jsonl"));
    for series in [&csv, &lines] {
        let ended = run(["monitor", "--series", series, "--", "sh", "-c", &until(5, series)]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    let text = fs::read_to_string(csv).expect("a series");
    let mut rows = text.lines().map(|row| row.split(',').collect::<Vec<_>>());
    let heads = rows.next().expect("heads");
    assert_eq!(heads[..3], ["t_s", "cpu_utilization_ratio", "rss_byte"]);
    let rows: Vec<Vec<&str>> = rows.collect();
    assert!(rows.len() >= 4 && rows.iter().all(|row| row.len() == heads.len()), "{text}");
    let times: Vec<f64> = rows.iter().map(|row| row[0].parse().expect("a number")).collect();
    assert!(times.windows(2).all(|two| two[0] < two[1]), "{times:?}");
    // Ten samples a second at most, and the last one when the program has ended.
    let most = times.last().map_or(0.0, |last| last / 0.1 + 2.0);
    assert!(times.len() as f64 <= most, "{times:?}");
    let text = fs::read_to_string(lines).expect("a series");
    let values: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert!(values.len() >= 4 && values[1]["rss_byte"].as_f64() > Some(10_000.0), "{text}");
    assert!(
        values[1]["memory_available_byte"].is_f64() && values[1]["power_watt.battery"].is_null()
    );
}

/// A machine with a card of amdgpu that another process uses. The layout is that of the kernel's documentation; all values are assumed.
fn machine_with_a_card() -> Folder {
    let folder = Folder::new();
    let card = "sys/devices/pci0000:00/0000:03:00.0";
    for (file, text) in [
        ("uevent", "DRIVER=amdgpu\nPCI_ID=1002:744C\nPCI_SLOT_NAME=0000:03:00.0\n"),
        ("drm/card0/dev", "226:0\n"),
        ("drm/renderD128/dev", "226:128\n"),
        ("gpu_busy_percent", "97\n"),
        ("mem_info_vram_used", "8589934592\n"),
        ("pp_dpm_sclk", "0: 500Mhz \n1: 2304Mhz *\n2: 2526Mhz \n"),
    ] {
        folder.file(&format!("machine/{card}/{file}"), text);
    }
    folder.file(
        "machine/proc/9000001/fdinfo/7",
        "drm-pdev:\t0000:03:00.0\ndrm-client-id:\t5\ndrm-memory-vram:\t1024 KiB\ndrm-engine-gfx:\t9 ns\n",
    );
    let at = |path: &str| folder.path(&format!("machine/{path}"));
    for made in ["sys/class/drm", "proc/9000001/fd"] {
        fs::create_dir_all(at(made)).expect("a folder");
    }
    let node = format!("{card}/drm/renderD128");
    for (target, link) in [
        (at(&node), "sys/class/drm/renderD128"),
        (at(card), &*format!("{node}/device")),
        ("/dev/dri/renderD128".into(), "proc/9000001/fd/7"),
    ] {
        std::os::unix::fs::symlink(target, at(link)).expect("a link");
    }
    folder
}

#[test]
fn a_card_has_its_utilization_clock_and_memory_in_summary_and_series() {
    let machine = machine_with_a_card();
    let hooks = serde_json::json!({ "sensors": machine.path("machine") }).to_string();
    let series = machine.path("run.jsonl");
    let ask = |words: &[&str]| {
        let ended = program().env("RIDGEPOINT_TEST_HOOKS", &hooks).args(words).output();
        ended.expect("it starts")
    };
    let name = "amdgpu@0000:03:00.0";
    let words = ["monitor", "--series", &series, "-o", "json", "--", "sleep", "0.3"];
    let value: Value = serde_json::from_slice(&ask(&words).stderr).expect("JSON");
    let card = &value["cards"][0];
    assert_eq!((&card["device"], &card["utilization_mean"]), (&name.into(), &0.97.into()));
    assert_eq!((&card["clock_mean_hz"], &card["clock_max_hz"]), (&2304e6.into(), &2304e6.into()));
    assert_eq!(card["memory_used_max_byte"], 8_589_934_592.0);
    assert_eq!(card["missing"], serde_json::json!({}));
    let text = fs::read_to_string(&series).expect("a series");
    let first: Value = serde_json::from_str(text.lines().next().expect("a line")).expect("JSON");
    assert_eq!(first[format!("gpu_utilization_ratio.{name}")], 0.97);
    assert_eq!(first[format!("gpu_clock_hz.{name}")], 2304e6);
    let table = ask(&["monitor", "--", "true"]).stderr;
    let table = String::from_utf8_lossy(&table).into_owned();
    assert!(table.contains(&format!("clock: least, mean, largest, {name}")), "{table}");
    assert!(table.contains("304\u{202f}MHz") && table.contains("pp_dpm_sclk"), "{table:?}");
    // The processor alone has no card.
    let summary = machine.path("summary.json");
    ask(&["monitor", "--device", "cpu", "--output-file", &summary, "--", "true"]);
    let text = fs::read_to_string(summary).expect("a summary");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["cards"], serde_json::json!([]));
    // Who else uses it.
    let words = ["telemetry", "--device", name, "-o", "json"];
    let value: Value = serde_json::from_slice(&ask(&words).stdout).expect("JSON");
    let of = |name: &str| {
        let readings = value["readings"].as_array().expect("a list").iter();
        readings.clone().find(|it| it["name"] == name).expect(name)["value"].as_f64()
    };
    assert_eq!(of("gpu_other_processes"), Some(1.0));
    assert_eq!(of("gpu_other_processes_memory_byte"), Some(1_048_576.0));
}

#[test]
fn wrong_flags_and_programs_are_told() {
    for (words, code, expected) in [
        (
            "monitor -- no-such-program-here --flag",
            3,
            "cannot start no-such-program-here: no such file",
        ),
        ("monitor -- /dev/null", 3, "cannot start /dev/null: permission denied"),
        (
            "monitor",
            2,
            "COMMAND>...; write -- before the command, as in `ridgepoint monitor -- sleep 1`",
        ),
        (
            "monitor sleep 1",
            2,
            "unexpected argument 'sleep' found; write -- before the command, as in `ridgepoint monitor --",
        ),
        ("monitor --intervall 1s -- true", 2, "'-- --intervall'\n"),
        ("monitor --series run.txt -- true", 2, "series must end in .csv or .jsonl; got run.txt"),
        (
            "monitor --series no-such-folder/run.csv -- true",
            1,
            "cannot write no-such-folder/run.csv",
        ),
        ("monitor --output-file . -- true", 2, "it is a folder"),
        ("monitor --interval 50ms -- true", 2, "interval must be a time from 100 ms to 60 s"),
    ] {
        let ended = line(words);
        assert_eq!(
            (ended.code, ended.stdout.as_str()),
            (Some(code), ""),
            "{words}: {}",
            ended.stderr
        );
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
        assert_eq!(ended.stderr.lines().count(), 1, "{words}: {}", ended.stderr);
    }
}

#[test]
fn a_full_disk_loses_the_series_and_not_the_exit_code() {
    let ended = line("monitor --output-file /dev/full -- sh -c true");
    assert_eq!(ended.code, Some(0));
    assert!(ended.stderr.contains("monitor: cannot write /dev/full"), "{}", ended.stderr);
}
