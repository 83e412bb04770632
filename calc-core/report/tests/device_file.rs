//! Custom devices: the documented example is valid, schema and parser agree, and impossible values are refused.

use calc_core::calibration::{Calibration, InFit};
use calc_core::catalog;
use calc_core::device::{MemoryPlatform, Roof, RoofSet};
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Roofs;
use calc_core::units::BytesPerSec;
use report::input::device_file::{DeviceFile, FileNumber, lines, parse};
use report::input::request::{AnalyzeInputs, CheckInputs, EstimateInputs, Fields, Files, Library};
use report::output::words;
use serde_json::{Value, json};

const EXAMPLE: &str = include_str!("../../../docs/examples/custom-device.json");
const SCHEMA: &str = include_str!("../../../docs/schema/device.schema.json");

fn minimal() -> Value {
    json!({"key": "my_asic", "class": "discrete_gpu", "memory_gib": 16, "bandwidth_gb_s": 200, "dense_peaks_tflops": {"fp16": 50}})
}

fn refusal(device: &Value) -> String {
    parse(&device.to_string()).expect_err("refused").to_string()
}

#[test]
fn the_documented_example_is_a_device() {
    let device = parse(EXAMPLE).expect("a device");
    assert!(device.bandwidth.value.get() > 0.0 && !device.source.is_empty());
}

#[test]
fn the_smallest_file_gets_the_defaults_of_its_class() {
    let device = parse(&minimal().to_string()).expect("a device");
    assert_eq!(
        (device.name.as_ref(), device.memory_platform.is_shared(), device.power_modes.len()),
        ("my_asic", false, 0)
    );
    let mut soc = minimal();
    soc["class"] = json!("unified_gpu");
    assert!(parse(&soc.to_string()).expect("a device").memory_platform.is_shared());
}

#[test]
fn a_copy_of_a_catalog_device_keeps_its_measurements() {
    const HALF: &calc_core::quant_format::QuantFormat = &catalog::formats::FP16;
    let mut copy = minimal();
    copy["copy_of"] = json!("gb10");
    let copy = parse(&copy.to_string()).expect("a device");
    let original = catalog::device("gb10").expect("catalog key");
    let basis = |device| Calibration::FITTED.tuned(device, None, None, (HALF, HALF)).basis;
    let (own, known) = (basis(&copy), basis(original));
    assert_eq!((own.ceilings, own.in_fit), (known.ceilings, InFit::Device));
    let new = parse(&minimal().to_string()).expect("a device");
    assert!(basis(&new).in_fit != InFit::Device && basis(&new).ceilings.read.is_none());
}

