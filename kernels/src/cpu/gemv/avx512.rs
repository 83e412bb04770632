//! GEMV rows with AVX-512 and VNNI.
//!
//! A chunk is 64 bytes of codes or 64 elements. VNNI takes unsigned weights: an offset is added to the codes, and its share of
//! the sum is the accumulator's start value, so that integers stay exact.
#![expect(unsafe_code, reason = "vector instructions")]

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

use super::input::{Bytes, CHUNK, Floats, Input, LANES, Nibbles};
use super::walk::walk;
use super::x86::{E2M1_TABLE, E4M3_BY_F16, bf16x4, e8m0x4, f16x4, word};
use crate::pack::{CodeKind, Layout, NF4, RowRef};

/// Dot product of a row with the input.
pub(super) fn row(layout: Layout, row: RowRef<'_>, x: &Input) -> f32 {
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has the features.
    unsafe { row_vectors(layout, row, x) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn row_vectors(layout: Layout, row: RowRef<'_>, x: &Input) -> f32 {
    match layout.code_kind() {
        CodeKind::Floats => floats(layout, row, x.floats()),
        CodeKind::Bytes => bytes(layout, row, x.bytes()),
        CodeKind::Nibbles => nibbles(layout, row, x.nibbles()),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn floats(layout: Layout, row: RowRef<'_>, x: &[Floats]) -> f32 {
    let mut sums = [_mm512_setzero_ps(); 4];
    match layout {
        Layout::Fp32 => walk::<256, 0, 0, _>(row, x, |chunk, x| {
            for (i, sum) in sums.iter_mut().enumerate() {
                let weights = _mm512_castsi512_ps(load(&chunk.codes[64 * i..]));
                *sum = _mm512_fmadd_ps(weights, values(x, i), *sum);
            }
        }),
        Layout::Fp16 => walk::<128, 0, 0, _>(row, x, |chunk, x| {
            for (i, sum) in sums.iter_mut().enumerate() {
                let weights = _mm512_cvtph_ps(load_half(&chunk.codes[32 * i..]));
                *sum = _mm512_fmadd_ps(weights, values(x, i), *sum);
            }
        }),
        Layout::Bf16 => walk::<128, 0, 0, _>(row, x, |chunk, x| {
            for (i, sum) in sums.iter_mut().enumerate() {
                let wide = _mm512_cvtepu16_epi32(load_half(&chunk.codes[32 * i..]));
                let weights = _mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide));
                *sum = _mm512_fmadd_ps(weights, values(x, i), *sum);
            }
        }),
        Layout::Fp8E5m2 => walk::<64, 0, 0, _>(row, x, |chunk, x| {
            for half in [0, 1] {
                let wide = _mm512_cvtepu8_epi16(load_half(&chunk.codes[32 * half..]));
                add_f16(&mut sums, _mm512_slli_epi16::<8>(wide), x, half);
            }
        }),
        Layout::Fp8E4m3 => {
            // Sign-extended and shifted by 7, all fields are where FP16 has them; bit 14, a copy of the sign, is masked off.
            let without = _mm512_set1_epi16(!0x4000);
            walk::<64, 0, 0, _>(row, x, |chunk, x| {
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
            walk::<64, 8, 0, _>(row, x.as_chunks::<2>().0, |chunk, x| {
                let products = dot_nf4(table, load(chunk.codes), x);
                let scales = _mm_castsi128_ps(_mm_cvtsi64_si128(word(*chunk.scales)));
                let scales = _mm512_permutexvar_ps(halves, _mm512_castps128_ps512(scales));
                add(&mut sums, products, scales);
            });
        }
        _ => unreachable!("the caller comes here with floats"),
    }
    let last = if layout == Layout::Fp8E4m3 { E4M3_BY_F16 } else { 1.0 };
    total(sums) * last
}

/// Sums of eight products per lane, in two dependency chains.
#[target_feature(enable = "avx512f,fma")]
fn dot_nf4(table: __m512, codes: __m512i, x: &[Floats; 2]) -> __m512 {
    // The permutation reads only the lowest 4 bits of an index.
    let weights = |codes| _mm512_permutexvar_ps(codes, table);
    let even = _mm512_mul_ps(weights(codes), values(&x[0], 0));
    let odd = _mm512_mul_ps(weights(_mm512_srli_epi32::<4>(codes)), values(&x[0], 1));
    let even = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<8>(codes)), values(&x[0], 2), even);
    let odd = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<12>(codes)), values(&x[0], 3), odd);
    let even = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<16>(codes)), values(&x[1], 0), even);
    let odd = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<20>(codes)), values(&x[1], 1), odd);
    let even = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<24>(codes)), values(&x[1], 2), even);
    let odd = _mm512_fmadd_ps(weights(_mm512_srli_epi32::<28>(codes)), values(&x[1], 3), odd);
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

