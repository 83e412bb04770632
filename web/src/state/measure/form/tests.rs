//! Orders of measurements, and what a daemon tells of its devices.

use super::*;

fn session() -> DaemonSession {
    DaemonSession::simulated(Vec::new(), "", "")
}

/// The device of a daemon that tells nothing.
pub(in crate::state::measure) fn untold() -> MeasuredDevice {
    MeasuredDevice::of(&session(), "").expect("a device")
}

/// A device that tells kernels, each with its formats, and packs weights for up to 16 tokens.
pub(in crate::state::measure) fn told(kernels: &[(&str, &[&str])]) -> MeasuredDevice {
    let kernel = |(kernel, formats): &(&str, &[&str])| KernelAbility {
        kernel: (*kernel).to_owned(),
        formats: formats.iter().map(|&key| key.to_owned()).collect(),
        most_tokens: (*kernel == "gemv").then_some(16),
    };
    let mut device = untold();
    device.can.kernels = kernels.iter().map(kernel).collect();
    device
}

#[test]
fn devices_have_the_names_that_the_daemon_tells_and_the_first_is_measured_unless_one_is_wanted() {
    let mut session = session();
    let device = |backend: &str| DeviceAbility {
        backend: backend.to_owned(),
        index: 0,
        kernels: Vec::new(),
    };
    let devices = vec![device("cpu"), device("cuda"), device("npu")];
    session.can = Some(Arc::new(Abilities { devices, ..Abilities::default() }));
    let named = |backend: &str, name: &str| device::DeviceName {
        backend: backend.to_owned(),
        index: 0,
        name: name.to_owned(),
        catalog_key: None,
    };
    session.devices = vec![named("cpu", "a processor"), named("cuda", "a card")];
    let names: Vec<String> =
        MeasuredDevice::all(&session).into_iter().map(|device| device.name).collect();
    assert_eq!(names, ["a processor", "a card", "npu:0"]);
    for (wanted, name, backend) in [
        ("", "a processor", None),
        ("cuda:0", "a card", Some("cuda:0")),
        ("cuda:7", "a processor", None),
    ] {
        let found = MeasuredDevice::of(&session, wanted).expect("a device");
        let order = found.order(BenchKind::Flops, Vec::new());
        assert_eq!((&*found.name, order.backend.as_deref()), (name, backend), "{wanted}");
    }
    session.can = Some(Arc::default());
    assert_eq!(MeasuredDevice::of(&session, ""), None);
}

#[test]
fn a_gpu_sweeps_tokens_sides_and_formats_of_its_own() {
    let all = ["fp32", "fp16", "fp8_e4m3", "int8", "int4_g128", "nf4", "nvfp4"];
    let mut gpu = told(&[("gemv", &all), ("gemm", &["fp16", "int8"])]);
    let lines = |device: &MeasuredDevice| shapes(&device.sweep(), &LIMITS).expect("shapes");
    assert_eq!((lines(&gpu).len(), caution(Some(&gpu)), caution(None)), (5, "", ""));
    assert_eq!(gpu.swept_words(""), "all precisions; more than 16 tokens in FP16 and INT8");
    assert_eq!(gpu.swept_words("int8"), "INT8");
    gpu.can.backend = "cuda".to_owned();
    let found = lines(&gpu);
    assert_eq!(found.len(), 12);
    assert_eq!(found[4], Shape { m: 16, n: 4096, k: 4096 });
    let words = "FP16, FP8 E4M3, INT8, INT4 g128 and NVFP4; more than 16 tokens in FP16 and INT8";
    assert_eq!(gpu.swept_words(""), words);
    assert_eq!(gpu.swept("nf4"), ["nf4"], "another one that is chosen");
    let (orders, left_out) = jobs(&found, "", &gpu).expect("two jobs");
    let sizes: Vec<(usize, usize)> =
        orders.iter().map(|job| (job.shapes.len(), job.formats.len())).collect();
    assert_eq!((sizes, &*left_out), (vec![(6, 5), (6, 2)], ""));
    assert!(caution(Some(&gpu)).contains("untested on hardware"));
    gpu.can.kernels.retain(|kernel| kernel.kernel == "gemv");
    let many = [Shape { m: 17, n: 8, k: 8 }];
    let refused = jobs(&many, "", &gpu).expect_err("no library");
    assert_eq!(refused, "This device has no products of more than 16 tokens.");
    assert!(gpu.swept_words("int8").ends_with("more than 16 tokens in no precision"));
}

