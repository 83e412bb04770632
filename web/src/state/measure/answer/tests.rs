//! Tests records beside their expectations, on their own machine and on another.

use protocol::bench::{Check, Precision, Time};
use report::number_text::percent;

use super::*;

/// A record of a matrix product.
pub(in crate::state::measure) fn record(weights: &str, seconds: f64) -> BenchRecord {
    let (bytes, flops) = (16_809_984.0, 33_554_432.0);
    BenchRecord {
        schema: 1,
        kernel: "gemv".into(),
        route: "avx2".into(),
        backend: "cpu".into(),
        index: 0,
        device: "a processor".into(),
        catalog_key: None,
        shape: Some(Shape { m: 1, n: 4096, k: 4096 }),
        precision: Some(Precision { weights: weights.into(), activations: "fp32".into() }),
        cache: "cold".into(),
        bytes,
        flops,
        accounting: String::new(),
        footprint_bytes: bytes,
        time_s: Time {
            median: seconds,
            low: seconds * 0.9,
            high: seconds * 1.1,
            n: 40,
            mad: 0.0,
            p5: seconds,
            p95: seconds,
            min: seconds,
        },
        byte_per_s: Some(bytes / seconds),
        flop_per_s: Some(flops / seconds),
        energy_j: None,
        check: Check { worst_error: Some(0.0), tolerance: 1e-4, passed: true },
        flags: Vec::new(),
        stop_rule: std::collections::BTreeMap::new(),
        calls_per_window: 1,
        sizes: std::collections::BTreeMap::new(),
        samples_s: Vec::new(),
        device_windows: None,
        conditions: std::collections::BTreeMap::new(),
    }
}

/// A record of a kernel of a layer beside its products.
pub(in crate::state::measure) fn layer_record(
    kernel: &str,
    sizes: &[(&str, u64)],
    (weights, activations): (&str, &str),
) -> BenchRecord {
    BenchRecord {
        kernel: kernel.into(),
        shape: None,
        sizes: sizes.iter().map(|(name, size)| ((*name).to_owned(), *size)).collect(),
        precision: Some(Precision { weights: weights.into(), activations: activations.into() }),
        ..record("", 0.001)
    }
}

/// A record of a kernel without a shape.
pub(in crate::state::measure) fn bare(
    kernel: &str,
    bytes: f64,
    flops: f64,
    seconds: f64,
) -> BenchRecord {
    BenchRecord {
        kernel: kernel.into(),
        shape: None,
        precision: None,
        bytes,
        flops,
        ..record("", seconds)
    }
}

/// The device that is measured next.
fn next(name: &str) -> MeasuredMachine {
    MeasuredMachine { name: name.to_owned(), key: None }
}

/// The machine of the records as a device.
fn here() -> calc_core::device::Device {
    let device = catalog::device("epyc_9654").expect("catalog key");
    calc_core::device::Device { name: "a processor (measured here)".into(), ..device.clone() }
}

#[test]
fn a_record_stands_beside_the_expectation_of_its_own_formats() {
    let device = here();
    let found = answer(&[record("int8", 0.001)], Place::of(&device), &next("")).expect("roofs");
    let expected = predict::expected(&record("int8", 0.001), Place::of(&device)).expect("it runs");
    let row = &found.rows[0];
    assert_eq!(row.measured.replace('\u{202f}', " "), "1.00 ms");
    assert!(row.expected.as_ref().is_ok_and(|text| text.contains(&time(expected.time))));
    let error = expected.time.get() / 0.001 - 1.0;
    assert_eq!(row.error, signed(error));
    assert!(found.sentence.contains(&percent(error.abs())), "{}", found.sentence);
    assert_eq!(found.elsewhere, "");
    let point = &found.chart.points[0];
    assert!(!point.filled && (point.attained.get() / 33_554_432_000.0 - 1.0).abs() < 1e-12);
    assert!(point.expected.is_some());
}

#[test]
fn integers_have_their_unit_and_one_sample_has_no_interval() {
    let of = |kernel: &str, samples: u64| {
        let mut record = bare(kernel, 1.0, 1e9, 0.001);
        record.flop_per_s = Some(1e12);
        record.time_s.n = samples;
        let found = answer(&[record], Place::of(&here()), &next("")).expect("a row").rows.remove(0);
        [found.rates, found.interval].map(|text| text.replace('\u{202f}', " "))
    };
    let [rates, interval] = of("dot_int8", 1);
    assert!(rates.ends_with("1.00 TOP/s"), "{rates}");
    assert_eq!(interval, "one sample, no interval");
    let [rates, interval] = of("fma_fp32", 2);
    assert!(rates.ends_with("1.00 TFLOP/s") && interval.ends_with(", 2 samples"), "{interval}");
}

#[test]
fn what_cannot_be_expected_says_why_and_keeps_its_row() {
    let mut without = record("int8", 0.001);
    without.shape = None;
    let strange = record("int9", 0.001);
    let found = answer(&[without, strange], Place::of(&here()), &next("")).expect("roofs");
    assert_eq!(found.rows[0].expected, Err("it has no shape".to_owned()));
    assert!(found.rows[1].expected.as_ref().is_err_and(|why| why.contains("int9")));
    assert_eq!((found.sentence.as_str(), found.chart.points.len()), ("", 2));
}

