//! Rows of Q4_K and Q6_K with NEON, in quarters of 16 elements.

use std::arch::aarch64::{
    vandq_u8, vcvtq_f32_s32, vdupq_n_f32, vdupq_n_s8, vdupq_n_s32, vdupq_n_u8, vfmaq_f32,
    vmulq_f32, vorrq_u8, vreinterpretq_s8_u8, vshlq_u8, vshrq_n_u8, vsubq_s8,
};

use super::super::input::{Bytes, fours};
use super::super::walk::walk;
use super::{Sums, WIDTH, dot_bytes, load, load_codes, load_floats, load_ints, sdot};
use crate::pack::RowRef;
use crate::pack::kquant::{
    Q4_K_BYTES, Q4_K_CODES, Q6_K_BYTES, Q6_K_D, Q6_K_SCALES, Q6_K_UPPER, half_at, split,
};

#[target_feature(enable = "neon,dotprod")]
pub(super) fn add_q4_k<const M: usize>(row: &RowRef<'_>, x: [&[Bytes]; M], sums: &mut [Sums; M]) {
    let nibble = vdupq_n_u8(15);
    walk::<Q4_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let c = chunk.codes;
        let (scales, minima) = split(c);
        // The start value of an input is -128 times its sum.
        let (d, dmin) = (half_at(c, 0).to_f32(), half_at(c, 2).to_f32() / 128.0);
        for j in 0..4 {
            for quarter in 0..4 {
                let (part, half) = (2 * j + quarter / 2, quarter / 2);
                let both = load(&c[Q4_K_CODES + 32 * j + quarter % 2 * 16..]);
                let codes = if half == 0 { vandq_u8(both, nibble) } else { vshrq_n_u8::<4>(both) };
                let codes = vreinterpretq_s8_u8(codes);
                let scale = vdupq_n_f32(d * f32::from(scales[part]));
                let minimum = vdupq_n_f32(dmin * f32::from(minima[part]));
                for (x, sums) in x.iter().zip(&mut *sums) {
                    let x = &x[j];
                    let dots = sdot(vdupq_n_s32(0), codes, load_codes(&x.codes[16 * quarter..]));
                    let below = vcvtq_f32_s32(load_ints(&x.start[WIDTH * quarter..]));
                    let both = vmulq_f32(below, minimum);
                    let both = vfmaq_f32(both, vcvtq_f32_s32(dots), scale);
                    let input = load_floats(&x.scale[WIDTH * quarter..]);
                    sums[quarter] = vfmaq_f32(sums[quarter], both, input);
                }
            }
        }
    });
}

#[target_feature(enable = "neon,dotprod")]
pub(super) fn add_q6_k<const M: usize>(row: &RowRef<'_>, x: [&[Bytes]; M], sums: &mut [Sums; M]) {
    let (nibble, upper) = (vdupq_n_u8(15), vdupq_n_u8(0x30));
    walk::<Q6_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let c = chunk.codes;
        let d = half_at(c, Q6_K_D).to_f32();
        for j in 0..4 {
            for quarter in 0..4 {
                // Half n of the block has 128 elements; group g of it, 32 of them.
                let (n, g) = (j / 2, j % 2 * 2 + quarter / 2);
                let low = load(&c[64 * n + g % 2 * 32 + quarter % 2 * 16..]);
                let low = if g < 2 { vandq_u8(low, nibble) } else { vshrq_n_u8::<4>(low) };
                let high = load(&c[Q6_K_UPPER + 32 * n + quarter % 2 * 16..]);
                let shift = vdupq_n_s8([4, 2, 0, -2][g]);
                let codes = vorrq_u8(low, vandq_u8(vshlq_u8(high, shift), upper));
                let codes = vsubq_s8(vreinterpretq_s8_u8(codes), vdupq_n_s8(32));
                let scale =
                    vdupq_n_f32(d * f32::from(c[Q6_K_SCALES + 4 * j + quarter].cast_signed()));
                for (x, sums) in x.iter().zip(&mut *sums) {
                    let dots = dot_bytes(codes, &x[j], quarter);
                    sums[quarter] = vfmaq_f32(sums[quarter], dots, scale);
                }
            }
        }
    });
}
