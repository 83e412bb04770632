//! GEMV, y = W·x, with packed weights: rows distributed over workers, weights dequantized in registers, for every layout and
//! instruction set.
//!
//! A kernel computes one row and applies the scales of blocks. Factors that are constant along a row are applied once, here:
//! the scale of the row, the scale of the tensor, and the 0.5 of E2M1 codes that were doubled to integers.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod input;
#[cfg(target_arch = "aarch64")]
mod neon;
mod portable;
mod walk;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

pub use input::Input;

use super::buffer::Buffer;
use super::isa::{Isa, Level};
use super::prefetch;
use super::threads::Pool;
use crate::pack::{Layout, Packed, RowRef};

/// Packed weights, each row in memory local to the worker that multiplies by it.
#[derive(Debug)]
pub struct Matrix {
    layout: Layout,
    rows: usize,
    cols: usize,
    codes: Buffer<u8>,
    scales: Buffer<u8>,
    zeros: Buffer<u8>,
    tensor_scale: f32,
}

impl Matrix {
    /// Copies packed weights into the workers' memory.
    pub fn new(pool: &mut Pool, packed: &Packed) -> Self {
        Self::repeated(pool, packed, 0, packed.rows())
    }

    /// Repeats the rows of packed weights, beginning with row `start`, up to `rows` rows: a large matrix from a small one.
    pub fn repeated(pool: &mut Pool, packed: &Packed, start: usize, rows: usize) -> Self {
        let (layout, cols) = (packed.layout(), packed.cols());
        let mut copy = |plane: &[u8], row_bytes: usize| {
            Buffer::filled(pool, rows * row_bytes, |first, part: &mut [u8]| {
                let first = (first + start * row_bytes) % plane.len().max(1);
                let again = plane.iter().cycle().skip(first);
                part.iter_mut().zip(again).for_each(|(byte, value)| *byte = *value);
            })
        };
        let planes = packed.planes();
        Self {
            layout,
            rows,
            cols,
            codes: copy(planes.codes, layout.row_code_bytes(cols)),
            scales: copy(planes.scales, layout.row_scale_bytes(cols)),
            zeros: copy(planes.zeros, layout.row_zero_bytes(cols)),
            tensor_scale: packed.tensor_scale(),
        }
    }

    /// Memory layout of the weights.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// N: rows, outputs.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// K: columns, inputs.
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// Bytes of weights that one product reads.
    pub const fn bytes(&self) -> usize {
        self.layout.bytes(self.rows, self.cols)
    }

    fn row(&self, r: usize) -> RowRef<'_> {
        let (layout, cols) = (self.layout, self.cols);
        let part = |plane: &'_ [u8], len: usize| -> std::ops::Range<usize> {
            debug_assert!((r + 1) * len <= plane.len(), "a row of the matrix");
            r * len..(r + 1) * len
        };
        RowRef {
            codes: &self.codes[part(&self.codes, layout.row_code_bytes(cols))],
            scales: &self.scales[part(&self.scales, layout.row_scale_bytes(cols))],
            zeros: &self.zeros[part(&self.zeros, layout.row_zero_bytes(cols))],
        }
    }
}

/// The output y; any worker may write any element.
#[derive(Debug)]
pub struct Output(Vec<AtomicU32>);

impl Output {
    /// An output of N values, NaN until written, so that a missing value is detected.
    pub fn new(rows: usize) -> Self {
        let output = Self((0..rows).map(|_| AtomicU32::new(0)).collect());
        output.clear();
        output
    }

    /// Sets all values to NaN.
    pub fn clear(&self) {
        self.0.iter().for_each(|value| value.store(f32::NAN.to_bits(), Relaxed));
    }

    fn set(&self, r: usize, value: f32) {
        self.0[r].store(value.to_bits(), Relaxed);
    }

    /// The values of y.
    pub fn to_vec(&self) -> Vec<f32> {
        self.0.iter().map(|value| f32::from_bits(value.load(Relaxed))).collect()
    }
}

/// Computes y = W·x.
///
/// # Panics
/// When the input was prepared for another layout or length, or the output does not have one element per row.
pub fn gemv(isa: Isa, pool: &mut Pool, weights: &Matrix, x: &Input, y: &Output) {
    assert!(x.is_for(weights.layout, weights.cols), "an input of this layout and length");
    assert_eq!(y.0.len(), weights.rows, "one element per row");
    let kernel = row_kernel(isa);
    let factor = (weights.layout.spec().sum_factor)(weights.tensor_scale);
    pool.run(|worker| {
        for r in worker.share(weights.rows, 1) {
            let row = weights.row(r);
            prefetch::next_line(row.scales);
            let sum = kernel(weights.layout, row, x);
            y.set(r, sum * factor * row_scale(weights.layout, row));
        }
    });
}

/// A row kernel: the dot product of one row with the input, including the scales of blocks.
///
/// Rows are computed one after the other. Interleaving four rows is as fast from caches and half as fast from memory, because
/// the hardware prefetcher loses the streams.
type RowKernel = fn(Layout, RowRef<'_>, &Input) -> f32;

/// Instruction set of the kernel that runs on a processor with `isa`. Without VNNI in 512 bits it is AVX2.
pub(in crate::cpu) const fn level(isa: Isa) -> Level {
    match isa.level() {
        Level::Avx2 | Level::AvxVnni | Level::Avx512 => Level::Avx2,
        Level::Portable | Level::Neon => Level::Portable,
        other => other,
    }
}

fn row_kernel(isa: Isa) -> RowKernel {
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => avx512::row,
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => avx2::row,
        #[cfg(target_arch = "aarch64")]
        Level::NeonDot => neon::row,
        _ => portable::row,
    }
}

fn row_scale(layout: Layout, row: RowRef<'_>) -> f32 {
    match row.scales.first_chunk() {
        Some(bytes) if layout.spec().row_scale_bytes > 0 => f32::from_le_bytes(*bytes),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
