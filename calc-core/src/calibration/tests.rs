//! Precedence of measured and fitted factors.

use super::*;
use crate::catalog::{self, formats};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::estimate::{EstimateRequest, estimate};
use crate::op::{ProductShape, Shape};
use crate::precision::PrecisionChoice;
use crate::quant_format::ComputeClass;
use crate::roofline::{KernelTime, Roofline, Roofs};
use crate::workload::Workload;
use alloc::vec;

fn eta(calibration: &Calibration, device: &str, op: OpKind) -> f64 {
    factors(calibration, device, op, Setting::Alone).eta_memory
}

fn factors(calibration: &Calibration, device: &str, op: OpKind, setting: Setting) -> Factors {
    factors_of(calibration, device, op, setting, 1)
}

fn factors_of(
    calibration: &Calibration,
    device: &str,
    op: OpKind,
    setting: Setting,
    m: u32,
) -> Factors {
    factors_and_roof(calibration, device, op, setting, m).0
}

/// The factors of a product of `m` tokens with 4096² weights, and its times on the roofline.
fn factors_and_roof(
    calibration: &Calibration,
    device: &str,
    op: OpKind,
    setting: Setting,
    m: u32,
) -> (Factors, KernelTime) {
    let device = catalog::device(device).expect("catalog key");
    let product = ProductShape {
        rows: f64::from(m),
        outputs: 4096.0,
        inputs: 4096.0,
        weights: &formats::FP16,
    };
    let roofs = Roofs::new(device, None).expect("no mode");
    let path = roofs.compute_path(&formats::FP16, &formats::FP16).expect("a path");
    let roofline = Roofline { peak: path.peak, bandwidth: roofs.bandwidth };
    let shape = GemmShape { m: u64::from(m), n: 4096, k: 4096 };
    let half = &formats::FP16;
    let cost = gemm(shape, GemmFormats { weights: half, input: half, output: half });
    let kernel = Kernel {
        shape: &if op == OpKind::Norm { Shape::Stream } else { Shape::Product(product) },
        cost: &cost,
        path: &path,
        time: roofline.op_time(&cost),
        format: half,
        setting,
    };
    let tuned = calibration.tuned(device, None, None, (&formats::FP16, &formats::FP16));
    (tuned.factors(op, &kernel), kernel.time)
}

#[test]
fn the_most_specific_row_wins_and_a_row_of_another_device_never_does() {
    let row = |device: Option<&'static str>, op, eta_memory| FactorRow {
        device: device.map(Text::Borrowed),
        op,
        eta_memory: Some(eta_memory),
        ..FactorRow::OPEN
    };
    let calibration = Calibration {
        rows: List::Owned(vec![
            row(None, Some(OpKind::Gemm), 0.7),
            row(Some("gb10"), None, 0.85),
            row(Some("t4"), Some(OpKind::Gemm), 0.1),
        ]),
        ..Calibration::FITTED
    };
    let fitted = eta(&Calibration::FITTED, "l4", OpKind::Norm);
    for (device, op, expected) in
        [("gb10", OpKind::Gemm, 0.85), ("l4", OpKind::Qkv, 0.7), ("l4", OpKind::Norm, fitted)]
    {
        let eta = eta(&calibration, device, op);
        assert!((eta - expected).abs() < 1e-15, "{device} {op:?}: {eta}");
    }
}

#[test]
fn what_is_not_measured_stays_the_models_and_a_floor_counts_where_it_was_measured() {
    let row = FactorRow {
        device: Some(Text::Borrowed("l4")),
        format: Some(Text::Borrowed("fp16")),
        op: Some(OpKind::Gemm),
        eta_memory: Some(0.5),
        floor: Some(Seconds::new(9e-6)),
        interval: Some(Interval { low: 0.9, high: 1.1 }),
        ..FactorRow::OPEN
    };
    let own = Calibration { rows: List::Owned(vec![row]), ..Calibration::FITTED };
    let alone = Setting::Alone;
    let step = Setting::Step { batch: 1.0, prefill: false };
    for (setting, has_floor) in [(alone, true), (step, false)] {
        let model = factors(&Calibration::FITTED, "l4", OpKind::Gemm, setting);
        let found = factors(&own, "l4", OpKind::Gemm, setting);
        let floor = if has_floor { Seconds::new(9e-6) } else { model.floor };
        let expected = Factors {
            eta_memory: 0.5,
            floor,
            low: 0.9,
            high: 1.1,
            provenance: Provenance::Measured,
            ..model
        };
        assert_eq!(found, expected, "{setting:?}");
    }
}