#[test]
fn a_measurement_that_cannot_be_is_warned_about() {
    let mut fast = record("int8", 1e-6);
    fast.check = Check { worst_error: Some(1.0), tolerance: 1e-4, passed: false };
    fast.flags = vec!["throttled".into()];
    let found = answer(&[fast], Place::of(&here()), &next("")).expect("roofs");
    let row = &found.rows[0];
    assert_eq!((row.grade, row.reasons.len()), (Grade::Unusable, 3), "{:?}", row.reasons);
    let cell = row.graded();
    assert!(cell.text == "do not use" && cell.explanation.formula.contains("wrong by"));
    assert_eq!(found.warnings.len(), 2, "{:?}", found.warnings);
}

#[test]
fn what_moves_nothing_has_no_place_on_logarithmic_axes() {
    let mut nothing = record("int8", 1.0);
    nothing.flops = 0.0;
    assert!(
        answer(&[nothing], Place::of(&here()), &next("")).expect("roofs").chart.points.is_empty()
    );
}

#[test]
fn roofs_are_beside_roofs_and_a_measured_device_is_not_another() {
    let device = here();
    let found =
        answer(&[bare("read", 1e9, 0.0, 0.01)], Place::of(&device), &next("")).expect("roofs");
    let row = &found.rows[0];
    assert_eq!((row.format.as_str(), row.work.as_str()), ("Reading", "cold"));
    assert_eq!((row.origin.0, found.elsewhere.as_str()), ("roof", ""));
    assert!(!row.error.is_empty() && found.sentence.contains("roof"), "{found:?}");
}

#[test]
fn points_of_a_machine_are_never_under_the_roof_of_another() {
    let orin = catalog::device("jetson_orin_nano_8gb").expect("catalog key");
    let found = answer(&[record("int8", 0.001)], Place::of(orin), &next("")).expect("roofs");
    assert!(found.chart.points.is_empty() && found.sentence.is_empty(), "{found:?}");
    assert_eq!((found.rows.len(), &found.rows[0].expected), (1, &Err(String::new())));
    assert!(found.elsewhere.contains("a processor") && found.elsewhere.contains("Orin"));
    assert!(!answer(&[], Place::of(orin), &next("")).expect("roofs").elsewhere.is_empty());
    let here = here();
    assert_eq!(answer(&[], Place::of(&here), &next("a processor")).expect("roofs").elsewhere, "");
    assert_ne!(answer(&[], Place::of(&here), &next("another")).expect("roofs").elsewhere, "");
}

/// Decode attention of a context with the usual sizes.
fn attention(context: u64) -> BenchRecord {
    let sizes = [
        ("batch", 1),
        ("heads", 32),
        ("kv_heads", 8),
        ("head_dim", 128),
        ("new", 1),
        ("context", context),
    ];
    layer_record("attention", &sizes, ("fp16", "fp32"))
}

#[test]
fn fitted_shapes_do_not_test_their_calibration() {
    let text = r#"{"device":"epyc_9654","about":"a test","rows":[{"measured":"kernel","op":"gemm","eta_memory":0.5,"eta_compute":0.5,"floor_us":1.5,"low":0.9,"high":1.1,"points":40}]}"#;
    let measured = report::input::calibration_file::parse(text).expect("a calibration");
    let lines = report::input::calibration_file::lines::write(&measured);
    let own = crate::state::place::OwnCalibration::read(&lines).expect("own factors");
    let device = here();
    let place = Place { own: Some(&own), ..Place::of(&device) };
    let fitted = record("int8", 0.001);
    let mut other = record("int8", 0.001);
    other.shape = Some(Shape { m: 1, n: 4096, k: 14_336 });
    let said = answer(std::slice::from_ref(&fitted), place, &next("")).expect("roofs").sentence;
    assert!(said.contains("do not test it"), "{said}");
    let said = answer(&[fitted.clone(), fitted, other], place, &next("")).expect("roofs").sentence;
    assert!(said.starts_with("Not fitted, but expected: largest error "), "{said}");
    let said = |records: &[BenchRecord]| answer(records, place, &next("")).expect("roofs").sentence;
    assert!(said(&[attention(2048)]).contains("do not test it"));
    assert!(said(&[attention(2048), attention(4096)]).ends_with("of 1 point of Attention."));
}

#[test]
fn a_kernel_of_a_layer_has_its_name_its_sizes_and_a_point() {
    let device = here();
    let attention = attention(4096);
    let mut packed = record("int8", 0.001);
    packed.kernel = "gemm_packed".into();
    packed.shape = Some(Shape { m: 4, n: 64, k: 64 });
    let found = answer(&[attention, packed], Place::of(&device), &next("")).expect("roofs");
    let [attention, packed] = &found.rows[..] else { panic!("{found:?}") };
    assert_eq!(attention.format, "Attention, FP16");
    assert_eq!(attention.work, "32/8 heads of 128, context 4096, cold");
    assert!(attention.expected.is_ok() && !attention.error.is_empty(), "{attention:?}");
    assert_eq!(
        (packed.format.as_str(), packed.work.as_str()),
        ("INT8", "4 × 64 × 64, packed weights, cold")
    );
    assert_eq!(found.chart.points.len(), 2);
    assert!(found.chart.points.iter().all(|point| point.expected.is_some()));
}
