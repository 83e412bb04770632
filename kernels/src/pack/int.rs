//! Integer layouts: INT8 with a scale per row or group, INT4 with a scale per group, symmetric or with a zero point.
//!
//! As in compressed-tensors, a symmetric scale is the largest magnitude over half of the range (127.5 or 7.5), it is rounded
//! to its stored type before codes are computed, and codes round to nearest, ties to even.

use half::bf16;

use super::rounding::{byte, half_to_even, largest};
use super::{RowMut, RowRef};

/// The BF16 value at an index of a plane.
fn bf16_at(plane: &[u8], index: usize) -> f64 {
    bf16::from_le_bytes([plane[2 * index], plane[2 * index + 1]]).to_f64()
}

/// value ÷ scale, or 0 if the scale is 0: such a block is too small for its scale to be representable.
fn steps(value: f32, scale: f32) -> f32 {
    if scale == 0.0 { 0.0 } else { value / scale }
}

/// Encodes INT8 with an FP32 scale per row.
pub(super) fn encode_int8(row: &[f32], out: &mut RowMut<'_>) {
    let scale = largest(row) / 127.5;
    out.scales.copy_from_slice(&scale.to_le_bytes());
    for (value, code) in row.iter().zip(&mut *out.codes) {
        *code = byte(half_to_even(steps(*value, scale), -128, 127));
    }
}

/// Decodes what [`encode_int8`] wrote.
pub(super) fn decode_int8(stored: RowRef<'_>, row: &mut [f64]) {
    let scale = stored.scales.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
    for (code, value) in stored.codes.iter().zip(row) {
        *value = f64::from(code.cast_signed()) * f64::from(scale);
    }
}

/// Encodes INT8 with a BF16 scale per group.
pub(super) fn encode_int8_groups(group: usize, row: &[f32], out: &mut RowMut<'_>) {
    let stored = out.codes.chunks_mut(group).zip(out.scales.as_chunks_mut().0);
    for (values, (codes, stored_scale)) in row.chunks(group).zip(stored) {
        let scale = bf16::from_f32(largest(values) / 127.5);
        *stored_scale = scale.to_le_bytes();
        for (value, code) in values.iter().zip(codes) {
            *code = byte(half_to_even(steps(*value, scale.to_f32()), -128, 127));
        }
    }
}

/// Decodes what [`encode_int8_groups`] wrote.
pub(super) fn decode_int8_groups(group: usize, stored: RowRef<'_>, row: &mut [f64]) {
    for (j, (code, value)) in stored.codes.iter().zip(row).enumerate() {
        *value = f64::from(code.cast_signed()) * bf16_at(stored.scales, j / group);
    }
}

/// The nibbles of a byte, low first.
fn nibbles(byte: u8) -> [u8; 2] {
    [byte & 15, byte >> 4]
}

/// Writes the nibble of an element: even elements low, odd ones high.
pub(super) fn put_nibble(codes: &mut [u8], element: usize, nibble: u8) {
    codes[element / 2] |= nibble << (element % 2 * 4);
}

/// Reads the nibble of an element.
pub(super) fn nibble_at(codes: &[u8], element: usize) -> u8 {
    nibbles(codes[element / 2])[element % 2]
}

/// Encodes symmetric INT4: nibble = q + 8. The last group is padded with zeros.
pub(super) fn encode_int4_sym(group: usize, row: &[f32], out: &mut RowMut<'_>) {
    let stored = out.codes.chunks_mut(group / 2).zip(out.scales.as_chunks_mut().0);
    for (values, (codes, stored_scale)) in row.chunks(group).zip(stored) {
        let scale = bf16::from_f32(largest(values) / 7.5);
        *stored_scale = scale.to_le_bytes();
        codes.fill(0);
        for j in 0..group {
            let value = values.get(j).copied().unwrap_or(0.0);
            put_nibble(codes, j, byte(half_to_even(steps(value, scale.to_f32()), -8, 7) + 8));
        }
    }
}

/// Decodes what [`encode_int4_sym`] wrote.
pub(super) fn decode_int4_sym(group: usize, stored: RowRef<'_>, row: &mut [f64]) {
    for (j, value) in row.iter_mut().enumerate() {
        let q = f64::from(nibble_at(stored.codes, j)) - 8.0;
        *value = q * bf16_at(stored.scales, j / group);
    }
}

/// Encodes INT4 with a zero point: w = (q − z)·s, where 0 is exact. The scale spans the values and 0 in 15 steps.
pub(super) fn encode_int4_zero(group: usize, row: &[f32], out: &mut RowMut<'_>) {
    let planes = out.scales.as_chunks_mut().0.iter_mut().zip(out.zeros.as_chunks_mut().0);
    for ((values, codes), (stored_scale, stored_zero)) in
        row.chunks(group).zip(out.codes.chunks_mut(group / 2)).zip(planes)
    {
        let low = values.iter().copied().fold(0.0, f32::min);
        let high = values.iter().copied().fold(0.0, f32::max);
        // Divided before the subtraction, so that no pair of finite values overflows.
        let scale = bf16::from_f32(high / 15.0 - low / 15.0);
        let zero = half_to_even(steps(-low, scale.to_f32()), 0, 15);
        *stored_scale = scale.to_le_bytes();
        *stored_zero = bf16::from_f32(f32::from(zero)).to_le_bytes();
        codes.fill(0);
        for j in 0..group {
            let value = values.get(j).copied().unwrap_or(0.0);
            let q = half_to_even(steps(value, scale.to_f32()) + f32::from(zero), 0, 15);
            put_nibble(codes, j, byte(q));
        }
    }
}

/// Decodes what [`encode_int4_zero`] wrote.
pub(super) fn decode_int4_zero(group: usize, stored: RowRef<'_>, row: &mut [f64]) {
    for (j, value) in row.iter_mut().enumerate() {
        let q = f64::from(nibble_at(stored.codes, j)) - bf16_at(stored.zeros, j / group);
        *value = q * bf16_at(stored.scales, j / group);
    }
}
