//! Memory streams in plain Rust, vectorized by the compiler for the target's baseline.

use super::FACTOR;
use crate::cpu::prefetch;

pub(super) fn read(words: &[u64]) -> u64 {
    let mut sums = [0_u64; 16];
    for chunk in words.as_chunks::<16>().0 {
        prefetch::ahead(chunk);
        for (sum, word) in sums.iter_mut().zip(chunk) {
            *sum = sum.wrapping_add(*word);
        }
    }
    sums.iter().fold(0, |total, sum| total.wrapping_add(*sum))
}

pub(super) fn copy(to: &mut [f64], from: &[f64]) {
    to.copy_from_slice(from);
}

pub(super) fn triad(to: &mut [f64], b: &[f64], c: &[f64]) {
    for ((to, b), c) in to.iter_mut().zip(b).zip(c) {
        *to = b + FACTOR * c;
    }
}
