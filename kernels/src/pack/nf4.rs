//! NF4: sixteen quantiles of a normal distribution, scaled by the largest magnitude of a block of 64.
//!
//! The format of bitsandbytes, except that blocks begin with each row; in bitsandbytes they run across the whole tensor,
//! which is the same if 64 divides K.

use super::rounding::largest;
use super::{RowMut, RowRef};

/// Values of the sixteen codes (bitsandbytes 0.50.2, `_NF4_QUANT_TABLE`).
#[expect(
    clippy::excessive_precision,
    clippy::unreadable_literal,
    reason = "the numbers are as published"
)]
pub const NF4: [f32; 16] = [
    -1.0,
    -0.6961928009986877,
    -0.5250730514526367,
    -0.39491748809814453,
    -0.28444138169288635,
    -0.18477343022823334,
    -0.09105003625154495,
    0.0,
    0.07958029955625534,
    0.16093020141124725,
    0.24611230194568634,
    0.33791524171829224,
    0.44070982933044434,
    0.5626170039176941,
    0.7229568362236023,
    1.0,
];

/// Smallest block maximum that is used as a divisor, so that its reciprocal is finite.
const MIN_DIVISOR: f32 = 1e-38;

/// Nearest code; ties go to the lower one.
fn code(value: f32) -> u8 {
    let above = NF4.windows(2).filter(|pair| value > f32::midpoint(pair[0], pair[1])).count();
    u8::try_from(above).expect("there are fifteen bounds")
}

/// Encodes NF4: even elements in the high nibble, FP32 block maxima.
pub(super) fn encode(row: &[f32], out: &mut RowMut<'_>) {
    let stored = out.codes.chunks_mut(32).zip(out.scales.as_chunks_mut().0);
    for (values, (codes, stored_scale)) in row.chunks(64).zip(stored) {
        let largest = largest(values);
        *stored_scale = largest.to_le_bytes();
        let reciprocal = 1.0 / largest.max(MIN_DIVISOR);
        codes.fill(0);
        for j in 0..64 {
            let value = values.get(j).map_or(0.0, |value| (value * reciprocal).clamp(-1.0, 1.0));
            codes[j / 2] |= code(value) << (4 - j % 2 * 4);
        }
    }
}

/// Decodes what [`encode`] wrote.
pub(super) fn decode(stored: RowRef<'_>, row: &mut [f64]) {
    let scales = stored.scales.as_chunks().0;
    for (j, value) in row.iter_mut().enumerate() {
        let code = stored.codes[j / 2] >> (4 - j % 2 * 4) & 15;
        let scale = f32::from_le_bytes(scales[j / 64]);
        *value = f64::from(NF4[usize::from(code)]) * f64::from(scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantile_is_its_own_code_and_the_quantiles_rise() {
        for (index, value) in NF4.iter().enumerate() {
            assert_eq!(usize::from(code(*value)), index);
        }
        assert!(NF4.is_sorted());
        assert_eq!(code(f32::midpoint(NF4[3], NF4[4])), 3);
    }
}
