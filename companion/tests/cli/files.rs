//! Model and device files: valid ones are accepted, others refused in one line.

use std::fs::{self, File};

use serde_json::Value;

use crate::run::{Folder, answer, device_file, line, model_file, run};

fn estimate(hardware: &str, model: &str) -> String {
    format!("estimate --hardware {hardware} --model {model} --batch 1 --prompt 64")
}

fn refused(words: &str, expected: &str) {
    let ended = line(words);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
    assert!(
        ended.stderr.lines().count() == 1 && ended.stderr.contains(expected),
        "{words}: {}",
        ended.stderr
    );
}

#[test]
fn files_are_accepted_wherever_keys_are() {
    let found: Value = serde_json::from_str(&answer(&format!(
        "{} -o json",
        estimate(&device_file(), &model_file())
    )))
    .expect("JSON");
    assert_eq!(found["hardware"]["key"], "example_edge_asic");
    assert_eq!(found["precision"]["weights"], "bf16");
    let mode =
        answer(&format!("{} --power-mode 30W -o json", estimate(&device_file(), "llama-3.1-8b")));
    assert_eq!(
        serde_json::from_str::<Value>(&mode).expect("JSON")["hardware"]["power_mode"],
        "30W"
    );
    assert!(answer(&format!("hardware {}", device_file())).contains("example_edge_asic"));
}

#[test]
fn a_folder_stands_for_its_config_json() {
    let folder = Folder::new();
    let text = fs::read(model_file()).expect("the example model");
    folder.file("tiny/config.json", text);
    assert!(answer(&estimate("l4", &folder.path("tiny"))).contains("token/s"));
    assert!(answer(&format!("models {}", folder.path("tiny"))).contains("of hidden size"));
    refused(
        &estimate("l4", &folder.path("")),
        "it is a folder, and for its config.json: no such file",
    );
}

#[test]
fn malformed_model_files_are_refused() {
    let folder = Folder::new();
    let sound = fs::read_to_string(model_file()).expect("the example model");
    let nested = format!("{{\"text_config\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let vit = "{\"model_type\":\"vit\",\"architectures\":[\"ViTForImageClassification\"],\"hidden_size\":32}";
    for (name, content, expected) in [
        ("truncated", sound.as_bytes()[..sound.len() / 2].to_vec(), "truncated.json: "),
        ("nested", nested.into_bytes(), "nested.json: "),
        ("image", vit.as_bytes().to_vec(), "image.json: "),
        ("empty", Vec::new(), "empty.json: "),
        ("latin1", b"{\"model_type\":\"\xe9\"}".to_vec(), "not UTF-8"),
        ("huge", vec![b' '; 50_000_000], "huge.json: "),
    ] {
        let path = folder.file(&format!("{name}.json"), content);
        refused(&estimate("l4", &path), expected);
        refused(&format!("models {path}"), expected);
    }
    refused(&estimate("l4", &folder.path("missing.json")), "missing.json: no such file");
}

#[test]
fn a_file_beyond_the_limit_is_refused_before_it_is_read() {
    let folder = Folder::new();
    let path = folder.path("sparse.json");
    File::create(&path).and_then(|file| file.set_len(1 << 40)).expect("a sparse file");
    refused(&estimate("l4", &path), "at most 64000000 are read");
    refused(&format!("compare --hardware l4 --measured {path}"), "at most 64000000 are read");
}

#[cfg(target_os = "linux")]
#[test]
fn an_endless_device_is_refused() {
    refused("compare --hardware l4 --measured /dev/zero", "it is a device, not a file");
}

#[test]
fn a_key_that_is_given_twice_is_named() {
    let folder = Folder::new();
    let twice = |path: &str, key: &str| {
        let text = fs::read_to_string(path).expect("an example");
        let line = text.lines().find(|line| line.contains(&format!("\"{key}\""))).expect(key);
        let line = line.trim_end().trim_end_matches(',');
        text.replacen(line, &format!("{line},\n{line}"), 1)
    };
    let device = folder.file("twice-device.json", twice(&device_file(), "memory_gib"));
    refused(&format!("hardware {device}"), "duplicate field `memory_gib`");
    let model = folder.file("twice-model.json", twice(&model_file(), "hidden_size"));
    refused(&format!("models {model}"), "duplicate field `hidden_size`");
    let rows = r#"{"device":"t4","device":"t4","rows":[]}"#;
    let calibration = folder.file("twice-calibration.json", rows);
    let product = "analyze --hardware t4 -m 1 -n 64 -k 64 --weights fp16";
    refused(&format!("{product} --calibration {calibration}"), "duplicate field `device`");
    let record = r#"{"precision":{"weights":"fp16","weights":"int8"},"time_s":{"median":1e-6}}"#;
    let measured = folder.file("twice.jsonl", record);
    refused(&format!("compare --hardware t4 --measured {measured}"), "`weights` is given twice");
}

#[test]
fn device_files_with_impossible_values_are_refused() {
    let folder = Folder::new();
    let sound = fs::read_to_string(device_file()).expect("the example device");
    let edit = |from: &str, to: &str| {
        assert!(sound.contains(from), "{from}");
        sound.replacen(from, to, 1)
    };
    for (content, expected) in [
        (edit("\"bandwidth_gb_s\": 400", "\"bandwidth_gb_s\": NaN"), "not a device file"),
        (edit("\"bandwidth_gb_s\": 400", "\"bandwidth_gb_s\": 1e999"), "not a device file"),
        (edit("\"bandwidth_gb_s\": 400", "\"bandwidth_gb_s\": -1"), "bandwidth_gb_s must be from"),
        (edit("\"bandwidth_gb_s\": 400", "\"bandwidth_gb_s\": 0"), "bandwidth_gb_s must be from"),
        (edit("\"memory_gib\": 16", "\"memory_gib\": 1e300"), "memory_gib must be from"),
        (
            edit("\"memory_gib\": 16", "\"memory_gb\": 16"),
            "unknown field `memory_gb`; did you mean memory_gib",
        ),
        (edit("\"discrete_gpu\"", "\"toaster\""), "class must be one of discrete_gpu"),
        ("[]".into(), "a device file is a JSON object; this is a list"),
    ] {
        let path = folder.file("chip.json", content);
        refused(&format!("hardware {path}"), expected);
        refused(&estimate(&path, "llama-3.1-8b"), expected);
    }
}

#[test]
fn names_from_files_cannot_control_a_terminal() {
    let folder = Folder::new();
    let sound = fs::read_to_string(device_file()).expect("the example device");
    let path = folder
        .file("evil.json", sound.replace("Example edge ASIC", "\\u001b]0;gotcha\\u0007\\u009b2J"));
    let shown = answer(&format!("hardware {path}"));
    assert!(
        shown.contains("gotcha") && !shown.contains(|c: char| c.is_control() && c != '\n'),
        "{shown:?}"
    );
    let ended = run(["hardware", "\u{1b}[2Jnothing\n.json"]);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.lines().count() == 1 && !ended.stderr.contains('\u{1b}'),
        "{:?}",
        ended.stderr
    );
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let path = folder.file("secret.json", "{}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("our own file");
    // Root can read every file, so there the file is refused for its content.
    refused(&estimate("l4", &path), "secret.json: ");
}
