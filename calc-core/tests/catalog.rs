//! Consistency of the catalogs with independent facts: keys, official counts, clocks, fractions.

use std::collections::BTreeSet;

use calc_core::catalog::{self, devices, formats, models};
use calc_core::device::Device;
use calc_core::provenance::Provenance;
use calc_core::quant_format::ComputeClass as C;

#[test]
fn every_key_and_alias_names_one_row_and_is_found() {
    let mut seen = BTreeSet::new();
    for device in devices::all() {
        for key in device.aliases.iter().chain([&device.key]) {
            assert!(seen.insert(key.to_string()), "{key} twice");
            assert_eq!(catalog::device(key).expect("own key").key, device.key);
        }
    }
    for model in models::all() {
        assert!(seen.insert(model.key.into()), "{} twice", model.key);
        assert_eq!(catalog::model(&model.hf_id.to_uppercase()).expect("hub id").hf_id, model.hf_id);
    }
    for format in formats::FORMATS {
        assert!(seen.insert(format.key.into()), "{} twice", format.key);
    }
    for (alias, key) in
        [("b10", "gb10"), ("dgx_spark", "gb10"), ("h100", "h100_sxm"), ("DGX-Spark", "gb10")]
    {
        assert_eq!(catalog::device(alias).expect("alias").key, key);
    }
}

#[test]
fn short_names_of_formats_fit_a_table_and_are_unique() {
    let mut seen = BTreeSet::new();
    for format in formats::FORMATS {
        assert!(format.short_name.len() <= 22, "{}", format.short_name);
        assert!(seen.insert(format.short_name), "{} twice", format.short_name);
    }
}

#[test]
fn every_row_names_its_source() {
    for device in devices::all() {
        assert!(!device.source.is_empty(), "{}", device.key);
    }
    for row in &devices::measured::MEASURED {
        assert!(!row.source.is_empty() && catalog::device(row.device).is_ok(), "{row:?}");
    }
    for model in models::all() {
        assert!(!model.source.is_empty(), "{}", model.key);
    }
    for format in formats::FORMATS {
        assert!(!catalog::format_facts::facts(format).source.is_empty(), "{}", format.key);
    }
}

#[test]
fn parameters_computed_from_the_geometry_equal_the_official_count() {
    let mut checked = 0;
    for model in models::all() {
        assert_eq!(model.arch.check(), Ok(()), "{}", model.key);
        if let Some(official) = model.official_params {
            assert_eq!(
                model.arch.n_params(),
                official,
                "{} ({})",
                model.key,
                model.official_source
            );
            checked += 1;
        }
    }
    assert_eq!(checked, 55);
}

#[test]
fn with_their_towers_multimodal_models_have_the_published_totals() {
    // Totals of the weights on Hugging Face, recalled; `official_source` of the rows has the same.
    for (key, total) in [
        ("gemma-3-4b", 4_300_079_472),
        ("gemma-3-12b", 12_187_325_040),
        ("gemma-3-27b", 27_432_406_640),
        ("llama-4-scout", 108_641_793_536),
    ] {
        let arch = &catalog::model(key).expect("catalog key").arch;
        assert_eq!(arch.n_params() + arch.n_tower_params(), total, "{key}");
    }
}

#[test]
fn active_parameters_of_mixtures_are_the_published_ones() {
    // Rounded totals of the model cards, each with its own way to count embeddings: 12.9 B, 37 B, 3.3 B, 5.1 B.
    for (key, billions, tolerance) in [
        ("mixtral-8x7b", 12.9, 0.01),
        ("deepseek-v3", 37.0, 0.02),
        ("qwen3-30b-a3b", 3.3, 0.03),
        ("gpt-oss-120b", 5.1, 0.15),
    ] {
        let active = catalog::model(key).expect("catalog key").arch.n_active_params() as f64 / 1e9;
        assert!((active / billions - 1.0).abs() <= tolerance, "{key}: {active}");
    }
}

/// As [`per_clock`], of Turing.
fn per_clock_of_turing(geforce: bool) -> &'static [(C, f64)] {
    if geforce {
        &[(C::Fp32, 128.0), (C::Fp16, 512.0), (C::Int8, 2048.0), (C::Int4, 4096.0)]
    } else {
        &[(C::Fp32, 128.0), (C::Fp16, 1024.0), (C::Int8, 2048.0), (C::Int4, 4096.0)]
    }
}

