//! GEMV rows with AVX2, FMA and F16C. This file is longer than 400 lines because it holds every layout for one instruction set.
//!
//! A chunk is processed in two halves of 32 bytes. Products of bytes are accumulated in 16 bits first, which hold two of the
//! largest: 2 · 128 · 127 and 4 · 24 · 127 are below 2¹⁵.
#![expect(unsafe_code, reason = "vector instructions")]

mod kquant;

use std::arch::x86_64::{
    __m128, __m128i, __m256, __m256i, _mm_add_ps, _mm_cvtepu8_epi16, _mm_cvtsi64_si128,
    _mm_loadu_si128, _mm_slli_epi16, _mm256_abs_epi8, _mm256_add_epi16, _mm256_add_epi32,
    _mm256_add_ps, _mm256_and_si256, _mm256_blendv_ps, _mm256_broadcastsi128_si256,
    _mm256_broadcastss_ps, _mm256_castps128_ps256, _mm256_castps256_ps128, _mm256_castsi256_ps,
    _mm256_castsi256_si128, _mm256_cvtepi8_epi16, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi16,
    _mm256_cvtepu16_epi32, _mm256_cvtph_ps, _mm256_extractf128_ps, _mm256_extracti128_si256,
    _mm256_fmadd_ps, _mm256_fnmadd_ps, _mm256_loadu_ps, _mm256_loadu_si256, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_mul_ps, _mm256_permutevar8x32_ps, _mm256_set_m128i,
    _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setr_epi32, _mm256_setzero_ps,
    _mm256_shuffle_epi8, _mm256_sign_epi8, _mm256_slli_epi16, _mm256_slli_epi32, _mm256_srli_epi16,
    _mm256_srli_epi32,
};

use super::input::{Bytes, Floats, Input, Nibbles, pairs};
use super::walk::walk;
use super::x86::{E2M1_TABLE, E4M3_BY_F16, bf16x4, e8m0x4, f16x4, word};
use crate::pack::{CodeKind, Layout, NF4, RowRef};

/// FP32 lanes of a vector.
const WIDTH: usize = 8;

/// Dot products of a row with M inputs, of floats in A accumulators each.
pub(super) fn row<const M: usize, const A: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&Input; M],
) -> [f32; M] {
    // SAFETY: the parent module calls this only with an `Isa` of this level or wider, so the processor has the features.
    unsafe { row_vectors::<M, A>(layout, row, x) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn row_vectors<const M: usize, const A: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&Input; M],
) -> [f32; M] {
    match layout.code_kind() {
        CodeKind::Floats => floats::<M, A>(layout, row, x.map(Input::floats)),
        CodeKind::Bytes => bytes(layout, row, x.map(Input::bytes)),
        CodeKind::Nibbles => nibbles(layout, row, x.map(Input::nibbles)),
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn floats<const M: usize, const A: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&[Floats]; M],
) -> [f32; M] {
    let mut sums = [[_mm256_setzero_ps(); A]; M];
    match layout {
        Layout::Fp32 => walk::<256, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..8 {
                let weights = _mm256_castsi256_ps(load(&chunk.codes[32 * i..]));
                add(&mut sums, weights, x, i);
            }
        }),
        Layout::Fp16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..8 {
                let weights = _mm256_cvtph_ps(load_half(&chunk.codes[16 * i..]));
                add(&mut sums, weights, x, i);
            }
        }),
        Layout::Bf16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..8 {
                let wide = _mm256_cvtepu16_epi32(load_half(&chunk.codes[16 * i..]));
                let weights = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide));
                add(&mut sums, weights, x, i);
            }
        }),
        Layout::Fp8E5m2 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..4 {
                let wide = _mm256_cvtepu8_epi16(load_half(&chunk.codes[16 * i..]));
                add_f16(&mut sums, _mm256_slli_epi16::<8>(wide), x, i);
            }
        }),
        Layout::Fp8E4m3 => {
            // Sign-extended and shifted by 7, all fields are where FP16 has them; bit 14, a copy of the sign, is masked off.
            let without = _mm256_set1_epi16(!0x4000);
            walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
                for i in 0..4 {
                    let wide = _mm256_cvtepi8_epi16(load_half(&chunk.codes[16 * i..]));
                    let moved = _mm256_and_si256(_mm256_slli_epi16::<7>(wide), without);
                    add_f16(&mut sums, moved, x, i);
                }
            });
        }
        Layout::Nf4 => {
            let tables = [load_floats(&NF4[..8]), load_floats(&NF4[8..])];
            walk::<64, 8, 0, _, M>(row, x.map(pairs), |chunk, x| {
                for half in 0..2 {
                    let weights = nf4_values(tables, load(&chunk.codes[32 * half..]));
                    let scale = fp32(*chunk.scales[4 * half..].first_chunk().expect("two scales"));
                    for (x, sum) in x.iter().zip(&mut sums) {
                        sum[half] = _mm256_fmadd_ps(dot_nf4(&weights, x, half), scale, sum[half]);
                    }
                }
            });
        }
        _ => unreachable!("the caller comes here with floats"),
    }
    let last = if layout == Layout::Fp8E4m3 { E4M3_BY_F16 } else { 1.0 };
    sums.map(|sums| total(together(sums)) * last)
}

