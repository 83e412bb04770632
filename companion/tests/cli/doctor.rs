//! The findings of `doctor`, and a fix for each problem.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::run::{Ended, Ends, Folder, program};

fn doctor(folder: &Folder, words: &[&str]) -> Ended {
    let mut command = program();
    command.arg("doctor").args(["--state", &folder.path("state")]).args(words);
    command.output().expect("it starts").into()
}

fn rows(ended: &Ended) -> Vec<Value> {
    serde_json::from_str(&ended.stdout).unwrap_or_else(|error| panic!("{error}: {ended:?}"))
}

fn finding(rows: &[Value], what: &str) -> Value {
    let found = rows.iter().find(|row| row["what"] == what);
    found.unwrap_or_else(|| panic!("{what}: {rows:?}")).clone()
}

#[test]
fn every_missing_item_has_a_fix() {
    let folder = Folder::new();
    let text = doctor(&folder, &[]).stdout;
    assert!(text.contains("docs/guides/troubleshooting.md"), "{text}");
    let rows = rows(&doctor(&folder, &["-o", "json"]));
    for row in &rows {
        assert_eq!(row["state"] == "ok", row["fix"].is_null(), "{row}");
    }
    assert_eq!(finding(&rows, "keys")["state"], "ok");
}

#[test]
fn each_device_has_a_row_with_what_its_flag_takes_and_lines_fit_a_terminal() {
    let folder = Folder::new();
    let found = |words: &[&str]| {
        let rows = rows(&doctor(&folder, words));
        finding(&rows, "device cpu:0")["found"].as_str().expect("text").to_owned()
    };
    let said = found(&["-o", "json"]);
    assert!(said.ends_with("; --device takes cpu:0, cpu, auto"), "{said}");
    let mut command = program();
    command.env("RIDGEPOINT_TEST_HOOKS", r#"{"device":"bus=3"}"#);
    command.args(["doctor", "--state", &folder.path("state"), "-o", "json"]);
    let with_another = rows(&command.output().expect("it starts").into());
    let said = finding(&with_another, "device fake:0")["found"].to_string();
    assert!(said.ends_with("; --device takes fake:0, fake\""), "{said}");
    let text = doctor(&folder, &[]).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
}

#[cfg(unix)]
#[test]
fn a_folder_that_others_may_read_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    doctor(&folder, &[]);
    let open = PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path("state"), open).expect("ours");
    let ended = doctor(&folder, &["-o", "json"]);
    assert_eq!(ended.code, Some(4), "{ended:?}");
    let keys = finding(&rows(&ended), "keys");
    assert!(
        keys["state"] == "missing" && keys["found"].to_string().contains("chmod 700"),
        "{keys}"
    );
}

#[test]
fn a_daemon_that_runs_meets_its_own_requirements_whoever_runs_it() {
    let folder = crate::serve::site();
    let site = folder.path("site");
    let mut command = program();
    let root = if rustix::process::geteuid().is_root() { &["--allow-root"][..] } else { &[] };
    command.args(["serve", "--port", "0", "--site", &site, "--state", &folder.path("state")]);
    let mut child = Ends(command.args(root).stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut address = String::new();
    BufReader::new(child.0.stdout.take().expect("piped")).read_line(&mut address).expect("a line");
    let ended = doctor(&folder, &["-o", "json"]);
    let rows = rows(&ended);
    assert_eq!(finding(&rows, "daemon")["found"], format!("runs at {}", address.trim()));
    let missing: Vec<&Value> = rows.iter().filter(|row| row["state"] == "missing").collect();
    assert!(missing.is_empty() && ended.code == Some(0), "{missing:?} {ended:?}");
    // Without its daemon, root is a requirement that is not met.
    drop(child);
    let alone = doctor(&folder, &["-o", "json"]);
    assert_eq!(alone.code, Some(if root.is_empty() { 0 } else { 4 }), "{alone:?}");
}
