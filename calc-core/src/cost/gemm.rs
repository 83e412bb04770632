//! Matrix multiplications with weights. Derivation: `docs/theory/gemm.md`.

use crate::op::{OpCost, ProductShape, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Shape of `C[m,n] = A[m,k] · W[n,k]ᵀ`: m tokens, n outputs, k inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GemmShape {
    /// Number of tokens.
    pub m: u64,
    /// Number of outputs.
    pub n: u64,
    /// Number of inputs.
    pub k: u64,
}

impl GemmShape {
    /// The shape from which the expected time of the kernel follows.
    pub const fn product(&self, weights: &'static QuantFormat) -> ProductShape {
        ProductShape { rows: self.m as f64, outputs: self.n as f64, inputs: self.k as f64, weights }
    }
}

/// Formats of the three operands.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GemmFormats {
    pub weights: &'static QuantFormat,
    pub input: &'static QuantFormat,
    pub output: &'static QuantFormat,
}

/// Work and traffic of a matrix multiplication; with m = 1 it is a GEMV.
///
/// ```text
/// flops = 2 m n k
/// bytes = m k b_a + W(n, k) + m n b_o
/// ```
///
/// b_a, b_o: bytes per element of input and output; W: bytes of the weight as stored, including padding and scales.
///
/// ```
/// use calc_core::{catalog, cost::gemm::{gemm, GemmFormats, GemmShape}};
/// let fp16 = catalog::format("fp16").unwrap();
/// let int4 = catalog::format("int4_g128").unwrap();
/// let formats = GemmFormats { weights: int4, input: fp16, output: fp16 };
/// let cost = gemm(GemmShape { m: 1, n: 4096, k: 4096 }, formats);
/// // 4096 rows of 32 blocks of 68 bytes, and 2 * 4096 * 2 bytes of input and output.
/// assert_eq!(cost.traffic.total().get(), 8_929_280.0);
/// ```
pub fn gemm(shape: GemmShape, formats: GemmFormats) -> OpCost {
    let (m, n, k) = (shape.m as f64, shape.n as f64, shape.k as f64);
    OpCost {
        flops: Flops::new(2.0 * m * n * k),
        traffic: Traffic {
            weights: formats.weights.stored_bytes(shape.n, shape.k),
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(
                m * k * formats.input.row_bytes_per_element()
                    + m * n * formats.output.bytes_per_element(),
            ),
        },
    }
}
