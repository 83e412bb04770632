//! GEMV rows in plain Rust for any processor, lane by lane as in the vector kernels.

use half::{bf16, f16};

use super::input::{Bytes, CHUNK, Floats, Input, LANES, Nibbles};
use super::walk::{Chunk, walk};
use crate::pack::minifloat::{E4M3, E5M2, e8m0};
use crate::pack::{Layout, NF4, RowRef};

/// E2M1 values doubled to integers.
pub(super) const E2M1_TWICE: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Values of symmetric INT4 codes, which have 8 added.
pub(super) const INT4: [i8; 16] = [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7];
/// Values of unsigned INT4 codes.
pub(super) const UNSIGNED: [i8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

type Sums = [f32; LANES];

/// Dot product of a row with the input.
pub(super) fn row(layout: Layout, row: RowRef<'_>, x: &Input) -> f32 {
    let mut sums = [0.0; LANES];
    match layout {
        Layout::Fp32 => {
            walk::<256, 0, 0, _>(row, x.floats(), |Chunk { codes: c, .. }, x| {
                add_floats(&mut sums, x, |j| f32::from_le_bytes(part(c, 4 * j)));
            });
        }
        Layout::Fp16 => {
            walk::<128, 0, 0, _>(row, x.floats(), |Chunk { codes: c, .. }, x| {
                add_floats(&mut sums, x, |j| f16::from_le_bytes(part(c, 2 * j)).to_f32());
            });
        }
        Layout::Bf16 => {
            walk::<128, 0, 0, _>(row, x.floats(), |Chunk { codes: c, .. }, x| {
                add_floats(&mut sums, x, |j| bf16::from_le_bytes(part(c, 2 * j)).to_f32());
            });
        }
        Layout::Fp8E4m3 => {
            walk::<64, 0, 0, _>(row, x.floats(), |Chunk { codes: c, .. }, x| {
                add_floats(&mut sums, x, |j| E4M3.decode(c[j]));
            });
        }
        Layout::Fp8E5m2 => {
            walk::<64, 0, 0, _>(row, x.floats(), |Chunk { codes: c, .. }, x| {
                add_floats(&mut sums, x, |j| E5M2.decode(c[j]));
            });
        }
        Layout::Nf4 => {
            walk::<64, 8, 0, _>(row, x.floats().as_chunks::<2>().0, |chunk, x| {
                let scales = f32s(*chunk.scales);
                for (place, x) in x.iter().flat_map(|x| &x.0).enumerate() {
                    let (nibble, lane) = (place / LANES, place % LANES);
                    let code = chunk.codes[4 * lane + nibble / 2] >> (nibble % 2 * 4) & 15;
                    sums[lane] += NF4[usize::from(code)] * x * scales[lane / 8];
                }
            });
        }
        Layout::Int8 => walk::<64, 0, 0, _>(row, x.bytes(), |Chunk { codes: c, .. }, x| {
            add_bytes(&mut sums, c, x, [1.0; 2]);
        }),
        Layout::Int8G128 => {
            walk::<128, 2, 0, _>(
                row,
                x.bytes().as_chunks::<2>().0,
                |Chunk { codes: c, scales: s, .. }, x| {
                    let scale = bf16::from_le_bytes(*s).to_f32();
                    for (codes, x) in c.as_chunks().0.iter().zip(x) {
                        add_bytes(&mut sums, codes, x, [scale; 2]);
                    }
                },
            );
        }
        Layout::GgufQ8_0 => {
            walk::<68, 0, 0, _>(row, x.bytes(), |Chunk { codes: c, .. }, x| {
                let (codes, scales) = q8_0(c);
                add_bytes(&mut sums, &codes, x, scales);
            });
        }
        Layout::Int4G32Sym
        | Layout::Int4G32
        | Layout::Int4G128Sym
        | Layout::Int4G128
        | Layout::Mxfp4
        | Layout::Nvfp4
        | Layout::GgufQ4_0 => nibbles(layout, row, x, &mut sums),
    }
    sums.iter().sum()
}

fn nibbles(layout: Layout, row: RowRef<'_>, x: &Input, sums: &mut Sums) {
    let x = x.nibbles();
    match layout {
        Layout::Int4G32Sym => {
            walk::<64, 8, 0, _>(row, x, |Chunk { codes: c, scales: s, .. }, x| {
                add_nibbles(sums, c, x, &INT4, bf16s::<4>(s));
            });
        }
        Layout::Int4G128Sym => {
            walk::<64, 2, 0, _>(row, x, |Chunk { codes: c, scales: s, .. }, x| {
                add_nibbles(sums, c, x, &INT4, bf16s::<1>(s));
            });
        }
        Layout::Int4G32 => {
            walk::<64, 8, 8, _>(row, x, |Chunk { codes: c, scales: s, zeros: z }, x| {
                add_nibbles(sums, c, x, &UNSIGNED, bf16s::<4>(s));
                subtract_zero(sums, x, bf16s::<4>(s), bf16s::<4>(z));
            });
        }
        Layout::Int4G128 => {
            walk::<64, 2, 2, _>(row, x, |Chunk { codes: c, scales: s, zeros: z }, x| {
                add_nibbles(sums, c, x, &UNSIGNED, bf16s::<1>(s));
                subtract_zero(sums, x, bf16s::<1>(s), bf16s::<1>(z));
            });
        }
        Layout::Mxfp4 => {
            walk::<64, 4, 0, _>(row, x, |Chunk { codes: c, scales: s, .. }, x| {
                add_nibbles(sums, c, x, &E2M1_TWICE, s.map(e8m0));
            });
        }
        Layout::Nvfp4 => {
            walk::<64, 8, 0, _>(row, x, |Chunk { codes: c, scales: s, .. }, x| {
                add_nibbles(sums, c, x, &E2M1_TWICE, s.map(|code| E4M3.decode(code)));
            });
        }
        Layout::GgufQ4_0 => walk::<72, 0, 0, _>(row, x, |Chunk { codes: c, .. }, x| {
            let (codes, scales) = q4_0(c);
            add_nibbles(sums, &codes, x, &INT4, scales);
        }),
        _ => unreachable!("the caller comes here with nibbles"),
    }
}

fn add_floats(sums: &mut Sums, x: &Floats, weight: impl Fn(usize) -> f32) {
    for (j, x) in x.0.iter().enumerate() {
        sums[j % LANES] += weight(j) * x;
    }
}

fn add_bytes(sums: &mut Sums, codes: &[u8; CHUNK], x: &Bytes, scales: [f32; 2]) {
    for (lane, sum) in sums.iter_mut().enumerate() {
        let dot: i32 = (4 * lane..4 * lane + 4)
            .map(|i| i32::from(codes[i].cast_signed()) * i32::from(x.codes[i]))
            .sum();
        *sum += dot as f32 * x.scale[lane] * scales[lane / 8];
    }
}

/// Accumulates weight · value · scale; a chunk has `S` scales.
fn add_nibbles<const S: usize>(
    sums: &mut Sums,
    codes: &[u8; CHUNK],
    x: &Nibbles,
    table: &[i8; 16],
    scales: [f32; S],
) {
    let weight = |code: u8| i32::from(table[usize::from(code)]);
    for (lane, sum) in sums.iter_mut().enumerate() {
        let byte = |i: usize| {
            weight(codes[i] & 15) * i32::from(x.low[i])
                + weight(codes[i] >> 4) * i32::from(x.high[i])
        };
        let dot: i32 = (4 * lane..4 * lane + 4).map(byte).sum();
        *sum += dot as f32 * x.scale[lane] * scales[lane * S / LANES];
    }
}

fn subtract_zero<const S: usize>(sums: &mut Sums, x: &Nibbles, scales: [f32; S], zeros: [f32; S]) {
    for (lane, sum) in sums.iter_mut().enumerate() {
        *sum -= zeros[lane * S / LANES] * x.sum[lane] * scales[lane * S / LANES];
    }
}

/// `N` bytes beginning at an index.
fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    *bytes[at..].first_chunk().expect("a chunk has all its elements")
}

fn bf16s<const N: usize>(bytes: &[u8]) -> [f32; N] {
    std::array::from_fn(|i| bf16::from_le_bytes(part(bytes, 2 * i)).to_f32())
}

fn f32s(bytes: [u8; 8]) -> [f32; 2] {
    [0, 4].map(|at| f32::from_le_bytes(part(&bytes, at)))
}

/// Two blocks of Q8_0: codes, scales.
fn q8_0(blocks: &[u8; 68]) -> ([u8; CHUNK], [f32; 2]) {
    let codes = std::array::from_fn(|i| blocks[i / 32 * 34 + 2 + i % 32]);
    (codes, [0, 1].map(|b| f16::from_le_bytes(part(blocks, 34 * b)).to_f32()))
}

/// Four blocks of Q4_0: codes, scales.
fn q4_0(blocks: &[u8; 72]) -> ([u8; CHUNK], [f32; 4]) {
    let codes = std::array::from_fn(|i| blocks[i / 16 * 18 + 2 + i % 16]);
    (codes, [0, 1, 2, 3].map(|b| f16::from_le_bytes(part(blocks, 18 * b)).to_f32()))
}
