//! Vectors of 512 bits with AVX-512 F, BW, DQ and VL.
#![expect(unsafe_code, reason = "vector instructions")]
#![expect(clippy::inline_always, reason = "as in the parent module")]
#![expect(clippy::cast_ptr_alignment, reason = "loads and stores for any alignment")]

use std::arch::x86_64::{
    __m128i, __m256i, __m512, _MM_FROUND_NO_EXC, _MM_FROUND_TO_NEAREST_INT, _mm_add_ps,
    _mm_loadu_si128, _mm_storeu_ps, _mm256_add_ps, _mm256_and_si256, _mm256_castps256_ps128,
    _mm256_cvtepi8_epi16, _mm256_extractf128_ps, _mm256_hadd_ps, _mm256_loadu_si256,
    _mm256_set1_epi16, _mm256_slli_epi16, _mm256_storeu_si256, _mm512_add_ps,
    _mm512_castps512_ps256, _mm512_castsi512_ps, _mm512_cvtepu16_epi32, _mm512_cvtph_ps,
    _mm512_cvtps_ph, _mm512_div_ps, _mm512_extractf32x8_ps, _mm512_fmadd_ps, _mm512_loadu_ps,
    _mm512_max_ps, _mm512_min_ps, _mm512_mul_ps, _mm512_reduce_add_ps, _mm512_reduce_max_ps,
    _mm512_roundscale_ps, _mm512_scalef_ps, _mm512_set1_ps, _mm512_slli_epi32, _mm512_storeu_ps,
    _mm512_sub_ps,
};

use half::{bf16, f16};

use super::{Lanes, VectorKernel};
use crate::pack::minifloat::Fp8;

const WIDTH: usize = 16;
/// To nearest, without exceptions.
const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

pub(super) fn run(kernel: impl VectorKernel) {
    // SAFETY: the parent module calls this only with an `Isa` of this level or wider, so the processor has the features.
    unsafe { inside(kernel) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma,f16c")]
fn inside(kernel: impl VectorKernel) {
    kernel.run::<Zmm>();
}

/// A register. Only [`run`] names this type to a kernel.
#[derive(Debug, Clone, Copy)]
struct Zmm(__m512);

/// Evaluates vector instructions.
macro_rules! vector {
    ($instructions:expr) => {
        // SAFETY: values of `Zmm` exist only inside `run`, so the processor has the features; slices are at least as long as
        // the vectors that are loaded or stored, which `whole` asserted.
        unsafe { $instructions }
    };
}

/// Sum of the halves of a vector.
macro_rules! half_sum {
    ($vector:ident) => {
        _mm256_add_ps(_mm512_castps512_ps256($vector), _mm512_extractf32x8_ps::<1>($vector))
    };
}

#[inline(always)]
fn whole<T>(part: &[T]) {
    assert!(part.len() >= WIDTH, "a whole vector");
}

impl Lanes for Zmm {
    const WIDTH: usize = WIDTH;
    const HAS_MANY: bool = true;

    #[inline(always)]
    fn splat(value: f32) -> Self {
        Self(vector!(_mm512_set1_ps(value)))
    }

    #[inline(always)]
    fn load(from: &[f32]) -> Self {
        whole(from);
        Self(vector!(_mm512_loadu_ps(from.as_ptr())))
    }

    #[inline(always)]
    fn load_f16(from: &[f16]) -> Self {
        whole(from);
        Self(vector!(_mm512_cvtph_ps(_mm256_loadu_si256(from.as_ptr().cast::<__m256i>()))))
    }

    #[inline(always)]
    fn load_bf16(from: &[bf16]) -> Self {
        whole(from);
        Self(vector!({
            let wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.as_ptr().cast::<__m256i>()));
            _mm512_castsi512_ps(_mm512_slli_epi32::<16>(wide))
        }))
    }

    /// As with AVX2.
    #[inline(always)]
    fn load_e4m3(from: &[Fp8]) -> Self {
        whole(from);
        Self(vector!({
            let wide = _mm256_cvtepi8_epi16(_mm_loadu_si128(from.as_ptr().cast::<__m128i>()));
            let moved = _mm256_and_si256(_mm256_slli_epi16::<7>(wide), _mm256_set1_epi16(!0x4000));
            _mm512_mul_ps(_mm512_cvtph_ps(moved), _mm512_set1_ps(256.0))
        }))
    }

    #[inline(always)]
    fn store(self, to: &mut [f32]) {
        whole(to);
        vector!(_mm512_storeu_ps(to.as_mut_ptr(), self.0));
    }

    #[inline(always)]
    fn store_f16(self, to: &mut [f16]) {
        whole(to);
        vector!(_mm256_storeu_si256(
            to.as_mut_ptr().cast::<__m256i>(),
            _mm512_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(self.0)
        ));
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(vector!(_mm512_add_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(vector!(_mm512_sub_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(vector!(_mm512_mul_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(vector!(_mm512_div_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        Self(vector!(_mm512_max_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn min(self, other: Self) -> Self {
        Self(vector!(_mm512_min_ps(self.0, other.0)))
    }

    #[inline(always)]
    fn mul_add(self, factor: Self, addend: Self) -> Self {
        Self(vector!(_mm512_fmadd_ps(self.0, factor.0, addend.0)))
    }

    #[inline(always)]
    fn round(self) -> Self {
        Self(vector!(_mm512_roundscale_ps::<NEAREST>(self.0)))
    }

    #[inline(always)]
    fn times_two_to(self, power: Self) -> Self {
        Self(vector!(_mm512_scalef_ps(self.0, power.0)))
    }

    #[inline(always)]
    fn sum(self) -> f32 {
        vector!(_mm512_reduce_add_ps(self.0))
    }

    #[inline(always)]
    fn sums([Self(a), Self(b), Self(c), Self(d)]: [Self; 4]) -> [f32; 4] {
        vector!({
            // A closure would be compiled without the features.
            let [a, b, c, d] = [half_sum!(a), half_sum!(b), half_sum!(c), half_sum!(d)];
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
        vector!(_mm512_reduce_max_ps(self.0))
    }
}
