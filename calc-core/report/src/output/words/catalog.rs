//! Names and units of published figures of a device; the size of a format's GGUF file.

use calc_core::catalog;
use calc_core::catalog::devices::measured::{Ceiling, Figure, OtherFigure};
use calc_core::device::{Device, DeviceClass};
use calc_core::footprint::bits_per_weight;
use calc_core::model_arch::RecurrentKind;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, GgufFile, QuantFormat};
use calc_core::roofline::Roofs;

use crate::number_text as n;
use crate::output::verdict::class_name;

/// Kind of a recurrence in the field's words.
pub const fn recurrence(kind: RecurrentKind) -> &'static str {
    match kind {
        RecurrentKind::Mamba1 => "Mamba",
        RecurrentKind::Mamba2 => "Mamba-2",
        RecurrentKind::DeltaNet => "delta net",
        RecurrentKind::ShortConv => "short convolution",
    }
}

/// Name of a measured ceiling, and the unit of its published rate.
pub fn ceiling(ceiling: Ceiling) -> (String, &'static str) {
    let unit = |class| match class {
        ComputeClass::Int8 | ComputeClass::Int4 => "TOPS",
        ComputeClass::Fp64
        | ComputeClass::Fp32
        | ComputeClass::Tf32
        | ComputeClass::Fp16
        | ComputeClass::Bf16
        | ComputeClass::Fp8
        | ComputeClass::Fp6
        | ComputeClass::Fp4 => "TFLOPS",
    };
    match ceiling {
        Ceiling::Read(_) => ("DRAM read".to_owned(), "GB/s"),
        Ceiling::Copy(_) => ("DRAM copy".to_owned(), "GB/s"),
        Ceiling::Gemm(class, _) => (format!("{} matrix product", class_name(class)), unit(class)),
        Ceiling::Registers(class, _) => {
            (format!("{} in registers", class_name(class)), unit(class))
        }
        Ceiling::Attention(class, _) => (format!("{} attention", class_name(class)), unit(class)),
    }
}

/// Key of another figure of a device: figure and publisher, `bandwidth_aiconfigurator`.
pub fn other_figure(row: &OtherFigure) -> String {
    format!("{}_{}", row.figure.key(), row.by)
}

/// Another figure of a device in a sentence: `62.5 TFLOP/s in FP16 is published, too: if FP16 is halved as on GeForce.`
pub fn other_figure_text(row: &OtherFigure) -> String {
    let figure = match row.figure {
        Figure::Bandwidth(rate) => n::published_bandwidth(rate),
        Figure::Memory(bytes) => format!("{} of memory", n::bytes(bytes)),
        Figure::Peak(class, rate) => {
            format!("{} in {}", n::published_rate(rate, class), class_name(class))
        }
        Figure::SmCount(count) => format!("{count} SMs"),
    };
    let by = match row.by {
        "datasheet_2019" => "the datasheet of 2019",
        "geforce_ratio" => "an estimate, as if FP16 were halved as on GeForce",
        "other" => "other pages",
        "physical_gb" => "what is built in, of which software sees less",
        "spec_ratio_125" => "an estimate by rates of 1:2:4:8",
        "techpowerup" => "TechPowerUp's database",
        "wikipedia" => "Wikipedia",
        by => by,
    };
    format!("Another figure: {figure} ({by}).")
}

/// Name of a device's units.
pub fn units(device: &Device) -> &'static str {
    match (device.class, &*device.vendor) {
        (DeviceClass::Cpu, _) => "cores",
        (_, "Apple") => "GPU cores",
        (_, "AMD") => "compute units",
        (_, "Intel") if device.name.starts_with("Gaudi") => "tensor cores",
        (_, "Intel") => "Xe cores",
        (_, "NVIDIA") => "SMs",
        _ => "units",
    }
}

/// Model of the catalog's file sizes: llama.cpp publishes those of the same files.
pub const FILE_MODEL: &str = "llama-3.1-8b";

/// Bits per weight of the file of [`FILE_MODEL`] that a GGUF name means. A dense model has no MXFP4 file.
pub fn file_bits(format: &'static QuantFormat) -> Option<f64> {
    format.file.filter(|file| *file != GgufFile::Mxfp4Moe)?;
    let model = &catalog::model(FILE_MODEL).ok()?.arch;
    // The bytes of a file are the same on every device.
    let roofs = Roofs::new(catalog::devices::all().next()?, None).ok()?;
    let precision = PrecisionChoice::weights(format).resolve_model(model, &roofs);
    Some(bits_per_weight(model, &precision))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// llama.cpp tools/quantize/README.md at 311c2c9f (read), bits per weight of Llama-3.1-8B. It has no row for Q3_K_M:
    /// 3.9960 follows from its rules by hand.
    #[test]
    fn gguf_files_have_the_published_bits_per_weight() {
        for (name, bits) in [
            ("q2_k", 3.1593),
            ("q3_k_s", 3.6429),
            ("q3_k_m", 3.9960),
            ("q3_k_l", 4.2979),
            ("q4_k_s", 4.6672),
            ("q4_k_m", 4.8944),
            ("q5_k_s", 5.5704),
            ("q5_k_m", 5.7036),
            ("q6_k", 6.5633),
            ("q8_0", 8.5008),
            ("iq4_xs", 4.4597),
            ("iq4_nl", 4.6818),
        ] {
            let found = file_bits(catalog::format(name).expect("known")).expect("a file");
            assert!((found - bits).abs() < 5e-5, "{name}: {found}, published {bits}");
        }
    }
    use calc_core::catalog::devices::measured::{MEASURED, other_figures};

    #[test]
    fn other_figures_keep_their_published_names() {
        let names: Vec<String> = other_figures("b200").map(other_figure).collect();
        assert_eq!(
            names,
            ["bandwidth_aiconfigurator", "memory_physical_gb", "fp32_other", "fp64_other"]
        );
    }

    #[test]
    fn rates_come_back_as_they_were_published() {
        for row in &MEASURED {
            let value = row.ceiling.published();
            assert!(value.to_string().len() <= 6, "{}: {value}", row.device);
            assert!(!ceiling(row.ceiling).0.is_empty());
        }
    }
}