/// Accumulates eight weights times input values 8 · i … 8 · i + 7 of every input.
#[target_feature(enable = "avx2,fma")]
fn add<const M: usize, const A: usize>(
    sums: &mut [[__m256; A]; M],
    weights: __m256,
    x: [&Floats; M],
    i: usize,
) {
    for (x, sum) in x.iter().zip(sums) {
        sum[i % A] = _mm256_fmadd_ps(weights, values(x, i), sum[i % A]);
    }
}

/// Sum of accumulators, in pairs.
#[target_feature(enable = "avx2")]
fn together<const A: usize>(mut sums: [__m256; A]) -> __m256 {
    let mut len = A;
    while len > 1 {
        len /= 2;
        for i in 0..len {
            sums[i] = _mm256_add_ps(sums[2 * i], sums[2 * i + 1]);
        }
    }
    sums[0]
}

/// Sums of eight products per lane.
#[target_feature(enable = "avx2,fma")]
fn dot_nf4(weights: &[__m256; 8], x: &[Floats; 2], half: usize) -> __m256 {
    let x = |i: usize| load_floats(&x[i / 4].0[16 * (i % 4) + WIDTH * half..]);
    let even = _mm256_mul_ps(weights[0], x(0));
    let odd = _mm256_mul_ps(weights[1], x(1));
    let even = _mm256_fmadd_ps(weights[2], x(2), even);
    let odd = _mm256_fmadd_ps(weights[3], x(3), odd);
    let even = _mm256_fmadd_ps(weights[4], x(4), even);
    let odd = _mm256_fmadd_ps(weights[5], x(5), odd);
    let even = _mm256_fmadd_ps(weights[6], x(6), even);
    let odd = _mm256_fmadd_ps(weights[7], x(7), odd);
    _mm256_add_ps(even, odd)
}

/// The eight NF4 values of every word.
#[target_feature(enable = "avx2")]
fn nf4_values(tables: [__m256; 2], codes: __m256i) -> [__m256; 8] {
    [
        nf4(tables, codes),
        nf4(tables, _mm256_srli_epi32::<4>(codes)),
        nf4(tables, _mm256_srli_epi32::<8>(codes)),
        nf4(tables, _mm256_srli_epi32::<12>(codes)),
        nf4(tables, _mm256_srli_epi32::<16>(codes)),
        nf4(tables, _mm256_srli_epi32::<20>(codes)),
        nf4(tables, _mm256_srli_epi32::<24>(codes)),
        nf4(tables, _mm256_srli_epi32::<28>(codes)),
    ]
}

