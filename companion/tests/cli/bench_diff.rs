//! `bench diff`: two files of records compared by the ratio of their medians.

use serde_json::Value;

use crate::run::{Folder, answer, line};

#[test]
fn two_files_are_compared_point_by_point() {
    let folder = Folder::new();
    let record = |time: f64| {
        let samples: Vec<f64> = (0..30).map(|i| time * (1.0 + 0.0001 * f64::from(i))).collect();
        serde_json::json!([{"kernel": "read", "cache": "cold", "bytes": 1.0, "samples_s": samples}])
    };
    let a = folder.file("a.json", record(1.0).to_string());
    let b = folder.file("b.json", record(1.1).to_string());
    let other = folder.file("c.json", record(1.0).to_string().replace("read", "copy"));
    let rows: Vec<Value> =
        serde_json::from_str(&answer(&format!("bench diff {a} {b} -o json"))).unwrap();
    assert_eq!(rows[0]["verdict"], "slower");
    assert!((rows[0]["time_ratio"].as_f64().unwrap() - 1.1).abs() < 1e-9);
    assert!(answer(&format!("bench diff {a} {a}")).contains("no difference found"));
    // Points that only one of the files has are listed.
    let records =
        |path: &str| serde_json::from_str::<Vec<Value>>(&std::fs::read_to_string(path).unwrap());
    let both = [records(&a).unwrap(), records(&other).unwrap()].concat();
    let both = folder.file("d.json", serde_json::json!(both).to_string());
    let said = answer(&format!("bench diff {both} {a}"));
    assert!(said.contains(&format!("Only in {both}: copy 1 bytes cold.")), "{said}");
    let ended = line(&format!("bench diff {a} {other}"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("no point in common"), "{}", ended.stderr);
}

/// A record of `read` on a device, named by key, index and its own name.
fn read_on((backend, index, name): (&str, u64, &str), time: f64) -> Value {
    let samples: Vec<f64> = (0..30).map(|i| time * (1.0 + 0.0001 * f64::from(i))).collect();
    serde_json::json!({"kernel": "read", "cache": "cold", "bytes": 1.0, "samples_s": samples,
        "backend": backend, "index": index, "device": name})
}

#[test]
fn each_device_is_compared_with_itself_in_any_order() {
    let folder = Folder::new();
    let (cpu, cuda) = (("cpu", 0, "P"), ("cuda", 0, "G"));
    let file = |name: &str, records: &[Value]| folder.file(name, Value::from(records).to_string());
    let a = file("a.json", &[read_on(cpu, 1.0), read_on(cuda, 0.1)]);
    // The GPU is slower by half.
    let same = file("same.json", &[read_on(cpu, 1.0), read_on(cuda, 0.15)]);
    let turned = file("turned.json", &[read_on(cuda, 0.15), read_on(cpu, 1.0)]);
    for b in [&same, &turned] {
        let ended = line(&format!("bench diff {a} {b} --threshold 0.95 -o json"));
        assert_eq!(ended.code, Some(4), "{}", ended.stderr);
        assert!(ended.stderr.contains("1 of 2 points: read 1 bytes cold on cuda:0 reaches 0.6"));
        let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
        let told: Vec<_> = rows.iter().map(|row| (&row["point"], &row["verdict"])).collect();
        let on = |id: &str| Value::from(format!("read 1 bytes cold on {id}"));
        let expected = [
            (&on("cpu:0"), &Value::from("no difference found")),
            (&on("cuda:0"), &Value::from("slower")),
        ];
        assert_eq!(told, expected, "{b}");
    }
    // A file of one device has its point compared with that of this device.
    let gpu = file("gpu.json", &[read_on(cuda, 0.1)]);
    let rows = answer(&format!("bench diff {a} {gpu} -o json"));
    let rows: Vec<Value> = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["devices"], serde_json::json!(["cuda:0", "cuda:0"]));
    assert_eq!(rows[0]["time_ratio"], 1.0);
    let said = answer(&format!("bench diff {a} {gpu}"));
    assert!(said.contains(&format!("Only in {a}: read 1 bytes cold on cpu:0.")), "{said}");
    assert!(!said.contains("unlike devices"), "{said}");
}

