//! GEMV rows with NEON and `sdot`. This file is longer than 400 lines because it holds every layout for one instruction set.
//!
//! A chunk of codes is processed in four quarters of 16 bytes. Stable Rust has no intrinsics for `sdot` and for FP16
//! conversion, so both are inline assembly of one instruction.
#![expect(unsafe_code, reason = "vector instructions")]

mod kquant;

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int16x8_t, int32x4_t, uint8x16_t, uint16x8_t, vaddq_f32, vaddq_u32,
    vaddvq_f32, vandq_s16, vandq_u8, vandq_u32, vcvtq_f32_s32, vdupq_n_f32, vdupq_n_s16,
    vdupq_n_s32, vdupq_n_u8, vdupq_n_u32, vfmaq_f32, vfmsq_f32, vget_high_s8, vget_low_s8,
    vget_low_u16, vld1_u8, vld1q_f32, vld1q_s8, vld1q_s32, vld1q_u8, vld1q_u8_x4, vmaxq_u32,
    vmovl_s8, vmovl_u8, vmulq_f32, vmulq_n_u32, vqtbl1q_s8, vqtbl4q_u8, vreinterpretq_f32_u8,
    vreinterpretq_f32_u32, vreinterpretq_u8_u32, vreinterpretq_u16_s16, vreinterpretq_u16_u8,
    vreinterpretq_u32_u8, vshll_high_n_u16, vshll_n_u16, vshlq_n_s16, vshlq_n_u16, vshlq_n_u32,
    vshlq_u32, vshrq_n_u8, vzip1q_f32, vzip1q_u8, vzip2q_f32, vzip2q_u8,
};
use std::arch::asm;

use super::input::{Bytes, Floats, Input, Nibbles, pairs};
use super::portable::{E2M1_TWICE, INT4, UNSIGNED};
use super::walk::walk;
use crate::pack::{CodeKind, Layout, NF4, RowRef};

/// Factor from E4M3 bits in FP16's exponent and mantissa to their value: the biases differ by 8.
const E4M3_BY_F16: f32 = 256.0;
/// FP32 lanes of a vector.
const WIDTH: usize = 4;

/// Accumulators of one input.
type Sums = [float32x4_t; 4];

/// Dot products of a row with M inputs.
pub(super) fn row<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&Input; M]) -> [f32; M] {
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has the features.
    unsafe { row_vectors(layout, row, x) }
}

#[target_feature(enable = "neon,dotprod")]
fn row_vectors<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&Input; M]) -> [f32; M] {
    let mut sums = [[vdupq_n_f32(0.0); 4]; M];
    match layout.code_kind() {
        CodeKind::Floats => floats(layout, row, x.map(Input::floats), &mut sums),
        CodeKind::Bytes => bytes(layout, row, x.map(Input::bytes), &mut sums),
        CodeKind::Nibbles => nibbles(layout, row, x.map(Input::nibbles), &mut sums),
    }
    let last = match layout {
        Layout::Fp8E4m3 | Layout::Nvfp4 => E4M3_BY_F16,
        _ => 1.0,
    };
    sums.map(|[a, b, c, d]| vaddvq_f32(vaddq_f32(vaddq_f32(a, b), vaddq_f32(c, d))) * last)
}