#[test]
fn each_factor_is_of_the_most_specific_row_and_the_interval_of_what_takes_longest() {
    let interval = |low, high| Some(Interval { low, high });
    let all = FactorRow { op: Some(OpKind::Gemm), ..FactorRow::OPEN };
    let format = FactorRow {
        format: Some(Text::Borrowed("fp16")),
        eta_memory: Some(0.5),
        interval: interval(0.9, 1.1),
        ..all.clone()
    };
    let class = |class, eta| FactorRow {
        compute: Some(class),
        tokens: Some(Tokens::Several),
        eta_compute: Some(eta),
        extra_tokens: Some(16.0),
        interval: interval(0.7, 1.3),
        ..all.clone()
    };
    let one = FactorRow { tokens: Some(Tokens::One), eta_compute: Some(1.0), ..all.clone() };
    let rows = vec![class(ComputeClass::Int8, 0.1), class(ComputeClass::Fp16, 0.6), format, one];
    let own = Calibration { rows: List::Owned(rows), ..Calibration::FITTED };
    let alone = Setting::Alone;
    for (tokens, eta, low) in
        [(1, 1.0, 0.9), (2, 0.6 * 2.0 / 18.0, 0.9), (4096, 0.6 * 4096.0 / 4112.0, 0.7)]
    {
        let found = factors_of(&own, "l4", OpKind::Gemm, alone, tokens);
        let off = [found.eta_compute / eta - 1.0, found.eta_memory - 0.5, found.low - low];
        assert!(off.iter().all(|off| off.abs() < 1e-12), "{tokens}: {found:?}");
        assert_eq!(found.provenance, Provenance::Measured);
    }
    // Only arithmetic is measured, and memory takes longest: its factor, interval and provenance are the model's.
    let one = FactorRow { tokens: Some(Tokens::One), eta_compute: Some(1.0), ..all };
    let own = Calibration { rows: List::Owned(vec![one]), ..Calibration::FITTED };
    let found = factors_of(&own, "l4", OpKind::Gemm, alone, 1);
    let model = factors_of(&Calibration::FITTED, "l4", OpKind::Gemm, alone, 1);
    assert_eq!((found.provenance, found.low), (model.provenance, model.low));
}

#[test]
fn several_tokens_take_no_longer_than_one_after_the_other() {
    let rows = vec![
        FactorRow { op: Some(OpKind::Gemm), eta_memory: Some(0.8), ..FactorRow::OPEN },
        FactorRow {
            op: Some(OpKind::Gemm),
            tokens: Some(Tokens::Several),
            eta_compute: Some(0.5),
            extra_tokens: Some(1e5),
            ..FactorRow::OPEN
        },
    ];
    let own = Calibration { rows: List::Owned(rows), ..Calibration::FITTED };
    // By its shares alone two tokens would take 50 000 times as long as their arithmetic at half the peak.
    for tokens in [2, 3, 8, 16, 64, 4096] {
        let (factors, time) =
            factors_and_roof(&own, "epyc_9654", OpKind::Gemm, Setting::Alone, tokens);
        let reached = time.compute / factors.eta_compute;
        let one_by_one = time.memory / 0.8 * f64::from(tokens);
        assert!(reached <= one_by_one * (1.0 + 1e-9), "{tokens}: {reached:?} {one_by_one:?}");
        assert!(factors.eta_compute <= 1.0, "{tokens}: {factors:?}");
    }
}

#[test]
fn a_measured_ceiling_of_the_device_stands_in_for_its_class() {
    let orin = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
    let known = shares(orin).read.expect("measured");
    let scale = Calibration::FITTED.scales.iter();
    let scale = scale.clone().find(|scale| scale.device == "jetson_orin_nano_8gb_super");
    let reached = eta(&Calibration::FITTED, "jetson_orin_nano_8gb_super", OpKind::Gemm);
    let expected = known * scale.expect("in the fit").memory;
    assert!((reached / expected - 1.0).abs() < 0.02, "{reached} and {expected}");
}

/// B300 has the bandwidth of B200, and an INT8 peak of 153.5 TOP/s, which is that of its vector units.
#[test]
fn integer_kernels_do_not_limit_one_sequence_on_a_chip_without_int8_tensor_units() {
    for (engine, model) in [
        (Engine::Vllm, "llama-3.1-8b"),
        (Engine::LlamaCpp, "llama-3.1-8b"),
        (Engine::LlamaCpp, "llama-3.1-70b"),
    ] {
        let rate = |device| {
            let request = EstimateRequest {
                device: catalog::device(device).expect("catalog key"),
                mode: None,
                memory_limit: None,
                model: &catalog::model(model).expect("catalog key").arch,
                precision: PrecisionChoice::weights(&formats::GGUF_Q4_K),
                workload: Workload::new(1, 512),
                weight_size: None,
                draft: None,
                engine: Some(engine),
                calibration: &Calibration::FITTED,
                host: None,
                cards: None,
            };
            estimate(request).expect("an estimate").throughput
        };
        let (whole, cut) = (rate("b200"), rate("b300"));
        let slower = whole / cut;
        assert!(slower < 1.1, "{engine:?} {model}: {whole:?} on B200, {cut:?} on B300");
    }
}