#[test]
fn ratios_of_unlike_devices_are_said_to_be_that() {
    let folder = Folder::new();
    let file = |name: &str, on| folder.file(name, Value::from(vec![read_on(on, 1.0)]).to_string());
    let a = file("a.json", ("cpu", 0, "P"));
    for (name, on, said) in [
        ("fake.json", ("fake", 0, "S"), Some("fake:0 (S)")),
        ("other.json", ("cpu", 0, "Q"), Some("cpu:0 (Q)")),
        ("same.json", ("cpu", 0, "P"), None),
    ] {
        let b = file(name, on);
        let answered = answer(&format!("bench diff {a} {b}"));
        let note = said.map(|other| {
            format!("The ratios compare unlike devices: cpu:0 (P) in {a} with {other} in {b}.")
        });
        assert_eq!(answered.contains("unlike"), said.is_some(), "{answered}");
        assert!(note.is_none_or(|note| answered.contains(&note)), "{answered}");
        assert!(answered.contains("read 1 bytes cold "), "{answered}");
    }
}

#[test]
fn records_of_one_point_are_compared_in_their_order() {
    let folder = Folder::new();
    let on = ("cpu", 0, "P");
    let file = |name: &str, times: &[f64]| {
        let records: Vec<Value> = times.iter().map(|time| read_on(on, *time)).collect();
        folder.file(name, Value::from(records).to_string())
    };
    let (a, b) = (file("a.json", &[1.0, 2.0]), file("b.json", &[1.0, 3.0, 4.0]));
    let ended = line(&format!("bench diff {a} {b} --threshold 0.95 -o json"));
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("JSON");
    let ratio = |row: &Value| row["time_ratio"].as_f64().map(|ratio| (ratio * 1e6).round() / 1e6);
    let told: Vec<_> = rows.iter().map(|row| (&row["point"], ratio(row))).collect();
    let point = |end: &str| Value::from(format!("read 1 bytes cold{end}"));
    let (first, second) = (point(""), point(" (run 2)"));
    assert_eq!(told, [(&first, Some(1.0)), (&second, Some(1.5))]);
    let said = answer(&format!("bench diff {a} {b}"));
    assert!(said.contains("are compared in the order of their records"), "{said}");
    assert!(said.contains(&format!("Only in {b}: read 1 bytes cold (run 3).")), "{said}");
    let one = file("one.json", &[1.0]);
    assert!(!answer(&format!("bench diff {one} {one}")).contains("order of their records"));
}