/// NF4 values of the lowest 4 bits: three bits index a table, the fourth selects one of two tables.
#[target_feature(enable = "avx2")]
fn nf4([negative, positive]: [__m256; 2], codes: __m256i) -> __m256 {
    let negative = _mm256_permutevar8x32_ps(negative, codes);
    let positive = _mm256_permutevar8x32_ps(positive, codes);
    let fourth_bit_as_sign = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(codes));
    _mm256_blendv_ps(negative, positive, fourth_bit_as_sign)
}

/// Accumulates 16 FP16 weights times a quarter of a chunk of every input.
#[target_feature(enable = "avx2,fma,f16c")]
fn add_f16<const M: usize, const A: usize>(
    sums: &mut [[__m256; A]; M],
    weights: __m256i,
    x: [&Floats; M],
    quarter: usize,
) {
    let low = _mm256_cvtph_ps(_mm256_castsi256_si128(weights));
    let high = _mm256_cvtph_ps(_mm256_extracti128_si256::<1>(weights));
    add(sums, low, x, 2 * quarter);
    add(sums, high, x, 2 * quarter + 1);
}

#[target_feature(enable = "avx2,fma,f16c")]
fn bytes<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Bytes]; M]) -> [f32; M] {
    let mut sums = [[_mm256_setzero_ps(); 2]; M];
    match layout {
        Layout::Int8 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let codes = load(&chunk.codes[32 * half..]);
                for (x, sum) in x.iter().zip(&mut sums) {
                    sum[half] = _mm256_add_ps(dot_bytes(codes, x, half), sum[half]);
                }
            }
        }),
        Layout::Int8G128 => walk::<128, 2, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let scale = bf16(*chunk.scales);
            for half in 0..2 {
                let first = load(&chunk.codes[32 * half..]);
                let second = load(&chunk.codes[64 + 32 * half..]);
                for (x, sum) in x.iter().zip(&mut sums) {
                    let (first, second) =
                        (dot_bytes(first, &x[0], half), dot_bytes(second, &x[1], half));
                    sum[half] = _mm256_fmadd_ps(_mm256_add_ps(first, second), scale, sum[half]);
                }
            }
        }),
        Layout::GgufQ8_0 => walk::<68, 0, 0, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let block = &chunk.codes[34 * half..];
                let scale = f16x4([[block[0], block[1]], [0; 2], [0; 2], [0; 2]]);
                let (codes, scale) = (load(&block[2..]), _mm256_broadcastss_ps(scale));
                for (x, sum) in x.iter().zip(&mut sums) {
                    sum[half] = _mm256_fmadd_ps(dot_bytes(codes, x, half), scale, sum[half]);
                }
            }
        }),
        Layout::GgufQ4K => kquant::add_q4_k(row, x, &mut sums),
        Layout::GgufQ6K => kquant::add_q6_k(row, x, &mut sums),
        _ => unreachable!("the caller comes here with bytes"),
    }
    sums.map(|sums| total(together(sums)))
}

/// Exact sums of four products per lane, times the scales of the input.
#[target_feature(enable = "avx2,fma")]
fn dot_bytes(codes: __m256i, x: &Bytes, half: usize) -> __m256 {
    // `maddubs` takes unsigned times signed bytes: the weight's sign is moved to the input.
    let signed = _mm256_sign_epi8(load_codes(&x.codes[32 * half..]), codes);
    let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(codes), signed);
    let sums = _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    _mm256_mul_ps(sums, load_floats(&x.scale[WIDTH * half..]))
}

