//! INT8 tiles with VNNI in 512 bits, and with 16-bit products in 256 bits.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
    _mm256_setzero_si256, _mm256_storeu_si256, _mm512_dpbusd_epi32, _mm512_loadu_si512,
    _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_setzero_si512, _mm512_xor_si512,
};

use super::{Line, TILE_COLS, TILE_ROWS, Tile};
use crate::cpu::isa::{Isa, Level};

/// Accumulates with 128 added to X, because VNNI multiplies unsigned by signed bytes.
pub(super) fn vnni(isa: Isa, xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    assert!(isa.level() == Level::Avx512Vnni);
    // SAFETY: an `Isa` of this level is proof of the features.
    unsafe { vnni_tile(xs, ws) }
}

/// Accumulates 16-bit products, which hold any product of two bytes.
pub(super) fn avx2(isa: Isa, xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    assert!(isa.level() >= Level::Avx2 && isa.level() <= Level::Avx512Vnni);
    // SAFETY: as above; those in between have AVX2, too.
    unsafe { avx2_tile(xs, ws) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn vnni_tile(xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    let mut sums = [[_mm512_setzero_si512(); TILE_COLS]; TILE_ROWS];
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
    // A loop and not `map`: the closure would not inherit the target features if it were not inlined.
    let mut tile = [[0; TILE_COLS]; TILE_ROWS];
    for i in 0..TILE_ROWS {
        for j in 0..TILE_COLS {
            tile[i][j] = _mm512_reduce_add_epi32(sums[i][j]);
        }
    }
    tile
}

#[target_feature(enable = "avx2")]
fn avx2_tile(xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    let mut tile = [[0; TILE_COLS]; TILE_ROWS];
    // One row of X at a time: six accumulators and their operands fit into 16 registers.
    for (x, tile) in xs.iter().zip(&mut tile) {
        let mut sums = [_mm256_setzero_si256(); TILE_COLS];
        for (step, x) in x.iter().enumerate() {
            for quarter in 0..4 {
                let x = widened(x, quarter);
                for (sum, w) in sums.iter_mut().zip(ws) {
                    let products = _mm256_madd_epi16(x, widened(&w[step], quarter));
                    *sum = _mm256_add_epi32(*sum, products);
                }
            }
        }
        for (tile, sum) in tile.iter_mut().zip(sums) {
            *tile = total(sum);
        }
    }
    tile
}

/// A quarter of a vector, sign-extended to 16 bits.
#[target_feature(enable = "avx2")]
fn widened(line: &Line, quarter: usize) -> __m256i {
    let bytes = &line.0[quarter * 16..][..16];
    // SAFETY: 16 bytes, and the load needs no alignment.
    _mm256_cvtepi8_epi16(unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
fn total(sums: __m256i) -> i32 {
    let mut eight = [0; 8];
    // SAFETY: 32 bytes, and the store needs no alignment.
    unsafe { _mm256_storeu_si256(eight.as_mut_ptr().cast(), sums) };
    eight.iter().sum()
}

#[target_feature(enable = "avx512f")]
fn load(line: &Line) -> __m512i {
    // SAFETY: 64 bytes, and the load needs no alignment.
    unsafe { _mm512_loadu_si512(line.0.as_ptr().cast()) }
}
