//! Inputs that are quantized to 8 bits, and their products with weights of the same format.

use super::products::GemvVersion;
use super::{Argument, Call, NoCall, THREADS, WARP, WIDE, buffers, count, int};
use crate::backend::GemvShape;

/// Largest K of INT8: the sum of so many products of two codes fits 32 bits.
const MOST_INPUTS: u64 = (i32::MAX >> 14) as u64;

/// Rows of a block on tensor cores.
const ROWS: u32 = 32;

/// Formats to which inputs are quantized.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantized {
    /// Largest magnitude ÷ 127 per token.
    Int8,
    /// Largest magnitude ÷ 448 per token.
    Fp8E4m3,
}

impl Quantized {
    /// Name in kernels.
    const fn key(self) -> &'static str {
        match self {
            Self::Int8 => "int8",
            Self::Fp8E4m3 => "fp8_e4m3",
        }
    }
}

/// A product of weights in 8 bits with inputs in the same format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EightBitShape {
    /// Format of weights and inputs.
    pub format: Quantized,
    /// Tokens.
    pub m: u64,
    /// Outputs.
    pub n: u64,
    /// Inputs.
    pub k: u64,
}

impl EightBitShape {
    /// The best version that an architecture runs, if it has any: tensor cores from two tokens on.
    pub const fn version(self, capability: (u32, u32)) -> Option<GemvVersion> {
        match (self.format, capability) {
            (Quantized::Int8, (8.., _) | (7, 5..)) if self.m > 1 => Some(GemvVersion::TensorCores),
            (Quantized::Int8, (7.., _)) => Some(GemvVersion::Warp),
            (Quantized::Fp8E4m3, (9.., _) | (8, 9..)) => Some(GemvVersion::TensorCores),
            (Quantized::Int8 | Quantized::Fp8E4m3, _) => None,
        }
    }
}

/// Tolerance that the sums of tensor cores add to that of an output, by the sum of its magnitudes Σ|w|·|x|: those of E4M3 have 13 bits,
/// and each of its 64 products may be rounded to a bit of the largest one; the roundings of many such sums partly cancel.
pub fn rounding(format: Quantized, magnitude: f64) -> f64 {
    match format {
        Quantized::Int8 => 0.0,
        Quantized::Fp8E4m3 => magnitude / 4096.0,
    }
}

/// Product of weights with quantized inputs. Buffers: codes, scales of rows, which weights in FP8 lack, codes of the inputs, scales of
/// tokens, outputs; `tensor_scale` is that of weights in FP8, 1 for others.
///
/// # Errors
/// See [`NoCall`].
pub fn product(
    version: GemvVersion,
    shape: EightBitShape,
    tensor_scale: f32,
) -> Result<Call, NoCall> {
    let EightBitShape { format, m, n, k } = shape;
    if k == 0 || !k.is_multiple_of(16) {
        return Err(NoCall::Inputs { multiple: 16 });
    }
    if !(1..=GemvShape::MAX_TOKENS).contains(&m) {
        return Err(NoCall::Tokens);
    }
    if format == Quantized::Int8 && k > MOST_INPUTS {
        return Err(NoCall::TooLarge);
    }
    let numbers = [int(n)?, int(k)?, int(m)?];
    let rows = count(n)?;
    let mut arguments = buffers::<5>();
    match (version, format) {
        (GemvVersion::Warp, Quantized::Int8) => {
            arguments.extend(numbers.map(Argument::Int));
            Ok(Call {
                program: "quantize.cu",
                kernel: format!("gemv_w8a8_v2_m{}", m.next_power_of_two()),
                grid: [rows.div_ceil(THREADS / WARP), 1, 1],
                threads: THREADS,
                shared: 0,
                arguments,
            })
        }
        (GemvVersion::TensorCores, _) => {
            if format == Quantized::Fp8E4m3 {
                arguments[1] = Argument::Absent;
            }
            arguments.push(Argument::Float(tensor_scale));
            arguments.extend(numbers.map(Argument::Int));
            let width = 8 * count(m.div_ceil(8))?;
            Ok(Call {
                program: "gemv_8bit.cu",
                kernel: format!("gemv_8bit_v1_{}_m{width}", format.key()),
                grid: [rows.div_ceil(ROWS), 1, 1],
                threads: WIDE,
                shared: 4 * WIDE / WARP * ROWS * width,
                arguments,
            })
        }
        (GemvVersion::Thread, _) | (GemvVersion::Warp, Quantized::Fp8E4m3) => Err(NoCall::Format),
    }
}

/// Quantizes inputs in FP16. Buffers: inputs, codes, scales of tokens.
///
/// # Errors
/// See [`NoCall`].
pub fn quantize(format: Quantized, m: u64, k: u64) -> Result<Call, NoCall> {
    let inputs = int(k)?;
    let mut arguments = buffers::<3>();
    arguments.push(Argument::Int(inputs));
    Ok(Call {
        program: "quantize.cu",
        kernel: format!("quantize_{}_v1", format.key()),
        grid: [count(m)?, 1, 1],
        threads: WIDE,
        shared: 4 * WIDE / WARP,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn shape(m: u64, k: u64) -> EightBitShape {
        EightBitShape { format: Quantized::Int8, m, n: 40, k }
    }

    #[test]
    fn tensor_cores_multiply_two_tokens_or_more_where_they_have_the_format() {
        use GemvVersion::{TensorCores, Warp};
        for (m, capability, expected) in [
            (1, (8, 0), Some(Warp)),
            (2, (8, 0), Some(TensorCores)),
            (2, (7, 5), Some(TensorCores)),
            (2, (7, 2), Some(Warp)),
            (16, (12, 1), Some(TensorCores)),
            (16, (6, 1), None),
        ] {
            assert_eq!(shape(m, 64).version(capability), expected, "{m} {capability:?}");
        }
        let fp8 = EightBitShape { format: Quantized::Fp8E4m3, ..shape(1, 64) };
        for (capability, expected) in
            [((8, 6), None), ((8, 9), Some(TensorCores)), ((10, 0), Some(TensorCores))]
        {
            assert_eq!(fp8.version(capability), expected, "{capability:?}");
        }
    }

    #[test]
    fn problems_without_a_kernel_are_refused_with_the_rule() {
        let call = |shape| product(GemvVersion::TensorCores, shape, 1.0);
        assert_eq!(call(shape(3, 24)), Err(NoCall::Inputs { multiple: 16 }));
        assert_eq!(call(shape(17, 32)), Err(NoCall::Tokens));
        // 2^17 products of two codes of -128 would be 2^31.
        assert_eq!(call(shape(2, 1 << 17)), Err(NoCall::TooLarge));
        assert!(call(shape(2, (1 << 17) - 16)).is_ok());
        assert_eq!(product(GemvVersion::Thread, shape(2, 32), 1.0), Err(NoCall::Format));
        let fp8 = EightBitShape { format: Quantized::Fp8E4m3, ..shape(2, 1 << 17) };
        assert_eq!(product(GemvVersion::Warp, fp8, 1.0), Err(NoCall::Format));
        assert_eq!(call(fp8).unwrap().arguments[1], Argument::Absent);
        let found = call(shape(9, 64)).unwrap();
        assert_eq!((found.kernel.as_str(), found.grid), ("gemv_8bit_v1_int8_m16", [2, 1, 1]));
    }
}
