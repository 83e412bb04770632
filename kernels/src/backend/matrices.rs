//! Products of matrices with both operands of one element type: types, sizes and cost.

use calc_core::catalog;
use calc_core::cost::gemm as cost_model;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::Bytes;

use super::{BackendKind, Cost};

/// Element type of both GEMM operands. Floats accumulate in FP32, integers in INT32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Element {
    /// FP32.
    Fp32,
    /// FP32 in memory, multiplied as TF32.
    Tf32,
    /// FP16; the result is rounded to FP16.
    Fp16,
    /// BF16; the result is rounded to BF16.
    Bf16,
    /// FP8 E4M3; the result is rounded to BF16.
    Fp8E4m3,
    /// INT8; the result is INT32.
    Int8,
}

impl Element {
    /// All element types, widest first.
    pub const ALL: [Self; 6] =
        [Self::Fp32, Self::Tf32, Self::Fp16, Self::Bf16, Self::Fp8E4m3, Self::Int8];

    /// Key of the format in the catalog.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8E4m3 => "fp8_e4m3",
            Self::Int8 => "int8",
        }
    }

    /// Key of the product in records.
    pub const fn kernel_key(self) -> &'static str {
        match self {
            Self::Fp32 => "gemm",
            Self::Tf32 => "gemm_tf32",
            Self::Fp16 => "gemm_fp16",
            Self::Bf16 => "gemm_bf16",
            Self::Fp8E4m3 => "gemm_fp8_e4m3",
            Self::Int8 => "gemm_int8",
        }
    }

    /// Class of the units that multiply it. A processor multiplies FP16 as FP32.
    pub const fn class(self, on: BackendKind) -> ComputeClass {
        match (self, on) {
            (Self::Fp32, _) | (Self::Fp16, BackendKind::Cpu) => ComputeClass::Fp32,
            (Self::Tf32, _) => ComputeClass::Tf32,
            (Self::Fp16, _) => ComputeClass::Fp16,
            (Self::Bf16, _) => ComputeClass::Bf16,
            (Self::Fp8E4m3, _) => ComputeClass::Fp8,
            (Self::Int8, _) => ComputeClass::Int8,
        }
    }

    /// Bytes per element.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp32 | Self::Tf32 => 4,
            Self::Fp16 | Self::Bf16 => 2,
            Self::Fp8E4m3 | Self::Int8 => 1,
        }
    }

    /// Bytes per element of the result.
    pub const fn result_bytes(self) -> u64 {
        match self {
            Self::Fp32 | Self::Tf32 | Self::Int8 => 4,
            Self::Fp16 | Self::Bf16 | Self::Fp8E4m3 => 2,
        }
    }

    /// The element type with a key.
    pub fn by_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|element| element.key() == key)
    }

    /// Format of the result: INT8 accumulates in 32 bits, which count as FP32.
    const fn result_key(self) -> &'static str {
        match self {
            Self::Fp32 | Self::Tf32 | Self::Int8 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 | Self::Fp8E4m3 => "bf16",
        }
    }
}

/// GEMM problem: Y = X·Wᵀ with X of M × K, W of N × K.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmShape {
    /// Element type of X and W.
    pub element: Element,
    /// M: tokens, rows of X.
    pub m: u64,
    /// N: outputs, rows of W.
    pub n: u64,
    /// K: inputs, columns of X and W.
    pub k: u64,
}

impl GemmShape {
    /// Largest K of INT8, whose sums fit into 32 bits with an offset of 128, which some processors add.
    pub const MOST_INT8_INPUTS: u64 = 65_536;

    /// Format of both operands.
    pub fn format(&self) -> &'static QuantFormat {
        format(self.element.key())
    }

    /// Format of the result.
    pub fn output_format(&self) -> &'static QuantFormat {
        format(self.element.result_key())
    }

    /// Bytes and FLOP of one call. Scales are not applied and not counted.
    pub fn cost(&self) -> Cost {
        let Self { m, n, k, element } = *self;
        let (input, output) = (self.format(), self.output_format());
        let cost = cost_model::gemm(
            cost_model::GemmShape { m, n, k },
            cost_model::GemmFormats { weights: input, input, output },
        );
        let weights = Bytes::new(n as f64 * k as f64 * element.bytes() as f64);
        Cost { bytes: weights + cost.traffic.activations, flops: cost.flops }
    }
}

/// A format of the catalog.
fn format(key: &str) -> &'static QuantFormat {
    catalog::format(key).expect("the catalog has the formats of all elements")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_by_hand() {
        // 2·2·40·8 operations; 2·8 inputs, 40·8 weights; 2·40 outputs, of INT8 of 4 bytes and of FP8 of 2.
        for (element, bytes) in [
            (Element::Fp32, 4.0 * 416.0),
            (Element::Tf32, 4.0 * 416.0),
            (Element::Fp16, 2.0 * 416.0),
            (Element::Bf16, 2.0 * 416.0),
            (Element::Fp8E4m3, 336.0 + 160.0),
            (Element::Int8, 336.0 + 320.0),
        ] {
            let cost = GemmShape { element, m: 2, n: 40, k: 8 }.cost();
            assert!((cost.flops.get() - 1280.0).abs() < 0.5);
            assert!((cost.bytes.get() - bytes).abs() < 0.5, "{element:?} {}", cost.bytes.get());
        }
    }

    #[test]
    fn every_element_has_formats_of_its_width() {
        for element in Element::ALL {
            let shape = GemmShape { element, m: 1, n: 1, k: 1 };
            let bits = |format: &QuantFormat| format.block_bits / format.block as f64;
            assert!((bits(shape.format()) - 8.0 * element.bytes() as f64).abs() < 0.1);
            let result = 8.0 * element.result_bytes() as f64;
            assert!((bits(shape.output_format()) - result).abs() < 0.1, "{element:?}");
            assert_eq!(Element::by_key(element.key()), Some(element));
        }
    }
}
