//! INT8 GEMM with INT32 accumulation, exact: tiles of four rows of X by six rows of W.

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use crate::backend::GemmShape;
use crate::cpu::disjoint_rows::DisjointRows;
use crate::cpu::isa::{Isa, Level};
use crate::cpu::threads::Pool;

/// Rows are padded with zeros to a multiple of this many bytes.
const STEP: usize = 64;
/// Rows of X in a tile.
const TILE_ROWS: usize = 4;
/// Rows of W in a tile: 24 accumulators, four vectors of X and one of W fit into 32 registers.
const TILE_COLS: usize = 6;
/// Largest K.
const MAX_K: u64 = GemmShape::MOST_INT8_INPUTS;

/// One vector register of bytes, aligned for loads.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([i8; STEP]);

/// A matrix of signed bytes, rows padded to whole vectors.
#[derive(Debug, Clone)]
pub struct IntMatrix {
    rows: usize,
    /// Vectors per row: an odd number, so that rows start at different cache sets.
    stride: usize,
    codes: Vec<Line>,
    /// 128 · the sum of a row: the correction for adding 128 to the other operand.
    #[cfg(target_arch = "x86_64")]
    excess: Vec<i32>,
}

impl IntMatrix {
    /// A matrix from rows of `cols`.
    ///
    /// # Panics
    /// When the number of values is not `rows` · `cols`, or `cols` exceeds [`GemmShape::MOST_INT8_INPUTS`].
    pub fn new(rows: usize, cols: usize, values: &[i8]) -> Self {
        assert_eq!(values.len(), rows * cols, "values of this shape");
        assert!(cols as u64 <= MAX_K, "sums of 32 bits");
        let stride = cols.div_ceil(STEP) | 1;
        let mut codes = vec![Line([0; STEP]); rows * stride];
        for (to, from) in codes.chunks_mut(stride).zip(values.chunks(cols)) {
            for (to, from) in to.iter_mut().zip(from.chunks(STEP)) {
                to.0[..from.len()].copy_from_slice(from);
            }
        }
        Self {
            rows,
            stride,
            #[cfg(target_arch = "x86_64")]
            excess: codes.chunks(stride).map(excess).collect(),
            codes,
        }
    }

    fn row(&self, r: usize) -> &[Line] {
        &self.codes[r * self.stride..][..self.stride]
    }
}

#[cfg(target_arch = "x86_64")]
fn excess(row: &[Line]) -> i32 {
    row.iter().flat_map(|line| line.0).map(|code| 128 * i32::from(code)).sum()
}

/// GEMM, Y = X·Wᵀ, with INT32 results.
///
/// # Panics
/// When K differs, or Y does not have M · N elements.
pub fn gemm_int8(isa: Isa, pool: &mut Pool, x: &IntMatrix, w: &IntMatrix, y: &mut [i32]) {
    assert_eq!(x.stride, w.stride, "operands of one K");
    assert_eq!(y.len(), x.rows * w.rows, "a place per row of X and row of W");
    let y = DisjointRows::of(y);
    pool.run(|worker| {
        let share = worker.share(x.rows, 1);
        let y = y.rows(worker, x.rows, w.rows);
        // A few rows of W stay in L1 while all rows of X stream past.
        for wide in (0..w.rows).step_by(TILE_COLS) {
            for tall in share.clone().step_by(TILE_ROWS) {
                let tile = tile(isa, x, w, tall, wide);
                for (i, row) in tile.iter().enumerate().take(share.end - tall) {
                    let count = TILE_COLS.min(w.rows - wide);
                    let place = (tall - share.start + i) * w.rows + wide;
                    y[place..place + count].copy_from_slice(&row[..count]);
                }
            }
        }
    });
}

type Tile = [[i32; TILE_COLS]; TILE_ROWS];

/// Instruction set of the kernel that runs on a processor with `isa`.
pub(in crate::cpu) const fn level(isa: Isa) -> Level {
    match isa.level() {
        Level::Avx2 | Level::AvxVnni | Level::Avx512 => Level::Avx2,
        Level::Portable | Level::Neon => Level::Portable,
        other => other,
    }
}

/// One tile of Y; rows beyond the end repeat the last one.
fn tile(isa: Isa, x: &IntMatrix, w: &IntMatrix, tall: usize, wide: usize) -> Tile {
    let xs: [_; TILE_ROWS] = std::array::from_fn(|i| x.row((tall + i).min(x.rows - 1)));
    let ws: [_; TILE_COLS] = std::array::from_fn(|j| w.row((wide + j).min(w.rows - 1)));
    match level(isa) {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => {
            let mut tile = x86::vnni(isa, xs, ws);
            for row in &mut tile {
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum -= w.excess[(wide + j).min(w.rows - 1)];
                }
            }
            tile
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => x86::avx2(isa, xs, ws),
        #[cfg(target_arch = "aarch64")]
        Level::NeonDot => neon::sdot(isa, xs, ws),
        _ => plain(xs, ws),
    }
}

/// Dot products in plain Rust.
fn plain(xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    let mut tile = [[0; TILE_COLS]; TILE_ROWS];
    for (x, sums) in xs.iter().zip(&mut tile) {
        for (w, sum) in ws.iter().zip(sums) {
            *sum = x.iter().zip(*w).map(|(x, w)| dot(&x.0, &w.0)).sum();
        }
    }
    tile
}

fn dot(x: &[i8; STEP], w: &[i8; STEP]) -> i32 {
    x.iter().zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum()
}
