//! Tables and scale conversions shared by the AVX2 and AVX-512 kernels.

use std::arch::x86_64::{
    __m128, _mm_castsi128_ps, _mm_cvtepu8_epi32, _mm_cvtepu16_epi32, _mm_cvtph_ps,
    _mm_cvtsi32_si128, _mm_cvtsi64_si128, _mm_max_epu32, _mm_set1_epi32, _mm_slli_epi32,
};

/// E2M1 values doubled and offset by 12, which makes them unsigned.
pub(super) const E2M1_TABLE: [u8; 16] = [12, 13, 14, 15, 16, 18, 20, 24, 12, 11, 10, 9, 8, 6, 4, 0];
/// Factor from E4M3 bits in FP16's exponent and mantissa to their value: the biases differ by 8.
pub(super) const E4M3_BY_F16: f32 = 256.0;

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
