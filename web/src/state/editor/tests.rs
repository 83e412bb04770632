//! Tests of the form for a custom device.

use super::*;
use calc_core::catalog::{self, devices};

const L2_RATE: &str = "l2_gb_s";
const DRAM_RATE: &str = "bandwidth_gb_s";

fn draft(key: &str) -> (Inputs, Draft) {
    let mut inputs = Inputs::default();
    inputs.set_device(Cow::Borrowed(catalog::device(key).expect("catalog key")));
    let draft = Draft::of(&inputs);
    (inputs, draft)
}

#[test]
fn an_unchanged_copy_of_every_device_computes_the_same() {
    for device in devices::all() {
        let (mut inputs, draft) = draft(&device.key);
        draft.apply(&mut inputs);
        assert!(inputs.has_own_device(), "{}", device.key);
        assert_eq!(inputs.device.bandwidth, device.bandwidth, "{}", device.key);
        assert_eq!(inputs.device.peaks, device.peaks, "{}", device.key);
        for (field, text) in &draft.fields {
            assert!(text.len() < 13, "{}: {text}", device.key);
            assert_eq!(draft.fault(&field.path), None, "{} {}", device.key, field.path);
            assert_ne!(draft.badge(&field.path), YOURS, "{} {}", device.key, field.path);
        }
    }
}

#[test]
fn a_change_is_the_readers_and_an_impossible_one_is_not_taken_over() {
    let (mut inputs, mut draft) = draft("t4");
    draft.set("bandwidth_gb_s", "400".to_owned());
    draft.apply(&mut inputs);
    assert!((inputs.device.bandwidth.value.get() - 400e9).abs() < 1.0);
    assert_eq!(draft.badge("bandwidth_gb_s"), YOURS);
    let provenance = inputs.device.bandwidth.provenance;
    assert_eq!(fact_badge(&inputs, provenance).0, YOURS);
    assert_eq!(explained_badge(&inputs, "fact-0", provenance).0, YOURS);
    assert_eq!(explained_badge(&inputs, "expected-0", provenance).0, badge(provenance));
    let good = inputs.clone();
    for wrong in ["0", "-1", "x", "1e99", ""] {
        draft.set("bandwidth_gb_s", wrong.to_owned());
        draft.apply(&mut inputs);
        assert!(draft.fault("bandwidth_gb_s").is_some(), "{wrong}");
        assert_eq!(inputs, good, "{wrong}");
    }
    assert_eq!(draft.fault("memory_gib"), None, "only the wrong field is marked");
}

#[test]
fn what_was_measured_here_is_that_until_it_is_changed() {
    let file = r#"{"key": "mine", "class": "cpu", "memory_gib": 8, "bandwidth_gb_s": 20, "measured_bandwidth_gb_s": 20, "dense_peaks_tflops": {"fp32": 0.3}, "measured_peaks_tflops": {"fp32": 0.3}}"#;
    let device = report::input::device_file::parse(file).expect("a device");
    let mut inputs = Inputs::default();
    inputs.set_device(Cow::Owned(device.clone()));
    let mut draft = Draft::of(&inputs);
    assert_eq!(draft.device().expect("unchanged").bandwidth, device.bandwidth);
    assert_eq!(draft.badge(DRAM_RATE), badge(Provenance::Measured));
    draft.set(DRAM_RATE, "30".to_owned());
    assert_eq!(draft.badge(DRAM_RATE), YOURS);
    let changed = draft.device().expect("a device");
    assert!((changed.bandwidth.value.get() - 30e9).abs() < 1.0);
    assert_eq!(changed.bandwidth.provenance, Provenance::Assumed);
    let peak = changed.peaks.get(ComputeClass::Fp32).expect("its peak");
    assert_eq!(peak.provenance, Provenance::Measured);
}

#[test]
fn what_is_wrong_is_said_in_the_words_of_the_form() {
    let (_, mut draft) = draft("t4");
    for (path, typed, says) in [
        ("bandwidth_gb_s", "0", "DRAM bandwidth must be from 0.001 to 10000000\u{202f}GB/s."),
        ("memory_gib", "", "Memory must be from 0.001 to 1000000\u{202f}GiB."),
        ("sm_count", "-1", "SMs must be from 1 to 1000000."),
        ("sm_count", "1.5", "SMs must be a whole number."),
        ("tdp_w", "much", "Power must be a number."),
        ("dense_peaks_tflops.fp16", "1e99", "FP16 must be from 1e-6 to 100000000\u{202f}TFLOP/s."),
    ] {
        draft.set(path, typed.to_owned());
        assert_eq!(draft.fault(path).as_deref(), Some(says), "{typed}");
    }
    let keys = fields().map(|field| field.path);
    let said: Vec<String> = keys.filter_map(|path| draft.fault(&path)).collect();
    assert!(said.iter().all(|text| !text.contains('_')), "{said:?}");
}

#[test]
fn the_bandwidths_bound_each_other_as_typed_and_the_field_of_l2_says_it() {
    let low =
        |least| format!("L2 bandwidth, measured must be from {least} to 10000000\u{202f}GB/s.");
    let (mut inputs, mut draft) = draft("t4");
    for (dram, l2, says) in [
        ("320", "", None),
        ("320", "320", None),
        ("320", "1.3", Some(low("320"))),
        ("2000", "1300", Some(low("2000"))),
        ("100", "200", None),
        ("0", "1300", None),
        ("x", "1300", None),
        ("320", "1300", None),
    ] {
        draft.set(DRAM_RATE, dram.to_owned());
        draft.set(L2_RATE, l2.to_owned());
        assert_eq!(draft.fault(L2_RATE), says, "{dram} {l2}");
        let is_wrong = matches!(dram, "0" | "x");
        assert_eq!(draft.fault(DRAM_RATE).is_some(), is_wrong, "{dram} {l2}");
        assert_eq!(draft.device().is_none(), is_wrong || says.is_some(), "{dram} {l2}");
    }
    draft.apply(&mut inputs);
    let rate = inputs.device.measured.l2_bandwidth.expect("as typed");
    assert!((rate.value.get() - 1300e9).abs() < 1.0);
    assert_eq!((Draft::of(&inputs).text(L2_RATE).as_str(), draft.badge(L2_RATE)), ("1300", YOURS));
}

#[test]
fn an_own_device_is_edited_itself_and_keeps_its_mode() {
    let (mut inputs, draft) = draft("jetson_orin_nano_8gb_super");
    inputs.mode = Some("7W".into());
    draft.apply(&mut inputs);
    let mut again = Draft::of(&inputs);
    assert_eq!(again.name, draft.name);
    again.name = "Mine".to_owned();
    again.apply(&mut inputs);
    assert_eq!((&*inputs.device.name, inputs.mode.as_deref()), ("Mine", Some("7W")));
}
