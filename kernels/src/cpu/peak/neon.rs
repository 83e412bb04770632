//! Peak kernels with NEON; `sdot` by inline assembly, because its intrinsic is not stable.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::aarch64::{
    float32x4_t, int8x16_t, int32x4_t, vaddlvq_s32, vaddvq_f32, vdupq_n_f32, vdupq_n_s32,
    vfmaq_f32, vget_low_s8, vld1q_s8, vmull_high_s8, vmull_s8, vpadalq_s16,
};
use std::arch::asm;
use std::hint::black_box;

use super::{A, B, DotInput, start};

/// Accumulators: four instructions per cycle and a latency of 4 need 16; 20 and both factors fit into 32 registers.
const CHAINS: usize = 20;

pub(super) fn fma(rounds: u64) -> f64 {
    // SAFETY: every aarch64 target of Rust's standard library has NEON.
    unsafe { fma_vectors(rounds) }
}

pub(super) fn dot(input: &DotInput, rounds: u64) -> i64 {
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has `dotprod`.
    unsafe { dot_vectors(input, rounds) }
}

pub(super) fn dot_by_mull(input: &DotInput, rounds: u64) -> i64 {
    // SAFETY: as in `fma`.
    unsafe { mull_vectors(input, rounds) }
}

#[target_feature(enable = "neon")]
fn fma_vectors(rounds: u64) -> f64 {
    let (a, b) = (vdupq_n_f32(black_box(A)), vdupq_n_f32(black_box(B)));
    let mut chains: [float32x4_t; CHAINS] = std::array::from_fn(|i| vdupq_n_f32(start(i)));
    for _ in 0..rounds {
        for x in &mut chains {
            // `fmla` accumulates into its destination, so a·x + b is computed by way of b.
            *x = vfmaq_f32(b, *x, a);
        }
    }
    // Lanes of a chain are equal, so the sum of four is exact.
    chains.iter().map(|x| f64::from(vaddvq_f32(*x))).sum()
}

#[target_feature(enable = "neon")]
fn factors(input: &DotInput) -> (int8x16_t, int8x16_t) {
    // Unsigned factors are at most 127, so they equal signed ones.
    let unsigned = input.unsigned.map(u8::cast_signed);
    // SAFETY: both arrays have more than 16 bytes.
    unsafe { (vld1q_s8(unsigned.as_ptr()), vld1q_s8(input.signed.as_ptr())) }
}

#[target_feature(enable = "neon")]
fn total(chains: &[int32x4_t; CHAINS]) -> i64 {
    // Four accumulators together may exceed 31 bits.
    chains.iter().map(|sum| vaddlvq_s32(*sum)).sum()
}

#[target_feature(enable = "neon,dotprod")]
fn dot_vectors(input: &DotInput, rounds: u64) -> i64 {
    let (u, s) = factors(input);
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([vdupq_n_s32(0); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            // SAFETY: registers only, and the processor has `sdot`.
            unsafe {
                asm!("sdot {0:v}.4s, {1:v}.16b, {2:v}.16b", inout(vreg) *sum, in(vreg) u, in(vreg) s,
                    options(pure, nomem, nostack, preserves_flags));
            }
        }
    }
    total(&chains)
}

#[target_feature(enable = "neon")]
fn mull_vectors(input: &DotInput, rounds: u64) -> i64 {
    let (mut u, s) = factors(input);
    // All chains start equal. The compiler must not see that, or it would compute one chain for all.
    let mut chains = black_box([vdupq_n_s32(0); CHAINS]);
    for _ in 0..rounds {
        for sum in &mut chains {
            // SAFETY: an empty assembly block. It hides the factor's value from the compiler, which would otherwise multiply once.
            unsafe {
                asm!("/* {0:v} */", inout(vreg) u, options(nomem, nostack, preserves_flags));
            };
            *sum = vpadalq_s16(*sum, vmull_s8(vget_low_s8(u), vget_low_s8(s)));
            *sum = vpadalq_s16(*sum, vmull_high_s8(u, s));
        }
    }
    total(&chains)
}
