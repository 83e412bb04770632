//! Rows of Q4_K and Q6_K with AVX-512. Codes are unsigned; what is subtracted from them follows from the start values of the input.

use std::arch::x86_64::{
    __m256i, __m512, __m512i, _mm256_and_si256, _mm256_set1_epi8, _mm256_slli_epi16,
    _mm256_srli_epi16, _mm512_add_epi32, _mm512_and_si512, _mm512_castps256_ps512,
    _mm512_castsi256_si512, _mm512_cvtepi8_epi32, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32,
    _mm512_fmadd_ps, _mm512_inserti64x4, _mm512_mul_ps, _mm512_or_si512, _mm512_permutexvar_ps,
    _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setr_epi32, _mm512_setzero_si512,
    _mm512_srai_epi32, _mm512_srli_epi16,
};

use super::super::input::{Bytes, fours};
use super::super::walk::walk;
use super::super::x86::{PARTS, q4_k_factors};
use super::{add, load, load_codes, load_floats, load_half, load_ints, load_quarter};
use crate::pack::RowRef;
use crate::pack::kquant::{
    Q4_K_BYTES, Q4_K_CODES, Q6_K_BYTES, Q6_K_D, Q6_K_SCALES, Q6_K_UPPER, half_at,
};

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
pub(super) fn add_q4_k<const M: usize>(
    row: &RowRef<'_>,
    x: [&[Bytes]; M],
    sums: &mut [[__m512; 4]; M],
) {
    let halves = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    let nibble = _mm256_set1_epi8(15);
    walk::<Q4_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let (scales, minima) = q4_k_factors(chunk.codes);
        let (scales, minima) = (_mm512_castps256_ps512(scales), _mm512_castps256_ps512(minima));
        for j in 0..4 {
            let both = load_half(&chunk.codes[Q4_K_CODES + 32 * j..]);
            let low = _mm256_and_si256(both, nibble);
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(both), nibble);
            let codes = joined(low, high);
            let parts = _mm512_add_epi32(halves, _mm512_set1_epi32(PARTS[2 * j]));
            let scale = _mm512_permutexvar_ps(parts, scales);
            let minimum = _mm512_permutexvar_ps(parts, minima);
            for (x, sums) in x.iter().zip(&mut *sums) {
                let x = &x[j];
                let dots = _mm512_dpbusd_epi32(_mm512_setzero_si512(), codes, load_codes(&x.codes));
                let below = _mm512_mul_ps(_mm512_cvtepi32_ps(load_ints(&x.start)), minimum);
                let both = _mm512_fmadd_ps(_mm512_cvtepi32_ps(dots), scale, below);
                add(sums, both, load_floats(&x.scale));
            }
        }
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma,f16c")]
pub(super) fn add_q6_k<const M: usize>(
    row: &RowRef<'_>,
    x: [&[Bytes]; M],
    sums: &mut [[__m512; 4]; M],
) {
    let quarters = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    let (nibble, upper) = (_mm512_set1_epi8(15), _mm512_set1_epi8(0x30));
    walk::<Q6_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let c = chunk.codes;
        let d = _mm512_set1_ps(half_at(c, Q6_K_D).to_f32());
        let scales = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_quarter(&c[Q6_K_SCALES..])));
        let scales = _mm512_mul_ps(scales, d);
        for n in 0..2 {
            let low = load(&c[64 * n..]);
            let high = load_half(&c[Q6_K_UPPER + 32 * n..]);
            let upper_of =
                |first: __m256i, second: __m256i| _mm512_and_si512(joined(first, second), upper);
            let codes = [
                _mm512_or_si512(
                    _mm512_and_si512(low, nibble),
                    upper_of(_mm256_slli_epi16::<4>(high), _mm256_slli_epi16::<2>(high)),
                ),
                _mm512_or_si512(
                    _mm512_and_si512(_mm512_srli_epi16::<4>(low), nibble),
                    upper_of(high, _mm256_srli_epi16::<2>(high)),
                ),
            ];
            for (i, codes) in codes.into_iter().enumerate() {
                let j = 2 * n + i;
                let parts = _mm512_add_epi32(quarters, _mm512_set1_epi32(4 * PARTS[j]));
                let scale = _mm512_permutexvar_ps(parts, scales);
                for (x, sums) in x.iter().zip(&mut *sums) {
                    let x = &x[j];
                    // The start value is -128 times the sum of the input, of which 32 belong to each code.
                    let offset = _mm512_srai_epi32::<2>(load_ints(&x.start));
                    let dots = _mm512_dpbusd_epi32(offset, codes, load_codes(&x.codes));
                    let factors = _mm512_mul_ps(scale, load_floats(&x.scale));
                    add(sums, _mm512_cvtepi32_ps(dots), factors);
                }
            }
        }
    });
}

#[target_feature(enable = "avx512f")]
fn joined(low: __m256i, high: __m256i) -> __m512i {
    _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
}
