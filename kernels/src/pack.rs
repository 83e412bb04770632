//! Packed weights: encoding rows of f32 in every layout, and decoding them.
//!
//! A matrix is stored row by row along K in up to three planes: codes, scales, zero points. Values are finite: NaN, infinity,
//! and values beyond the range of the layout are refused, because one of them would spoil a block or a tensor. A block too
//! small for its scale to be representable becomes zeros.

mod e2m1;
mod gguf;
mod int;
pub(crate) mod kquant;
mod layout;
pub mod minifloat;
mod nf4;
mod plain;
mod plane;
mod rounding;
mod table;

pub use layout::{CodeKind, Layout, formats};
pub use nf4::NF4;
pub use plane::{LINE, Plane};

use table::Scaling;

/// A packed weight matrix.
#[derive(Debug, Clone)]
pub struct Packed {
    layout: Layout,
    rows: usize,
    cols: usize,
    codes: Plane,
    scales: Plane,
    zeros: Plane,
    tensor_scale: f32,
}

/// Reasons why weights cannot be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackError {
    /// The number of weights is not a positive multiple of the columns.
    Shape {
        weights: usize,
        /// Number of columns.
        cols: usize,
    },
    /// A weight is NaN or infinite.
    NotFinite {
        /// Row index.
        row: usize,
        /// Column index.
        col: usize,
    },
    /// A weight or the scale of its block exceeds the range of the layout.
    TooLarge {
        /// Row index.
        row: usize,
    },
}

/// The planes of one row.
#[derive(Debug, Clone, Copy)]
pub struct RowRef<'a> {
    /// Codes; GGUF layouts interleave scales.
    pub codes: &'a [u8],
    /// Scales of blocks, or of the row.
    pub scales: &'a [u8],
    /// Zero points of blocks.
    pub zeros: &'a [u8],
}

/// The planes of one row, writable.
pub(crate) struct RowMut<'a> {
    codes: &'a mut [u8],
    scales: &'a mut [u8],
    zeros: &'a mut [u8],
}

impl Packed {
    /// Packs rows of `cols` weights.
    ///
    /// # Errors
    /// When the number of weights is not a multiple of `cols`, or a weight is not finite or exceeds the range of the layout.
    pub fn encode(layout: Layout, weights: &[f32], cols: usize) -> Result<Self, PackError> {
        if cols == 0 || weights.is_empty() || !weights.len().is_multiple_of(cols) {
            return Err(PackError::Shape { weights: weights.len(), cols });
        }
        if let Some(at) = weights.iter().position(|value| !value.is_finite()) {
            return Err(PackError::NotFinite { row: at / cols, col: at % cols });
        }
        let mut packed = Self::zeroed(layout, weights.len() / cols, cols);
        let spec = layout.spec();
        packed.tensor_scale =
            spec.tensor_scale.map_or(1.0, |scale| scale(rounding::largest(weights)));
        let scaling = Scaling { block: layout.block(), tensor: packed.tensor_scale };
        for (r, row) in weights.chunks(cols).enumerate() {
            if !(spec.holds)(rounding::largest(row)) {
                return Err(PackError::TooLarge { row: r });
            }
            (spec.encode)(scaling, row, &mut packed.row_mut(r));
        }
        Ok(packed)
    }

    fn zeroed(layout: Layout, rows: usize, cols: usize) -> Self {
        Self {
            layout,
            rows,
            cols,
            codes: Plane::zeroed(rows * layout.row_code_bytes(cols)),
            scales: Plane::zeroed(rows * layout.row_scale_bytes(cols)),
            zeros: Plane::zeroed(rows * layout.row_zero_bytes(cols)),
            tensor_scale: 1.0,
        }
    }

    fn row_mut(&mut self, r: usize) -> RowMut<'_> {
        let (layout, cols) = (self.layout, self.cols);
        RowMut {
            codes: part_mut(&mut self.codes, r, layout.row_code_bytes(cols)),
            scales: part_mut(&mut self.scales, r, layout.row_scale_bytes(cols)),
            zeros: part_mut(&mut self.zeros, r, layout.row_zero_bytes(cols)),
        }
    }

    /// Memory layout.
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

    /// Scale of the tensor: FP8 multiplies by it, NVFP4 divides by it; 1 for other layouts.
    pub const fn tensor_scale(&self) -> f32 {
        self.tensor_scale
    }

    /// The planes of all rows.
    pub fn planes(&self) -> RowRef<'_> {
        RowRef { codes: self.codes.bytes(), scales: self.scales.bytes(), zeros: self.zeros.bytes() }
    }

    /// The planes of a row.
    pub fn row(&self, r: usize) -> RowRef<'_> {
        let (layout, cols) = (self.layout, self.cols);
        RowRef {
            codes: part(&self.codes, r, layout.row_code_bytes(cols)),
            scales: part(&self.scales, r, layout.row_scale_bytes(cols)),
            zeros: part(&self.zeros, r, layout.row_zero_bytes(cols)),
        }
    }

    /// Bytes stored, including the scale of the tensor.
    pub const fn bytes(&self) -> usize {
        self.layout.bytes(self.rows, self.cols)
    }

    /// Decodes a row, exact in f64 (for NVFP4 up to the rounding of one division).
    ///
    /// # Panics
    /// When `values` does not have one element per column.
    pub fn decode_row(&self, r: usize, values: &mut [f64]) {
        assert_eq!(values.len(), self.cols, "one value per column");
        decode_row(self.layout, self.tensor_scale, self.row(r), values);
    }
}

/// Decodes the planes of one row of a layout.
pub fn decode_row(layout: Layout, tensor_scale: f32, stored: RowRef<'_>, values: &mut [f64]) {
    let scaling = Scaling { block: layout.block(), tensor: tensor_scale };
    (layout.spec().decode)(scaling, stored, values);
}

fn part(plane: &Plane, r: usize, len: usize) -> &[u8] {
    &plane.bytes()[r * len..(r + 1) * len]
}

fn part_mut(plane: &mut Plane, r: usize, len: usize) -> &mut [u8] {
    &mut plane.bytes_mut()[r * len..(r + 1) * len]
}
