//! The expected time of the arithmetic.

use crate::math;
use crate::op::{ProductShape, Shape};
use crate::quant_format::ComputeClass;

use super::{Kernel, Machine, TILE, Width, is_int8_of_vector_units, unpacks, width};

/// Rows up to which products run as kernels of vectors: where no tensor units compute them, and experts of GGUF files on
/// devices outside the fit.
const VECTOR_ROWS: f64 = 8.0;

impl Machine<'_> {
    /// Time of the arithmetic, including padding and unfilled waves.
    pub(super) fn compute(&self, kernel: &Kernel<'_>) -> f64 {
        let c = self.constants;
        let ideal = kernel.time.compute.get();
        if ideal <= 0.0 {
            return 0.0;
        }
        let share = self.share[width(kernel.path.class) as usize];
        match kernel.shape {
            Shape::Product(product) => {
                let is_vector = product.rows <= VECTOR_ROWS && self.is_vector(kernel.path.class);
                let padded = if !self.has_tiles || is_vector {
                    product.rows
                } else if Self::is_block_int8(product) {
                    integer_rows(product.rows)
                } else {
                    math::ceil(product.rows / 16.0) * 16.0
                };
                let rate = self.rate(kernel, product) * self.engine_compute(kernel);
                let unfilled = if is_vector { 1.0 } else { self.unfilled(product, padded, 1.0) };
                ideal * (padded / product.rows) * unfilled / rate
            }
            Shape::Experts { product, distinct } => {
                let (rows, distinct) = (product.rows / distinct, *distinct);
                let is_block = Self::is_block_int8(product);
                // The padding is that of NVIDIA's tiles. Elsewhere llama.cpp multiplies few rows per expert by the kernels of
                // vectors with which it multiplies a dense matrix, at the same time per byte.
                let is_dense = is_block && !self.is_covered && rows <= VECTOR_ROWS;
                let padding = match rows.clamp(16.0, 64.0) / 2.0 {
                    padding if self.has_tiles && !is_dense => padding,
                    _ => 0.0,
                };
                let padded = rows + padding;
                let experts = match is_block {
                    true if is_dense => 1.0,
                    true => c.experts_block_int8,
                    false => c.experts,
                };
                let rate = self.rate(kernel, product) * experts * self.engine_compute(kernel);
                ideal * (padded / rows) * self.unfilled(product, padded, distinct) / rate
            }
            Shape::Attention { heads, new, head_dim } => {
                let mut time = ideal / (share * c.attention);
                if self.is_llama_cpp() {
                    time /= self.head_size(*head_dim);
                }
                if *new > 1.0 {
                    let pairs = kernel.cost.flops.get() / (4.0 * heads * new * head_dim);
                    let tiles = heads * (new / TILE).max(1.0);
                    time *= (1.0 + 64.0 / pairs.max(1.0)) * self.last_wave(tiles);
                }
                time
            }
            Shape::Scan => ideal / (share * c.scan),
            Shape::Stream => 0.0,
        }
    }

    /// True for classes that run on vector units: wide floats, and INT8 where its peak is below that of FP16.
    fn is_vector(&self, class: ComputeClass) -> bool {
        match class {
            ComputeClass::Fp64 | ComputeClass::Fp32 => true,
            ComputeClass::Int8 => is_int8_of_vector_units(&self.peaks),
            ComputeClass::Tf32
            | ComputeClass::Fp16
            | ComputeClass::Bf16
            | ComputeClass::Fp8
            | ComputeClass::Fp6
            | ComputeClass::Fp4
            | ComputeClass::Int4 => false,
        }
    }

    /// Share of the peak that the kernels for the weights' format reach.
    fn rate(&self, kernel: &Kernel<'_>, product: &ProductShape) -> f64 {
        let c = self.constants;
        if Self::is_block_int8(product) {
            // These kernels multiply in INT8 whatever the activations are, so the INT8 peak counts.
            let path = kernel.path.class;
            let (share, more) =
                match (self.peaks[ComputeClass::Int8.index()], self.peaks[path.index()]) {
                    (Some(int8), Some(own)) => (self.share[Width::Eight as usize], int8 / own),
                    _ => (self.share[width(path) as usize], 1.0),
                };
            (share * c.block_int8 * self.old_integer_instructions * more).min(1.0)
        } else {
            let share = self.share[width(kernel.path.class) as usize];
            let unpacked = unpacks(kernel, product);
            share * if unpacked { c.unpacking * self.old_instructions } else { 1.0 }
        }
    }

    fn unfilled(&self, product: &ProductShape, rows: f64, matrices: f64) -> f64 {
        let tiles = (rows / TILE).max(1.0) * math::ceil(product.outputs / TILE) * matrices;
        self.last_wave(tiles)
    }

    /// Factor on the time for an unfilled last wave of tiles: less than its share, because other work fills in. The
    /// exponent that the fit prefers is 0.41.
    fn last_wave(&self, tiles: f64) -> f64 {
        if !self.has_tiles {
            return 1.0;
        }
        let loss = math::ceil(tiles / self.sm) * self.sm / tiles.max(1.0);
        math::sqrt(loss.max(1.0))
    }

    /// Slowdown of llama.cpp's attention for head sizes other than 128.
    pub(super) fn head_size(&self, head_dim: f64) -> f64 {
        if head_dim <= 1.0 || (head_dim - 128.0).abs() < 0.5 {
            return 1.0;
        }
        let times = (head_dim / 128.0).max(128.0 / head_dim);
        math::pow(times, -self.constants.head_size / core::f64::consts::LN_2)
    }
}

/// Number of rows that llama.cpp's integer kernels compute: vector kernels up to eight, tiles of eight beyond.
fn integer_rows(rows: f64) -> f64 {
    if rows <= 8.0 { rows } else { math::ceil(rows / 8.0) * 8.0 }
}
