//! Memory streams with NEON. Stable intrinsics have no non-temporal store; current cores detect streams of stores themselves.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::aarch64::{
    vaddq_u64, vaddvq_u64, vdupq_n_f64, vdupq_n_u64, vfmaq_f64, vld1q_f64, vld1q_u64, vst1q_f64,
};

use super::FACTOR;
use crate::cpu::prefetch;

/// Accumulators: two loads per cycle and a latency of 2 need 4; more hide the loop overhead.
const UNROLL: usize = 16;

pub(super) fn read(words: &[u64]) -> u64 {
    // SAFETY: every aarch64 target of Rust's standard library has NEON.
    unsafe { read_vectors(words) }
}

pub(super) fn copy(to: &mut [f64], from: &[f64]) {
    to.copy_from_slice(from);
}

pub(super) fn triad(to: &mut [f64], b: &[f64], c: &[f64]) {
    // SAFETY: as above.
    unsafe { triad_vectors(to, b, c) }
}

#[target_feature(enable = "neon")]
fn read_vectors(words: &[u64]) -> u64 {
    let mut sums = [vdupq_n_u64(0); UNROLL];
    for chunk in words.as_chunks::<{ 2 * UNROLL }>().0 {
        prefetch::ahead(chunk);
        for (i, sum) in sums.iter_mut().enumerate() {
            // SAFETY: `UNROLL` vectors of two words lie in the chunk.
            let vector = unsafe { vld1q_u64(chunk.as_ptr().add(2 * i)) };
            *sum = vaddq_u64(*sum, vector);
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(vaddvq_u64(*sum)))
}

#[target_feature(enable = "neon")]
fn triad_vectors(to: &mut [f64], b: &[f64], c: &[f64]) {
    let factor = vdupq_n_f64(FACTOR);
    let parts = b.chunks_exact(2).zip(c.chunks_exact(2));
    for (to, (b, c)) in to.chunks_exact_mut(2).zip(parts) {
        // SAFETY: all three chunks are one vector of two numbers.
        unsafe {
            let sum = vfmaq_f64(vld1q_f64(b.as_ptr()), vld1q_f64(c.as_ptr()), factor);
            vst1q_f64(to.as_mut_ptr(), sum);
        }
    }
}
