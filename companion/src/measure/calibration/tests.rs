//! Calibrations of machines whose factors are known.

use super::*;
use calc_core::calibration::Tokens;
use calc_core::device::DeviceClass;
use calc_core::op::OpKind;
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass;
use kernels::backend::fake::Script;
use kernels::backend::{AttentionSizes, RowSizes};
use report::output::json::bench::{
    BenchCheckJson, BenchPrecisionJson, BenchTimeJson, ConditionsJson, ProductShapeJson,
    StopRuleJson,
};
use serde_json::json;

use crate::measure::device::{self, MeasuredRoofs};

mod device_file;
mod judge;
mod matrices;

fn record(kernel: Kernel, bytes: f64, flops: f64, time: f64) -> BenchJson {
    let inputs = kernel.activations(|layout| {
        let key = if layout.quantizes_input() { "int8" } else { "fp32" };
        calc_core::catalog::format(key).unwrap()
    });
    let activations = inputs.map_or("fp32", |format| format.key);
    let shape = |m, n, k, weights: &str| {
        let precision =
            BenchPrecisionJson { weights: weights.into(), activations: activations.into() };
        (ProductShapeJson { m, n, k }, precision)
    };
    let product = match kernel {
        Kernel::Gemv(it) => Some(shape(it.m, it.n, it.k, it.layout.key())),
        Kernel::Gemm(it) => Some(shape(it.m, it.n, it.k, it.element.key())),
        _ => None,
    };
    let of_layer = || {
        let weights = kernel.stored_format()?.to_owned();
        Some(BenchPrecisionJson { weights, activations: activations.into() })
    };
    let (shape, precision) = product.unzip();
    let precision = precision.or_else(of_layer);
    BenchJson {
        schema: 1,
        kernel: kernel.key().into(),
        route: "r".into(),
        backend: "cpu".into(),
        index: 0,
        device: "a processor".into(),
        catalog_key: None,
        shape,
        precision,
        cache: "cold".into(),
        bytes,
        flops,
        accounting: String::new(),
        footprint_bytes: bytes,
        time_s: BenchTimeJson {
            median: time,
            low: time,
            high: time,
            n: 20,
            mad: 0.0,
            p5: time,
            p95: time,
            min: time,
        },
        byte_per_s: Some(bytes / time),
        flop_per_s: Some(flops / time),
        energy_j: None,
        expected: None,
        check: BenchCheckJson { worst_error: 0.0, tolerance: 0.0, passed: true },
        flags: Vec::new(),
        stop_rule: StopRuleJson::Iterations { n: 20 },
        calls_per_window: 1,
        sizes: kernel.sizes().into_iter().map(|(name, size)| (name.to_owned(), size)).collect(),
        samples_s: vec![time],
        device_windows: None,
        conditions: ConditionsJson::default(),
    }
}

/// A processor.
fn processor() -> kernels::devices::Device {
    kernels::devices::all(None).remove(0)
}

fn support() -> Support {
    processor().support()
}

/// The calibration of that processor.
fn calibrate(records: &[BenchJson]) -> Calibrated {
    Calibrated::new(records, &processor(), None).unwrap()
}

/// The device file of a processor that the catalog does not have.
fn file(
    calibrated: &Calibrated,
    records: &[BenchJson],
    base: Option<&str>,
) -> Result<serde_json::Value, String> {
    let mut unknown = processor();
    unknown.name = "a processor".into();
    device::file(&MeasuredRoofs::calibrated(calibrated.read, records)?, &unknown, base)
}

/// Rate of products of few tokens once they are bound by arithmetic [FLOP/s]: FP32 weights never are, 4-bit weights from 4 tokens on.
const FEW: f64 = 0.25e12;

