//! Products of matrices of a GPU: their own compute classes, and roofs that they show.

use calc_core::calibration::WaveTile;
use calc_core::quant_format::ComputeClass::{Bf16, Fp8, Fp16, Fp32, Int8, Tf32};
use kernels::cuda::facts::Facts;

use super::*;

fn facts() -> Facts {
    Facts {
        index: 0,
        name: "a GPU".to_owned(),
        capability: (9, 0),
        processors: 132,
        clock: 1_980_000_000,
        cache: 50 << 20,
        memory: 80 << 30,
        address: None,
        is_integrated: false,
        cuda: 12_090,
        has_products: true,
    }
}

fn gpu() -> kernels::devices::Device {
    kernels::devices::gpu(facts())
}

/// Records of a GPU of 3 TB/s whose kernels in registers reach 500 TFLOP/s, and whose large products 800.
fn measured(facts: &Facts) -> Vec<BenchJson> {
    let of = |(kernel, _): (Kernel, Cache)| {
        let mut record = match kernel {
            Kernel::Read { bytes } => record(kernel, bytes as f64, 0.0, bytes as f64 / 3e12),
            Kernel::Gemv(GemvShape { layout, m, n, k }) => {
                let bytes = layout.format().stored_bytes(n, k).get();
                let flops = 2.0 * (m * n * k) as f64;
                record(kernel, bytes, flops, bytes / 2e12 + 5e-6)
            }
            Kernel::Gemm(GemmShape { m, n, k, .. }) => {
                let flops = 2.0 * (m * n * k) as f64;
                record(kernel, 1.0, flops, flops / 800e12 * (1.0 + 256.0 / m as f64))
            }
            _ => record(kernel, 0.0, 5e11, 1e-3),
        };
        record.backend = "cuda".into();
        if let Some(precision) = &mut record.precision {
            let format = kernels::cuda::support::activations(kernel, facts).unwrap();
            precision.activations = format.key.into();
        }
        record
    };
    points(&kernels::devices::gpu(facts.clone()).support()).unwrap().into_iter().map(of).collect()
}

#[test]
fn a_product_that_shows_a_peak_has_a_size_that_follows_from_the_device() {
    let sides: Vec<(u64, u64, u64)> = points(&gpu().support())
        .unwrap()
        .iter()
        .filter_map(|(kernel, _)| match kernel {
            Kernel::Gemm(it) if it.m == it.n && it.n == it.k => Some((it.m, it.n, it.k)),
            _ => None,
        })
        .collect();
    // 2 · 8192³ FLOP take a millisecond at 4096 FLOP per cycle of 132 multiprocessors at 1.98 GHz.
    assert_eq!(sides, [(8192, 8192, 8192); 6]);
}

#[test]
fn roofs_of_a_gpu_are_those_of_its_products_and_each_class_has_its_share() {
    let records = measured(&facts());
    let calibrated = Calibrated::new(&records, &gpu(), None).unwrap();
    let share = |class| {
        let row = calibrated.rows.iter().find(|row| {
            row.factors.tokens == Some(Tokens::Several) && row.factors.compute == Some(class)
        });
        let factors = &row.unwrap_or_else(|| panic!("no row of {class:?}")).factors;
        assert_eq!(factors.format, None, "weights of any format on {class:?}");
        factors.eta_compute.unwrap()
    };
    for class in [Fp32, Tf32, Fp16, Bf16, Fp8, Int8] {
        assert!(share(class) > 0.9, "{class:?}: {}", share(class));
    }
    let measured = MeasuredRoofs::calibrated(calibrated.read, &records).unwrap();
    let file = device::file(&measured, &gpu(), None).unwrap();
    for class in ["fp32", "tf32", "fp16", "bf16", "fp8", "int8"] {
        let peak = file["measured_peaks_tflops"][class].as_f64().unwrap();
        assert!((700.0..800.0).contains(&peak), "{class}: {peak}");
    }
    // A product that is faster than a kernel in registers disturbs nothing here.
    assert_eq!(file["disturbed_roofs"], json!(null));
}

