//! Names and units of published figures of a device.

use calc_core::catalog::devices::measured::{Ceiling, OtherFigure};
use calc_core::quant_format::ComputeClass;

use crate::output::verdict::class_name;

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

#[cfg(test)]
mod tests {
    use super::*;
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
