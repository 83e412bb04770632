//! Yᵀ = W·Xᵀ in FP32 by the crate `gemm`: rows of W over workers, one thread each.

#![expect(unsafe_code, reason = "the library takes pointers and strides")]

use std::sync::{Mutex, PoisonError};

use gemm::Parallelism;

use super::buffer::Buffer;
use super::threads::{Pool, Worker};

/// Rows of W that a worker takes at a time.
const ROWS: usize = 16;

/// Sizes of a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Tokens.
    pub m: usize,
    /// Outputs.
    pub n: usize,
    /// Inputs.
    pub k: usize,
}

/// Where each worker writes its rows: m values for every row of W.
#[derive(Debug)]
pub struct Output {
    parts: Vec<Mutex<Vec<f32>>>,
    sizes: Sizes,
}

impl Output {
    /// Room for the product, shared out to this many workers; NaN until it is written.
    pub fn new(sizes: Sizes, workers: usize) -> Self {
        let rows = |index| Worker { index, count: workers }.share(sizes.n, ROWS).len();
        let part = |index| Mutex::new(vec![f32::NAN; rows(index) * sizes.m]);
        Self { parts: (0..workers).map(part).collect(), sizes }
    }

    /// Forgets all values.
    pub fn clear(&self) {
        for part in &self.parts {
            part.lock().unwrap_or_else(PoisonError::into_inner).fill(f32::NAN);
        }
    }

    /// The n values of one token.
    pub fn row(&self, token: usize) -> Vec<f32> {
        let mut row = Vec::with_capacity(self.sizes.n);
        for part in &self.parts {
            let part = part.lock().unwrap_or_else(PoisonError::into_inner);
            row.extend(part.iter().skip(token).step_by(self.sizes.m));
        }
        row
    }
}

/// Yᵀ = W·Xᵀ. W has n rows and X has m rows of k values.
///
/// # Panics
/// When an operand has another size, or the output was made for another pool.
pub fn gemm(pool: &mut Pool, sizes: Sizes, weights: &Buffer<f32>, x: &Buffer<f32>, y: &Output) {
    let Sizes { m, n, k } = sizes;
    assert_eq!(y.sizes, sizes, "an output of this size");
    assert!(y.parts.len() == pool.len() && m > 0 && n > 0 && k > 0, "an output for this pool");
    assert!(weights.len() == n * k && x.len() == m * k, "operands of these sizes");
    pool.run(|worker| {
        let rows = worker.share(n, ROWS);
        let mut part = y.parts[worker.index].lock().unwrap_or_else(PoisonError::into_inner);
        product(&weights[rows.start * k..rows.end * k], x, &mut part, m, k);
    });
}

/// Of some rows of W.
fn product(weights: &[f32], x: &[f32], y: &mut [f32], m: usize, k: usize) {
    let rows = weights.len() / k;
    assert_eq!(y.len(), rows * m, "room for these rows");
    let stride = |len: usize| isize::try_from(len).expect("a slice has at most isize::MAX bytes");
    if rows == 0 {
        return;
    }
    // SAFETY: `weights` has `rows` rows of `k` values, `x` has `m` rows of `k` (asserted by the caller), `y` has `rows` rows of
    // `m`; the strides say so, and `y` is borrowed exclusively. The old values of `y` are not read.
    unsafe {
        gemm::gemm(
            rows,
            m,
            k,
            y.as_mut_ptr(),
            1,
            stride(m),
            false,
            weights.as_ptr(),
            1,
            stride(k),
            x.as_ptr(),
            stride(k),
            1,
            0.0,
            1.0,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}
