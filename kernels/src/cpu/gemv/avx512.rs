//! GEMV rows with AVX-512 and VNNI.
//!
//! A chunk is 64 bytes of codes or 64 elements. VNNI takes unsigned weights: an offset is added to the codes, and its share of
//! the sum is the accumulator's start value, so that integers stay exact.
#![expect(unsafe_code, reason = "vector instructions")]

mod kquant;

use std::arch::x86_64::{
    __m128, __m128i, __m256i, __m512, __m512i, _mm_castsi128_ps, _mm_cvtepu8_epi16,
    _mm_cvtsi64_si128, _mm_loadu_si128, _mm_slli_epi16, _mm256_cvtph_ps, _mm256_loadu_si256,
    _mm512_add_ps, _mm512_and_si512, _mm512_castps128_ps512, _mm512_castps256_ps512,
    _mm512_castsi256_si512, _mm512_castsi512_ps, _mm512_castsi512_si256, _mm512_cvtepi8_epi16,
    _mm512_cvtepi32_ps, _mm512_cvtepu8_epi16, _mm512_cvtepu16_epi32, _mm512_cvtph_ps,
    _mm512_dpbusd_epi32, _mm512_extracti64x4_epi64, _mm512_fmadd_ps, _mm512_fnmadd_ps,
    _mm512_inserti64x4, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_maskz_broadcast_i32x4,
    _mm512_mul_ps, _mm512_permutex2var_epi16, _mm512_permutexvar_epi16, _mm512_permutexvar_ps,
    _mm512_reduce_add_ps, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32,
    _mm512_setr_epi32, _mm512_setzero_ps, _mm512_shuffle_epi8, _mm512_slli_epi16,
    _mm512_slli_epi32, _mm512_srli_epi16, _mm512_srli_epi32, _mm512_xor_si512,
};

use super::input::{Bytes, CHUNK, Floats, Input, LANES, Nibbles, pairs};
use super::walk::walk;
use super::x86::{E2M1_TABLE, E4M3_BY_F16, bf16x4, e8m0x4, f16x4, word};
use crate::pack::{CodeKind, Layout, NF4, RowRef};

/// Dot products of a row with M inputs.
pub(super) fn row<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&Input; M]) -> [f32; M] {
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has the features.
    unsafe { row_vectors(layout, row, x) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn row_vectors<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&Input; M]) -> [f32; M] {
    match layout.code_kind() {
        CodeKind::Floats => floats(layout, row, x.map(Input::floats)),
        CodeKind::Bytes => bytes(layout, row, x.map(Input::bytes)),
        CodeKind::Nibbles => nibbles(layout, row, x.map(Input::nibbles)),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn floats<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Floats]; M]) -> [f32; M] {
    let mut sums = [[_mm512_setzero_ps(); 4]; M];
    match layout {
        Layout::Fp32 => walk::<256, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..4 {
                let weights = _mm512_castsi512_ps(load(&chunk.codes[64 * i..]));
                add_values(&mut sums, weights, x, i);
            }
        }),
        Layout::Fp16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..4 {
                let weights = _mm512_cvtph_ps(load_half(&chunk.codes[32 * i..]));
                add_values(&mut sums, weights, x, i);
            }
        }),
        Layout::Bf16 => walk::<128, 0, 0, _, M>(row, x, |chunk, x| {
            for i in 0..4 {
                let wide = _mm512_cvtepu16_epi32(load_half(&chunk.codes[32 * i..]));
                let weights = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide));
                add_values(&mut sums, weights, x, i);
            }
        }),
        Layout::Fp8E5m2 => walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
            for half in [0, 1] {
                let wide = _mm512_cvtepu8_epi16(load_half(&chunk.codes[32 * half..]));
                add_f16(&mut sums, _mm512_slli_epi16::<8>(wide), x, half);
            }
        }),
        Layout::Fp8E4m3 => {
            // Sign-extended and shifted by 7, all fields are where FP16 has them; bit 14, a copy of the sign, is masked off.
            let without = _mm512_set1_epi16(!0x4000);
            walk::<64, 0, 0, _, M>(row, x, |chunk, x| {
                for half in [0, 1] {
                    let wide = _mm512_cvtepi8_epi16(load_half(&chunk.codes[32 * half..]));
                    let moved = _mm512_and_si512(_mm512_slli_epi16::<7>(wide), without);
                    add_f16(&mut sums, moved, x, half);
                }
            });
        }
        Layout::Nf4 => {
            let table = load_floats(&NF4);
            let halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
            walk::<64, 8, 0, _, M>(row, x.map(pairs), |chunk, x| {
                let weights = nf4_values(table, load(chunk.codes));
                let scales = _mm_castsi128_ps(_mm_cvtsi64_si128(word(*chunk.scales)));
                let scales = _mm512_permutexvar_ps(halves, _mm512_castps128_ps512(scales));
                for (x, sums) in x.iter().zip(&mut sums) {
                    add(sums, dot_nf4(&weights, x), scales);
                }
            });
        }
        _ => unreachable!("the caller comes here with floats"),
    }
    let last = if layout == Layout::Fp8E4m3 { E4M3_BY_F16 } else { 1.0 };
    sums.map(|sums| total(sums) * last)
}

