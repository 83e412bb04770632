//! Products with packed weights, Y = X·Wᵀ with M = 1 to 16 tokens (M = 1: GEMV, y = W·x): rows of W distributed over workers,
//! weights dequantized in registers, for every layout and instruction set.
//!
//! A kernel computes one row of W times up to four tokens: each chunk of weights is loaded and unpacked once for all of them. For
//! more tokens the row is gone through again while it is in the first-level cache, so that every weight is read from memory once.
//! A kernel applies the scales of blocks. Factors that are constant along a row are applied once, here:
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

use calc_core::catalog;
use calc_core::quant_format::QuantFormat;

pub use input::Input;

use super::buffer::Buffer;
use super::isa::{Isa, Level};
use super::prefetch;
use super::threads::Pool;
use crate::backend::GemvShape;
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

/// Most tokens of a product with packed weights; more are a GEMM.
pub const MAX_TOKENS: usize = 16;
const _: () = assert!(MAX_TOKENS as u64 == GemvShape::MAX_TOKENS, "as in the shape of a product");

/// The output Y, token by token; any worker may write any element.
#[derive(Debug)]
pub struct Output(Vec<AtomicU32>);

impl Output {
    /// An output of N values per token, NaN until written, so that a missing value is detected.
    pub fn new(rows: usize, tokens: usize) -> Self {
        let output = Self((0..rows * tokens).map(|_| AtomicU32::new(0)).collect());
        output.clear();
        output
    }

    /// Sets all values to NaN.
    pub fn clear(&self) {
        self.0.iter().for_each(|value| value.store(f32::NAN.to_bits(), Relaxed));
    }

    fn set(&self, index: usize, value: f32) {
        self.0[index].store(value.to_bits(), Relaxed);
    }

    /// The values of Y.
    pub fn to_vec(&self) -> Vec<f32> {
        self.0.iter().map(|value| f32::from_bits(value.load(Relaxed))).collect()
    }
}

/// Computes Y = X·Wᵀ, with one input per token.
///
/// # Panics
/// When there are no tokens or more than [`MAX_TOKENS`], an input was prepared for another layout or length, or the output does
/// not have one element per row and token.
pub fn gemv(isa: Isa, pool: &mut Pool, weights: &Matrix, x: &[Input], y: &Output) {
    assert!((1..=MAX_TOKENS).contains(&x.len()), "one to sixteen tokens");
    let fits = |x: &Input| x.is_for(weights.layout, weights.cols);
    assert!(x.iter().all(fits), "an input of this layout and length");
    assert_eq!(y.0.len(), weights.rows * x.len(), "one element per row and token");
    let kernels = RowKernels::of(isa);
    let factor = (weights.layout.spec().sum_factor)(weights.tensor_scale);
    let (fours, rest) = x.as_chunks::<4>();
    let (twos, ones) = rest.as_chunks::<2>();
    pool.run(|worker| {
        for r in worker.share(weights.rows, 1) {
            let row = weights.row(r);
            prefetch::next_line(row.scales);
            let set = |token: usize, sum: f32| {
                y.set(token * weights.rows + r, sum * factor * row_scale(weights.layout, &row));
            };
            // The loops below cost a single token several percent of its time where rows are short.
            if let [x] = x {
                let [sum] = (kernels.one)(weights.layout, &row, [x]);
                set(0, sum);
                continue;
            }
            let mut tokens = 0..;
            let mut set_next = |sum| set(tokens.next().unwrap_or_default(), sum);
            for four in fours {
                (kernels.four)(weights.layout, &row, four.each_ref())
                    .into_iter()
                    .for_each(&mut set_next);
            }
            for two in twos {
                (kernels.two)(weights.layout, &row, two.each_ref())
                    .into_iter()
                    .for_each(&mut set_next);
            }
            for one in ones {
                (kernels.one)(weights.layout, &row, [one]).into_iter().for_each(&mut set_next);
            }
        }
    });
}

/// Format of the input of a product with packed weights: INT8 where the kernel multiplies bytes, else FP32 (weight-only).
///
/// # Panics
/// Never: the catalog has both formats.
pub(in crate::cpu) fn input_format(layout: Layout) -> &'static QuantFormat {
    let key = if layout.quantizes_input() { "int8" } else { "fp32" };
    catalog::format(key).expect("the catalog has FP32 and INT8")
}

/// A row kernel: the dot products of one row with M inputs, including the scales of blocks.
///
/// Rows are computed one after the other. Interleaving four rows is as fast from caches and half as fast from memory, because
/// the hardware prefetcher loses the streams.
type RowKernel<const M: usize> = fn(Layout, &RowRef<'_>, [&Input; M]) -> [f32; M];

/// Row kernels of an instruction set. Four tokens fit into the registers beside the weights.
struct RowKernels {
    one: RowKernel<1>,
    two: RowKernel<2>,
    four: RowKernel<4>,
}

impl RowKernels {
    fn of(isa: Isa) -> Self {
        match level(isa) {
            #[cfg(target_arch = "x86_64")]
            Level::Avx512Vnni => Self { one: avx512::row, two: avx512::row, four: avx512::row },
            #[cfg(target_arch = "x86_64")]
            Level::Avx2 => {
                Self { one: avx2::row::<1, 4>, two: avx2::row::<2, 4>, four: avx2::row::<4, 2> }
            }
            #[cfg(target_arch = "aarch64")]
            Level::NeonDot => Self { one: neon::row, two: neon::row, four: neon::row },
            _ => Self { one: portable::row, two: portable::row, four: portable::row },
        }
    }
}

/// Instruction set of the kernel that runs on a processor with `isa`. Without VNNI in 512 bits it is AVX2.
pub(in crate::cpu) const fn level(isa: Isa) -> Level {
    match isa.level() {
        Level::Avx2 | Level::AvxVnni | Level::Avx512 => Level::Avx2,
        Level::Portable | Level::Neon => Level::Portable,
        other => other,
    }
}

fn row_scale(layout: Layout, row: &RowRef<'_>) -> f32 {
    match row.scales.first_chunk() {
        Some(bytes) if layout.spec().row_scale_bytes > 0 => f32::from_le_bytes(*bytes),
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests;