#[target_feature(enable = "avx2,fma,f16c")]
fn nibbles<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Nibbles]; M]) -> [f32; M] {
    let mut sums = [[_mm256_setzero_ps(); 2]; M];
    let table = _mm256_broadcastsi128_si256(load_half(&E2M1_TABLE));
    let places =
        [_mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3), _mm256_setr_epi32(4, 4, 5, 5, 6, 6, 7, 7)];
    match layout {
        Layout::Int4G128Sym => walk::<64, 2, 0, _, M>(row, x, |chunk, x| {
            let scale = bf16(*chunk.scales);
            for half in 0..2 {
                let codes = unpacked(load(&chunk.codes[32 * half..]));
                add_dots(&mut sums, codes, x, half, scale);
            }
        }),
        Layout::Int4G32Sym => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let codes = unpacked(load(&chunk.codes[32 * half..]));
                add_dots(&mut sums, codes, x, half, two_of(bf16x4(*chunk.scales), half));
            }
        }),
        Layout::Int4G128 => walk::<64, 2, 2, _, M>(row, x, |chunk, x| {
            let (scale, zero) = (bf16(*chunk.scales), bf16(*chunk.zeros));
            for half in 0..2 {
                let codes = unpacked(load(&chunk.codes[32 * half..]));
                add_shifted_dots(&mut sums, codes, x, half, (scale, zero));
            }
        }),
        Layout::Int4G32 => walk::<64, 8, 8, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let codes = unpacked(load(&chunk.codes[32 * half..]));
                let scale = two_of(bf16x4(*chunk.scales), half);
                let zero = two_of(bf16x4(*chunk.zeros), half);
                add_shifted_dots(&mut sums, codes, x, half, (scale, zero));
            }
        }),
        Layout::Mxfp4 => walk::<64, 4, 0, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let codes = looked_up(table, load(&chunk.codes[32 * half..]));
                add_dots(&mut sums, codes, x, half, two_of(e8m0x4(*chunk.scales), half));
            }
        }),
        Layout::Nvfp4 => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            let eight = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(word(*chunk.scales)));
            let eight = _mm256_cvtph_ps(_mm_slli_epi16::<7>(eight));
            for (half, places) in places.into_iter().enumerate() {
                let codes = looked_up(table, load(&chunk.codes[32 * half..]));
                add_dots(&mut sums, codes, x, half, _mm256_permutevar8x32_ps(eight, places));
            }
        }),
        Layout::GgufQ4_0 => walk::<72, 0, 0, _, M>(row, x, |chunk, x| {
            for half in 0..2 {
                let c = &chunk.codes[36 * half..];
                let codes = _mm256_set_m128i(load_half(&c[20..]), load_half(&c[2..]));
                let scales = two_of(f16x4([[c[0], c[1]], [c[18], c[19]], [0; 2], [0; 2]]), 0);
                add_dots(&mut sums, unpacked(codes), x, half, scales);
            }
        }),
        _ => unreachable!("the caller comes here with nibbles"),
    }
    let last = if layout == Layout::Nvfp4 { E4M3_BY_F16 } else { 1.0 };
    sums.map(|sums| total(together(sums)) * last)
}

/// Low and high nibbles, one per byte.
type Codes = [__m256i; 2];

/// Accumulates dot products with every input, times the scales of the weights.
#[target_feature(enable = "avx2,fma")]
fn add_dots<const M: usize>(
    sums: &mut [[__m256; 2]; M],
    codes: Codes,
    x: [&Nibbles; M],
    half: usize,
    scales: __m256,
) {
    for (x, sum) in x.iter().zip(sums) {
        sum[half] = _mm256_fmadd_ps(dot(codes, x, half), scales, sum[half]);
    }
}

/// As [`add_dots`], with zero points.
#[target_feature(enable = "avx2,fma")]
fn add_shifted_dots<const M: usize>(
    sums: &mut [[__m256; 2]; M],
    codes: Codes,
    x: [&Nibbles; M],
    half: usize,
    (scales, zeros): (__m256, __m256),
) {
    for (x, sum) in x.iter().zip(sums) {
        let shift = load_floats(&x.sum[WIDTH * half..]);
        let dots = _mm256_fnmadd_ps(zeros, shift, dot(codes, x, half));
        sum[half] = _mm256_fmadd_ps(dots, scales, sum[half]);
    }
}

