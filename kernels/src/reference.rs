//! Reference products in f64, which kernels are compared with; those of the other operators of a layer are in `layer`.

pub mod layer;

use crate::pack::{Packed, RowRef, decode_row};

/// Unit roundoff of FP32, 2⁻²⁴.
pub const UNIT_ROUNDOFF: f64 = 1.0 / 16_777_216.0;

/// A product with the magnitudes that rounding errors are proportional to.
#[derive(Debug, Clone, PartialEq)]
pub struct ReferenceResult {
    /// Values, row by row.
    pub values: Vec<f64>,
    /// Σ|w|·|x| of each value; with zero points Σ(|q| + |z|)·s·|x|.
    pub magnitudes: Vec<f64>,
    /// Terms of each sum: K.
    pub terms: usize,
}

/// GEMV, y = W·x.
///
/// # Panics
/// When `x` does not have one value per column of W.
pub fn gemv(weights: &Packed, x: &[f64]) -> ReferenceResult {
    gemm(weights, x)
}

/// GEMM, Y = X·Wᵀ, with rows of K values of X and N values of Y.
///
/// # Panics
/// When the length of `x` is not a multiple of K.
pub fn gemm(weights: &Packed, x: &[f64]) -> ReferenceResult {
    let (n, k) = (weights.rows(), weights.cols());
    assert!(x.len().is_multiple_of(k), "whole rows of the input");
    let m = x.len() / k;
    let mut product =
        ReferenceResult { values: vec![0.0; m * n], magnitudes: vec![0.0; m * n], terms: k };
    let mut row = vec![0.0; k];
    for r in 0..n {
        weights.decode_row(r, &mut row);
        let sizes = magnitudes(weights, r, &row);
        for (i, x) in x.chunks(k).enumerate() {
            product.values[i * n + r] = row.iter().zip(x).map(|(w, x)| w * x).sum();
            product.magnitudes[i * n + r] = sizes.iter().zip(x).map(|(w, x)| w * x.abs()).sum();
        }
    }
    product
}

/// Magnitudes that a kernel accumulates for each weight of a row.
fn magnitudes(weights: &Packed, r: usize, row: &[f64]) -> Vec<f64> {
    let layout = weights.layout();
    if layout.block_zero_bytes() == 0 {
        return row.iter().map(|value| value.abs()).collect();
    }
    let stored = weights.row(r);
    let no_zeros = vec![0; stored.zeros.len()];
    let mut scaled_codes = vec![0.0; row.len()];
    let stored = RowRef { zeros: &no_zeros, ..stored };
    decode_row(layout, weights.tensor_scale(), stored, &mut scaled_codes);
    scaled_codes.iter().zip(row).map(|(code, value)| code.abs() + (code - value).abs()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::Layout;

    #[test]
    fn a_product_by_hand() {
        let weights = Packed::encode(Layout::Fp32, &[1.0, 2.0, -3.0, 0.5], 2).unwrap();
        let product = gemm(&weights, &[10.0, 1.0, 0.0, -2.0]);
        let expected = ReferenceResult {
            values: vec![12.0, -29.5, -4.0, -1.0],
            magnitudes: vec![12.0, 30.5, 4.0, 1.0],
            terms: 2,
        };
        assert_eq!(product, expected);
    }

    #[test]
    fn a_zero_point_counts_as_large_as_it_is() {
        let weights = Packed::encode(Layout::Int4G32, &[8.0, -7.0], 2).unwrap();
        let product = gemv(&weights, &[1.0, 0.0]);
        // Scale 1 and zero point 7: 8 is stored as 15 − 7.
        let expected = ReferenceResult { values: vec![8.0], magnitudes: vec![22.0], terms: 2 };
        assert_eq!(product, expected);
    }
}