#[test]
fn a_file_of_another_kind_is_said_with_what_it_has_and_what_is_read() {
    let folder = Folder::new();
    let other = folder.file("other.json", r#"{"a":1}"#);
    let found = format!("error: {other}: record 1: it has no ");
    for (words, expected) in [
        (format!("bench diff {other} {other}"), "; expected records of `bench` with their samples"),
        (format!("compare --measured {other}"), ", or a file of llama-bench, vLLM, SGLang"),
    ] {
        let ended = line(&words);
        assert_eq!(ended.code, Some(2), "{words}");
        let said = ended.stderr;
        assert!(said.starts_with(&found) && said.contains(expected), "{words}: {said}");
        assert!(said.contains("; found a JSON object with the key a; "), "{words}: {said}");
    }
    // A file that is read leaves the device open: the sentence names it.
    let times = folder.file("times.csv", "weights,time_s,m,n,k\nfp16,1e-3,1,4096,4096\n");
    let ended = line(&format!("compare --measured {times}"));
    let said = format!("error: hardware is missing; the times are of {times}\n");
    assert_eq!((ended.code, ended.stderr), (Some(2), said));
}

#[test]
fn a_regression_outside_its_interval_is_exit_code_4() {
    let folder = Folder::new();
    let file = |name: &str, time: f64, n: u32| {
        let samples: Vec<f64> =
            (0..n).map(|i| time * (1.0 + 0.001 * f64::from(i * 7 % 40))).collect();
        let record = serde_json::json!([{"kernel": "read", "cache": "cold", "bytes": 1.0, "samples_s": samples}]);
        folder.file(name, record.to_string())
    };
    let (a, same, slow) =
        (file("a.json", 1.0, 40), file("s.json", 1.001, 40), file("b.json", 1.1, 40));
    for (b, threshold, code, judged) in [
        (&same, "0.95", 0, "reached"),
        (&same, "1", 0, "open"),
        (&slow, "0.95", 4, "missed"),
        (&slow, "0.89", 0, "reached"),
        (&slow, "0.91", 0, "open"),
        (&a, "1.05", 4, "missed"),
    ] {
        let ended = line(&format!("bench diff {a} {b} --threshold {threshold} -o json"));
        assert_eq!(ended.code, Some(code), "{b} {threshold}: {}", ended.stderr);
        let rows: Vec<Value> = serde_json::from_str(&ended.stdout).expect("the answer is printed");
        assert_eq!(rows[0]["judged"], judged, "{b} {threshold}: {}", rows[0]);
        let size = rows[0]["detectable"].as_f64().expect("enough samples");
        assert!((0.001..0.05).contains(&size), "{size}");
        let said = ended.stderr.contains("read 1 bytes cold reaches 0.");
        assert_eq!(said || b == &a, code == 4, "{}", ended.stderr);
    }
    // A point that the second file lacks is not judged, so the threshold is not met; without one it is a note.
    let samples: Vec<f64> = (0..40).map(|i| 1.0 + 0.001 * f64::from(i * 7 % 40)).collect();
    let record = |kernel: &str| serde_json::json!({"kernel": kernel, "cache": "cold", "bytes": 1.0, "samples_s": samples});
    let two =
        folder.file("two.json", Value::from(vec![record("read"), record("copy")]).to_string());
    let ended = line(&format!("bench diff {two} {a} --threshold 0.95"));
    assert_eq!(ended.code, Some(4), "{}", ended.stderr);
    let said = format!("error: {a} lacks points to judge: copy 1 bytes cold\n");
    assert_eq!(ended.stderr, said);
    let ended = line(&format!("bench diff {two} {slow} --threshold 0.95"));
    let both = ["slower than 0.95 of the speed, 1 of 1 point: ", "lacks points to judge: copy"];
    assert!(both.iter().all(|part| ended.stderr.contains(part)), "{}", ended.stderr);
    assert_eq!(line(&format!("bench diff {two} {a}")).code, Some(0));
    assert_eq!(line(&format!("bench diff {a} {two} --threshold 0.95")).code, Some(0));
    let table = line(&format!("bench diff {a} {slow} --threshold 0.95")).stdout;
    assert!(
        table.contains("99 % interval") && table.contains("hides none of this size"),
        "{table}"
    );
    assert!(table.contains("MISSED") && table.contains("four times of five"), "{table}");
    let few = file("few.json", 1.0, 7);
    let rows: Vec<Value> =
        serde_json::from_str(&answer(&format!("bench diff {a} {few} -o json"))).expect("JSON");
    assert!(rows[0]["detectable"].is_null(), "seven samples could find nothing for sure");
    assert!(answer(&format!("bench diff {a} {few}")).contains("fewer than 8 samples"));
    for (words, expected) in [
        (format!("{a} {few} --threshold 0.95"), "no interval to judge by from 7 samples"),
        (format!("{a} {slow} --threshold 0"), "threshold must be a number from 0.1 to 10; got 0"),
        (format!("{a} {slow} --threshold NaN"), "got NaN"),
        (format!("{a} {slow} --threshold=-1"), "got -1"),
        (format!("{a} {slow} --threshold 95%"), "got 95%"),
    ] {
        let ended = line(&format!("bench diff {words}"));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{words}: {}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{words}: {}", ended.stderr);
    }
}

#[test]
fn noise_that_hides_the_threshold_is_said() {
    let folder = Folder::new();
    let file = |name: &str, seed: u32| {
        // A spread of 40 %, in another order for each file.
        let samples: Vec<f64> =
            (0..40).map(|i| 1.0 + 0.01 * f64::from((i * 7 + seed) % 40)).collect();
        let record = serde_json::json!([{"kernel": "read", "cache": "cold", "bytes": 1.0, "samples_s": samples}]);
        folder.file(name, record.to_string())
    };
    let (a, b) = (file("a.json", 0), file("b.json", 13));
    let ended = line(&format!("bench diff {a} {b} --threshold 0.97"));
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for part in ["below what 1 of 1 point could have found: differences from", "too large to judge"]
    {
        assert!(ended.stdout.contains(part), "{part}: {}", ended.stdout);
    }
    let rows = answer(&format!("bench diff {a} {b} --threshold 0.97 -o json"));
    let rows: Vec<Value> = serde_json::from_str(&rows).expect("JSON");
    assert_eq!(
        (&rows[0]["threshold_detectable"], &rows[0]["judged"]),
        (&false.into(), &"open".into())
    );
    assert!(rows[0]["low_99"].as_f64() <= rows[0]["low"].as_f64(), "{}", rows[0]);
}