#[target_feature(enable = "neon,dotprod")]
fn floats<const M: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&[Floats]; M],
    sums: &mut [Sums; M],
) {
    match layout {
        Layout::Fp32 => walk::<256, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..16 {
                let weights = vreinterpretq_f32_u8(load(&chunk.codes[16 * i..]));
                add(sums, weights, x, i);
            }
        }),
        Layout::Fp16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..8 {
                add_f16(sums, load_words(&chunk.codes[16 * i..]), x, i);
            }
        }),
        Layout::Bf16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..8 {
                let words = load_words(&chunk.codes[16 * i..]);
                let low = vshll_n_u16::<16>(vget_low_u16(words));
                let high = vshll_high_n_u16::<16>(words);
                add(sums, vreinterpretq_f32_u32(low), x, 2 * i);
                add(sums, vreinterpretq_f32_u32(high), x, 2 * i + 1);
            }
        }),
        Layout::Fp8E5m2 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            let zero = vdupq_n_u8(0);

            for i in 0..4 {
                // E5M2 is the upper byte of an FP16 value.
                let codes = load(&chunk.codes[16 * i..]);
                add_f16(sums, vreinterpretq_u16_u8(vzip1q_u8(zero, codes)), x, 2 * i);
                add_f16(sums, vreinterpretq_u16_u8(vzip2q_u8(zero, codes)), x, 2 * i + 1);
            }
        }),
        Layout::Fp8E4m3 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..4 {
                let codes = load_signed(&chunk.codes[16 * i..]);
                add_f16(sums, e4m3(vmovl_s8(vget_low_s8(codes))), x, 2 * i);
                add_f16(sums, e4m3(vmovl_s8(vget_high_s8(codes))), x, 2 * i + 1);
            }
        }),
        Layout::Nf4 => walk::<64, 8, 0, _, M>(row, x.map(pairs), |chunk, x| {
            for quarter in 0..4 {
                let weights = nf4_values(load(&chunk.codes[16 * quarter..]));
                let scale = chunk.scales[quarter / 2 * 4..].first_chunk().expect("two scales");
                let scale = vdupq_n_f32(f32::from_le_bytes(*scale));
                for (x, sums) in x.iter().zip(&mut *sums) {
                    let products = dot_nf4(&weights, x, quarter);
                    sums[quarter] = vfmaq_f32(sums[quarter], products, scale);
                }
            }
        }),
        _ => unreachable!("the caller comes here with floats"),
    }
}

/// Accumulates products with input values 4 · i … 4 · i + 3 of a chunk of every input.
#[target_feature(enable = "neon,dotprod")]
fn add<const M: usize>(sums: &mut [Sums; M], weights: float32x4_t, x: [&Floats; M], i: usize) {
    for (x, sums) in x.iter().zip(sums) {
        sums[i % 4] = vfmaq_f32(sums[i % 4], weights, values(x, i));
    }
}

/// Accumulates eight FP16 weights, beginning with input value 8 · i.
#[target_feature(enable = "neon,dotprod")]
fn add_f16<const M: usize>(sums: &mut [Sums; M], weights: uint16x8_t, x: [&Floats; M], i: usize) {
    add(sums, f16_low(weights), x, 2 * i);
    add(sums, f16_high(weights), x, 2 * i + 1);
}

/// Sign-extended and shifted by 7, all fields are where FP16 has them; bit 14, a copy of the sign, is masked off.
#[target_feature(enable = "neon,dotprod")]
fn e4m3(wide: int16x8_t) -> uint16x8_t {
    vreinterpretq_u16_s16(vandq_s16(vshlq_n_s16::<7>(wide), vdupq_n_s16(!0x4000)))
}

/// The eight NF4 values of every word.
#[target_feature(enable = "neon,dotprod")]
fn nf4_values(codes: uint8x16_t) -> [float32x4_t; 8] {
    // SAFETY: the table has 64 bytes.
    let table = unsafe { vld1q_u8_x4(NF4.as_ptr().cast()) };
    let words = vreinterpretq_u32_u8(codes);
    let mut values = [vdupq_n_f32(0.0); 8];
    for (nibble, values) in (0..8).zip(&mut values) {
        let code = vandq_u32(vshlq_u32(words, vdupq_n_s32(-4 * nibble)), vdupq_n_u32(15));
        // Indices of the four bytes of an FP32 value.
        let places = vaddq_u32(vmulq_n_u32(code, 0x0404_0404), vdupq_n_u32(0x0302_0100));
        *values = vreinterpretq_f32_u8(vqtbl4q_u8(table, vreinterpretq_u8_u32(places)));
    }
    values
}

/// Sums of eight products per lane: one nibble of every word after the other.
#[target_feature(enable = "neon,dotprod")]
fn dot_nf4(weights: &[float32x4_t; 8], x: &[Floats; 2], quarter: usize) -> float32x4_t {
    let mut sum = vdupq_n_f32(0.0);
    for (nibble, weights) in weights.iter().enumerate() {
        let x = load_floats(&x[nibble / 4].0[16 * (nibble % 4) + WIDTH * quarter..]);
        sum = vfmaq_f32(sum, *weights, x);
    }
    sum
}

