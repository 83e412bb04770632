//! INT8 times INT8 in 32 bits, exact: tiles of four rows of X and six of W.
#![expect(unsafe_code, reason = "vector instructions")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m512i, _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_set1_epi8,
    _mm512_setzero_si512, _mm512_xor_si512,
};

use super::part::Part;
use crate::cpu::isa::{Isa, Level};
use crate::cpu::threads::Pool;

/// Rows are filled up with zeros to whole steps of this many bytes.
const STEP: usize = 64;
/// Rows of X in a tile.
const TALL: usize = 4;
/// Rows of W in a tile: 24 sums, four bytes of X and one of W fit into 32 registers.
const WIDE: usize = 6;
/// The largest K whose sums fit into 32 bits, with the offset of 128.
const LONGEST: usize = 65_536;

/// A matrix of bytes in two's complement, its rows filled up to whole vectors.
#[derive(Debug, Clone)]
pub struct IntMatrix {
    rows: usize,
    stride: usize,
    codes: Vec<i8>,
    /// 128 · the sum of a row: what adding 128 to the other side is too much.
    #[cfg(target_arch = "x86_64")]
    excess: Vec<i32>,
}

impl IntMatrix {
    /// A matrix from rows of `cols`.
    ///
    /// # Panics
    /// When there are not `rows` times `cols` values, or more than 65,536 columns, whose sums may not fit.
    pub fn new(rows: usize, cols: usize, values: &[i8]) -> Self {
        assert_eq!(values.len(), rows * cols, "values of this shape");
        assert!(cols <= LONGEST, "sums of 32 bits");
        let stride = cols.next_multiple_of(STEP);
        let mut codes = vec![0; rows * stride];
        for (to, from) in codes.chunks_mut(stride).zip(values.chunks(cols)) {
            to[..cols].copy_from_slice(from);
        }
        Self {
            rows,
            stride,
            #[cfg(target_arch = "x86_64")]
            excess: codes.chunks(stride).map(excess).collect(),
            codes,
        }
    }

    fn row(&self, r: usize) -> &[i8] {
        &self.codes[r * self.stride..][..self.stride]
    }
}

#[cfg(target_arch = "x86_64")]
fn excess(row: &[i8]) -> i32 {
    row.iter().map(|code| 128 * i32::from(*code)).sum()
}

/// Y = X·Wᵀ in 32 bits.
///
/// # Panics
/// When K differs, or Y has not M · N places.
pub fn gemm_int8(isa: Isa, pool: &mut Pool, x: &IntMatrix, w: &IntMatrix, y: &mut [i32]) {
    assert_eq!(x.stride, w.stride, "operands of one K");
    assert_eq!(y.len(), x.rows * w.rows, "a place per row of X and row of W");
    let y = Part::of(y);
    pool.run(|worker| {
        let share = worker.share(x.rows, 1);
        let y = y.rows(worker, x.rows, w.rows);
        // A few rows of W stay in the nearest cache while all rows of X go by.
        for wide in (0..w.rows).step_by(WIDE) {
            for tall in share.clone().step_by(TALL) {
                let tile = tile(isa, x, w, tall, wide);
                for (i, row) in tile.iter().enumerate().take(share.end - tall) {
                    let count = WIDE.min(w.rows - wide);
                    let place = (tall - share.start + i) * w.rows + wide;
                    y[place..place + count].copy_from_slice(&row[..count]);
                }
            }
        }
    });
}

type Tile = [[i32; WIDE]; TALL];

/// A tile of Y; rows beyond the end repeat the last one.
fn tile(isa: Isa, x: &IntMatrix, w: &IntMatrix, tall: usize, wide: usize) -> Tile {
    let xs: [_; TALL] = std::array::from_fn(|i| x.row((tall + i).min(x.rows - 1)));
    let ws: [_; WIDE] = std::array::from_fn(|j| w.row((wide + j).min(w.rows - 1)));
    match isa.level() {
        #[cfg(target_arch = "x86_64")]
        Level::Avx512Vnni => {
            // SAFETY: an `Isa` of this level is proof of the features.
            let mut tile = unsafe { vnni(xs, ws) };
            for row in &mut tile {
                for (j, sum) in row.iter_mut().enumerate() {
                    *sum -= w.excess[(wide + j).min(w.rows - 1)];
                }
            }
            tile
        }
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::AvxVnni | Level::Avx512 => {
            // SAFETY: as above.
            unsafe { avx2(xs, ws) }
        }
        #[cfg(target_arch = "aarch64")]
        Level::NeonDot => {
            // SAFETY: as above.
            unsafe { neon(xs, ws) }
        }
        _ => plain(xs, ws),
    }
}

/// Dot products that the compiler makes vectors of, with the instructions of the caller.
#[expect(clippy::inline_always, reason = "compiled once per instruction set")]
#[inline(always)]
fn plain(xs: [&[i8]; TALL], ws: [&[i8]; WIDE]) -> Tile {
    let dot =
        |x: &[i8], w: &[i8]| x.iter().zip(w).map(|(x, w)| i32::from(*x) * i32::from(*w)).sum();
    xs.map(|x| ws.map(|w| dot(x, w)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(xs: [&[i8]; TALL], ws: [&[i8]; WIDE]) -> Tile {
    plain(xs, ws)
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,dotprod")]
fn neon(xs: [&[i8]; TALL], ws: [&[i8]; WIDE]) -> Tile {
    plain(xs, ws)
}

/// Sums with 128 added to X, whose bytes are unsigned then.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn vnni(xs: [&[i8]; TALL], ws: [&[i8]; WIDE]) -> Tile {
    let mut sums = [[_mm512_setzero_si512(); WIDE]; TALL];
    let sign = _mm512_set1_epi8(i8::MIN);
    let xs = xs.map(|x| x.as_chunks::<STEP>().0);
    let ws = ws.map(|w| w.as_chunks::<STEP>().0);
    for step in 0..xs[0].len() {
        let unsigned = xs.map(|x| _mm512_xor_si512(load(&x[step]), sign));
        for (j, w) in ws.iter().enumerate() {
            let weights = load(&w[step]);
            for (sums, x) in sums.iter_mut().zip(unsigned) {
                sums[j] = _mm512_dpbusd_epi32(sums[j], x, weights);
            }
        }
    }
    sums.map(|sums| sums.map(|sum| _mm512_reduce_add_epi32(sum)))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn load(bytes: &[i8; STEP]) -> __m512i {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
