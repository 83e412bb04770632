//! Fuzz targets: device, model and calibration files. A damaged file gives possible values or a refusal that names the place, and what
//! it gives is read again as the same when it is written.

use std::fs;
use std::path::{Path, PathBuf};

use calc_core::catalog;
use calc_core::device::Device;
use calc_core::hf_config::Unread;
use calc_core::quant_format::ComputeClass;
use calc_core::text::Text;
use calc_core::units::{BytesPerSec, Hertz, Seconds, Watts};
use fuzz::{Target, Verdict};
use report::input::device_file::{self, DeviceFile};
use report::input::model_file::word::FileGeometry;
use report::input::{calibration_file, device_file::lines, model_file};
use serde_json::Value;

const WORDS: [&str; 14] = [
    "null",
    "true",
    "{}",
    "[]",
    "\"\"",
    "\"fp16\": 100,",
    "\"later\": 1,",
    "1e9",
    "-",
    ",",
    "\\u0000",
    "\\ud800",
    "\\t",
    "// note\n",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn example(name: &str) -> Vec<u8> {
    fs::read(root().join("docs/examples").join(name)).expect("an example")
}

/// A `config.json` of another test.
fn config(name: &str) -> Vec<u8> {
    let path = root().join("calc-core/report/tests/truth/configs").join(format!("{name}.json"));
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All keys of a schema.
fn keys(name: &str) -> Vec<String> {
    fn collect(value: &Value, keys: &mut Vec<String>) {
        let Value::Object(fields) = value else { return };
        if let Some(Value::Object(properties)) = fields.get("properties") {
            keys.extend(properties.keys().cloned());
        }
        fields.values().for_each(|value| collect(value, keys));
    }
    let text = fs::read(root().join("docs/schema").join(name)).expect("a schema");
    let mut keys = Vec::new();
    collect(&serde_json::from_slice(&text).expect("JSON"), &mut keys);
    assert!(keys.len() > 5, "{keys:?}");
    keys
}

/// A refusal in one line, with a key or a place of the file.
fn is_told<T: AsRef<str>>(said: &str, places: &[T]) -> bool {
    let names = |place: &T| said.contains(place.as_ref());
    said.len() > 10 && !said.contains(char::is_control) && places.iter().any(names)
}

/// Checks what every device must have: roofs and sizes above zero, modes within the device.
fn check_device(device: &Device) {
    let positive = |what: &str, value: f64| {
        assert!(value.is_finite() && value > 0.0, "{what} of {value}");
    };
    positive("memory", device.memory.value.get());
    positive("bandwidth", device.bandwidth.value.get());
    let peaks = ComputeClass::ALL.into_iter().filter_map(|class| device.peaks.get(class));
    assert!(peaks.clone().count() > 0, "a device without a peak");
    peaks.for_each(|peak| positive("a peak", peak.value.get()));
    for (what, value) in [
        ("clock", device.tensor_clock.map(|fact| fact.value.get())),
        ("l2", device.l2.map(|fact| fact.value.get())),
        ("l2 rate", device.measured.l2_bandwidth.map(|fact| fact.value.get())),
        ("shared memory", device.shared_memory_per_sm.map(|fact| fact.value.get())),
        ("power", device.tdp.map(|fact| fact.value.get())),
        ("link", device.link.map(|fact| fact.value.bandwidth.get())),
        ("SMs", device.sm_count.map(|fact| f64::from(fact.value))),
    ] {
        positive(what, value.unwrap_or(1.0));
    }
    let latency = device.link.map_or(0.0, |fact| fact.value.latency.get());
    assert!(latency.is_finite() && latency >= 0.0, "latency of {latency}");
    for mode in device.power_modes.iter() {
        let rate = mode.bandwidth.map_or(1.0, BytesPerSec::get);
        positive("bandwidth of a mode", rate);
        positive("power of a mode", mode.watts.map_or(1.0, Watts::get));
        positive("clock of a mode", mode.gpu_clock.map_or(1.0, Hertz::get));
    }
    let texts = [&device.key, &device.name, &device.vendor, &device.source, &device.notes];
    assert!(!texts.iter().any(|text| text.contains(char::is_control)), "{texts:?}");
}

#[test]
fn a_damaged_device_file_gives_a_possible_device_or_its_mistake() {
    let copies = ["h100_sxm", "jetson_orin_nano", "rtx_4090"].map(|key| {
        let device = catalog::device(key).expect("a catalog key");
        let copy = Device { key: Text::Borrowed("copy"), ..device.clone() };
        serde_json::to_vec_pretty(&DeviceFile::of(&copy, Some(key)).to_json()).expect("text keys")
    });
    let inputs = [vec![example("custom-device.json")], copies.to_vec()].concat();
    let mut places = keys("device.schema.json");
    places.extend(["line ", "empty", "`"].map(str::to_owned));
    Target { name: "device", inputs, words: &WORDS }.run(|case| {
        match device_file::parse(&case.text()) {
            Ok(device) => {
                check_device(&device);
                let written = lines::of_device(&device, None);
                let read = lines::read(&written);
                let read = read.unwrap_or_else(|error| panic!("{error} in {written:?}"));
                assert_eq!(lines::of_device(&read, None), written);
                let file = DeviceFile::of(&device, None).to_json().to_string();
                let read = device_file::parse(&file);
                check_device(&read.unwrap_or_else(|error| panic!("{error} in {file}")));
                Verdict::Accepted
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!case.is_whole() && is_told(&said, &places), "{said}");
                Verdict::Refused
            }
        }
    });
}

#[test]
fn a_damaged_model_file_gives_a_possible_model_or_its_mistake() {
    // Every family that differs: dense, latent keys, experts, windows, recurrent layers, towers, quantized.
    let names = [
        "llama-3.1-405b",
        "deepseek-v3",
        "gemma-3-27b",
        "qwen3-next-80b-a3b",
        "lfm2-1.2b",
        "mamba-2.8b",
        "qwen2.5-vl-32b",
        "phi-2",
        "jamba-reasoning-3b",
        "llama-4-scout",
    ];
    let inputs = [vec![example("custom-model.json")], names.map(config).to_vec()].concat();
    // A sentence names a key, or the part of the model that its value is.
    let places = ["line ", "`", "_", "must be ", "begins with", "empty", "model"];
    Target { name: "model", inputs, words: &WORDS }.run(|case| {
        let (text, mut verdict) = (case.text(), Verdict::Refused);
        for unread in [Unread::Refuse, Unread::UpperBound] {
            match model_file::parse_with(&text, unread) {
                Ok(model) => {
                    assert_eq!(model.arch.check(), Ok(()));
                    assert!(model.arch.n_active_params() <= model.arch.n_params());
                    let written = FileGeometry::of(&model.arch);
                    match FileGeometry::read(written.word().to_owned()) {
                        Some(read) => assert_eq!(*read.arch(), model.arch, "{written:?}"),
                        // An odd geometry has no word, and so no link.
                        None => assert!(!case.is_whole(), "no word for a published model"),
                    }
                    verdict = Verdict::Accepted;
                }
                Err(error) => {
                    let said = error.to_string();
                    assert!(!case.is_whole() && is_told(&said, &places), "{said}");
                }
            }
        }
        verdict
    });
}

#[test]
fn a_damaged_calibration_file_gives_possible_factors_or_its_mistake() {
    let row = |fields: &str| {
        format!("{{\"device\": \"this_machine\", \"about\": \"2026, own\", \"rows\": [{fields}]}}")
    };
    let own = row(
        "{\"measured\": \"kernel\", \"op\": \"gemm\", \"compute\": \"fp32\", \"tokens\": \"several\", \"eta_compute\": 0.61, \"extra_tokens\": 3.5, \"low\": 0.9, \"high\": 1.2, \"points\": 31}, {\"measured\": \"step\", \"engine\": \"llama.cpp\", \"format\": \"q4_k_m\", \"eta_memory\": 0.7, \"floor_us\": 12.5}",
    );
    let inputs = vec![example("calibration.json"), own.into_bytes()];
    let mut places = keys("calibration.schema.json");
    places.push("line ".to_owned());
    Target { name: "calibration", inputs, words: &WORDS }.run(
        |case| match calibration_file::parse(&case.text()) {
            Ok(own) => {
                for row in &own.rows {
                    let factors = &row.factors;
                    let interval = factors.interval.map(|interval| [interval.low, interval.high]);
                    assert!(interval.is_none_or(|[low, high]| low <= 1.0 && high >= 1.0));
                    let shares = [factors.eta_memory, factors.eta_compute];
                    let floor = factors.floor.map(Seconds::get);
                    assert!(shares.iter().flatten().all(|share| *share > 0.0 && *share <= 10.0));
                    assert!(
                        [factors.extra_tokens, floor]
                            .iter()
                            .flatten()
                            .all(|value| *value >= 0.0 && value.is_finite())
                    );
                    assert!(shares.iter().chain([&floor]).any(Option::is_some), "an empty row");
                }
                let (file, line) =
                    (calibration_file::write(&own), calibration_file::lines::write(&own));
                let read = calibration_file::parse(&file);
                let read = read.unwrap_or_else(|error| panic!("{error} in {file}"));
                assert_eq!(calibration_file::write(&read), file);
                let read = calibration_file::lines::read(&line);
                let read = read.unwrap_or_else(|| panic!("no calibration in {line:?}"));
                assert_eq!(read.rows, own.rows, "{line:?}");
                Verdict::Accepted
            }
            Err(error) => {
                let said = error.to_string();
                assert!(!case.is_whole() && is_told(&said, &places), "{said}");
                Verdict::Refused
            }
        },
    );
}

/// Found by the targets: a part of the file with a line break or another control character was quoted as it is.
#[test]
fn a_refusal_has_no_control_character() {
    let text = "{\"device\": \"d\", \"rows\": [{\"measured\": \"ker\\nel\"}]}";
    let said = calibration_file::parse(text).expect_err("no such kind").to_string();
    assert!(said.contains("`ker\\nel`") && !said.contains(char::is_control), "{said}");
    let phi = String::from_utf8(config("phi-2")).expect("text");
    let said = |text: &str| model_file::parse(text).expect_err("no such model").to_string();
    let odd = said(&phi.replace("tie_word_", "tie_\\u007ford_"));
    assert!(
        odd.contains("`tie_\\u{7f}ord_embeddings`") && !odd.contains(char::is_control),
        "{odd}"
    );
    // Found by the target: a link lost a context of zero.
    let zero =
        said(&phi.replace("\"max_position_embeddings\": 2048", "\"max_position_embeddings\": 0"));
    assert!(zero.contains("max_position_embeddings"), "{zero}");
}