#[target_feature(enable = "neon,dotprod")]
fn bytes<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Bytes]; M], sums: &mut [Sums; M]) {
    match layout {
        Layout::Int8 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            for quarter in 0..4 {
                let codes = load_signed(&chunk.codes[16 * quarter..]);
                for (x, sums) in x.iter().zip(&mut *sums) {
                    sums[quarter] = vaddq_f32(sums[quarter], dot_bytes(codes, x, quarter));
                }
            }
        }),
        Layout::Int8G128 => walk::<128, 2, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let scale = vdupq_n_f32(bf16(*chunk.scales));
            for quarter in 0..4 {
                let first = load_signed(&chunk.codes[16 * quarter..]);
                let second = load_signed(&chunk.codes[64 + 16 * quarter..]);
                for (x, sums) in x.iter().zip(&mut *sums) {
                    let first = dot_bytes(first, &x[0], quarter);
                    let dots = vaddq_f32(first, dot_bytes(second, &x[1], quarter));
                    sums[quarter] = vfmaq_f32(sums[quarter], dots, scale);
                }
            }
        }),
        Layout::GgufQ8_0 => walk::<68, 0, 0, _, M>(row, x, |chunk, x| {
            for quarter in 0..4 {
                let block = &chunk.codes[quarter / 2 * 34..];
                let codes = load_signed(&block[2 + quarter % 2 * 16..]);
                let scale = vdupq_n_f32(f16([block[0], block[1]]));
                for (x, sums) in x.iter().zip(&mut *sums) {
                    sums[quarter] = vfmaq_f32(sums[quarter], dot_bytes(codes, x, quarter), scale);
                }
            }
        }),
        Layout::GgufQ4K => kquant::add_q4_k(row, x, sums),
        Layout::GgufQ6K => kquant::add_q6_k(row, x, sums),
        _ => unreachable!("the caller comes here with bytes"),
    }
}

/// Exact sums of four products per lane, times the scales of the input.
#[target_feature(enable = "neon,dotprod")]
fn dot_bytes(codes: int8x16_t, x: &Bytes, quarter: usize) -> float32x4_t {
    let dots = sdot(vdupq_n_s32(0), codes, load_codes(&x.codes[16 * quarter..]));
    vmulq_f32(vcvtq_f32_s32(dots), load_floats(&x.scale[WIDTH * quarter..]))
}

#[target_feature(enable = "neon,dotprod")]
fn nibbles<const M: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&[Nibbles]; M],
    sums: &mut [Sums; M],
) {
    match layout {
        Layout::Int4G128Sym => walk::<64, 2, 0, _, M>(row, x, |chunk, x| {
            add_dots(sums, &INT4, chunk.codes, x, [vdupq_n_f32(bf16(*chunk.scales)); 4]);
        }),
        Layout::Int4G32Sym => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            add_dots(sums, &INT4, chunk.codes, x, bf16s(*chunk.scales));
        }),
        Layout::Int4G128 => walk::<64, 2, 2, _, M>(row, x, |chunk, x| {
            let scales = [vdupq_n_f32(bf16(*chunk.scales)); 4];
            add_dots(sums, &UNSIGNED, chunk.codes, x, scales);
            subtract(sums, x, scales, [vdupq_n_f32(bf16(*chunk.zeros)); 4]);
        }),
        Layout::Int4G32 => walk::<64, 8, 8, _, M>(row, x, |chunk, x| {
            let scales = bf16s(*chunk.scales);
            add_dots(sums, &UNSIGNED, chunk.codes, x, scales);
            subtract(sums, x, scales, bf16s(*chunk.zeros));
        }),
        Layout::Mxfp4 => walk::<64, 4, 0, _, M>(row, x, |chunk, x| {
            add_dots(sums, &E2M1_TWICE, chunk.codes, x, e8m0s(*chunk.scales));
        }),
        Layout::Nvfp4 => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            add_dots(sums, &E2M1_TWICE, chunk.codes, x, e4m3s(*chunk.scales));
        }),
        Layout::GgufQ4_0 => walk::<72, 0, 0, _, M>(row, x, |chunk, x| {
            for quarter in 0..4 {
                let block = &chunk.codes[18 * quarter..];
                let codes = looked_up(&INT4, load(&block[2..]));
                add_quarter(sums, codes, x, quarter, vdupq_n_f32(f16([block[0], block[1]])));
            }
        }),
        _ => unreachable!("the caller comes here with nibbles"),
    }
}

