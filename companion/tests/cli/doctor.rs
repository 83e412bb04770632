//! The findings of `doctor`, and a fix for each problem.

use serde_json::Value;

use crate::run::{Ended, Folder, program};

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
