//! INT8 tiles with `sdot`.
#![expect(unsafe_code, reason = "vector instructions")]

use std::arch::aarch64::{int8x16_t, int32x4_t, vaddvq_s32, vdupq_n_s32, vld1q_s8};

use super::{Line, TILE_COLS, TILE_ROWS, Tile};
use crate::cpu::isa::{Isa, Level};

/// Accumulates dot products of four bytes.
pub(super) fn sdot(isa: Isa, xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    assert!(isa.level() == Level::NeonDot);
    // SAFETY: an `Isa` of this level is proof of the features.
    unsafe { tile(xs, ws) }
}

#[target_feature(enable = "neon,dotprod")]
fn tile(xs: [&[Line]; TILE_ROWS], ws: [&[Line]; TILE_COLS]) -> Tile {
    let mut sums = [[vdupq_n_s32(0); TILE_COLS]; TILE_ROWS];
    for step in 0..xs[0].len() {
        for quarter in 0..4 {
            let x = xs.map(|x| load(&x[step], quarter));
            for (j, w) in ws.iter().enumerate() {
                let weights = load(&w[step], quarter);
                for (sums, x) in sums.iter_mut().zip(x) {
                    sums[j] = add(sums[j], x, weights);
                }
            }
        }
    }
    let mut tile = [[0; TILE_COLS]; TILE_ROWS];
    for i in 0..TILE_ROWS {
        for j in 0..TILE_COLS {
            tile[i][j] = vaddvq_s32(sums[i][j]);
        }
    }
    tile
}

/// `sdot`: adds the dot product of four bytes to each of four accumulators.
#[target_feature(enable = "neon,dotprod")]
fn add(mut sums: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
    // SAFETY: one instruction on registers, which the processor has.
    unsafe {
        std::arch::asm!(
            "sdot {sums:v}.4s, {a:v}.16b, {b:v}.16b",
            sums = inout(vreg) sums, a = in(vreg) a, b = in(vreg) b,
            options(pure, nomem, nostack, preserves_flags)
        );
    }
    sums
}

#[target_feature(enable = "neon")]
fn load(line: &Line, quarter: usize) -> int8x16_t {
    let bytes = &line.0[quarter * 16..][..16];
    // SAFETY: 16 bytes, and the load needs no alignment.
    unsafe { vld1q_s8(bytes.as_ptr()) }
}
