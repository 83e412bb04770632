//! INT8 times INT8 in 32 bits, exact: tiles of four rows of X and six of W.
#![expect(unsafe_code, reason = "vector instructions")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
    _mm256_setzero_si256, _mm256_storeu_si256, _mm512_dpbusd_epi32, _mm512_loadu_si512,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_xor_si512,
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
pub const LONGEST: usize = 65_536;

/// As much as a vector holds, where it is loaded at once.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([i8; STEP]);

/// A matrix of bytes in two's complement, its rows filled up to whole vectors.
#[derive(Debug, Clone)]
pub struct IntMatrix {
    rows: usize,
    /// Lines of a row: an odd number, so that rows begin in different places of the caches.
    stride: usize,
    codes: Vec<Line>,
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
fn plain(xs: [&[Line]; TALL], ws: [&[Line]; WIDE]) -> Tile {
    let dot = |x: &[Line], w: &[Line]| {
        let lines = x.iter().zip(w);
        lines.map(|(x, w)| dot(x.0, w.0)).sum()
    };
    xs.map(|x| ws.map(|w| dot(x, w)))
}

#[expect(clippy::inline_always, reason = "as above")]
#[inline(always)]
fn dot(x: [i8; STEP], w: [i8; STEP]) -> i32 {
    x.into_iter().zip(w).map(|(x, w)| i32::from(x) * i32::from(w)).sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(xs: [&[Line]; TALL], ws: [&[Line]; WIDE]) -> Tile {
    // A row of X at a time: six sums and what they are made of fit into 16 registers.
    xs.map(|x| {
        let mut sums = [_mm256_setzero_si256(); WIDE];
        for (step, x) in x.iter().enumerate() {
            for quarter in 0..4 {
                let x = widened(x, quarter);
                for (sum, w) in sums.iter_mut().zip(ws) {
                    let products = _mm256_madd_epi16(x, widened(&w[step], quarter));
                    *sum = _mm256_add_epi32(*sum, products);
                }
            }
        }
        sums.map(|sum| total(sum))
    })
}

/// The quarter of a line with this number, in 16 bits each.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn widened(line: &Line, quarter: usize) -> __m256i {
    let bytes = &line.0[quarter * 16..][..16];
    // SAFETY: 16 bytes, and the load needs no alignment.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn total(sums: __m256i) -> i32 {
    let mut eight = [0; 8];
    // SAFETY: 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sums) };
    eight.iter().sum()
}

#[cfg(target_arch = "aarch64")]
#[target_feature(enable = "neon,dotprod")]
fn neon(xs: [&[Line]; TALL], ws: [&[Line]; WIDE]) -> Tile {
    plain(xs, ws)
}

/// Sums with 128 added to X, whose bytes are unsigned then.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn vnni(xs: [&[Line]; TALL], ws: [&[Line]; WIDE]) -> Tile {
    let mut sums = [[_mm512_setzero_si512(); WIDE]; TALL];
    let sign = _mm512_set1_epi8(i8::MIN);
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
fn load(line: &Line) -> __m512i {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(line.0.as_ptr().cast()) }
}