/// FLOP per clock and SM of NVIDIA architectures, dense, with FP32 accumulation (GeForce halves it for FP16 and FP8).
/// From the architecture whitepapers, recalled.
fn per_clock(capability: &str, geforce: bool) -> &'static [(C, f64)] {
    match (capability, geforce) {
        ("5.2", _) => &[(C::Fp32, 256.0)],
        ("6.0", _) => &[(C::Fp64, 64.0), (C::Fp32, 128.0), (C::Fp16, 256.0)],
        ("6.1", _) => &[(C::Fp32, 256.0), (C::Int8, 1024.0)],
        ("5.3", _) => &[(C::Fp32, 256.0), (C::Fp16, 512.0)],
        ("7.0", _) => &[(C::Fp64, 64.0), (C::Fp32, 128.0), (C::Fp16, 1024.0)],
        ("7.2", _) => &[(C::Fp32, 128.0), (C::Fp16, 1024.0), (C::Int8, 2048.0)],
        ("7.5", _) => per_clock_of_turing(geforce),
        ("8.0", _) => &[
            (C::Fp64, 128.0),
            (C::Fp32, 128.0),
            (C::Tf32, 1024.0),
            (C::Fp16, 2048.0),
            (C::Bf16, 2048.0),
            (C::Int8, 4096.0),
            (C::Int4, 8192.0),
        ],
        ("8.6", true) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 256.0),
            (C::Fp16, 512.0),
            (C::Bf16, 512.0),
            (C::Int8, 2048.0),
            (C::Int4, 4096.0),
        ],
        ("8.6", false) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 512.0),
            (C::Fp16, 1024.0),
            (C::Bf16, 1024.0),
            (C::Int8, 2048.0),
            (C::Int4, 4096.0),
        ],
        ("8.7", _) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 1024.0),
            (C::Fp16, 2048.0),
            (C::Bf16, 2048.0),
            (C::Int8, 4096.0),
        ],
        ("8.9", true) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 256.0),
            (C::Fp16, 512.0),
            (C::Bf16, 512.0),
            (C::Fp8, 1024.0),
            (C::Int8, 2048.0),
            (C::Int4, 4096.0),
        ],
        ("8.9", false) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 512.0),
            (C::Fp16, 1024.0),
            (C::Bf16, 1024.0),
            (C::Fp8, 2048.0),
            (C::Int8, 2048.0),
            (C::Int4, 4096.0),
        ],
        ("9.0", _) => &[
            (C::Fp64, 256.0),
            (C::Fp32, 256.0),
            (C::Tf32, 2048.0),
            (C::Fp16, 4096.0),
            (C::Bf16, 4096.0),
            (C::Fp8, 8192.0),
            (C::Int8, 8192.0),
        ],
        ("10.0" | "11.0", _) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 4096.0),
            (C::Fp16, 8192.0),
            (C::Bf16, 8192.0),
            (C::Fp8, 16384.0),
            (C::Int8, 16384.0),
            (C::Fp6, 16384.0),
            (C::Fp4, 32768.0),
        ],
        ("12.0", true) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 256.0),
            (C::Fp16, 512.0),
            (C::Bf16, 512.0),
            (C::Fp8, 1024.0),
            (C::Int8, 2048.0),
            (C::Fp6, 1024.0),
            (C::Fp4, 4096.0),
        ],
        ("12.0", false) => &[
            (C::Fp32, 256.0),
            (C::Tf32, 512.0),
            (C::Fp16, 1024.0),
            (C::Bf16, 1024.0),
            (C::Fp8, 2048.0),
            (C::Int8, 2048.0),
            (C::Fp6, 2048.0),
            (C::Fp4, 4096.0),
        ],
        _ => &[],
    }
}

/// As [`per_clock`], of Turing without matrix units.
const WITHOUT_TENSOR: &[(C, f64)] = &[(C::Fp32, 128.0), (C::Fp16, 256.0), (C::Int8, 512.0)];

/// The matrix classes of the Ada architecture.
const HALVED: [C; 6] = [C::Tf32, C::Fp16, C::Bf16, C::Fp8, C::Int8, C::Int4];

/// Peaks that are datasheet figures and do not follow from the clock.
const EXCEPTIONS: [(&str, &[C]); 5] = [
    ("l20", &HALVED),
    ("l40", &HALVED),      // half of the L40S
    ("l40s", &[C::Int4]),  // the datasheet prints the same figure as for INT8
    ("b200", &[C::Fp32]),  // datasheet 75, at another clock than the tensor peaks
    ("gb200", &[C::Fp32]), // datasheet 80
];

/// Devices whose peaks refer to another clock than the catalog's; their rows explain them.
const UNCLOCKED: [&str; 4] = ["gb10", "b100", "b300", "gb300"];

/// Datasheets round peaks to three digits and clocks to 5 MHz.
const ROUNDING: f64 = 0.013;

fn peak_off(device: &Device, class: C, per_clock: f64) -> Option<f64> {
    let stated = device.peaks.get(class)?.value.get();
    let wide = matches!(class, C::Fp64 | C::Fp32);
    let clock = if wide { device.boost_clock } else { device.tensor_clock }?.value.get();
    Some(f64::from(device.sm_count?.value) * clock * per_clock / stated - 1.0)
}

