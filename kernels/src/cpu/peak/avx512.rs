//! Peak kernels with AVX-512.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::asm;
use std::arch::x86_64::{
    __m512, __m512i, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_madd_epi16,
    _mm512_maddubs_epi16, _mm512_set1_epi16, _mm512_set1_ps, _mm512_setzero_si512,
};
use std::hint::black_box;
use std::mem::transmute;

use super::{A, B, DotInput, start};

/// Accumulators: two instructions per cycle and a latency of 4 or 5 need ten; 12 and both factors fit into 32 registers.
const CHAINS: usize = 12;
/// Bytes of a vector.
const VECTOR: usize = 64;

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

fn factors(input: &DotInput) -> (__m512i, __m512i) {
    let unsigned: [u8; VECTOR] = std::array::from_fn(|i| input.unsigned[i]);
    let signed: [i8; VECTOR] = std::array::from_fn(|i| input.signed[i]);
    // SAFETY: any bytes are a vector of integers.
    unsafe {
        (transmute::<[u8; VECTOR], __m512i>(unsigned), transmute::<[i8; VECTOR], __m512i>(signed))
    }
}

fn total(chains: &[__m512i; CHAINS]) -> i64 {
    // SAFETY: a vector is an array of numbers without padding.
    let lanes: [i32; CHAINS * VECTOR / 4] = unsafe { transmute(*chains) };
    lanes.iter().map(|sum| i64::from(*sum)).sum()
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn fma_vectors(rounds: u64) -> [__m512; CHAINS] {
    let (a, b) = (_mm512_set1_ps(black_box(A)), _mm512_set1_ps(black_box(B)));
    let mut chains: [__m512; CHAINS] = std::array::from_fn(|i| _mm512_set1_ps(start(i)));
    for _ in 0..rounds {
        for x in &mut chains {
            *x = _mm512_fmadd_ps(*x, a, b);
        }
    }
    chains
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn dot_vectors((u, s): (__m512i, __m512i), rounds: u64) -> [__m512i; CHAINS] {
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([_mm512_setzero_si512(); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            *sum = _mm512_dpbusd_epi32(*sum, u, s);
        }
    }
    chains
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn maddubs_vectors((mut u, s): (__m512i, __m512i), rounds: u64) -> [__m512i; CHAINS] {
    let ones = _mm512_set1_epi16(1);
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([_mm512_setzero_si512(); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            // SAFETY: an empty assembly block. It hides the factor's value from the compiler, which would otherwise multiply once.
            unsafe {
                asm!("/* {0} */", inout(zmm_reg) u, options(nomem, nostack, preserves_flags));
            };
            let pairs = _mm512_madd_epi16(_mm512_maddubs_epi16(u, s), ones);
            *sum = _mm512_add_epi32(*sum, pairs);
        }
    }
    chains
}