/// Accumulates 32 FP16 weights times a half of a chunk.
#[target_feature(enable = "avx512f,avx512dq,fma,f16c")]
fn add_f16(sums: &mut [__m512; 4], weights: __m512i, x: &Floats, half: usize) {
    let low = _mm512_cvtph_ps(_mm512_castsi512_si256(weights));
    let high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64::<1>(weights));
    sums[2 * half] = _mm512_fmadd_ps(low, values(x, 2 * half), sums[2 * half]);
    sums[2 * half + 1] = _mm512_fmadd_ps(high, values(x, 2 * half + 1), sums[2 * half + 1]);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn bytes(layout: Layout, row: RowRef<'_>, x: &[Bytes]) -> f32 {
    let mut sums = [_mm512_setzero_ps(); 4];
    match layout {
        Layout::Int8 => {
            walk::<128, 0, 0, _>(row, x.as_chunks::<2>().0, |chunk, [first, second]| {
                let dots = dot_bytes(load(chunk.codes), first);
                sums[0] = _mm512_fmadd_ps(dots, load_floats(&first.scale), sums[0]);
                let dots = dot_bytes(load(&chunk.codes[64..]), second);
                sums[1] = _mm512_fmadd_ps(dots, load_floats(&second.scale), sums[1]);
            });
        }
        Layout::Int8G128 => walk::<128, 2, 0, _>(row, x.as_chunks::<2>().0, |chunk, x| {
            let [first, second] = x;

            let dots = dot_bytes(load(chunk.codes), first);
            let products = _mm512_mul_ps(dots, load_floats(&first.scale));
            let dots = dot_bytes(load(&chunk.codes[64..]), second);
            let products = _mm512_fmadd_ps(dots, load_floats(&second.scale), products);
            add(&mut sums, products, bf16(*chunk.scales));
        }),
        Layout::GgufQ8_0 => {
            let spread = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
            walk::<68, 0, 0, _>(row, x, |chunk, x| {
                let c = chunk.codes;
                let low = _mm512_castsi256_si512(load_half(&c[2..]));
                let codes = _mm512_inserti64x4::<1>(low, load_half(&c[36..]));
                let scales = f16x4([[c[0], c[1]], [c[34], c[35]], [0; 2], [0; 2]]);
                let scales = _mm512_permutexvar_ps(spread, _mm512_castps128_ps512(scales));
                let scales = _mm512_mul_ps(scales, load_floats(&x.scale));
                add(&mut sums, dot_bytes(codes, x), scales);
            });
        }
        _ => unreachable!("the caller comes here with bytes"),
    }
    total(sums)
}

/// Exact sums of four products per lane.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_bytes(codes: __m512i, x: &Bytes) -> __m512 {
    let unsigned = _mm512_xor_si512(codes, _mm512_set1_epi8(i8::MIN));
    _mm512_cvtepi32_ps(_mm512_dpbusd_epi32(load_ints(&x.start), unsigned, load_codes(&x.codes)))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
