//! Layouts without blocks: FP32, FP16, BF16, and FP8 with a scale of the tensor.

use half::{bf16, f16};

use super::minifloat::Minifloat;

/// Encodes FP32, little-endian.
pub(super) fn encode_f32(row: &[f32], codes: &mut [u8]) {
    for (value, code) in row.iter().zip(codes.as_chunks_mut().0) {
        *code = value.to_le_bytes();
    }
}

/// Encodes FP16, little-endian.
pub(super) fn encode_f16(row: &[f32], codes: &mut [u8]) {
    for (value, code) in row.iter().zip(codes.as_chunks_mut().0) {
        *code = f16::from_f32(*value).to_le_bytes();
    }
}

/// Encodes BF16, little-endian.
pub(super) fn encode_bf16(row: &[f32], codes: &mut [u8]) {
    for (value, code) in row.iter().zip(codes.as_chunks_mut().0) {
        *code = bf16::from_f32(*value).to_le_bytes();
    }
}

/// Encodes FP8 of value ÷ scale.
pub(super) fn encode_f8(float: Minifloat, scale: f32, row: &[f32], codes: &mut [u8]) {
    for (value, code) in row.iter().zip(codes) {
        *code = float.encode(value / scale);
    }
}

/// Decodes FP32.
pub(super) fn decode_f32(codes: &[u8], row: &mut [f64]) {
    for (code, value) in codes.as_chunks().0.iter().zip(row) {
        *value = f64::from(f32::from_le_bytes(*code));
    }
}

/// Decodes FP16.
pub(super) fn decode_f16(codes: &[u8], row: &mut [f64]) {
    for (code, value) in codes.as_chunks().0.iter().zip(row) {
        *value = f16::from_le_bytes(*code).to_f64();
    }
}

/// Decodes BF16.
pub(super) fn decode_bf16(codes: &[u8], row: &mut [f64]) {
    for (code, value) in codes.as_chunks().0.iter().zip(row) {
        *value = bf16::from_le_bytes(*code).to_f64();
    }
}

/// Decodes FP8 · scale.
pub(super) fn decode_f8(float: Minifloat, scale: f32, codes: &[u8], row: &mut [f64]) {
    for (code, value) in codes.iter().zip(row) {
        *value = f64::from(float.decode(*code)) * f64::from(scale);
    }
}
