//! Rows of Q4_K and Q6_K with AVX2. Codes are unsigned; what is subtracted from them follows from the start values of the input.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::{
    __m256, __m256i, _mm_loadl_epi64, _mm256_add_epi32, _mm256_and_si256, _mm256_cvtepi8_epi32,
    _mm256_cvtepi32_ps, _mm256_fmadd_ps, _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_mul_ps,
    _mm256_or_si256, _mm256_permutevar8x32_ps, _mm256_set1_epi8, _mm256_set1_epi16,
    _mm256_set1_epi32, _mm256_set1_ps, _mm256_setr_epi32, _mm256_slli_epi16, _mm256_srai_epi32,
    _mm256_srli_epi16,
};

use super::super::input::{Bytes, fours};
use super::super::walk::walk;
use super::super::x86::{PARTS, q4_k_factors};
use super::{WIDTH, load, load_codes, load_floats, load_ints, unpacked};
use crate::pack::RowRef;
use crate::pack::kquant::{
    Q4_K_BYTES, Q4_K_CODES, Q6_K_BYTES, Q6_K_D, Q6_K_SCALES, Q6_K_UPPER, half_at,
};

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_q4_k<const M: usize>(
    row: &RowRef<'_>,
    x: [&[Bytes]; M],
    sums: &mut [[__m256; 2]; M],
) {
    walk::<Q4_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let (scales, minima) = q4_k_factors(chunk.codes);
        for j in 0..4 {
            let codes = unpacked(load(&chunk.codes[Q4_K_CODES + 32 * j..]));
            for half in 0..2 {
                let part = _mm256_set1_epi32(PARTS[2 * j + half]);
                let scale = _mm256_permutevar8x32_ps(scales, part);
                let minimum = _mm256_permutevar8x32_ps(minima, part);
                for (x, sum) in x.iter().zip(&mut *sums) {
                    let x = &x[j];
                    let dots = _mm256_cvtepi32_ps(dot(codes[half], x, half));
                    let below = _mm256_cvtepi32_ps(start(x, half));
                    let both = _mm256_fmadd_ps(below, minimum, _mm256_mul_ps(dots, scale));
                    let input = load_floats(&x.scale[WIDTH * half..]);
                    sum[half] = _mm256_fmadd_ps(both, input, sum[half]);
                }
            }
        }
    });
}

#[target_feature(enable = "avx2,fma,f16c")]
pub(super) fn add_q6_k<const M: usize>(
    row: &RowRef<'_>,
    x: [&[Bytes]; M],
    sums: &mut [[__m256; 2]; M],
) {
    let upper = _mm256_set1_epi8(0x30);
    walk::<Q6_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
        let c = chunk.codes;
        let d = half_at(c, Q6_K_D).to_f32();
        // Half n of the block has 128 elements; group g of it, 32 of them.
        for n in 0..2 {
            let low = [unpacked(load(&c[64 * n..])), unpacked(load(&c[64 * n + 32..]))];
            let high = load(&c[Q6_K_UPPER + 32 * n..]);
            let scales = scales_of(&c[Q6_K_SCALES + 8 * n..], d);
            let bits = [
                _mm256_slli_epi16::<4>(high),
                _mm256_slli_epi16::<2>(high),
                high,
                _mm256_srli_epi16::<2>(high),
            ];
            for (g, bits) in bits.into_iter().enumerate() {
                let codes = _mm256_or_si256(low[g % 2][g / 2], _mm256_and_si256(bits, upper));
                let (a, b) = (PARTS[2 * g], PARTS[2 * g + 1]);
                let places = _mm256_setr_epi32(a, a, a, a, b, b, b, b);
                let scale = _mm256_permutevar8x32_ps(scales, places);
                let half = g % 2;
                for (x, sum) in x.iter().zip(&mut *sums) {
                    let x = &x[2 * n + g / 2];
                    // The start value is -128 times the sum of the input, of which 32 belong to each code.
                    let offset = _mm256_srai_epi32::<2>(start(x, half));
                    let dots = _mm256_cvtepi32_ps(_mm256_add_epi32(dot(codes, x, half), offset));
                    let input = _mm256_mul_ps(load_floats(&x.scale[WIDTH * half..]), scale);
                    sum[half] = _mm256_fmadd_ps(dots, input, sum[half]);
                }
            }
        }
    });
}

/// Eight scales with sign, from the start of a slice, times a factor.
#[target_feature(enable = "avx2")]
fn scales_of(bytes: &[u8], factor: f32) -> __m256 {
    assert!(bytes.len() >= WIDTH);
    // SAFETY: there are eight bytes, and the load needs no alignment.
    let bytes = unsafe { _mm_loadl_epi64(bytes.as_ptr().cast()) };
    let scales = _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(bytes));
    _mm256_mul_ps(scales, _mm256_set1_ps(factor))
}

#[target_feature(enable = "avx2")]
fn start(x: &Bytes, half: usize) -> __m256i {
    load_ints(&x.start[WIDTH * half..])
}

/// Exact sums of four products per lane, of unsigned codes below 64.
#[target_feature(enable = "avx2")]
fn dot(codes: __m256i, x: &Bytes, half: usize) -> __m256i {
    let pairs = _mm256_maddubs_epi16(codes, load_codes(&x.codes[32 * half..]));
    _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
}