#[test]
fn few_tokens_have_a_row_of_their_own_wherever_it_stands() {
    let row = |tokens, eta, extra| FactorRow {
        device: Some("t4".into()),
        format: Some("fp16".into()),
        op: Some(OpKind::Gemm),
        tokens: Some(tokens),
        eta_compute: Some(eta),
        extra_tokens: Some(extra),
        ..FactorRow::OPEN
    };
    // Matrices: 0.8 · M / (M + 4). Few tokens: 0.5 · M / (M + 2).
    let (matrices, few) = (row(Tokens::Several, 0.8, 4.0), row(Tokens::Few, 0.5, 2.0));
    for rows in [vec![matrices.clone(), few.clone()], vec![few, matrices]] {
        let calibration = Calibration { rows: List::Owned(rows), ..Calibration::FITTED };
        for (m, expected) in [
            (2, 0.25),
            (16, 0.5 * 16.0 / 18.0),
            (17, 0.8 * 17.0 / 21.0),
            (512, 0.8 * 512.0 / 516.0),
        ] {
            let found = factors_of(&calibration, "t4", OpKind::Gemm, Setting::Alone, m);
            assert!((found.eta_compute - expected).abs() < 1e-9, "{m}: {found:?}");
        }
        // One token has neither.
        let found = factors_of(&calibration, "t4", OpKind::Gemm, Setting::Alone, 1);
        let model = factors_of(&Calibration::FITTED, "t4", OpKind::Gemm, Setting::Alone, 1);
        assert!((found.eta_compute - model.eta_compute).abs() < 1e-12, "{found:?}");
    }
}

#[test]
fn waves_of_tiles_take_precedence_over_a_share_and_a_wave_that_is_partly_filled_costs_a_whole_one()
{
    let several = FactorRow {
        device: Some("t4".into()),
        op: Some(OpKind::Gemm),
        tokens: Some(Tokens::Several),
        ..FactorRow::OPEN
    };
    let share = FactorRow { eta_compute: Some(0.5), extra_tokens: Some(9.0), ..several.clone() };
    let tile = Some(WaveTile { rows: 128, columns: 128 });
    let waves = FactorRow { eta_compute: Some(0.8), tile, ..several };
    for rows in [vec![share.clone(), waves.clone()], vec![waves, share]] {
        let memory = FactorRow { eta_memory: Some(1e-3), ..FactorRow::OPEN };
        let rows = [rows, vec![memory]].concat();
        let calibration = Calibration { rows: List::Owned(rows), ..Calibration::FITTED };
        // 4096 outputs are 32 tiles, and a T4 has 40 multiprocessors.
        for (m, waves, tiles) in [(128, 1.0, 32.0), (256, 2.0, 64.0), (1280, 8.0, 320.0)] {
            let found = factors_of(&calibration, "t4", OpKind::Gemm, Setting::Alone, m);
            let expected = 0.8 * tiles / (waves * 40.0);
            assert!((found.eta_compute / expected - 1.0).abs() < 1e-12, "{m}: {found:?}");
        }
        // A tile at the edge costs a whole one, too.
        let edge = factors_of(&calibration, "t4", OpKind::Gemm, Setting::Alone, 129).eta_compute;
        assert!((edge / (0.8 * 32.0 * 129.0 / 128.0 / 80.0) - 1.0).abs() < 1e-12, "{edge}");
    }
}

#[test]
fn waves_take_no_longer_than_one_token_after_the_other() {
    let tile = Some(WaveTile { rows: 256, columns: 256 });
    let rows = vec![
        FactorRow { op: Some(OpKind::Gemm), eta_memory: Some(0.8), ..FactorRow::OPEN },
        FactorRow {
            op: Some(OpKind::Gemm),
            tokens: Some(Tokens::Several),
            eta_compute: Some(1e-3),
            tile,
            ..FactorRow::OPEN
        },
    ];
    let own = Calibration { rows: List::Owned(rows), ..Calibration::FITTED };
    let (factors, time) = factors_and_roof(&own, "t4", OpKind::Gemm, Setting::Alone, 2);
    let one_by_one = time.memory / 0.8 * 2.0;
    assert!((time.compute / factors.eta_compute / one_by_one - 1.0).abs() < 1e-9, "{factors:?}");
}

#[test]
fn waves_say_nothing_of_a_device_whose_multiprocessors_nobody_counted() {
    let row = FactorRow {
        op: Some(OpKind::Gemm),
        tokens: Some(Tokens::Several),
        eta_compute: Some(0.9),
        tile: Some(WaveTile { rows: 128, columns: 128 }),
        ..FactorRow::OPEN
    };
    let own = Calibration { rows: List::Owned(vec![row]), ..Calibration::FITTED };
    for (device, has_waves) in [("t4", true), ("gaudi2", false)] {
        let of = |calibration: &Calibration| {
            factors_of(calibration, device, OpKind::Gemm, Setting::Alone, 512).eta_compute
        };
        let is_model = (of(&own) - of(&Calibration::FITTED)).abs() < 1e-12;
        assert_eq!(!is_model, has_waves, "{device}");
    }
}