/// Values of the low and the high nibbles.
type Weights = [int8x16_t; 2];

#[target_feature(enable = "neon,dotprod")]
fn looked_up(table: &[i8; 16], codes: uint8x16_t) -> Weights {
    let table = load_codes(table);
    let low = vqtbl1q_s8(table, vandq_u8(codes, vdupq_n_u8(15)));
    [low, vqtbl1q_s8(table, vshrq_n_u8::<4>(codes))]
}

/// Accumulates dot products of a quarter of a chunk with every input, times the scales of the weights.
#[target_feature(enable = "neon,dotprod")]
fn add_quarter<const M: usize>(
    sums: &mut [Sums; M],
    weights: Weights,
    x: [&Nibbles; M],
    quarter: usize,
    scales: float32x4_t,
) {
    for (x, sums) in x.iter().zip(sums) {
        sums[quarter] = vfmaq_f32(sums[quarter], dot_nibbles(weights, x, quarter), scales);
    }
}

#[target_feature(enable = "neon,dotprod")]
fn add_dots<const M: usize>(
    sums: &mut [Sums; M],
    table: &[i8; 16],
    codes: &[u8; 64],
    x: [&Nibbles; M],
    scales: [float32x4_t; 4],
) {
    for (quarter, scales) in scales.into_iter().enumerate() {
        let weights = looked_up(table, load(&codes[16 * quarter..]));
        add_quarter(sums, weights, x, quarter, scales);
    }
}

/// Subtracts the share of the zero points.
#[target_feature(enable = "neon,dotprod")]
fn subtract<const M: usize>(
    sums: &mut [Sums; M],
    x: [&Nibbles; M],
    scales: [float32x4_t; 4],
    zeros: [float32x4_t; 4],
) {
    for (x, sums) in x.iter().zip(sums) {
        for (quarter, (sum, (scale, zero))) in
            sums.iter_mut().zip(scales.into_iter().zip(zeros)).enumerate()
        {
            let offset = vmulq_f32(zero, load_floats(&x.sum[WIDTH * quarter..]));
            *sum = vfmsq_f32(*sum, offset, scale);
        }
    }
}

/// Exact sums of eight products per lane, times the scales of the input.
#[target_feature(enable = "neon,dotprod")]
fn dot_nibbles([low, high]: Weights, x: &Nibbles, quarter: usize) -> float32x4_t {
    let dots = sdot(vdupq_n_s32(0), low, load_codes(&x.low[16 * quarter..]));
    let dots = sdot(dots, high, load_codes(&x.high[16 * quarter..]));
    vmulq_f32(vcvtq_f32_s32(dots), load_floats(&x.scale[WIDTH * quarter..]))
}

