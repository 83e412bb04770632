//! Layouts with E2M1 elements: MXFP4 with E8M0 block scales, NVFP4 with E4M3 block scales and an FP32 scale of the tensor.

use super::int::{nibble_at, put_nibble};
use super::minifloat::{E2M1, E4M3, e8m0, e8m0_for};
use super::rounding::largest;
use super::{RowMut, RowRef};

const MXFP4_BLOCK: usize = 32;
const NVFP4_BLOCK: usize = 16;
/// E4M3 code of 0.125, which compressed-tensors stores in place of a scale of 0.
const NVFP4_EMPTY: u8 = 0x20;

/// Encodes MXFP4, even elements in the low nibble. Values beyond 6 steps saturate.
pub(super) fn encode_mxfp4(row: &[f32], out: &mut RowMut<'_>) {
    let stored = out.codes.chunks_mut(MXFP4_BLOCK / 2).zip(&mut *out.scales);
    for (values, (codes, stored_scale)) in row.chunks(MXFP4_BLOCK).zip(stored) {
        *stored_scale = e8m0_for(largest(values));
        codes.fill(0);
        let scale = e8m0(*stored_scale);
        for (j, value) in values.iter().enumerate() {
            put_nibble(codes, j, E2M1.encode(value / scale));
        }
    }
}

/// Decodes MXFP4.
pub(super) fn decode_mxfp4(stored: RowRef<'_>, row: &mut [f64]) {
    for (j, value) in row.iter_mut().enumerate() {
        let element = E2M1.decode(nibble_at(stored.codes, j));
        *value = f64::from(element) * f64::from(e8m0(stored.scales[j / MXFP4_BLOCK]));
    }
}

/// Scale of the tensor, a divisor: 448 · 6 ÷ the largest magnitude, so that the largest block has the largest scale.
pub(super) fn nvfp4_tensor_scale(largest: f32) -> f32 {
    let scale = 448.0 * 6.0 / largest.max(f32::MIN_POSITIVE);
    if scale.is_finite() { scale } else { 1.0 }
}

/// Encodes NVFP4, even elements in the low nibble.
pub(super) fn encode_nvfp4(tensor_scale: f32, row: &[f32], out: &mut RowMut<'_>) {
    let stored = out.codes.chunks_mut(NVFP4_BLOCK / 2).zip(&mut *out.scales);
    for (values, (codes, stored_scale)) in row.chunks(NVFP4_BLOCK).zip(stored) {
        let scale = E4M3.encode(largest(values) / 6.0 * tensor_scale);
        *stored_scale = if scale == 0 { NVFP4_EMPTY } else { scale };
        codes.fill(0);
        let scale = E4M3.decode(*stored_scale) / tensor_scale;
        for (j, value) in values.iter().enumerate() {
            put_nibble(codes, j, E2M1.encode(value / scale));
        }
    }
}

/// Decodes NVFP4.
pub(super) fn decode_nvfp4(tensor_scale: f32, stored: RowRef<'_>, row: &mut [f64]) {
    for (j, value) in row.iter_mut().enumerate() {
        let element = E2M1.decode(nibble_at(stored.codes, j));
        let scale = E4M3.decode(stored.scales[j / NVFP4_BLOCK]);
        *value = f64::from(element) * f64::from(scale) / f64::from(tensor_scale);
    }
}
