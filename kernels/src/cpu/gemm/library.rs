//! The call of the library `gemm`: every worker computes its own columns of one result matrix.
#![expect(unsafe_code, reason = "the library takes pointers")]

use super::GemmDims;
use crate::cpu::disjoint_rows::DisjointRows;
use crate::cpu::threads::Worker;

/// Element types that the library multiplies.
pub trait Float: Copy + Send + Sync + 'static {
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
}

impl Float for f32 {
    const ZERO: Self = 0.0;
    const ONE: Self = 1.0;
}

impl Float for half::f16 {
    const ZERO: Self = Self::ZERO;
    const ONE: Self = Self::ONE;
}

/// Computes this worker's columns of Y = X·Wᵀ on the calling thread. Rows of X and W are `pitch` apart. A worker asks once per run.
pub(super) fn columns<T: Float>(
    worker: Worker,
    shape: GemmDims,
    pitch: usize,
    (x, w): (&[T], &[T]),
    y: &DisjointRows<'_, T>,
) {
    let GemmDims { m, n, k } = shape;
    let share = worker.share(n, 1);
    if share.is_empty() {
        return;
    }
    let fits = |len: usize, rows: usize| len == rows * pitch && pitch >= k;
    assert!(fits(x.len(), m) && fits(w.len(), n) && y.len() == m * n, "operands of this shape");
    let stride = |len: usize| isize::try_from(len).expect("a slice is shorter than half of memory");
    // SAFETY: the strides describe row-major X and Y and the transpose of row-major W, whose sizes are asserted above. The
    // columns lie within Y, which is borrowed; those of different workers do not overlap, and each worker asks once. The result
    // is not read before it is written.
    unsafe {
        gemm::gemm(
            m,
            share.len(),
            k,
            y.start().add(share.start),
            1,
            stride(n),
            false,
            x.as_ptr(),
            1,
            stride(pitch),
            w.as_ptr().add(share.start * pitch),
            stride(pitch),
            1,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}
