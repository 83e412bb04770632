//! Operators that work on one token at a time and stream their input: add and RMSNorm, rotary positions, gated activation, look-up of
//! embeddings. Each is written once for all vectors; arithmetic is FP32.
//!
//! Workers share rows: tokens, for the rotary positions heads. A single token is one worker's, because waking the others takes about as
//! long as its few microseconds; only the gate, whose elements are independent, is shared within a token.
#![expect(
    clippy::inline_always,
    reason = "a kernel is compiled for an instruction set, and only inside its caller it has the features"
)]

use super::disjoint_rows::DisjointRows;
use super::isa::Isa;
use super::lanes::{self, Carried, Lanes, Stored, VectorKernel, exp};
use super::threads::{Pool, Worker};

/// Elements of the gate that a worker has at least: a page of FP32.
const GRANULE: usize = 1024;

/// Adds the branch to the residual, in place, and writes the sum, normalized by its root mean square and times the weights.
///
/// ```text
/// x ← x + b      y = x · w / √(Σ x² / H + ε)
/// ```
///
/// # Panics
/// When the arrays are not whole rows of one size.
pub(super) fn add_norm<T: Carried>(isa: Isa, pool: &mut Pool, buffers: NormBuffers<'_, T>) {
    let NormBuffers { residual, branch, weights, epsilon, output } = buffers;
    let width = weights.len();
    assert!(width > 0 && branch.len().is_multiple_of(width), "whole rows");
    assert!(residual.len() == branch.len() && output.len() == branch.len(), "rows of one size");
    let tokens = branch.len() / width;
    let (residual, output) = (DisjointRows::of(residual), DisjointRows::of(output));
    pool.run(|worker| {
        let share = worker.share(tokens, 1);
        let branch = &branch[share.start * width..share.end * width];
        let residual = residual.rows(worker, tokens, width);
        let output = output.rows(worker, tokens, width);
        lanes::run(isa, Norm { residual, branch, weights, epsilon, output });
    });
}

/// Buffers of add and norm: tokens × width, weights of one width.
#[derive(Debug)]
pub struct NormBuffers<'a, T> {
    /// Residual; the sum when it returns.
    pub residual: &'a mut [T],
    /// Output of the branch before.
    pub branch: &'a [T],
    /// Weights of the norm.
    pub weights: &'a [f32],
    /// ε.
    pub epsilon: f32,
    pub output: &'a mut [T],
}

struct Norm<'a, T> {
    residual: &'a mut [T],
    branch: &'a [T],
    weights: &'a [f32],
    epsilon: f32,
    output: &'a mut [T],
}

impl<T: Carried> VectorKernel for Norm<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let width = self.weights.len();
        let rows = self.residual.chunks_exact_mut(width).zip(self.branch.chunks_exact(width));
        for ((x, branch), y) in rows.zip(self.output.chunks_exact_mut(width)) {
            for (x, branch) in x.chunks_mut(L::WIDTH).zip(branch.chunks(L::WIDTH)) {
                let sum: L = T::load_some::<L>(x).add(T::load_some(branch));
                T::store_some(sum, x);
            }
            let mean = sum_of_squares::<L, T>(x) / width as f32;
            let factor = L::splat(1.0 / (mean + self.epsilon).sqrt());
            let x = x.chunks(L::WIDTH).zip(self.weights.chunks(L::WIDTH));
            for (y, (x, weights)) in y.chunks_mut(L::WIDTH).zip(x) {
                let scaled = T::load_some::<L>(x).mul(factor).mul(f32::load_some(weights));
                T::store_some(scaled, y);
            }
        }
    }
}

/// Sum of squares of a row, in four vectors.
#[inline(always)]
fn sum_of_squares<L: Lanes, T: Stored>(row: &[T]) -> f32 {
    let mut sums = [L::splat(0.0); 4];
    for four in row.chunks(4 * L::WIDTH) {
        for (sum, part) in sums.iter_mut().zip(four.chunks(L::WIDTH)) {
            let x: L = T::load_some(part);
            *sum = x.mul_add(x, *sum);
        }
    }
    let [a, b, c, d] = sums;
    a.add(b).add(c.add(d)).sum()
}

/// Rotates the halves of every head by the angles of its token, in place.
///
/// ```text
/// a ← a · cos − b · sin      b ← b · cos + a · sin      a, b: the first and the second half
/// ```
///
/// # Panics
/// When the arrays are not whole heads of whole tokens.
pub(super) fn rotate<T: Carried>(isa: Isa, pool: &mut Pool, buffers: RopeBuffers<'_, T>) {
    let RopeBuffers { heads, cosines, sines, tokens, head_dim } = buffers;
    assert!(tokens > 0 && head_dim > 0 && head_dim.is_multiple_of(2), "heads of two halves");
    let per_token = heads.len() / tokens / head_dim;
    assert_eq!(heads.len(), tokens * per_token * head_dim, "whole heads of whole tokens");
    let half = head_dim / 2;
    assert!(cosines.len() == tokens * half && sines.len() == tokens * half, "angles of all tokens");
    let all = tokens * per_token;
    let rows = DisjointRows::of(heads);
    pool.run(|worker| {
        let first = worker.share(all, 1).start;
        let heads = rows.rows(worker, all, head_dim);
        lanes::run(isa, Rotation { heads, cosines, sines, half, first, per_token });
    });
}