/// A machine of 50 GB/s whose GEMV reaches `share` of it with a floor of 5 µs, and of 1 TFLOP/s whose GEMM reaches half of it with
/// 20 extra tokens of work. All readings but one are disturbed; `reads` is their rate.
fn records(share: f64, best: f64) -> Vec<BenchJson> {
    let mut reads = [30e9, best, 20e9].into_iter();
    let points = points(&support()).unwrap();
    let record = |(kernel, _): &(Kernel, Cache)| match kernel {
        // Weights are read once for all tokens.
        &Kernel::Gemv(GemvShape { layout, m, n, k }) if m > 1 => {
            let bytes = layout.format().stored_bytes(n, k).get();
            let flops = 2.0 * (m * n * k) as f64;
            let time = (bytes / (share * 50e9)).max(flops / FEW);
            record(*kernel, bytes, flops, time + 5e-6)
        }
        Kernel::Gemv(GemvShape { layout, n, k, .. }) => {
            let bytes = layout.format().stored_bytes(*n, *k).get();
            record(*kernel, bytes, 1.0, bytes / (share * 50e9) + 5e-6)
        }
        Kernel::Gemm(GemmShape { m, n, k, .. }) => {
            let flops = |m: u64| 2.0 * (m * n * k) as f64;
            record(*kernel, 1.0, flops(*m), flops(m + 20) / 0.5e12)
        }
        // KV caches and norms reach 0.7 of the bandwidth, with a floor of 3 µs.
        Kernel::Attention(AttentionSizes { context, .. }) => {
            let bytes = (4096 * context) as f64;
            record(*kernel, bytes, 1.0, bytes / (0.7 * 50e9) + 3e-6)
        }
        Kernel::Norm(RowSizes { tokens, width, .. }) => {
            let bytes = (8 * tokens * width) as f64;
            record(*kernel, bytes, 1.0, bytes / (0.7 * 50e9) + 3e-6)
        }
        Kernel::Read { .. } => record(*kernel, 1e9, 0.0, 1e9 / reads.next().expect("three reads")),
        _ => record(*kernel, 0.0, 1e9, 1e-3),
    };
    points.iter().map(record).collect()
}

#[test]
fn there_are_60_to_130_points() {
    let count = points(&support()).unwrap().len();
    assert!((60..=130).contains(&count), "{count}");
}

#[test]
fn factors_of_a_known_machine_are_found() {
    let calibrated = calibrate(&records(0.9, 50e9));
    let (mut matrices, mut packed, mut layer) = (0, 0, 0);
    for row in &calibrated.rows {
        let factors = &row.factors;
        let is = |share: f64, extra: f64| {
            let found = factors.eta_compute.unwrap();
            let tokens = factors.extra_tokens.unwrap_or(0.0);
            (found / share - 1.0).abs() < 0.02 && (tokens - extra).abs() < 1.0
        };
        match factors.tokens {
            None if factors.op != Some(OpKind::Gemm) => {
                assert!((factors.eta_memory.unwrap() - 0.7).abs() < 0.01, "{row:?}");
                assert!((factors.floor.unwrap().get() - 3e-6).abs() < 1e-6, "{row:?}");
                layer += 1;
            }
            None => {
                assert!((factors.eta_memory.unwrap() - 0.9).abs() < 0.01, "{row:?}");
                assert!((factors.floor.unwrap().get() - 5e-6).abs() < 2e-6, "{row:?}");
            }
            Some(Tokens::One) => assert_eq!(factors.eta_compute, Some(1.0)),
            Some(Tokens::Several) => {
                assert!(is(0.5, 20.0), "{row:?}");
                matrices += 1;
            }
            // All peaks of these records are 1 TFLOP/s. FP32 is bound by memory up to 8 tokens, and one point tells of no extra.
            Some(Tokens::Few) => {
                assert!(is(0.25, 0.0) && factors.format.is_some(), "{row:?}");
                assert!(factors.eta_memory.is_none() && factors.floor.is_none(), "{row:?}");
                packed += 1;
            }
        }
    }
    let of_integers = LAYOUTS.iter().filter(|layout| layout.quantizes_input()).count();
    assert_eq!(matrices, kernels::cpu::gemm::ELEMENTS.len());
    assert_eq!(packed, LAYOUTS.len() + of_integers, "two peaks where the input is quantized");
    assert_eq!(layer, 3, "attention over two caches, and the norm");
    assert_eq!(calibrated.rows.len(), LAYOUTS.len() + 1 + matrices + packed + layer);
    assert_eq!(calibrated.held_out.packed.len(), LAYOUTS.len().div_ceil(3));
    assert!(median_of(&calibrated.held_out.packed) < 0.02, "{:?}", calibrated.held_out.packed);
    assert!(calibrated.error() < 0.01 && calibrated.held_out.vectors.len() == LAYOUTS.len());
    assert!(calibrated.error_of_matrices() < 0.01, "{:?}", calibrated.held_out.matrices);
}

