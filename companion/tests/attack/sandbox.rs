//! G: what a worker may do. A scripted worker tries what it must not, and reports each try; with the locks left out the same tries
//! succeed, so that a refusal is the lock's.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use landlock::{ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreated, RulesetStatus};
use protocol::bench::Condition;
use protocol::job::{JobEvent, JobState};
use protocol::server::ServerMessage;
use serde_json::{Value, json};

use crate::binary::{Folder, program};
use crate::harness::{Daemon, PATIENCE, Setup, hooked, scripting};
use crate::script::Act;
use crate::socket::{Client, random};

/// Files of a machine with which a worker is tried.
struct Place {
    folder: Arc<Folder>,
    hooks: Value,
}

impl Place {
    fn new(left_out: &Value) -> Self {
        let folder = Folder::new();
        folder.file("site/index.html", "<!doctype html>page");
        let weights = folder.file("secret-place/weights", "weights of a model");
        let beside = folder.file("secret-place/beside", "another model");
        let library = folder.file("secret-libraries/inner/library", "code");
        let output = folder.path("secret-output");
        fs::create_dir(&output).expect("a folder");
        // The daemon may run as another user.
        fs::set_permissions(&output, PermissionsExt::from_mode(0o777)).expect("ours");
        let gift = |path: &str, right: &str| json!({ "path": path, "right": right });
        let hooks = json!({
            "scripted": true,
            "left_out": left_out,
            "gives": {
                "weights": gift(&weights, "hold"),
                "libraries": gift(&folder.path("secret-libraries"), "read"),
                "output": gift(&output, "fill"),
                "zero": gift("/dev/zero", "drive"),
            },
            "tries": {
                "weights": weights,
                "beside": beside,
                "library": library,
                "keys": folder.path("state/keys.json"),
                "zero": "/dev/zero",
                "full": "/dev/full",
            },
        });
        Self { folder: Arc::new(folder), hooks }
    }

    fn daemon(&self) -> Daemon {
        let folder = Arc::clone(&self.folder);
        Daemon::start_in(folder, &hooked(self.hooks.clone())).expect("it starts")
    }

    /// The finding of `doctor` on workers, with the same locks left out.
    fn doctor(&self) -> Value {
        let mut command = program();
        command.env("RIDGEPOINT_TEST_HOOKS", self.hooks.to_string());
        let ended =
            command.args(["doctor", "-o", "json", "--state", &self.folder.path("other")]).output();
        let rows: Vec<Value> =
            serde_json::from_slice(&ended.expect("it starts").stdout).expect("JSON");
        rows.into_iter().find(|row| row["what"] == "workers").expect("a finding")
    }
}

/// The result of each try of a worker, by its name.
pub(crate) fn tried(client: &mut Client) -> BTreeMap<String, String> {
    let job = client.scripted(0, 0, Act::Try);
    let lines = client.follow(job, 0).into_iter().filter_map(|event| match event.event {
        JobEvent::Log { line } => Some(line),
        _ => None,
    });
    let split = |line: String| {
        let (what, result) = line.split_once(": ")?;
        Some((what.to_owned(), result.to_owned()))
    };
    lines.filter_map(split).collect()
}

/// Whether this kernel has Landlock, asked without our code.
fn has_landlock() -> bool {
    let restricted = std::thread::spawn(|| {
        let rules = Ruleset::default().handle_access(AccessFs::from_all(ABI::V1));
        let locked = rules.and_then(Ruleset::create).and_then(RulesetCreated::restrict_self);
        locked.is_ok_and(|status| status.ruleset != RulesetStatus::NotEnforced)
    });
    restricted.join().expect("it does not panic")
}

fn has_seccomp() -> bool {
    fs::read_to_string("/proc/sys/kernel/seccomp/actions_avail")
        .is_ok_and(|actions| actions.split_whitespace().any(|action| action == "errno"))
}

