//! The input vector as kernels read it: FP32, or quantized to INT8 in blocks of 32 for integer dot products.
//!
//! Integer and E2M1 weights use a quantized input, as in llama.cpp and every W8A8 scheme: products of bytes are exact, and
//! one instruction computes four of them. The reference multiplies by the same quantized input, so that a comparison judges
//! the kernel and not the quantization.

use crate::pack::Layout;

/// Elements of the input that share a scale.
pub const BLOCK: usize = 32;
/// Largest magnitude of a code. −128 is not used, so that a code can be negated.
const MAX_CODE: f32 = 127.0;

/// Codes and scale of one block. A short block is padded with zeros.
///
/// The scale is the largest magnitude ÷ 127 in FP32 (GGUF's own Q8_0 rounds it to FP16).
/// Codes round to nearest, ties to even.
pub fn quantize_block(values: &[f32]) -> ([i8; BLOCK], f32) {
    let largest = values.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / MAX_CODE;
    let mut codes = [0; BLOCK];
    if scale < f32::MIN_POSITIVE {
        return (codes, 0.0);
    }
    for (value, code) in values.iter().zip(&mut codes) {
        *code = nearest(value / scale);
    }
    (codes, scale)
}

#[expect(clippy::cast_possible_truncation, reason = "the value was clamped to the range")]
fn nearest(value: f32) -> i8 {
    value.round_ties_even().clamp(-MAX_CODE, MAX_CODE) as i8
}

/// The input as kernels of a layout read it, exact in f64.
pub fn effective_input(layout: Layout, x: &[f32]) -> Vec<f64> {
    if layout.quantizes_input() {
        x.chunks(BLOCK).flat_map(dequantized).collect()
    } else {
        x.iter().copied().map(f64::from).collect()
    }
}

fn dequantized(values: &[f32]) -> Vec<f64> {
    let (codes, scale) = quantize_block(values);
    codes[..values.len()].iter().map(|code| f64::from(*code) * f64::from(scale)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantized_input_is_within_half_a_step() {
        let x: Vec<f32> = (0..100_u8).map(|i| f32::from(i) * 0.37 - 11.0).collect();
        let read = effective_input(Layout::GgufQ4_0, &x);
        assert_eq!(read.len(), x.len());
        for (block, read) in x.chunks(BLOCK).zip(read.chunks(BLOCK)) {
            let step = f64::from(quantize_block(block).1);
            for (value, read) in block.iter().zip(read) {
                assert!((f64::from(*value) - read).abs() <= step * 0.500_001);
            }
        }
    }

    #[test]
    fn zeros_and_what_vanishes_become_zeros() {
        for value in [0.0, 1e-45, 1e-38] {
            assert_eq!(quantize_block(&[value; 7]), ([0; BLOCK], 0.0));
        }
    }
}
