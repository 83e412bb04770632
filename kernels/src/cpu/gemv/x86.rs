//! Tables and scale conversions shared by the AVX2 and AVX-512 kernels.

use std::arch::x86_64::{
    __m128, __m256, _mm_castsi128_ps, _mm_cvtepu8_epi32, _mm_cvtepu16_epi32, _mm_cvtph_ps,
    _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_max_epu32, _mm_movehdup_ps, _mm_set1_epi32,
    _mm_slli_epi32, _mm256_broadcastss_ps, _mm256_cvtepi32_ps, _mm256_cvtepu8_epi32, _mm256_mul_ps,
    _mm256_set1_ps,
};

use crate::pack::kquant::Q4_K_BYTES;

/// E2M1 values doubled and offset by 12, which makes them unsigned.
pub(super) const E2M1_TABLE: [u8; 16] = [12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0];
/// Factor from E4M3 bits in FP16's exponent and mantissa to their value: the biases differ by 8.
pub(super) const E4M3_BY_F16: f32 = 256.0;

/// Numbers of the parts of a block, as vectors of indices take them.
pub(super) const PARTS: [i32; 8] = [0, 1, 2, 3, 4, 5, 6, 7];

/// Four BF16 scales as FP32.
#[target_feature(enable = "avx2")]
pub(super) fn bf16x4(bytes: [u8; 8]) -> __m128 {
    let wide = _mm_cvtepu16_epi32(_mm_cvtsi64_si128(word(bytes)));
    _mm_castsi128_ps(_mm_slli_epi32::<16>(wide))
}

/// Four FP16 scales as FP32.
#[target_feature(enable = "avx2,f16c")]
pub(super) fn f16x4(bytes: [[u8; 2]; 4]) -> __m128 {
    let [a, b, c, d] = bytes;
    _mm_cvtph_ps(_mm_cvtsi64_si128(word([a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]])))
}

/// Four E8M0 scales as FP32; code 0 is the subnormal 2⁻¹²⁷.
#[target_feature(enable = "avx2")]
pub(super) fn e8m0x4(codes: [u8; 4]) -> __m128 {
    let wide = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(i32::from_le_bytes(codes)));
    _mm_castsi128_ps(_mm_max_epu32(_mm_slli_epi32::<23>(wide), _mm_set1_epi32(0x0040_0000)))
}

pub(super) fn word(bytes: [u8; 8]) -> i64 {
    i64::from_le_bytes(bytes)
}

/// The eight scales and the eight minima of a block of Q4_K; minima are divided by 128, because they meet start values of inputs.
#[target_feature(enable = "avx2,f16c")]
pub(super) fn q4_k_factors(block: &[u8; Q4_K_BYTES]) -> (__m256, __m256) {
    let word_at = |at: usize| {
        u32::from_le_bytes(
            *block[at..].first_chunk().expect("a block has 16 bytes before its codes"),
        )
    };
    let (scales, minima, both) = (word_at(4), word_at(8), word_at(12));
    let wide = |first: u32, lower: u32, upper: u32| {
        let others = lower & 0x0f0f_0f0f | (upper >> 6 & 0x0303_0303) << 4;
        let eight = u64::from(others) << 32 | u64::from(first & 0x3f3f_3f3f);
        _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_cvtsi64_si128(eight.cast_signed())))
    };
    let halves = f16x4([[block[0], block[1]], [block[2], block[3]], [0; 2], [0; 2]]);
    let (d, dmin) = (_mm256_broadcastss_ps(halves), _mm256_broadcastss_ps(_mm_movehdup_ps(halves)));
    let dmin = _mm256_mul_ps(dmin, _mm256_set1_ps(1.0 / 128.0));
    let scales_of = _mm256_mul_ps(wide(scales, both, scales), d);
    (scales_of, _mm256_mul_ps(wide(minima, both >> 4, minima), dmin))
}