#[test]
fn impossible_values_are_refused_by_name() {
    for (key, value, expected) in [
        ("bandwidth_gb_s", json!(0), "bandwidth_gb_s must be from"),
        ("bandwidth_gb_s", json!(-1), "bandwidth_gb_s must be from"),
        ("memory_gib", json!(1e300), "memory_gib must be from"),
        (
            "memory_gib",
            json!("16"),
            "memory_gib must be a number, without quotes; got the text \"16\"",
        ),
        ("memory_gib", json!(null), "memory_gib must be a number, without quotes; got null"),
        ("dense_peaks_tflops", json!({}), "names no peak"),
        ("dense_peaks_tflops", json!({"fp16": -5}), "fp16 must be from"),
        (
            "dense_peaks_tflops",
            json!({"fp17": 5}),
            "unknown field `dense_peaks_tflops.fp17`; did you mean fp16",
        ),
        ("sm_count", json!(0), "sm_count must be from"),
        ("sm_count", json!(1.5), "sm_count must be a whole number; got 1.5"),
        (
            "sm_count",
            json!("46"),
            "sm_count must be a whole number, without quotes; got the text \"46\"",
        ),
        ("sm_count", json!(-46), "sm_count must be from 1 to 1000000; got -46"),
        ("sm_count", json!(1e10), "sm_count must be from 1 to 1000000; got 10000000000"),
        ("sm_count", json!(46.0), "sm_count must be a whole number; got 46.0"),
        ("key", json!("two words"), "key `two words`"),
        ("key", json!(""), "1 to 64"),
        ("key", json!("H100-SXM"), "is a device of the catalog"),
        ("power_modes", json!([{"name": " "}]), "1 to 64 characters"),
        (
            "power_modes",
            json!([{"name": "a", "default": true}, {"name": "b", "default": true}]),
            "two say `default`",
        ),
        ("name", json!(5), "name must be a text in quotes; got 5"),
        ("notes", json!(null), "notes must be a text in quotes; got null"),
        (
            "unified_memory",
            json!("yes"),
            "unified_memory must be true or false; got the text \"yes\"",
        ),
        ("tdp_w", json!("hot"), "tdp_w must be a number, without quotes; got the text \"hot\""),
        (
            "class",
            json!("gpu"),
            "class must be one of discrete_gpu, unified_gpu, cpu; got the text \"gpu\"",
        ),
        ("dense_peaks_tflops", json!(50), "dense_peaks_tflops must be an object of numbers"),
        ("dense_peaks_tflops", json!({"fp16": "50"}), "dense_peaks_tflops.fp16 must be a number"),
        ("power_modes", json!({"name": "15W"}), "power_modes must be a list of objects"),
        (
            "power_modes",
            json!(["15W"]),
            "power_modes[0] must be an object with a name; got the text \"15W\"",
        ),
        ("power_modes", json!([{"name": "a"}, {"watts": 5}]), "power_modes[1].name is missing"),
        (
            "power_modes",
            json!([{"name": "a", "watt": 5}]),
            "unknown field `power_modes[0].watt`; did you mean watts",
        ),
        (
            "power_modes",
            json!([{"name": "a", "active_sm": 2.5}]),
            "power_modes[0].active_sm must be a whole number; got 2.5",
        ),
        ("bandwith_gb_s", json!(1), "unknown field `bandwith_gb_s`; did you mean bandwidth_gb_s"),
        ("power_modes", json!([{"name": "a"}, {"name": "A"}]), "two are called"),
        ("power_modes", json!([{"name": "a", "watts": -7}]), "watts must be from"),
        (
            "power_modes",
            json!([{"name": "a", "bandwidth_gb_s": 201}]),
            "bandwidth_gb_s must be from 0.001 to 200",
        ),
        ("link_latency_us", json!(3), "link_latency_us needs link_gb_s"),
    ] {
        let mut device = minimal();
        device[key] = value;
        let error = refusal(&device);
        assert!(error.contains(expected), "{key}: {error}");
    }
    let twice = minimal().to_string().replacen('{', "{\"key\": \"a\",", 1);
    for (text, expected) in [
        (" \n", "not a device file: the file is empty"),
        ("[]", "a device file is a JSON object; this is a list"),
        (&*twice, "not a device file: duplicate field `key`"),
        ("{\"key\": \"a\"", "not a device file: EOF while parsing"),
    ] {
        let error = parse(text).expect_err(text).to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    for text in ["", "NaN", "{\"memory_gib\": NaN}", "{\"memory_gib\": 1e999}", "[]"] {
        assert!(parse(text).is_err(), "{text}");
    }
    assert!(parse(&" ".repeat(2 << 20)).expect_err("large").to_string().contains("at most"));
    assert!(parse(&"{\"a\":".repeat(100_000)).is_err());
}

#[test]
fn the_bandwidth_of_l2_is_what_the_file_says_or_unknown_and_not_below_that_of_the_dram() {
    let unknown = parse(&minimal().to_string()).expect("a device");
    assert_eq!(unknown.measured.l2_bandwidth, None);
    for gb_s in [200.0, 900.5] {
        let mut file = minimal();
        file["l2_gb_s"] = json!(gb_s);
        let device = parse(&file.to_string()).expect("a device");
        let rate = device.measured.l2_bandwidth.expect("stated");
        assert_eq!((rate.value, rate.provenance.key()), (BytesPerSec::from_gb(gb_s), "assumed"));
        let carried = lines::of_device(&device, None);
        assert_eq!(lines::read(&carried).expect("the same device").measured, device.measured);
        let saved =
            parse(&DeviceFile::of(&device, None).to_json().to_string()).expect("the same device");
        assert_eq!(saved.measured, device.measured);
    }
    for (key, value, expected) in [
        ("l2_gb_s", json!(199), "l2_gb_s must be from 200 to 10000000; got 199"),
        ("l2_gb_s", json!(2e7), "l2_gb_s must be from 200 to 10000000"),
        ("l2_gb_s", json!("900"), "l2_gb_s must be a number, without quotes; got the text"),
        ("l2_gbs", json!(900), "unknown field `l2_gbs`; did you mean l2_gb_s"),
    ] {
        let mut file = minimal();
        file[key] = value;
        assert!(refusal(&file).contains(expected), "{}", refusal(&file));
    }
}

#[test]
fn lines_carry_the_whole_device() {
    let mut full = minimal();
    full["notes"] = json!("two\nlines and a \ttab");
    full["power_modes"] = json!([{"name": "low", "bandwidth_gb_s": 100.25, "default": true}, {"name": "high", "watts": 9.5}]);
    full["name"] = json!("two\u{1b}[2J\r\nlines");
    for text in [EXAMPLE.to_string(), minimal().to_string(), full.to_string()] {
        let device = parse(&text).expect("a good file");
        assert!(
            !device.name.contains(char::is_control) && !device.notes.contains(char::is_control)
        );
        assert_eq!(lines::read(&lines::of_device(&device, None)).expect("the same device"), device);
    }
    assert!(lines::read("").is_err() && lines::read("key\tx\n").is_err());
}

#[test]
fn measured_rates_are_roofs_and_the_rest_is_the_datasheets() {
    let file = json!({
        "copy_of": "epyc_9654", "key": "this_machine", "class": "cpu", "memory_gib": 6144.0, "bandwidth_gb_s": 460.8,
        "dense_peaks_tflops": {"fp32": 10.9, "bf16": 21.8},
        "measured_bandwidth_gb_s": 371.5, "measured_peaks_tflops": {"fp32": 9.3, "int8": null},
    })
    .to_string();
    let read = parse(&file).expect("a device");
    let again = lines::read(&lines::of_device(&read, Some("epyc_9654"))).expect("a device");
    for device in [read, again] {
        let peak = |class| device.peaks.get(class).map(|it| (it.value.get(), it.provenance));
        assert_eq!(device.bandwidth.provenance, Provenance::Measured);
        let roofs = Roofs::new(&device, None).expect("no mode");
        assert!((roofs.bandwidth.get() - 371.5e9).abs() < 1.0);
        assert_eq!(peak(ComputeClass::Fp32), Some((9.3e12, Provenance::Measured)));
        assert_eq!(peak(ComputeClass::Bf16).map(|it| it.1), Some(Provenance::Derived));
    }
}

#[test]
fn disturbed_roofs_that_are_none_are_refused() {
    for (value, expected) in [
        (json!(["fp16", "l2"]), "disturbed_roofs: `l2` is no roof; they are bandw"),
        (json!("fp16"), "disturbed_roofs must be a list of names of roofs"),
        (json!([1]), "disturbed_roofs must be a list of names of roofs"),
    ] {
        let mut device = minimal();
        device["disturbed_roofs"] = value;
        assert!(refusal(&device).contains(expected), "{}", refusal(&device));
    }
}

#[test]
fn disturbed_roofs_stay_with_a_device_until_their_value_is_changed() {
    let (bandwidth, fp32) = (Roof::Bandwidth, Roof::Peak(ComputeClass::Fp32));
    let file = json!({
        "copy_of": "epyc_9654", "key": "this_machine", "class": "cpu", "memory_gib": 6144.0, "bandwidth_gb_s": 460.8,
        "dense_peaks_tflops": {"fp32": 10.9, "bf16": 21.8},
        "measured_bandwidth_gb_s": 371.5, "measured_peaks_tflops": {"fp32": 9.3},
        // The peak of BF16 was not measured, so nothing disturbed it.
        "disturbed_roofs": ["bandwidth", "fp32", "bf16"],
    });
    let read = parse(&file.to_string()).expect("a device");
    let both = RoofSet::NONE.with(bandwidth).with(fp32);
    assert_eq!(read.disturbed_roofs(), both);
    let mut kept = DeviceFile::of(&read, Some("epyc_9654"));
    let again = parse(&kept.to_json().to_string()).expect("a device");
    let linked = lines::read(&lines::of_device(&read, Some("epyc_9654"))).expect("a device");
    assert_eq!((again.disturbed_roofs(), linked.disturbed_roofs()), (both, both));
    kept.forget_measured(FileNumber::Bandwidth);
    let changed = kept.device().expect("a device");
    assert_eq!(changed.disturbed_roofs(), RoofSet::NONE.with(fp32));
}

#[test]
fn answers_about_a_device_with_disturbed_roofs_say_so() {
    let file = json!({
        "key": "this_machine", "class": "cpu", "memory_gib": 64.0, "bandwidth_gb_s": 50.0,
        "dense_peaks_tflops": {"fp32": 1.0}, "measured_bandwidth_gb_s": 50.0,
        "measured_peaks_tflops": {"fp32": 1.0}, "disturbed_roofs": ["bandwidth"],
    });
    let quiet = {
        let mut quiet = file.clone();
        quiet.as_object_mut().expect("an object").remove("disturbed_roofs");
        quiet
    };
    for (file, is_said) in [(file, true), (quiet, false)] {
        let read = |_: &str| Ok(file.to_string());
        let files = Files::new(&read);
        let library = Library::with_files(&files);
        let fields = |rest: &Value| {
            let mut line = rest.clone();
            line["hardware"] = json!("here.json");
            Fields::from_line(&line.to_string()).expect("JSON")
        };
        let product = json!({"m": 1, "n": 4096, "k": 4096, "weights": "fp32"});
        let analyzed = AnalyzeInputs::parse(fields(&product), &library).expect("a request");
        let analysis = words::analyze_notes(&analyzed, &analyzed.analyze().expect("in range"));
        let model = json!({"model": "llama-3.2-1b"});
        let estimated = EstimateInputs::parse(fields(&model), &library).expect("a request");
        let estimate = words::estimate_notes(&estimated, &estimated.estimate().expect("in range"));
        let check = |line: Value| {
            let inputs = CheckInputs::parse(fields(&line), &library).expect("a request");
            words::check::notes(&inputs, &inputs.check().expect("in range"))
        };
        let mut timed = product.clone();
        timed["time_us"] = json!(900);
        let claims = [check(timed), check(json!({"model": "llama-3.2-1b", "tokens_per_s": 10}))];
        for notes in [analysis, estimate].iter().chain(&claims) {
            let said =
                notes.iter().filter(|note| note.contains("1 of 2 measured roofs (bandwidth) was"));
            assert_eq!(said.count(), usize::from(is_said), "{notes:?}");
        }
    }
}

#[test]
fn a_copy_keeps_the_limit_of_its_platform() {
    let file = |base: &str, class: &str, gib: f64| {
        let file = json!({
            "copy_of": base, "key": "mine", "class": class, "memory_gib": gib, "bandwidth_gb_s": 100.0,
            "dense_peaks_tflops": {"fp32": 3.0},
        });
        parse(&file.to_string()).expect("a device").memory_platform
    };
    assert_eq!(file("apple_m4", "unified_gpu", 16.0), MemoryPlatform::Metal);
    assert_eq!(file("epyc_9654", "cpu", 6144.0), MemoryPlatform::Sockets);
    assert_eq!(
        file("epyc_9654", "cpu", 384.0),
        MemoryPlatform::Shared,
        "what is installed is stated"
    );
    assert_eq!(file("h100_sxm", "discrete_gpu", 80.0), MemoryPlatform::Dedicated);
}

/// Every property of the schema is read, no other key is, and numbers just outside its ranges are refused.
#[test]
fn schema_and_parser_agree() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let example: Value = serde_json::from_str(EXAMPLE).expect("JSON");
    let properties = schema["properties"].as_object().expect("properties");
    for key in example.as_object().expect("an object").keys() {
        assert!(properties.contains_key(key), "the example's {key} is not in the schema");
    }
    for key in schema["required"].as_array().expect("a list") {
        let mut device = minimal();
        device
            .as_object_mut()
            .expect("an object")
            .remove(key.as_str().expect("a key"))
            .expect("required here too");
        assert!(refusal(&device).contains("is missing"), "{key}");
    }
    for (key, property) in properties {
        for (bound, outside) in [("minimum", 0.5), ("maximum", 2.0)] {
            let Some(limit) = property[bound].as_f64() else { continue };
            let value = if limit == 0.0 { json!(-1.0) } else { json!(limit * outside) };
            let mut device = minimal();
            device["link_gb_s"] = json!(1);
            device[key] = value;
            let error = refusal(&device);
            assert!(error.contains(key), "{key} {bound}: {error}");
        }
    }
}