/// Accumulates 16 weights times input values 16 · i … 16 · i + 15 of every input.
#[target_feature(enable = "avx512f,fma")]
fn add_values<const M: usize>(
    sums: &mut [[__m512; 4]; M],
    weights: __m512,
    x: [&Floats; M],
    i: usize,
) {
    for (x, sums) in x.iter().zip(sums) {
        sums[i] = _mm512_fmadd_ps(weights, values(x, i), sums[i]);
    }
}

/// The eight NF4 values of every word. The permutation reads only the lowest 4 bits of an index.
#[target_feature(enable = "avx512f")]
fn nf4_values(table: __m512, codes: __m512i) -> [__m512; 8] {
    [
        _mm512_permutexvar_ps(codes, table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<4>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<8>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<12>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<16>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<20>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<24>(codes), table),
        _mm512_permutexvar_ps(_mm512_srli_epi32::<28>(codes), table),
    ]
}

/// Sums of eight products per lane, in two dependency chains.
#[target_feature(enable = "avx512f,fma")]
fn dot_nf4(weights: &[__m512; 8], x: &[Floats; 2]) -> __m512 {
    let even = _mm512_mul_ps(weights[0], values(&x[0], 0));
    let odd = _mm512_mul_ps(weights[1], values(&x[0], 1));
    let even = _mm512_fmadd_ps(weights[2], values(&x[0], 2), even);
    let odd = _mm512_fmadd_ps(weights[3], values(&x[0], 3), odd);
    let even = _mm512_fmadd_ps(weights[4], values(&x[1], 0), even);
    let odd = _mm512_fmadd_ps(weights[5], values(&x[1], 1), odd);
    let even = _mm512_fmadd_ps(weights[6], values(&x[1], 2), even);
    let odd = _mm512_fmadd_ps(weights[7], values(&x[1], 3), odd);
    _mm512_add_ps(even, odd)
}

/// Accumulates into one of four accumulators and rotates them, which hides the latency of the addition.
#[target_feature(enable = "avx512f,fma")]
fn add(sums: &mut [__m512; 4], values: __m512, factors: __m512) {
    let [first, second, third, fourth] = *sums;
    *sums = [second, third, fourth, _mm512_fmadd_ps(values, factors, first)];
}

#[target_feature(enable = "avx512f")]
fn total([a, b, c, d]: [__m512; 4]) -> f32 {
    _mm512_reduce_add_ps(_mm512_add_ps(_mm512_add_ps(a, b), _mm512_add_ps(c, d)))
}

/// Accumulates 32 FP16 weights times a half of a chunk of every input.
#[target_feature(enable = "avx512f,avx512dq,fma,f16c")]
fn add_f16<const M: usize>(
    sums: &mut [[__m512; 4]; M],
    weights: __m512i,
    x: [&Floats; M],
    half: usize,
) {
    let low = _mm512_cvtph_ps(_mm512_castsi512_si256(weights));
    let high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(weights));
    add_values(sums, low, x, 2 * half);
    add_values(sums, high, x, 2 * half + 1);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn bytes<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Bytes]; M]) -> [f32; M] {
    let mut sums = [[_mm512_setzero_ps(); 4]; M];
    match layout {
        Layout::Int8 => walk::<128, 0, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let codes = [unsigned(load(chunk.codes)), unsigned(load(&chunk.codes[64..]))];
            for (x, sums) in x.iter().zip(&mut sums) {
                for i in 0..2 {
                    let dots = dot_bytes(codes[i], &x[i]);
                    sums[i] = _mm512_fmadd_ps(dots, load_floats(&x[i].scale), sums[i]);
                }
            }
        }),
        Layout::Int8G128 => walk::<128, 2, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let codes = [unsigned(load(chunk.codes)), unsigned(load(&chunk.codes[64..]))];
            let scale = bf16(*chunk.scales);
            for ([first, second], sums) in x.into_iter().zip(&mut sums) {
                let dots = dot_bytes(codes[0], first);
                let products = _mm512_mul_ps(dots, load_floats(&first.scale));
                let dots = dot_bytes(codes[1], second);
                let products = _mm512_fmadd_ps(dots, load_floats(&second.scale), products);
                add(sums, products, scale);
            }
        }),
        Layout::GgufQ8_0 => {
            let spread = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
            walk::<68, 0, 0, _, M>(row, x, |chunk, x| {
                let c = chunk.codes;
                let low = _mm512_castsi256_si512(load_half(&c[2..]));
                let codes = unsigned(_mm512_inserti64x4::<1>(low, load_half(&c[36..])));
                let scales = f16x4([[c[0], c[1]], [c[34], c[35]], [0; 2], [0; 2]]);
                let scales = _mm512_permutexvar_ps(spread, _mm512_castps128_ps512(scales));
                for (x, sums) in x.iter().zip(&mut sums) {
                    let scales = _mm512_mul_ps(scales, load_floats(&x.scale));
                    add(sums, dot_bytes(codes, x), scales);
                }
            });
        }
        Layout::GgufQ4K => kquant::add_q4_k(row, x, &mut sums),
        Layout::GgufQ6K => kquant::add_q6_k(row, x, &mut sums),
        _ => unreachable!("the caller comes here with bytes"),
    }
    sums.map(|sums| total(sums))
}