/// Expected times with a calibration over the times of the records that made it.
#[test]
fn few_tokens_are_expected_as_they_were_measured_and_many_as_the_matrices() {
    use calc_core::analysis::{AnalyzeRequest, Operator, analyze};
    use calc_core::precision::PrecisionChoice;
    let records = records(0.9, 50e9);
    let calibrated = calibrate(&records);
    let made = file(&calibrated, &records, None).unwrap();
    let device = report::input::device_file::parse(&made.to_string()).unwrap();
    let own = calibrated.own();
    let calibration = own.calibration();
    let expected = |layout: Layout, m: u64| {
        let weights = layout.format();
        let activations =
            calc_core::catalog::format(if layout.quantizes_input() { "int8" } else { "fp32" });
        let precision = PrecisionChoice {
            activations: Some(activations.unwrap()),
            ..PrecisionChoice::weights(weights)
        };
        let shape = calc_core::cost::gemm::GemmShape { m, n: 4096, k: 4096 };
        let operator = Operator::Gemm(shape);
        let request = AnalyzeRequest {
            device: &device,
            mode: None,
            operator,
            precision,
            engine: None,
            calibration: &calibration,
        };
        analyze(&request).unwrap().expected.time.get()
    };
    for layout in LAYOUTS {
        let bytes = layout.format().stored_bytes(4096, 4096).get();
        for m in [2, 3, 4, 7, 12, 16] {
            let flops = 2.0 * (m * 4096 * 4096) as f64;
            let measured = (bytes / 45e9).max(flops / FEW) + 5e-6;
            let ratio = expected(layout, m) / measured;
            assert!((0.97..1.03).contains(&ratio), "{layout:?} of {m} tokens: {ratio}");
        }
        // Half of the peak of 1 TFLOP/s, with 20 extra tokens.
        let (ratio, flops) = (expected(layout, 512) * 0.5e12, 2.0 * 532.0 * 4096.0 * 4096.0);
        assert!((ratio / flops - 1.0).abs() < 0.05, "{layout:?}: {}", ratio / flops);
    }
}

#[test]
fn an_interval_of_few_tokens_holds_its_points_and_the_errors_of_the_judges() {
    let mut records = records(0.9, 50e9);
    let is_judge =
        |it: &BenchJson| it.kernel == "gemm_packed" && it.shape.is_some_and(|s| s.m == 9);
    for record in records.iter_mut().filter(|it| is_judge(it)) {
        record.time_s.median *= 1.3;
    }
    let calibrated = calibrate(&records);
    let few = calibrated.rows.iter().filter(|row| row.factors.tokens == Some(Tokens::Few));
    for row in few {
        assert!(row.factors.interval.unwrap().high > 1.25, "{row:?}");
    }
}

#[test]
fn a_disturbed_peak_is_raised_to_the_gemm_rate() {
    let mut records = records(0.9, 50e9);
    for record in records.iter_mut().filter(|record| record.kernel == "fma_fp32") {
        record.flop_per_s = Some(0.1e12);
    }
    let reached = roofs::peak(&records, ComputeClass::Fp32).unwrap();
    assert!(reached > 0.4e12 && reached < 0.5e12, "{reached}");
    let calibrated = calibrate(&records);
    assert!(calibrated.error_of_matrices() < 0.05, "{:?}", calibrated.held_out.matrices);
    let file = file(&calibrated, &records, Some("epyc_9654")).unwrap();
    assert!(file["measured_peaks_tflops"]["fp32"].as_f64().unwrap() > 0.4);
}

#[test]
fn times_of_wrong_results_are_not_used() {
    let mut records = records(0.9, 50e9);
    let wrong = records.iter_mut().find(|record| record.kernel == "gemv").unwrap();
    wrong.check.passed = false;
    let why = Calibrated::new(&records, &processor(), None).unwrap_err();
    assert_eq!(why, "the result of gemv of fp32 is wrong, so its time says nothing");
}

#[test]
fn a_gemv_faster_than_reading_raises_the_roof_and_shares_stay_below_1() {
    for (best, expected) in [(50e9, 0), (40e9, LAYOUTS.len())] {
        let calibrated = calibrate(&records(0.99, best));
        assert_eq!(calibrated.faster.len(), expected, "{:?}", calibrated.faster);
        assert!(calibrated.read > 0.98 * 49.5e9 && calibrated.read <= 50e9, "{}", calibrated.read);
        assert_eq!(calibrated.own().about.contains("disturbed"), expected > 0);
        for row in &calibrated.rows {
            assert!(row.factors.eta_memory.is_none_or(|share| share <= 1.0), "{row:?}");
            assert!(row.factors.eta_compute.is_none_or(|share| share <= 1.0), "{row:?}");
        }
    }
}

