//! `calibrate` and `--calibration`: own measurements replace the fitted factors, and the answer states it.

use serde_json::Value;

use crate::run::{Folder, line, run};

const HEAD: &str =
    "id,device_key,engine,model_key,weight_format,phase,batch,context_len,value_ms,source\n";

fn rows(times: &[u32]) -> String {
    let row = |(i, ms): (usize, &u32)| {
        format!("{i},t4,llama.cpp,llama-3.1-8b,gguf_q4_k,decode,1,512,{ms},mine\n")
    };
    times.iter().enumerate().map(row).collect()
}

fn estimate(more: &str) -> Value {
    let asked = format!(
        "estimate --hardware t4 --model llama-3.1-8b --weights gguf_q4_k --batch 1 --prompt 512 --engine llama.cpp -o json{more}"
    );
    let ended = line(&asked);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).expect("JSON")
}

#[test]
fn own_measurements_determine_the_expected_time() {
    let folder = Folder::new();
    let csv = folder.file("mine.csv", format!("{HEAD}{}", rows(&[40, 41])));
    let path = folder.file("mine.json", "");
    let made = run(["calibrate", "--from", &csv, "--out", &path, "--about", "my T4"]);
    assert_eq!((made.code, made.stdout.as_str()), (Some(0), ""), "{}", made.stderr);
    assert!(made.stderr.contains("t4: 2 measurements, 1 row;"), "{}", made.stderr);
    let before = estimate("");
    let after = estimate(&format!(" --calibration {path}"));
    let tpot = after["tpot_s"].as_f64().expect("s");
    // The estimate stores its weights as the measured file does, so it repeats the mean of the two measurements.
    assert!((0.0395..0.0415).contains(&tpot), "{tpot}");
    assert!((before["tpot_s"].as_f64().expect("s") / tpot - 1.0).abs() > 0.05);
    let source = after["factors"]["source"].as_str().expect("a source");
    assert!(source.starts_with("your own measurements"), "{source}");
    // The text says how it was measured: also whether its points were flagged.
    let text = line(&format!(
        "estimate --hardware t4 --model llama-3.1-8b --weights gguf_q4_k --batch 1 --prompt 512 --calibration {path}"
    ));
    assert!(text.stdout.contains("calibration my T4\n"), "{}", text.stdout);
    let prefill = |value: &Value| value["ttft_s"].as_f64().expect("s");
    assert!((prefill(&before) / prefill(&after) - 1.0).abs() < 0.2, "prefill was not measured");
}

/// A format that was measured to be slow must not let one win that nobody measured.
#[test]
fn a_first_place_without_own_factors_is_named_beside_the_first_one_with_them() {
    let folder = Folder::new();
    let row = |format: &str, eta: f64| {
        format!(
            "{{\"measured\":\"kernel\",\"op\":\"gemm\",\"format\":\"{format}\",\"eta_memory\":{eta}}}"
        )
    };
    let asked = |rows: &[String]| {
        let text = format!("{{\"device\":\"t4\",\"rows\":[{}]}}", rows.join(","));
        let file = folder.file("own.json", text);
        let asked = format!(
            "recommend --hardware t4 --model llama-3.1-8b --prompt 128 --context 256 --calibration {file} -o json"
        );
        let found: Value = serde_json::from_str(&line(&asked).stdout).expect("JSON");
        let notes = found["notes"].as_array().expect("notes").clone();
        let is_it =
            |note: &Value| note.as_str().is_some_and(|it| it.contains("was not calibrated"));
        notes.into_iter().find(is_it).map(|note| note.as_str().expect("text").to_owned())
    };
    let slow = asked(&[row("int8", 0.2), row("fp16", 0.7)]).expect("a note");
    assert!(slow.contains("factors measured on this device is"), "{slow}");
    // Where all weights are measured alike, the first one is, too.
    let all = "{\"measured\":\"kernel\",\"op\":\"gemm\",\"eta_memory\":0.7}";
    assert_eq!(asked(&[all.to_owned()]), None);
}

#[test]
fn an_unusable_calibration_is_refused_in_one_line() {
    let folder = Folder::new();
    let good = "{\"device\":\"t4\",\"rows\":[{\"measured\":\"step\",\"eta_memory\":0.7}]}";
    let (good, bad) = (folder.file("good.json", good), folder.file("bad.json", "{"));
    let several = folder
        .file("several.csv", format!("{HEAD}{}", rows(&[40]) + &rows(&[40]).replace("t4", "l4")));
    let nothing = folder.file("nothing.csv", HEAD);
    let analyze = "analyze -m 1 -n 8 -k 8 --weights fp16 --hardware";
    for (asked, says) in [
        (format!("{analyze} l4 --calibration {good}"), "measured on t4; the request is about l4"),
        (format!("{analyze} t4 --calibration {bad}"), "not a calibration file"),
        (format!("{analyze} t4 --calibration none.json"), "cannot read none.json: no such file"),
        (format!("validate {several} --calibration {bad}"), "not a calibration file"),
        (format!("calibrate --from {several}"), "name one with --hardware: l4, t4"),
        (format!("calibrate --from {several} --hardware h100_sxm"), "no row for `h100_sxm`"),
        (format!("calibrate --from {nothing}"), "no usable row"),
        ("calibrate --from none.csv".to_owned(), "no such file"),
    ] {
        let ended = line(&asked);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{asked}");
        assert!(
            ended.stderr.contains(says) && ended.stderr.lines().count() == 1,
            "{}",
            ended.stderr
        );
    }
    let lines =
        format!("sweep --hardware t4 -m 1,2 -n 8 -k 8 --weights fp16 --calibration {good} -o csv");
    assert_eq!(line(&lines).stdout.lines().count(), 3);
}
