//! Peak kernels with AVX2.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::asm;
use std::arch::x86_64::{
    __m256, __m256i, _mm256_add_epi32, _mm256_dpbusd_avx_epi32, _mm256_fmadd_ps, _mm256_madd_epi16,
    _mm256_maddubs_epi16, _mm256_set1_epi16, _mm256_set1_ps, _mm256_setzero_si256,
};
use std::hint::black_box;
use std::mem::transmute;

use super::{A, B, DotInput, start};

/// Accumulators: two instructions per cycle and a latency of 4 or 5 need ten; 12 and both factors fit into 16 registers.
const CHAINS: usize = 12;
/// Bytes of a vector.
const VECTOR: usize = 32;

pub(super) fn fma(rounds: u64) -> f64 {
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has the features.
    let chains = unsafe { fma_vectors(rounds) };
    // SAFETY: a vector is an array of numbers without padding.
    let lanes: [f32; CHAINS * VECTOR / 4] = unsafe { transmute(chains) };
    lanes.iter().map(|x| f64::from(*x)).sum()
}

pub(super) fn dot(input: &DotInput, rounds: u64) -> i64 {
    // SAFETY: as above.
    total(&unsafe { dot_vectors(factors(input), rounds) })
}

pub(super) fn dot_by_maddubs(input: &DotInput, rounds: u64) -> i64 {
    // SAFETY: as above.
    total(&unsafe { maddubs_vectors(factors(input), rounds) })
}

fn factors(input: &DotInput) -> (__m256i, __m256i) {
    let unsigned: [u8; VECTOR] = std::array::from_fn(|i| input.unsigned[i]);
    let signed: [i8; VECTOR] = std::array::from_fn(|i| input.signed[i]);
    // SAFETY: any bytes are a vector of integers.
    unsafe {
        (transmute::<[u8; VECTOR], __m256i>(unsigned), transmute::<[i8; VECTOR], __m256i>(signed))
    }
}

fn total(chains: &[__m256i; CHAINS]) -> i64 {
    // SAFETY: a vector is an array of numbers without padding.
    let lanes: [i32; CHAINS * VECTOR / 4] = unsafe { transmute(*chains) };
    lanes.iter().map(|sum| i64::from(*sum)).sum()
}

#[target_feature(enable = "avx2,fma")]
fn fma_vectors(rounds: u64) -> [__m256; CHAINS] {
    let (a, b) = (_mm256_set1_ps(black_box(A)), _mm256_set1_ps(black_box(B)));
    let mut chains: [__m256; CHAINS] = std::array::from_fn(|i| _mm256_set1_ps(start(i)));
    for _ in 0..rounds {
        for x in &mut chains {
            *x = _mm256_fmadd_ps(*x, a, b);
        }
    }
    chains
}

#[target_feature(enable = "avx2,avxvnni")]
fn dot_vectors((u, s): (__m256i, __m256i), rounds: u64) -> [__m256i; CHAINS] {
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([_mm256_setzero_si256(); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            *sum = _mm256_dpbusd_avx_epi32(*sum, u, s);
        }
    }
    chains
}

#[target_feature(enable = "avx2,fma")]
fn maddubs_vectors((mut u, s): (__m256i, __m256i), rounds: u64) -> [__m256i; CHAINS] {
    let ones = _mm256_set1_epi16(1);
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([_mm256_setzero_si256(); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            // SAFETY: an empty assembly block. It hides the factor's value from the compiler, which would otherwise multiply once.
            unsafe {
                asm!("/* {0} */", inout(ymm_reg) u, options(nomem, nostack, preserves_flags));
            };
            let pairs = _mm256_madd_epi16(_mm256_maddubs_epi16(u, s), ones);
            *sum = _mm256_add_epi32(*sum, pairs);
        }
    }
    chains
}
