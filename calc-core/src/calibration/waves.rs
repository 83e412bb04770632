//! Waves of tiles in the rows of a calibration. Derivation: `docs/theory/tiling.md`.

use crate::math;

/// The output of one multiprocessor at a time, in a product of matrices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WaveTile {
    /// Rows of the output (m).
    pub rows: u32,
    /// Columns of the output (n).
    pub columns: u32,
}

impl WaveTile {
    /// Most rows or columns of a tile.
    pub const MOST: u32 = 1024;

    /// The arithmetic for which a product takes time over its own: a tile at the edge and a last wave that is partly filled cost as
    /// much as whole ones. `rows` and `outputs` are those of each of the `matrices`.
    ///
    /// ```text
    /// loss = waves · SMs · m n / (matrices · M N)        waves = ceil(matrices · ceil(M/m) · ceil(N/n) / SMs)
    /// ```
    /// Derivation: `docs/theory/tiling.md`.
    ///
    /// ```
    /// use calc_core::calibration::WaveTile;
    /// let tile = WaveTile { rows: 128, columns: 128 };
    /// // 108 tiles fill the 108 SMs of an A100 once; one more needs a second wave.
    /// assert_eq!(tile.loss(128.0, 108.0 * 128.0, 1.0, 108.0), 1.0);
    /// assert_eq!(tile.loss(128.0, 109.0 * 128.0, 1.0, 108.0), 216.0 / 109.0);
    /// ```
    pub fn loss(self, rows: f64, outputs: f64, matrices: f64, multiprocessors: f64) -> f64 {
        let (m, n) = (f64::from(self.rows), f64::from(self.columns));
        let tiles = matrices * math::ceil(rows / m) * math::ceil(outputs / n);
        let waves = math::ceil(tiles / multiprocessors);
        waves * multiprocessors * m * n / (matrices * rows * outputs)
    }
}
