//! Vectors of 256 bits with AVX2, FMA and F16C.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(clippy::inline_always, reason = "as in the parent module")]
#![expect(clippy::cast_ptr_alignment, reason = "loads and stores for any alignment")]

use std::arch::x86_64::{
    __m128i, __m256, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm_add_ps, _mm_add_ss,
    _mm_and_si128, _mm_cvtepi8_epi16, _mm_cvtss_f32, _mm_loadl_epi64, _mm_loadu_si128, _mm_max_ps,
    _mm_max_ss, _mm_movehl_ps, _mm_set1_epi16, _mm_shuffle_ps, _mm_slli_epi16, _mm_storeu_ps,
    _mm_storeu_si128, _mm256_add_epi32, _mm256_add_ps, _mm256_castps_si256, _mm256_castps256_ps128,
    _mm256_castsi256_ps, _mm256_cvtepu16_epi32, _mm256_cvtph_ps, _mm256_cvtps_epi32,
    _mm256_cvtps_ph, _mm256_div_ps, _mm256_extractf128_ps, _mm256_fmadd_ps, _mm256_hadd_ps,
    _mm256_loadu_ps, _mm256_max_ps, _mm256_min_ps, _mm256_mul_ps, _mm256_round_ps, _mm256_set1_ps,
    _mm256_slli_epi32, _mm256_storeu_ps, _mm256_sub_ps,
};

use half::{bf16, f16};

use super::{Lanes, VectorKernel};
use crate::pack::minifloat::Fp8;

const WIDTH: usize = 8;
/// To nearest, without exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

pub(super) fn run(kernel: impl VectorKernel) {
    // SAFETY: the parent module calls this only with an `Isa` of this level or wider, so the processor has the features.
    unsafe { inside(kernel) }
}

#[target_feature(enable = "avx2,fma,f16c")]
fn inside(kernel: impl VectorKernel) {
    kernel.run::<Ymm>();
}

/// A register. Only [`run`] names this type to a kernel.
#[derive(Debug, Clone, Copy)]
struct Ymm(__m256);

/// Evaluates vector instructions.
macro_rules! vector {
    ($instructions:expr) => {
        // SAFETY: values of `Ymm` exist only inside `run`, so the processor has the features; slices are at least as long as
        // the vectors that are loaded or stored, which `whole` asserted.
        unsafe { $instructions }
    };
}

#[inline(always)]
fn whole<T>(part: &[T]) {
    assert!(part.len() >= WIDTH, "a whole vector");
}

impl Lanes for Ymm {
    const WIDTH: usize = WIDTH;
    const HAS_MANY: bool = false;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(vector!(_mm256_set1_ps(value)))
    }

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        whole(from);
        Self(vector!(_mm256_loadu_ps(from.as_ptr())))
    }

    #[inline(always)]
    fn load_f16(from: &[f16]) -> Self {
        whole(from);
        Self(vector!(_mm256_cvtph_ps(_mm_loadu_si128(from.as_ptr().cast::<__m128i>()))))
    }

    #[inline(always)]
    fn load_bf16(from: &[bf16]) -> Self {
        whole(from);
        Self(vector!({
            let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.as_ptr().cast::<__m128i>()));
            _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
        }))
    }

    /// Sign-extended and shifted by 7, all fields are where FP16 has them, and the biases differ by 8; bit 14, a copy of the sign,
    /// is masked off.
    #[inline(always)]
    fn load_e4m3(from: &[Fp8]) -> Self {
        whole(from);
        Self(vector!({
            let wide = _mm_cvtepi8_epi16(_mm_loadl_epi64(from.as_ptr().cast::<__m128i>()));
            let moved = _mm_and_si128(_mm_slli_epi16::<7>(wide), _mm_set1_epi16(!0x4000));
            _mm256_mul_ps(_mm256_cvtph_ps(moved), _mm256_set1_ps(256.0))
        }))
    }

    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        whole(to);
        vector!(_mm256_storeu_ps(to.as_mut_ptr(), self.0));
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [f16]) {
        whole(to);
        vector!(_mm_storeu_si128(
            to.as_mut_ptr().cast::<__m128i>(),
            _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)
        ));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(vector!(_mm256_add_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(vector!(_mm256_sub_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(vector!(_mm256_mul_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(vector!(_mm256_div_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(vector!(_mm256_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(vector!(_mm256_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(vector!(_mm256_fmadd_ps(self.0, factor.0, addend.0)))
    }

    #[inline(always)]
    fn round(self) -> Self {
        Self(vector!(_mm256_round_ps::<NEAREST>(self.0)))
    }

    #[inline(always)]
    fn times_two_to(self, power: Self) -> Self {
        Self(vector!({
            let exponent = _mm256_slli_epi32::<23>(_mm256_cvtps_epi32(power.0));
            _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(self.0), exponent))
        }))
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        vector!({
            let half =
                _mm_add_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_add_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps::<1>(two, two)))
        })
    }

    #[inline(always)]
    fn sums([Self(a), Self(b), Self(c), Self(d)]: [Self; 4]) -> [f32; 4] {
        vector!({
            let pairs = [_mm256_hadd_ps(a, b), _mm256_hadd_ps(c, d)];
            let both = _mm256_hadd_ps(pairs[0], pairs[1]);
            let low = _mm256_castps256_ps128(both);
            let sums = _mm_add_ps(low, _mm256_extractf128_ps::<1>(both));
            let mut to = [0.0; 4];
            _mm_storeu_ps(to.as_mut_ptr(), sums);
            to
        })
    }

    #[inline(always)]
    fn largest(self) -> f32 {
        vector!({
            let half =
                _mm_max_ps(_mm256_castps256_ps128(self.0), _mm256_extractf128_ps::<1>(self.0));
            let two = _mm_max_ps(half, _mm_movehl_ps(half, half));
            _mm_cvtss_f32(_mm_max_ss(two, _mm_shuffle_ps::<1>(two, two)))
        })
    }
}