/// The tries that each lock refuses alone, and those that either refuses.
const BY_LANDLOCK: [&str; 8] = [
    "read passwd",
    "list root",
    "make a file",
    "make a folder",
    "open weights",
    "open beside",
    "open keys",
    "open full",
];
const BY_SECCOMP: [&str; 4] = ["udp", "socket pair", "chmod keys", "leave the group"];
const BY_EITHER: [&str; 2] = ["unix socket", "run a program"];
/// Refused by seccomp, and by Landlock where it is new enough.
const BY_SECCOMP_AT_LEAST: [&str; 3] = ["connect", "listen", "signal"];
const ALLOWED: [(&str, &str); 11] = [
    ("start a thread", "done"),
    ("read own state", "done"),
    ("open library", "done"),
    ("open zero", "done"),
    ("given weights", "weights of a model"),
    ("given libraries", "to open"),
    ("given output", "made a file"),
    ("given zero", "to open"),
    ("core file", "0"),
    ("memory", "Ok(NotDumpable)"),
    // Its stdin.
    ("sockets", "0"),
];

#[test]
fn a_worker_opens_what_it_was_given_and_nothing_else() {
    let (landlock, seccomp) = (has_landlock(), has_seccomp());
    for (no_landlock, no_seccomp) in [(false, false), (true, false), (false, true), (true, true)] {
        let place = Place::new(&json!({ "landlock": no_landlock, "seccomp": no_seccomp }));
        let (files, calls) = (landlock && !no_landlock, seccomp && !no_seccomp);
        let daemon = place.daemon();
        let (mut client, _) = daemon.paired();
        let tries = tried(&mut client);
        let check = |names: &[&str], locked: bool| {
            for name in names {
                let result = &tries[*name];
                let refused = ["Operation not permitted", "Permission denied"];
                let is_refused = refused.iter().any(|words| result.contains(words));
                assert_eq!(is_refused, locked, "{files} {calls} {name}: {result}");
            }
        };
        check(&BY_LANDLOCK, files);
        check(&BY_SECCOMP, calls);
        check(&BY_EITHER, files || calls);
        if calls || !files {
            check(&BY_SECCOMP_AT_LEAST, calls);
        }
        for (name, expected) in ALLOWED {
            assert_eq!(tries[name], expected, "{files} {calls} {name}");
        }
        // Doctor and daemon say the same as the tries, and the daemon says it once.
        let doctor = place.doctor();
        let found = doctor["found"].as_str().expect("words");
        assert_eq!(found.contains("files locked by Landlock ABI "), files, "{found}");
        assert_eq!(found.contains("files not locked: "), !files, "{found}");
        assert_eq!(found.contains("sockets and programs locked by seccomp"), calls, "{found}");
        assert_eq!(found.contains("sockets and programs not locked: "), !calls, "{found}");
        assert_eq!(doctor["state"], if files && calls { "ok" } else { "less" });
        tried(&mut client);
        let said = format!("workers are not fully locked: {found}\n");
        assert_eq!(daemon.said().matches(&said).count(), usize::from(!(files && calls)), "{said}");
    }
}

/// Locks change no measurement: the same readings are there, or missing for the same reason.
#[test]
fn a_locked_worker_reads_the_same_sensors() {
    let conditions = |left_out: Value| {
        let daemon = Daemon::start(&hooked(json!({ "left_out": left_out })));
        let (mut client, _) = daemon.paired();
        // Long enough for the system's ticks.
        let spec = json!({
            "kind": "bench", "what": "gemv", "shapes": [{ "m": 1, "n": 4096, "k": 4096 }],
            "formats": ["fp32"], "iterations": 100,
        });
        let spec = serde_json::from_value(spec).expect("an order");
        let ServerMessage::Accepted(accepted) = client.start(random(), spec) else {
            panic!("not accepted")
        };
        let record = client.follow(accepted.job, 0).into_iter().find_map(|it| match it.event {
            JobEvent::Result { record } => Some(record),
            _ => None,
        });
        record.expect("a record").conditions
    };
    let none = json!({ "landlock": true, "seccomp": true });
    let (locked, open) = (conditions(json!({})), conditions(none));
    let keys = |it: &BTreeMap<String, Condition>| -> Vec<String> { it.keys().cloned().collect() };
    assert_eq!(keys(&locked), keys(&open));
    for key in ["missing", "threads", "pinned", "last_level_cache_bytes", "system", "governor"] {
        assert_eq!(locked[key], open[key], "{key}");
    }
    for (key, value) in &locked {
        let kind = std::mem::discriminant::<Condition>;
        assert_eq!(kind(value), kind(&open[key]), "{key}: {value:?}, {:?}", open[key]);
    }
}

