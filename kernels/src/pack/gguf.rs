//! GGUF's Q8_0 and Q4_0: blocks of 32 that begin with an FP16 scale.
//!
//! As in ggml, codes are computed with the scale before its rounding to FP16.

use half::f16;

use super::rounding::{byte, half_away_from_zero, largest, toward_zero};

const BLOCK: usize = 32;

/// 1 ÷ scale, or 0 if that is not finite: such a block is stored as zeros.
fn reciprocal(scale: f32) -> f32 {
    let reciprocal = 1.0 / scale;
    if reciprocal.is_finite() { reciprocal } else { 0.0 }
}

/// One block of the row, padded with zeros.
fn padded(values: &[f32]) -> [f32; BLOCK] {
    let mut block = [0.0; BLOCK];
    block[..values.len()].copy_from_slice(values);
    block
}

/// Encodes Q8_0: scale = largest magnitude ÷ 127, ties away from zero.
pub(super) fn encode_q8_0(row: &[f32], codes: &mut [u8]) {
    for (values, stored) in row.chunks(BLOCK).zip(codes.as_chunks_mut::<34>().0) {
        let scale = largest(values) / 127.0;
        let half = f16::from_f32(scale);
        stored[..2].copy_from_slice(&half.to_le_bytes());
        let reciprocal = reciprocal(scale);
        for (value, code) in padded(values).iter().zip(&mut stored[2..]) {
            *code = byte(half_away_from_zero(value * reciprocal, -127, 127));
        }
    }
}

/// Decodes Q8_0.
pub(super) fn decode_q8_0(codes: &[u8], row: &mut [f64]) {
    for (stored, values) in codes.as_chunks::<34>().0.iter().zip(row.chunks_mut(BLOCK)) {
        let scale = f16::from_le_bytes([stored[0], stored[1]]).to_f64();
        for (code, value) in stored[2..].iter().zip(values) {
            *value = f64::from(code.cast_signed()) * scale;
        }
    }
}

/// The value with the largest magnitude, the first if several.
fn extreme(values: &[f32]) -> f32 {
    values.iter().fold(0.0, |most: f32, value| if value.abs() > most.abs() { *value } else { most })
}

/// Encodes Q4_0: scale = value with the largest magnitude ÷ −8.
pub(super) fn encode_q4_0(row: &[f32], codes: &mut [u8]) {
    for (values, stored) in row.chunks(BLOCK).zip(codes.as_chunks_mut::<18>().0) {
        let scale = extreme(values) / -8.0;
        let half = f16::from_f32(scale);
        stored[..2].copy_from_slice(&half.to_le_bytes());
        let reciprocal = reciprocal(scale);
        let quantum = |value: f32| byte(toward_zero(value * reciprocal + 8.5, 0, 15));
        let block = padded(values);
        let (low, high) = block.split_at(BLOCK / 2);
        for ((low, high), code) in low.iter().zip(high).zip(&mut stored[2..]) {
            *code = quantum(*low) | quantum(*high) << 4;
        }
    }
}

/// Decodes Q4_0.
pub(super) fn decode_q4_0(codes: &[u8], row: &mut [f64]) {
    for (stored, values) in codes.as_chunks::<18>().0.iter().zip(row.chunks_mut(BLOCK)) {
        let scale = f16::from_le_bytes([stored[0], stored[1]]).to_f64();
        for (j, value) in values.iter_mut().enumerate() {
            let nibble = stored[2 + j % 16] >> (j / 16 * 4) & 15;
            *value = (f64::from(nibble) - 8.0) * scale;
        }
    }
}