/// Buffers of the rotary positions.
#[derive(Debug)]
pub struct RopeBuffers<'a, T> {
    /// tokens × heads × head_dim, rotated in place.
    pub heads: &'a mut [T],
    /// Cosines of the angles: tokens × half of head_dim.
    pub cosines: &'a [f32],
    /// Sines of the angles.
    pub sines: &'a [f32],
    pub tokens: usize,
    pub head_dim: usize,
}

struct Rotation<'a, T> {
    heads: &'a mut [T],
    cosines: &'a [f32],
    sines: &'a [f32],
    half: usize,
    /// Number of the first head.
    first: usize,
    per_token: usize,
}

impl<T: Carried> VectorKernel for Rotation<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let half = self.half;
        for (index, head) in self.heads.chunks_exact_mut(2 * half).enumerate() {
            let token = (self.first + index) / self.per_token;
            let angles = token * half..(token + 1) * half;
            let cosines = self.cosines[angles.clone()].chunks(L::WIDTH);
            let angles = cosines.zip(self.sines[angles].chunks(L::WIDTH));
            let (a, b) = head.split_at_mut(half);
            for ((a, b), (cos, sin)) in
                a.chunks_mut(L::WIDTH).zip(b.chunks_mut(L::WIDTH)).zip(angles)
            {
                let (x, y): (L, L) = (T::load_some(a), T::load_some(b));
                let (cos, sin): (L, L) = (f32::load_some(cos), f32::load_some(sin));
                T::store_some(x.mul(cos).sub(y.mul(sin)), a);
                T::store_some(y.mul(cos).add(x.mul(sin)), b);
            }
        }
    }
}

/// Gated activation, `y = g · u / (1 + e^−g)`.
///
/// # Panics
/// When the arrays differ in size.
pub(super) fn activate<T: Carried>(isa: Isa, pool: &mut Pool, buffers: GateBuffers<'_, T>) {
    let GateBuffers { gate, up, output } = buffers;
    let len = output.len();
    assert!(gate.len() == len && up.len() == len, "arrays of one size");
    // Whole granules, and the rest for the last worker.
    let (granules, rest) = (len / GRANULE, len % GRANULE);
    let (whole, last) = output.split_at_mut(granules * GRANULE);
    let whole = DisjointRows::of(whole);
    let last = DisjointRows::of(last);
    pool.run(|worker| {
        let share = worker.share(granules, 1);
        let place = share.start * GRANULE..share.end * GRANULE;
        let output = whole.rows(worker, granules, GRANULE);
        lanes::run(isa, GateBuffers { gate: &gate[place.clone()], up: &up[place], output });
        if worker.index + 1 == worker.count {
            let place = granules * GRANULE..len;
            let output = last.rows(Worker { index: 0, count: 1 }, 1, rest);
            lanes::run(isa, GateBuffers { gate: &gate[place.clone()], up: &up[place], output });
        }
    });
}

/// Buffers of the gated activation, all of one size.
#[derive(Debug)]
pub struct GateBuffers<'a, T> {
    pub gate: &'a [T],
    pub up: &'a [T],
    pub output: &'a mut [T],
}

impl<T: Carried> VectorKernel for GateBuffers<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let inputs = self.gate.chunks(L::WIDTH).zip(self.up.chunks(L::WIDTH));
        for (y, (gate, up)) in self.output.chunks_mut(L::WIDTH).zip(inputs) {
            let (gate, up): (L, L) = (T::load_some(gate), T::load_some(up));
            let one = L::splat(1.0);
            let below = one.add(exp(L::splat(0.0).sub(gate)));
            T::store_some(gate.div(below).mul(up), y);
        }
    }
}

/// Copies the table's rows of the tokens to the output, as FP32.
///
/// # Panics
/// When a token has no row, or the output does not have a row per token.
pub(super) fn embed<T: Stored>(isa: Isa, pool: &mut Pool, buffers: EmbeddingBuffers<'_, T>) {
    let EmbeddingBuffers { table, width, tokens, output } = buffers;
    assert!(width > 0 && table.len().is_multiple_of(width), "whole rows of the table");
    assert_eq!(output.len(), tokens.len() * width, "a row per token");
    let rows = DisjointRows::of(output);
    pool.run(|worker| {
        let output = rows.rows(worker, tokens.len(), width);
        let tokens = &tokens[worker.share(tokens.len(), 1)];
        lanes::run(isa, EmbeddingBuffers { table, width, tokens, output });
    });
}

/// Buffers of the look-up of embeddings.
#[derive(Debug)]
pub struct EmbeddingBuffers<'a, T> {
    /// Rows of `width` elements.
    pub table: &'a [T],
    pub width: usize,
    /// Numbers of rows.
    pub tokens: &'a [u32],
    /// tokens × width.
    pub output: &'a mut [f32],
}

impl<T: Stored> VectorKernel for EmbeddingBuffers<'_, T> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        for (token, y) in self.tokens.iter().zip(self.output.chunks_exact_mut(self.width)) {
            let row = &self.table[*token as usize * self.width..][..self.width];
            for (y, x) in y.chunks_mut(L::WIDTH).zip(row.chunks(L::WIDTH)) {
                f32::store_some::<L>(T::load_some(x), y);
            }
        }
    }
}

#[cfg(test)]
mod tests;
