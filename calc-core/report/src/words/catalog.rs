//! Names and units of what others published about a device.

use calc_core::catalog::devices::measured::{Ceiling, OtherFigure};
use calc_core::quant_format::ComputeClass;

use crate::verdict::class_name;

/// A measured ceiling and the unit in which its rate is published.
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

/// Which figure of a device it is, and who states it.
pub fn other_figure(row: &OtherFigure) -> String {
    format!("{}_{}", row.figure.key(), row.by)
}
