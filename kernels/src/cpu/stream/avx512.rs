//! Memory streams with AVX-512 and non-temporal stores.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::{
    __m512i, _mm_sfence, _mm512_add_epi64, _mm512_fmadd_pd, _mm512_load_pd, _mm512_set1_pd,
    _mm512_setzero_si512, _mm512_stream_pd,
};

use super::FACTOR;
use crate::cpu::prefetch;

/// Bytes of a vector.
const VECTOR: usize = 64;
/// Vectors of 1 KiB, the step of every kernel here.
const UNROLL: usize = 16;

pub(super) fn read(words: &[u64]) -> u64 {
    assert_aligned(words);
    // SAFETY: the parent module calls this only with an `Isa` of this level, so the processor has the features.
    unsafe { read_vectors(words) }
}

pub(super) fn copy(to: &mut [f64], from: &[f64]) {
    assert_aligned(to);
    assert_aligned(from);
    // SAFETY: as above.
    unsafe { copy_vectors(to, from) }
}

pub(super) fn triad(to: &mut [f64], b: &[f64], c: &[f64]) {
    assert_aligned(to);
    assert_aligned(b);
    assert_aligned(c);
    // SAFETY: as above.
    unsafe { triad_vectors(to, b, c) }
}

fn assert_aligned<T>(part: &[T]) {
    assert!(part.as_ptr().addr().is_multiple_of(VECTOR), "parts start at a vector");
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn read_vectors(words: &[u64]) -> u64 {
    let mut sums = [_mm512_setzero_si512(); UNROLL];
    // SAFETY: any bits are a vector of integers.
    let (before, vectors, after) = unsafe { words.align_to::<__m512i>() };
    debug_assert!(before.is_empty() && after.is_empty(), "the part is aligned and whole");
    for chunk in vectors.as_chunks::<UNROLL>().0 {
        prefetch::ahead(chunk);
        for (sum, vector) in sums.iter_mut().zip(chunk) {
            *sum = _mm512_add_epi64(*sum, *vector);
        }
    }
    let total = sums.into_iter().reduce(|a, b| _mm512_add_epi64(a, b));
    // SAFETY: a vector is an array of words without padding.
    let lanes: [u64; VECTOR / 8] =
        unsafe { std::mem::transmute(total.unwrap_or(_mm512_setzero_si512())) };
    lanes.iter().fold(0, |total, lane| total.wrapping_add(*lane))
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn copy_vectors(to: &mut [f64], from: &[f64]) {
    let (to, from) = (to.chunks_exact_mut(VECTOR / 8), from.chunks_exact(VECTOR / 8));
    for (to, from) in to.zip(from) {
        // SAFETY: both chunks are one aligned vector.
        unsafe { _mm512_stream_pd(to.as_mut_ptr(), _mm512_load_pd(from.as_ptr())) };
    }
    // Non-temporal stores are not ordered with the store that reports this worker as finished.
    _mm_sfence();
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,fma")]
fn triad_vectors(to: &mut [f64], b: &[f64], c: &[f64]) {
    let factor = _mm512_set1_pd(FACTOR);
    let parts = b.chunks_exact(VECTOR / 8).zip(c.chunks_exact(VECTOR / 8));
    for (to, (b, c)) in to.chunks_exact_mut(VECTOR / 8).zip(parts) {
        // SAFETY: all three chunks are one aligned vector.
        unsafe {
            let sum =
                _mm512_fmadd_pd(_mm512_load_pd(c.as_ptr()), factor, _mm512_load_pd(b.as_ptr()));
            _mm512_stream_pd(to.as_mut_ptr(), sum);
        }
    }
    _mm_sfence();
}