/// Codes with 128 added.
#[target_feature(enable = "avx512f,avx512bw")]
fn unsigned(codes: __m512i) -> __m512i {
    _mm512_xor_si512(codes, _mm512_set1_epi8(i8::MIN))
}

/// Exact sums of four products per lane.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_bytes(unsigned: __m512i, x: &Bytes) -> __m512 {
    _mm512_cvtepi32_ps(_mm512_dpbusd_epi32(load_ints(&x.start), unsigned, load_codes(&x.codes)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn nibbles<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Nibbles]; M]) -> [f32; M] {
    let mut sums = [_mm512_setzero_ps(); M];
    let quarters = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let eighths = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    let four = |scales: __m128| _mm512_permutexvar_ps(quarters, _mm512_castps128_ps512(scales));
    let table = _mm512_maskz_broadcast_i32x4(u16::MAX, load_quarter(&E2M1_TABLE));
    match layout {
        Layout::Int4G128Sym => walk::<64, 2, 0, _, M>(row, x, |chunk, x| {
            add_dots(&mut sums, unpacked(load(chunk.codes)), x, bf16(*chunk.scales));
        }),
        Layout::Int4G32Sym => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            add_dots(&mut sums, unpacked(load(chunk.codes)), x, four(bf16x4(*chunk.scales)));
        }),
        Layout::Int4G128 => walk::<64, 2, 2, _, M>(row, x, |chunk, x| {
            let factors = (bf16(*chunk.scales), bf16(*chunk.zeros));
            add_shifted_dots(&mut sums, unpacked(load(chunk.codes)), x, factors);
        }),
        Layout::Int4G32 => walk::<64, 8, 8, _, M>(row, x, |chunk, x| {
            let factors = (four(bf16x4(*chunk.scales)), four(bf16x4(*chunk.zeros)));
            add_shifted_dots(&mut sums, unpacked(load(chunk.codes)), x, factors);
        }),
        Layout::Mxfp4 => walk::<64, 4, 0, _, M>(row, x, |chunk, x| {
            let codes = looked_up(table, load(chunk.codes));
            add_dots(&mut sums, codes, x, four(e8m0x4(*chunk.scales)));
        }),
        Layout::Nvfp4 => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            let eight = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(word(*chunk.scales)));
            let eight = _mm256_cvtph_ps(_mm_slli_epi16::<7>(eight));
            let scales = _mm512_permutexvar_ps(eighths, _mm512_castps256_ps512(eight));
            add_dots(&mut sums, looked_up(table, load(chunk.codes)), x, scales);
        }),
        Layout::GgufQ4_0 => {
            let (places, scale_places) = q4_0_places();
            walk::<72, 0, 0, _, M>(row, x, |chunk, x| {
                // Two loads cover all 72 bytes; a permutation of 16-bit words skips the scales.
                let start = load(chunk.codes);
                let codes = _mm512_permutex2var_epi16(start, places, load(&chunk.codes[8..]));
                let scales = _mm512_permutexvar_epi16(scale_places, start);
                let scales = _mm512_cvtph_ps(_mm512_castsi512_si256(scales));
                add_dots(&mut sums, unpacked(codes), x, scales);
            });
        }
        _ => unreachable!("the caller comes here with nibbles"),
    }
    let last = if layout == Layout::Nvfp4 { E4M3_BY_F16 } else { 1.0 };
    sums.map(|sum| _mm512_reduce_add_ps(sum) * last)
}