/// `sdot`: adds the dot product of four bytes to each of four accumulators.
#[target_feature(enable = "neon,dotprod")]
fn sdot(sums: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    let mut sums = sums;
    // SAFETY: one instruction on registers, which the processor has.
    unsafe {
        asm!(
            "sdot {sums:v}.4s, {a:v}.16b, {b:v}.16b",
            sums = inout(vreg) sums, a = in(vreg) a, b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sums
}

/// Converts the lower four of eight FP16 values.
#[target_feature(enable = "neon,dotprod")]
fn f16_low(halves: uint16x8_t) -> float32x4_t {
    let values: float32x4_t;
    // SAFETY: one instruction on registers, of every aarch64.
    unsafe {
        asm!(
            "fcvtl {values:v}.4s, {halves:v}.4h",
            values = lateout(vreg) values, halves = in(vreg) halves,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    values
}

/// Converts the upper four of eight FP16 values.
#[target_feature(enable = "neon,dotprod")]
fn f16_high(halves: uint16x8_t) -> float32x4_t {
    let values: float32x4_t;
    // SAFETY: as above.
    unsafe {
        asm!(
            "fcvtl2 {values:v}.4s, {halves:v}.8h",
            values = lateout(vreg) values, halves = in(vreg) halves,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    values
}

fn bf16(bytes: [u8; 2]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)
}

fn f16(bytes: [u8; 2]) -> f32 {
    half::f16::from_le_bytes(bytes).to_f32()
}

#[target_feature(enable = "neon,dotprod")]
fn bf16s(bytes: [u8; 8]) -> [float32x4_t; 4] {
    let [a, b, c, d] = [0, 2, 4, 6].map(|at| bf16([bytes[at], bytes[at + 1]]));
    [vdupq_n_f32(a), vdupq_n_f32(b), vdupq_n_f32(c), vdupq_n_f32(d)]
}

/// Powers of two; the code 0 is the subnormal 2⁻¹²⁷.
#[target_feature(enable = "neon,dotprod")]
fn e8m0s(codes: [u8; 4]) -> [float32x4_t; 4] {
    codes.map(|code| {
        let bits = vshlq_n_u32::<23>(vdupq_n_u32(u32::from(code)));
        vreinterpretq_f32_u32(vmaxq_u32(bits, vdupq_n_u32(0x0040_0000)))
    })
}

/// Eight scales, each for two lanes.
#[target_feature(enable = "neon,dotprod")]
fn e4m3s(codes: [u8; 8]) -> [float32x4_t; 4] {
    // SAFETY: there are eight bytes.
    let wide = vmovl_u8(unsafe { vld1_u8(codes.as_ptr()) });
    let halves = vshlq_n_u16::<7>(wide);
    let (low, high) = (f16_low(halves), f16_high(halves));
    [vzip1q_f32(low, low), vzip2q_f32(low, low), vzip1q_f32(high, high), vzip2q_f32(high, high)]
}

/// 16 bytes from the start of a slice.
#[target_feature(enable = "neon,dotprod")]
fn load(bytes: &[u8]) -> uint8x16_t {
    assert!(bytes.len() >= 16);
    // SAFETY: there are 16 bytes.
    unsafe { vld1q_u8(bytes.as_ptr()) }
}

#[target_feature(enable = "neon,dotprod")]
fn load_signed(bytes: &[u8]) -> int8x16_t {
    assert!(bytes.len() >= 16);
    // SAFETY: there are 16 bytes.
    unsafe { vld1q_s8(bytes.as_ptr().cast()) }
}

/// Eight words of two bytes each.
#[target_feature(enable = "neon,dotprod")]
fn load_words(bytes: &[u8]) -> uint16x8_t {
    vreinterpretq_u16_u8(load(bytes))
}

#[target_feature(enable = "neon,dotprod")]
fn load_codes(codes: &[i8]) -> int8x16_t {
    assert!(codes.len() >= 16);
    // SAFETY: there are 16 bytes.
    unsafe { vld1q_s8(codes.as_ptr()) }
}

#[target_feature(enable = "neon,dotprod")]
fn load_floats(floats: &[f32]) -> float32x4_t {
    assert!(floats.len() >= WIDTH);
    // SAFETY: there are four numbers.
    unsafe { vld1q_f32(floats.as_ptr()) }
}

#[target_feature(enable = "neon,dotprod")]
fn load_ints(ints: &[i32]) -> int32x4_t {
    assert!(ints.len() >= WIDTH);
    // SAFETY: there are four numbers.
    unsafe { vld1q_s32(ints.as_ptr()) }
}

/// Input values 4 · i … 4 · i + 3 of a chunk.
#[target_feature(enable = "neon,dotprod")]
fn values(x: &Floats, i: usize) -> float32x4_t {
    load_floats(&x.0[WIDTH * i..])
}