#[test]
fn peaks_are_sm_times_clock_times_rate() {
    let mut checked = 0;
    for device in devices::all().filter(|device| !UNCLOCKED.contains(&&*device.key)) {
        let Some(capability) = device.compute_capability.as_deref() else { continue };
        let geforce = device.name.starts_with("GeForce");
        let rates = if device.name.starts_with("GeForce GTX 16") {
            WITHOUT_TENSOR
        } else {
            per_clock(capability, geforce)
        };
        for (class, rate) in rates {
            let excepted = EXCEPTIONS
                .iter()
                .any(|(key, classes)| *key == device.key && classes.contains(class));
            let Some(off) = peak_off(device, *class, *rate) else { continue };
            assert_eq!(
                off.abs() > ROUNDING,
                excepted,
                "{} {}: off by {off}",
                device.key,
                class.key()
            );
            checked += 1;
        }
    }
    assert!(checked >= 200, "only {checked} peaks were checked");
}

#[test]
fn a_sparse_peak_would_be_rejected() {
    let mut device = catalog::device("h100_sxm").expect("catalog key").clone();
    let dense = device.peaks.get(C::Fp16).expect("a peak");
    device.peaks = device.peaks.with(C::Fp16, calc_core::provenance::Fact::read(dense.value * 2.0));
    assert!(peak_off(&device, C::Fp16, 4096.0).expect("known").abs() > ROUNDING);
}

#[test]
fn formats_have_the_bits_of_their_layouts() {
    for (key, bits) in [
        ("nvfp4", 4.5),
        ("fp8_block128", 8.0 + 32.0 / 16_384.0),
        ("mxfp4", 4.25),
        ("int4_g128_sym", 4.125),
        ("int4_g128", 4.25),
        ("nf4", 4.5),
        ("nf4_dq", 4.126_953_125),
        ("gguf_q4_0", 4.5),
        ("gguf_q8_0", 8.5),
        ("gguf_q4_k", 4.5),
        ("gguf_q6_k", 6.5625),
        ("tf32", 32.0),
        ("bitnet_1.58", 1.58496),
    ] {
        let format = catalog::format(key).expect("catalog key");
        assert!(
            (format.bits_per_element() - bits).abs() < 1e-12,
            "{key}: {}",
            format.bits_per_element()
        );
    }
    assert!((formats::NF4_DQ.block_bits - 264.125).abs() < 1e-12);
    // NVFP4 and FP8 have one FP32 scale per tensor, INT8 one per output channel.
    assert!(
        (formats::NVFP4.stored_bytes(4096, 4096).get() - (4096.0 * 4096.0 * 0.5625 + 4.0)).abs()
            < 1e-6
    );
    assert!(
        (formats::INT8.stored_bytes(4096, 4096).get() - (4096.0 * 4096.0 + 4096.0 * 4.0)).abs()
            < 1e-6
    );
}

#[test]
fn a_mode_never_has_more_than_the_device() {
    for device in devices::all() {
        for mode in device.power_modes.iter() {
            let clock =
                mode.gpu_clock.zip(device.tensor_clock).map(|(mode, full)| mode / full.value);
            assert!(clock.is_none_or(|share| share <= 1.001), "{} {}", device.key, mode.name);
            let bandwidth = mode.bandwidth.map(|mode| mode / device.bandwidth.value);
            assert!(bandwidth.is_none_or(|share| share <= 1.001), "{} {}", device.key, mode.name);
        }
    }
}

#[test]
fn what_others_measured_is_no_datasheet() {
    let gb10 = catalog::device("gb10").expect("catalog key");
    for class in [C::Fp16, C::Bf16, C::Fp8] {
        let origin = gb10.peaks.get(class).map(|peak| peak.provenance);
        assert_eq!(origin, Some(Provenance::Reported), "{}", class.key());
    }
}

#[test]
fn sources_and_notes_of_devices_are_for_readers() {
    for device in devices::all() {
        let modes = device.power_modes.iter().map(|mode| &mode.notes);
        for text in modes.chain([&device.source, &device.notes]) {
            for word in ["(read", "read)", "recalled", "SEED", "seed ", "#", "()"] {
                assert!(!text.contains(word), "{}: {text}", device.key);
            }
        }
    }
}

#[test]
fn the_order_of_the_layers_is_known_for_every_model() {
    for model in catalog::models::all() {
        let sections = model.arch.sections().unwrap_or_else(|| panic!("{}", model.key));
        let layers: u64 = sections
            .iter()
            .map(|section| section.repeat * section.runs.iter().map(|run| run.count).sum::<u64>())
            .sum();
        assert_eq!(layers, model.arch.n_layers, "{}", model.key);
    }
}