#[test]
fn a_flagged_product_is_no_evidence_of_a_faster_memory() {
    let mut records = records(0.99, 40e9);
    for record in records.iter_mut().filter(|record| record.kernel == "gemv") {
        record.flags.push("contended".into());
    }
    let calibrated = calibrate(&records);
    assert_eq!((calibrated.read, calibrated.faster.len()), (40e9, 0));
    assert!(calibrated.rows.iter().all(|row| row.factors.eta_memory.is_none_or(|it| it <= 1.0)));
    // A single undisturbed one is.
    records.iter_mut().find(|record| record.kernel == "gemv").unwrap().flags.clear();
    let calibrated = calibrate(&records);
    assert!(calibrated.read > 40e9 && calibrated.faster.len() == 1, "{:?}", calibrated.faster);
}

#[test]
fn written_files_can_be_read_and_use_measured_roofs() {
    let records = records(0.9, 50e9);
    let calibrated = calibrate(&records);
    let own = report::input::calibration_file::write(&calibrated.own());
    let read = report::input::calibration_file::parse(&own).unwrap();
    assert_eq!(read.rows.len(), calibrated.rows.len());
    for base in [None, Some("epyc_9654")] {
        let file = file(&calibrated, &records, base).unwrap();
        let device = report::input::device_file::parse(&file.to_string()).unwrap();
        let bandwidth = device.bandwidth;
        assert!((bandwidth.value.get() / 50e9 - 1.0).abs() < 1e-9, "{base:?}");
        assert_eq!(bandwidth.provenance, Provenance::Measured);
        let peak = device.peaks.get(ComputeClass::Fp32).unwrap();
        assert_eq!((peak.value.get(), peak.provenance), (1e12, Provenance::Measured));
        // Values that were not measured are the datasheet's.
        let bf16 = device.peaks.get(ComputeClass::Bf16).map(|fact| fact.provenance);
        assert_eq!(bf16, base.map(|_| Provenance::Derived));
        assert_eq!(
            file["bandwidth_gb_s"].as_f64(),
            Some(if base.is_some() { 460.8 } else { 50.0 })
        );
    }
    assert!(file(&calibrated, &records, Some("h10")).unwrap_err().contains("h10"));
}

/// The daemon reads a worker's message as one line.
#[test]
fn a_calibration_takes_less_than_half_a_line() {
    use report::input::calibration_file;

    use crate::jobs::message::{LINE, WorkerMessage};
    let records = records(0.9, 50e9);
    let calibrated = calibrate(&records);
    for base in [None, Some("epyc_9654")] {
        let device = file(&calibrated, &records, base).unwrap();
        let (device, _) = device::texts(device);
        let message = WorkerMessage::Calibration {
            calibration: calibration_file::write(&calibrated.own().for_older_programs()),
            whole: Some(calibration_file::write(&calibrated.own())),
            device: Some(device.clone()),
            whole_device: Some(device),
        };
        let bytes = serde_json::to_vec(&message).unwrap().len();
        assert!((1000..LINE / 2).contains(&bytes), "{bytes}");
    }
}

#[test]
fn two_devices_of_a_machine_have_files_of_their_own() {
    let of = |backend: &str, index| {
        let mut records = records(0.9, 50e9);
        for record in &mut records {
            (record.backend, record.index) = (backend.into(), index);
        }
        let calibrated = calibrate(&records);
        let device = file(&calibrated, &records, Some("epyc_9654")).unwrap();
        let own = calibrated.own();
        assert!(own.rows.iter().all(|row| row.factors.device.as_deref() == Some(&*own.device)));
        assert_eq!(device["key"], own.device);
        own.device
    };
    let keys = [("cpu", 0), ("cuda", 0), ("cuda", 1)].map(|(backend, index)| of(backend, index));
    assert_eq!(keys, ["this_machine", "this_machine_cuda_0", "this_machine_cuda_1"]);
}

#[test]
fn a_device_without_products_is_refused_before_it_is_measured() {
    let card = kernels::devices::all(Some(Script::GOOD)).remove(1);
    let why = points(&card.support()).unwrap_err();
    assert!(why.starts_with("it has no kernel gemv"), "{why}");
}