fn nibbles(layout: Layout, row: RowRef<'_>, x: &[Nibbles]) -> f32 {
    let mut sum = _mm512_setzero_ps();
    let quarters = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let eighths = _mm512_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7);
    let four = |scales: __m128| _mm512_permutexvar_ps(quarters, _mm512_castps128_ps512(scales));
    let table = _mm512_maskz_broadcast_i32x4(u16::MAX, load_quarter(&E2M1_TABLE));
    match layout {
        Layout::Int4G128Sym => walk::<64, 2, 0, _>(row, x, |chunk, x| {
            let dots = dot_nibbles(load(chunk.codes), x);
            sum = _mm512_fmadd_ps(dots, bf16(*chunk.scales), sum);
        }),
        Layout::Int4G32Sym => walk::<64, 8, 0, _>(row, x, |chunk, x| {
            let dots = dot_nibbles(load(chunk.codes), x);
            sum = _mm512_fmadd_ps(dots, four(bf16x4(*chunk.scales)), sum);
        }),
        Layout::Int4G128 => walk::<64, 2, 2, _>(row, x, |chunk, x| {
            let dots = dot_nibbles(load(chunk.codes), x);
            let dots = _mm512_fnmadd_ps(bf16(*chunk.zeros), load_floats(&x.sum), dots);
            sum = _mm512_fmadd_ps(dots, bf16(*chunk.scales), sum);
        }),
        Layout::Int4G32 => walk::<64, 8, 8, _>(row, x, |chunk, x| {
            let zeros = four(bf16x4(*chunk.zeros));
            let dots = dot_nibbles(load(chunk.codes), x);
            let dots = _mm512_fnmadd_ps(zeros, load_floats(&x.sum), dots);
            sum = _mm512_fmadd_ps(dots, four(bf16x4(*chunk.scales)), sum);
        }),
        Layout::Mxfp4 => walk::<64, 4, 0, _>(row, x, |chunk, x| {
            let dots = dot_table(table, load(chunk.codes), x);
            sum = _mm512_fmadd_ps(dots, four(e8m0x4(*chunk.scales)), sum);
        }),
        Layout::Nvfp4 => walk::<64, 8, 0, _>(row, x, |chunk, x| {
            let eight = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(word(*chunk.scales)));
            let eight = _mm256_cvtph_ps(_mm_slli_epi16::<7>(eight));
            let scales = _mm512_permutexvar_ps(eighths, _mm512_castps256_ps512(eight));
            let dots = dot_table(table, load(chunk.codes), x);
            sum = _mm512_fmadd_ps(dots, scales, sum);
        }),
        Layout::GgufQ4_0 => {
            let (places, scale_places) = q4_0_places();
            walk::<72, 0, 0, _>(row, x, |chunk, x| {
                // Two loads cover all 72 bytes; a permutation of 16-bit words skips the scales.
                let start = load(chunk.codes);
                let codes = _mm512_permutex2var_epi16(start, places, load(&chunk.codes[8..]));
                let scales = _mm512_permutexvar_epi16(scale_places, start);
                let scales = _mm512_cvtph_ps(_mm512_castsi512_si256(scales));
                sum = _mm512_fmadd_ps(dot_nibbles(codes, x), scales, sum);
            });
        }
        _ => unreachable!("the caller comes here with nibbles"),
    }
    let last = if layout == Layout::Nvfp4 { E4M3_BY_F16 } else { 1.0 };
    _mm512_reduce_add_ps(sum) * last
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

/// Exact sums of eight products per lane, times the scales of the input.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_nibbles(codes: __m512i, x: &Nibbles) -> __m512 {
    let mask = _mm512_set1_epi8(15);
    let low = _mm512_and_si512(codes, mask);
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask);
    dot(low, high, x)
}

/// As [`dot_nibbles`], with weights from a table.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_table(table: __m512i, codes: __m512i, x: &Nibbles) -> __m512 {
    let mask = _mm512_set1_epi8(15);
    let low = _mm512_shuffle_epi8(table, _mm512_and_si512(codes, mask));
    let high = _mm512_and_si512(_mm512_srli_epi16::<4>(codes), mask);
    dot(low, _mm512_shuffle_epi8(table, high), x)
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot(low: __m512i, high: __m512i, x: &Nibbles) -> __m512 {
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