/// An order with files leaves no path: in the store, in the log, in events, in messages of the daemon, in a fault.
#[test]
fn no_path_of_a_given_file_is_kept_or_told() {
    let place = Place::new(&json!({}));
    let daemon = place.daemon();
    let (mut client, _) = daemon.paired();
    let job = client.scripted(2, 1, Act::Try);
    let events = client.follow(job, 0);
    assert!(matches!(
        events.last().expect("its end").event,
        JobEvent::Ended { state: JobState::Done, .. }
    ));
    let told = serde_json::to_string(&events).expect("JSON");
    assert!(told.contains("given weights"), "{told}");
    let mut kept: Vec<(String, Vec<u8>)> =
        vec![("events".into(), told.into()), ("stderr".into(), daemon.said().into())];
    for entry in fs::read_dir(daemon.state()).expect("its state").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        kept.push((name, fs::read(entry.path()).expect("a file")));
    }
    assert!(
        kept.iter().any(|(name, bytes)| name.starts_with("jobs.db") && has(bytes, "scripted-2"))
    );
    for (name, bytes) in &kept {
        assert!(!has(bytes, "secret-"), "{name}");
    }
    drop(daemon);
    // A file that cannot be opened.
    let mut hooks = place.hooks.clone();
    hooks["gives"]["gone"] = json!({ "path": place.folder.path("secret-gone"), "right": "hold" });
    let daemon = Daemon::start_in(Arc::clone(&place.folder), &hooked(hooks)).expect("it starts");
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Finish);
    let events = serde_json::to_string(&client.follow(job, 0)).expect("JSON");
    assert!(
        events.contains("the worker cannot be started") && !events.contains("secret-"),
        "{events}"
    );
    assert!(!daemon.said().contains("secret-"), "{}", daemon.said());
}

fn has(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

/// Of the daemon's variables only those of the list arrive, with sane values.
#[test]
fn listed_variables_reach_a_worker_and_no_others() {
    let before = "unset XDG_CACHE_HOME NVIDIA_VISIBLE_DEVICES HIP_VISIBLE_DEVICES ROCR_VISIBLE_DEVICES CUDA_DEVICE_ORDER; \
         export LD_LIBRARY_PATH=/opt/nowhere:lib CUDA_VISIBLE_DEVICES=0,1 CUDA_CACHE_PATH=cache \
         SECRET_TOKEN=hunter2 HOME=/root LD_BIND_NOW=1";
    let daemon = Daemon::start(&Setup {
        before: Some(before.into()),
        ..hooked(json!({ "scripted": true }))
    });
    let tries = tried(&mut daemon.paired().0);
    let variables: Vec<(&str, &str)> = tries
        .iter()
        .filter_map(|(what, value)| Some((what.strip_prefix("variable ")?, value.as_str())))
        .collect();
    let expected = [("CUDA_VISIBLE_DEVICES", "0,1"), ("LD_LIBRARY_PATH", "/opt/nowhere")];
    assert_eq!(variables, expected);
}

/// A worker that cannot notice the end of its stdin ends with a daemon that was killed.
#[test]
fn a_worker_ends_with_its_daemon() {
    let daemon = Daemon::start(&scripting());
    let (mut client, _) = daemon.paired();
    let job = client.scripted(0, 0, Act::Hang);
    // It tells its plan after it has limited itself.
    client.follow_some(job, 0, 2);
    let worker = daemon.children()[0];
    daemon.kill();
    let is_gone = || {
        let stat = fs::read_to_string(format!("/proc/{worker}/stat"));
        stat.map_or(true, |stat| stat.contains(") Z "))
    };
    let start = Instant::now();
    while !is_gone() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(10));
    }
    let gone = is_gone();
    if !gone {
        let _ = Command::new("kill").args(["-9", &worker.to_string()]).status();
    }
    assert!(gone, "it goes on");
}