#[target_feature(enable = "avx2")]
fn unpacked(codes: __m256i) -> Codes {
    let mask = _mm256_set1_epi8(15);
    [_mm256_and_si256(codes, mask), _mm256_and_si256(_mm256_srli_epi16::<4>(codes), mask)]
}

/// As [`unpacked`], with weights from a table.
#[target_feature(enable = "avx2")]
fn looked_up(table: __m256i, codes: __m256i) -> Codes {
    unpacked(codes).map(|codes| _mm256_shuffle_epi8(table, codes))
}

/// Exact sums of eight products per lane, times the scales of the input.
#[target_feature(enable = "avx2,fma")]
fn dot([low, high]: Codes, x: &Nibbles, half: usize) -> __m256 {
    let low = _mm256_maddubs_epi16(low, load_codes(&x.low[32 * half..]));
    let high = _mm256_maddubs_epi16(high, load_codes(&x.high[32 * half..]));
    let sums = _mm256_madd_epi16(_mm256_add_epi16(low, high), _mm256_set1_epi16(1));
    let sums = _mm256_add_epi32(sums, load_ints(&x.start[WIDTH * half..]));
    _mm256_mul_ps(_mm256_cvtepi32_ps(sums), load_floats(&x.scale[WIDTH * half..]))
}

/// The two of four scales that belong to a half, each for four lanes.
#[target_feature(enable = "avx2")]
fn two_of(scales: __m128, half: usize) -> __m256 {
    let places =
        [_mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1), _mm256_setr_epi32(2, 2, 2, 2, 3, 3, 3, 3)];
    _mm256_permutevar8x32_ps(_mm256_castps128_ps256(scales), places[half])
}

#[target_feature(enable = "avx2")]
fn fp32(bytes: [u8; 4]) -> __m256 {
    _mm256_set1_ps(f32::from_le_bytes(bytes))
}

#[target_feature(enable = "avx2")]
fn bf16(bytes: [u8; 2]) -> __m256 {
    _mm256_set1_ps(f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16))
}

#[target_feature(enable = "avx2")]
fn total(sums: __m256) -> f32 {
    let four = _mm256_extractf128_ps::<1>(sums);
    let four = _mm_add_ps(four, _mm256_castps256_ps128(sums));
    // SAFETY: the vector has the size and alignment needs of the array.
    let four: [f32; 4] = unsafe { std::mem::transmute(four) };
    (four[0] + four[1]) + (four[2] + four[3])
}

/// 32 bytes from the start of a slice.
#[target_feature(enable = "avx2")]
fn load(bytes: &[u8]) -> __m256i {
    assert!(bytes.len() >= 32);
    // SAFETY: there are 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// 16 bytes from the start of a slice.
#[target_feature(enable = "avx2")]
fn load_half(bytes: &[u8]) -> __m128i {
    assert!(bytes.len() >= 16);
    // SAFETY: there are 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn load_codes(codes: &[i8]) -> __m256i {
    assert!(codes.len() >= 32);
    // SAFETY: there are 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(codes.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn load_ints(ints: &[i32]) -> __m256i {
    assert!(ints.len() >= WIDTH);
    // SAFETY: there are eight numbers of 4 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(ints.as_ptr().cast()) }
}

#[target_feature(enable = "avx2")]
fn load_floats(floats: &[f32]) -> __m256 {
    assert!(floats.len() >= WIDTH);
    // SAFETY: there are eight numbers, and the load needs no alignment.
    unsafe { _mm256_loadu_ps(floats.as_ptr()) }
}

/// Input values 8 · i … 8 · i + 7 of a chunk.
#[target_feature(enable = "avx2")]
fn values(x: &Floats, i: usize) -> __m256 {
    load_floats(&x.0[WIDTH * i..])
}