/// Low and high nibbles, one per byte.
type Codes = [__m512i; 2];

/// Accumulates dot products with every input, times the scales of the weights.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,fma")]
fn add_dots<const M: usize>(
    sums: &mut [__m512; M],
    codes: Codes,
    x: [&Nibbles; M],
    scales: __m512,
) {
    for (x, sum) in x.iter().zip(sums) {
        *sum = _mm512_fmadd_ps(dot(codes, x), scales, *sum);
    }
}

/// As [`add_dots`], with zero points.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni,fma")]
fn add_shifted_dots<const M: usize>(
    sums: &mut [__m512; M],
    codes: Codes,
    x: [&Nibbles; M],
    (scales, zeros): (__m512, __m512),
) {
    for (x, sum) in x.iter().zip(sums) {
        let dots = _mm512_fnmadd_ps(zeros, load_floats(&x.sum), dot(codes, x));
        *sum = _mm512_fmadd_ps(dots, scales, *sum);
    }
}

/// Permutation indices for four Q4_0 blocks of 18 bytes: of the code words (below 32 in the first 64 bytes, else in the last
/// 64), and of the scale of each lane.
#[target_feature(enable = "avx512f")]
fn q4_0_places() -> (__m512i, __m512i) {
    let (mut codes, mut scales) = ([0_u8; 64], [0_u8; 64]);
    for i in 0..32_u8 {
        let place = i / 8 * 9 + 1 + i % 8;
        codes[2 * usize::from(i)] = if place < 32 { place } else { 32 + place - 4 };
        scales[2 * usize::from(i)] = i % 16 / 4 * 9;
    }
    (load(&codes), load(&scales))
}

#[target_feature(enable = "avx512f,avx512bw")]
fn unpacked(codes: __m512i) -> Codes {
    let mask = _mm512_set1_epi8(15);
    [_mm512_and_si512(codes, mask), _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask)]
}

/// As [`unpacked`], with weights from a table.
#[target_feature(enable = "avx512f,avx512bw")]
fn looked_up(table: __m512i, codes: __m512i) -> Codes {
    unpacked(codes).map(|codes| _mm512_shuffle_epi8(table, codes))
}

/// Exact sums of eight products per lane, times the scales of the input.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot([low, high]: Codes, x: &Nibbles) -> __m512 {
    let sums = _mm512_dpbusd_epi32(load_ints(&x.start), low, load_codes(&x.low));
    let sums = _mm512_dpbusd_epi32(sums, high, load_codes(&x.high));
    _mm512_mul_ps(_mm512_cvtepi32_ps(sums), load_floats(&x.scale))
}

#[target_feature(enable = "avx512f")]
fn bf16(bytes: [u8; 2]) -> __m512 {
    let twice = _mm512_set1_epi16(i16::from_le_bytes(bytes));
    _mm512_castsi512_ps(_mm512_and_si512(twice, _mm512_set1_epi32(!0xffff)))
}

/// 64 bytes from the start of a slice.
#[target_feature(enable = "avx512f")]
fn load(bytes: &[u8]) -> __m512i {
    assert!(bytes.len() >= 64);
    // SAFETY: there are 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

/// 32 bytes from the start of a slice.
#[target_feature(enable = "avx512f")]
fn load_half(bytes: &[u8]) -> __m256i {
    assert!(bytes.len() >= 32);
    // SAFETY: there are 32 bytes, and the load needs no alignment.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

/// 16 bytes from the start of a slice.
#[target_feature(enable = "avx512f")]
fn load_quarter(bytes: &[u8]) -> __m128i {
    assert!(bytes.len() >= 16);
    // SAFETY: there are 16 bytes, and the load needs no alignment.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn load_codes(codes: &[i8; CHUNK]) -> __m512i {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(codes.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn load_ints(ints: &[i32; LANES]) -> __m512i {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(ints.as_ptr().cast()) }
}

#[target_feature(enable = "avx512f")]
fn load_floats(floats: &[f32; LANES]) -> __m512 {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_ps(floats.as_ptr()) }
}

/// Input values 16 · i … 16 · i + 15 of a chunk.
#[target_feature(enable = "avx512f")]
fn values(x: &Floats, i: usize) -> __m512 {
    load_floats(x.0[LANES * i..].first_chunk().expect("a chunk has four vectors"))
}
