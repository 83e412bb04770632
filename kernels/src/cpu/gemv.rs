//! y = W·x with packed weights: rows over workers, weights dequantized on the way, for every layout and instruction set.
//!
//! A kernel computes one row. It adds up products with the scales of blocks; what is constant along a row is applied once,
//! here: the scale of the row, of the tensor, and the half that E2M1 in whole numbers is short of.

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

/// Packed weights in memory of the workers that multiply by them.
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
    /// A copy of packed weights.
    pub fn new(pool: &mut Pool, packed: &Packed) -> Self {
        Self::repeated(pool, packed, 0, packed.rows())
    }

    /// The rows of packed weights from `start` on, over and over, until there are `rows` of them: a large matrix from a small one.
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

    /// How the weights lie in memory.
    pub const fn layout(&self) -> Layout {
        self.layout
    }

    /// Outputs N.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// Inputs K.
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// Bytes that a product reads of the weights.
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

/// Where workers write y: any of them may write any element.
#[derive(Debug)]
pub struct Output(Vec<AtomicU32>);

impl Output {
    /// Room for N values; NaN until they are written, so that a value that nobody wrote is found.
    pub fn new(rows: usize) -> Self {
        let output = Self((0..rows).map(|_| AtomicU32::new(0)).collect());
        output.clear();
        output
    }

    /// Forgets all values.
    pub fn clear(&self) {
        self.0.iter().for_each(|value| value.store(f32::NAN.to_bits(), Relaxed));
    }

    fn set(&self, r: usize, value: f32) {
        self.0[r].store(value.to_bits(), Relaxed);
    }

    /// The values.
    pub fn to_vec(&self) -> Vec<f32> {
        self.0.iter().map(|value| f32::from_bits(value.load(Relaxed))).collect()
    }
}

/// y = W·x.
///
/// # Panics
/// When the input was made for another layout or length, or the output has not one place per row.
pub fn gemv(isa: Isa, pool: &mut Pool, weights: &Matrix, x: &Input, y: &Output) {
    assert!(x.is_for(weights.layout, weights.cols), "an input of this layout and length");
    assert_eq!(y.0.len(), weights.rows, "a place per row");
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

/// A kernel: the sum of one row, with the scales of blocks.
///
/// One row, and then the next: several in turn are as fast in caches and half as fast from memory, because the processor
/// loses the streams that it otherwise asks for in advance.
type RowKernel = fn(Layout, RowRef<'_>, &Input) -> f32;

/// The instruction set whose kernel runs on this one: those without dot products of bytes in 512 bits use that of AVX2.
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