#[test]
fn a_side_is_no_larger_than_the_daemon_takes() {
    let mut small = untold();
    small.limits.dimension = 1024;
    let mut inputs = Inputs::default();
    for (n, fault) in [
        ("1024", None),
        ("1025", Some("N must be at most 1\u{202f}024 where it is measured.")),
        ("12x", Some("N must be")),
    ] {
        inputs.typed.set(Field::N, n.to_owned());
        let found = side_fault(&inputs, Some(&small), Field::N);
        assert_eq!(found.is_some(), fault.is_some(), "{n}");
        let said = found.unwrap_or_default();
        assert!(said.starts_with(fault.unwrap_or_default()), "{said}");
    }
    inputs.typed.set(Field::N, "65537".to_owned());
    assert!(side_fault(&inputs, None, Field::N).is_some(), "the limit of this version");
    assert_eq!(inputs.typed.fault(Op::Gemm, Field::N), None, "a side that can be calculated");
}

#[test]
fn the_daemon_says_which_formats_there_are() {
    let untold = untold();
    let all = untold.formats(BenchKind::Gemv);
    assert!(all.iter().all(|format| catalog::format(&format.key).is_ok()), "{all:?}");
    assert_eq!(untold.chosen(BenchKind::Gemv, "").len(), all.len());
    assert_eq!(untold.chosen(BenchKind::Gemv, "int8"), ["int8"]);
    let later = told(&[("gemv", &["int8", "int1_g9"])]);
    let names: Vec<String> =
        later.formats(BenchKind::Gemv).into_iter().map(|format| format.name).collect();
    assert_eq!(names, ["INT8", "int1_g9"], "one of a later version has its key");
    let (jobs, _) = jobs(&[Shape { m: 1, n: 64, k: 64 }], "", &later).expect("one job");
    assert_eq!(jobs[0].formats, ["int8", "int1_g9"]);
}

#[test]
fn lines_are_shapes() {
    let read = shapes(" 1 4096 4096\n\n512x1e3×64 ", &LIMITS).expect("two shapes");
    assert_eq!(read, [Shape { m: 1, n: 4096, k: 4096 }, Shape { m: 512, n: 1000, k: 64 }]);
    for (text, part) in [
        ("", "At least one"),
        ("1 2", "`1 2` is no shape"),
        ("1 2 3 4", "no shape"),
        ("1 2 0", "from 1 to"),
        ("1 2 65537", "no shape"),
        ("a b c", "no shape"),
    ] {
        let error = shapes(text, &LIMITS).expect_err("refused");
        assert!(error.contains(part), "{text}: {error}");
    }
}

#[test]
fn products_with_packed_weights_and_of_plain_matrices_are_jobs_of_their_own() {
    let kinds = |device: &MeasuredDevice, text: &str| -> Vec<(BenchKind, usize)> {
        let shapes = shapes(text, &LIMITS).expect("shapes");
        let (both, left_out) = jobs(&shapes, "int8", device).expect("few");
        assert_eq!(left_out, "");
        both.iter().map(|job| (job.what, job.shapes.len())).collect()
    };
    let (gemv, gemm) = (BenchKind::Gemv, BenchKind::Gemm);
    assert_eq!(kinds(&untold(), SWEEP), [(gemv, 3), (gemm, 2)]);
    assert_eq!(kinds(&untold(), "2 8 8"), [(gemm, 1)], "the first daemons pack for one token");
    let told = told(&[("gemv", &["int8"]), ("gemm", &["fp32", "int8"])]);
    assert_eq!(kinds(&told, "2 8 8\n16 8 8\n17 8 8"), [(gemv, 2), (gemm, 1)]);
    let two = [Shape { m: 2, n: 1, k: 1 }];
    let (all, _) = jobs(&two, "", &untold()).expect("two formats");
    assert_eq!(all[0].formats, untold().keys(gemm));
    let in_nf4 = |text| jobs(&shapes(text, &LIMITS).expect("shapes"), "nf4", &untold());
    let refused = in_nf4("512 8 8\n512 8 16").expect_err("none");
    assert!(refused.contains("more than one token is measured in FP32 and INT8"), "{refused}");
    for (text, said) in [
        (SWEEP, "2 shapes are left out. A product of more than one token is measured in"),
        ("1 8 8\n2 8 8", "One shape is left out. A product"),
    ] {
        let (kept, left_out) = in_nf4(text).expect("some");
        assert_eq!(kept.iter().map(|job| job.what).collect::<Vec<_>>(), [gemv], "{text}");
        assert!(left_out.starts_with(said), "{left_out}");
    }
    let many = vec![Shape { m: 1, n: 1, k: 1 }; LIMITS.points as usize];
    assert!(jobs(&many, "", &untold()).expect_err("too many").contains("at most"));
}
