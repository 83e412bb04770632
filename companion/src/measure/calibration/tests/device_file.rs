//! Device files of measured roofs.

use kernels::backend::BackendKind;

use super::*;

#[test]
fn the_file_of_a_card_has_its_class_its_memory_and_every_class_that_was_measured() {
    let card = kernels::devices::all(Some(Script::GOOD)).remove(1);
    let read = record(Kernel::Read { bytes: 1 }, 1e9, 0.0, 1e-3);
    let peaks = Kernel::PEAKS.map(|kernel| record(kernel, 0.0, 1e9, 1e-3));
    for count in 0..=peaks.len() {
        let mut records = vec![read.clone()];
        records.extend_from_slice(&peaks[..count]);
        for record in &mut records {
            (record.backend, record.index) = ("fake".into(), 0);
        }
        let made = device::file(&MeasuredRoofs::of(&records).unwrap(), &card, None);
        if count == 0 {
            assert_eq!(made.unwrap_err(), "no peak could be measured");
            continue;
        }
        let made = made.unwrap();
        let device = report::input::device_file::parse(&made.to_string()).unwrap();
        assert_eq!(&*device.key, "this_machine_fake_0");
        assert_eq!(device.class, DeviceClass::DiscreteGpu);
        assert_eq!(Some(device.memory.value), card.memory);
        // INT8 has two kernels, dot products and tensor cores, and each alone shows a peak.
        let of = |kernels: &[Kernel], class| {
            kernels.iter().any(|it| it.class(BackendKind::Fake) == Some(class))
        };
        let classes = ComputeClass::ALL.into_iter();
        let expected: Vec<ComputeClass> =
            classes.filter(|class| of(&Kernel::PEAKS[..count], *class)).collect();
        for class in ComputeClass::ALL {
            let is_there = device.peaks.get(class).is_some();
            assert_eq!(is_there, expected.contains(&class), "{class:?} of {count}");
        }
        assert_eq!(made["measured_peaks_tflops"].as_object().unwrap().len(), expected.len());
    }
    let mut wrong = vec![read, peaks[0].clone()];
    wrong[1].check.passed = false;
    assert!(MeasuredRoofs::of(&wrong).unwrap_err().contains("fma_fp32 is wrong"));
}

/// Roofs that no undisturbed record of their own kernel reaches, by name.
#[test]
fn a_roof_is_disturbed_unless_an_undisturbed_record_of_its_kernel_reaches_it() {
    let card = kernels::devices::all(Some(Script::GOOD)).remove(1);
    let flagged = |mut record: BenchJson, flag: &str| {
        record.flags.push(flag.to_owned());
        record
    };
    let read = |rate: f64| record(Kernel::Read { bytes: 1 }, 1e9, 0.0, 1e9 / rate);
    let peak = |at: usize, rate: f64| record(Kernel::PEAKS[at], 0.0, 1e9, 1e9 / rate);
    let product = |rate: f64| {
        let shape = GemmShape { element: Element::Fp32, m: 1, n: 1, k: 1 };
        record(Kernel::Gemm(shape), 1e9, 1e9, 1e9 / rate)
    };
    let cases: [(&str, Vec<BenchJson>, serde_json::Value); 7] = [
        ("idle", vec![read(1e11), peak(0, 1e12)], json!(null)),
        (
            "samples that depend on earlier ones",
            vec![flagged(read(1e11), "autocorrelated"), peak(0, 1e12)],
            json!(null),
        ),
        ("busy", vec![flagged(read(1e11), "contended"), peak(0, 1e12)], json!(["bandwidth"])),
        (
            "one of two readings was quiet",
            vec![flagged(read(1.01e11), "contended"), read(1e11), peak(0, 1e12)],
            json!(null),
        ),
        (
            "the quiet one was slower",
            vec![flagged(read(1.1e11), "contended"), read(1e11), peak(0, 1e12)],
            json!(["bandwidth"]),
        ),
        (
            "both peaks",
            vec![read(1e11), flagged(peak(0, 1e12), "drift"), flagged(peak(1, 1e12), "throttled")],
            json!(["fp32", "int8"]),
        ),
        ("a faster product", vec![read(1e11), peak(0, 1e12), product(1.2e12)], json!(["fp32"])),
    ];
    for (case, records, expected) in cases {
        let made = device::file(&MeasuredRoofs::of(&records).unwrap(), &card, None).unwrap();
        assert_eq!(made["disturbed_roofs"], expected, "{case}");
        let whole = made.to_string();
        let (before, told) = device::texts(made);
        assert!(!before.contains("disturbed_roofs"), "{case}: older programs refuse it");
        assert_eq!(told.is_some(), !expected.is_null(), "{case}");
        let parse = |text: &str| report::input::device_file::parse(text).expect(case);
        let count = expected.as_array().map_or(0, Vec::len);
        assert_eq!(parse(&before).disturbed_roofs().len(), 0, "{case}");
        assert_eq!(parse(&whole).disturbed_roofs().len() as usize, count, "{case}");
        assert_eq!(told.map(|text| parse(&text)), (count > 0).then(|| parse(&whole)), "{case}");
    }
}