#[test]
fn every_point_of_a_gpu_has_an_expected_time_and_few_tokens_have_their_rows() {
    for (capability, has_products) in
        [((7, 5), true), ((8, 6), false), ((9, 0), true), ((12, 0), true)]
    {
        let facts = Facts { capability, has_products, ..facts() };
        let records = measured(&facts);
        let found = kernels::devices::gpu(facts);
        let made = Calibrated::new(&records, &found, None).unwrap();
        // Few tokens take as long as one here, whose bytes they read.
        let packed = &made.held_out.packed;
        assert!(packed.len() > 2, "{capability:?} {has_products}");
        assert!(packed.iter().all(|error| error.abs() < 0.05), "{capability:?}: {packed:?}");
    }
}

/// Records of that GPU if its products are computed in waves of a tile, of which full ones reach 800 TFLOP/s, with weights of
/// four bytes 400.
fn in_waves(tile: WaveTile) -> Vec<BenchJson> {
    let mut records = measured(&facts());
    for record in &mut records {
        let Some(shape) = record.shape.filter(|_| record.kernel.starts_with("gemm")) else {
            continue;
        };
        if record.kernel == "gemm_packed" {
            continue;
        }
        let loss = tile.loss(shape.m as f64, shape.n as f64, 1.0, 132.0);
        let format = calc_core::catalog::format(&record.precision.as_ref().unwrap().weights);
        let width = format.unwrap().bits_per_element() / 8.0;
        record.bytes = width * (shape.m * shape.k + shape.n * shape.k) as f64
            + 4.0 * (shape.m * shape.n) as f64;
        let rate = 1600e12 / width.max(2.0);
        let time = (record.flops / rate * loss).max(record.bytes / 2e12) + 5e-6;
        record.time_s.median = time;
        record.flop_per_s = Some(record.flops / time);
    }
    records
}

#[test]
fn the_tile_of_a_gpu_is_found_and_tells_held_out_products_better_than_one_share() {
    for (rows, columns) in [(128, 128), (64, 128), (128, 256)] {
        let tile = WaveTile { rows, columns };
        let records = in_waves(tile);
        let calibrated = Calibrated::new(&records, &gpu(), None).unwrap();
        let found: Vec<Option<WaveTile>> = calibrated
            .rows
            .iter()
            .filter(|row| row.factors.tokens == Some(Tokens::Several))
            .map(|row| row.factors.tile)
            .collect();
        // Older programs have the row of one share.
        assert_eq!(found, [None, Some(tile)].repeat(Element::ALL.len()));
        let error = |own: OwnMeasurements| {
            let made = MeasuredRoofs::calibrated(calibrated.read, &records).unwrap();
            let made = device::file(&made, &gpu(), None).unwrap();
            assert_eq!(made["sm_count"], 132);
            let is_it = |it: &str| it.starts_with("gemm") && it != "gemm_packed";
            median_of(&judge::errors_by_files(&own, &made, &records, is_it))
        };
        let of_share = error(calibrated.own().for_older_programs());
        let of_waves = error(calibrated.own());
        assert!((of_waves - median_of(&calibrated.held_out.matrices)).abs() < 2e-3, "{of_waves}");
        assert!(of_waves < 0.02 && of_share > 0.05, "{tile:?}: {of_waves} and {of_share}");
    }
}

#[test]
fn a_processor_has_no_tile() {
    let calibrated = calibrate(&records(0.9, 50e9));
    assert!(calibrated.rows.iter().all(|row| row.factors.tile.is_none()));
    let is_in_waves =
        |(kernel, _): &(Kernel, Cache)| matches!(kernel, Kernel::Gemm(it) if is_of_waves(it));
    assert!(!points(&support()).unwrap().iter().any(is_in_waves));
    let waves = points(&gpu().support()).unwrap().iter().filter(|it| is_in_waves(it)).count();
    assert_eq!(waves, 6 * Element::ALL.len());
}
