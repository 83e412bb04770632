//! GEMV rows in plain Rust for any processor, lane by lane as in the vector kernels.

use half::{bf16, f16};

use super::input::{Bytes, CHUNK, Floats, Input, LANES, Nibbles, fours, pairs};
use super::walk::{Chunk, walk};
use crate::pack::kquant::{self, Q4_K_BYTES, Q6_K_BYTES};
use crate::pack::minifloat::{E4M3, E5M2, e8m0};
use crate::pack::{CodeKind, Layout, NF4, RowRef};

/// E2M1 values doubled to integers.
pub(super) const E2M1_TWICE: [i8; 16] = [0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12];

/// Values of symmetric INT4 codes, which have 8 added.
pub(super) const INT4: [i8; 16] = [-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7];
/// Values of unsigned INT4 codes.
pub(super) const UNSIGNED: [i8; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

type Sums = [f32; LANES];

/// Dot products of a row with M inputs.
pub(super) fn row<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&Input; M]) -> [f32; M] {
    let mut sums = [[0.0; LANES]; M];
    match layout.code_kind() {
        CodeKind::Floats => floats(layout, row, x.map(Input::floats), &mut sums),
        CodeKind::Bytes => bytes(layout, row, x.map(Input::bytes), &mut sums),
        CodeKind::Nibbles => nibbles(layout, row, x.map(Input::nibbles), &mut sums),
    }
    sums.map(|sums| sums.iter().sum())
}

fn floats<const M: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&[Floats]; M],
    sums: &mut [Sums; M],
) {
    match layout {
        Layout::Fp32 => walk::<256, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_floats(sums, x, |j| f32::from_le_bytes(part(c, 4 * j)));
        }),
        Layout::Fp16 => walk::<128, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_floats(sums, x, |j| f16::from_le_bytes(part(c, 2 * j)).to_f32());
        }),
        Layout::Bf16 => walk::<128, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_floats(sums, x, |j| bf16::from_le_bytes(part(c, 2 * j)).to_f32());
        }),
        Layout::Fp8E4m3 => walk::<64, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_floats(sums, x, |j| E4M3.decode(c[j]));
        }),
        Layout::Fp8E5m2 => walk::<64, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_floats(sums, x, |j| E5M2.decode(c[j]));
        }),
        Layout::Nf4 => walk::<64, 8, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let scales = f32s(*chunk.scales);
            for place in 0..2 * CHUNK {
                let (nibble, lane) = (place / LANES, place % LANES);
                let code = chunk.codes[4 * lane + nibble / 2] >> (nibble % 2 * 4) & 15;
                let weight = NF4[usize::from(code)];
                for (x, sums) in x.iter().zip(&mut *sums) {
                    sums[lane] += weight * x[place / CHUNK].0[place % CHUNK] * scales[lane / 8];
                }
            }
        }),
        _ => unreachable!("the caller comes here with floats"),
    }
}

fn bytes<const M: usize>(layout: Layout, row: &RowRef<'_>, x: [&[Bytes]; M], sums: &mut [Sums; M]) {
    match layout {
        Layout::Int8 => walk::<64, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            add_bytes(sums, c, x, [1.0; 2]);
        }),
        Layout::Int8G128 => walk::<128, 2, 0, _, M>(row, x.map(pairs), |chunk, x| {
            let scale = bf16::from_le_bytes(*chunk.scales).to_f32();
            for (i, codes) in chunk.codes.as_chunks().0.iter().enumerate() {
                add_bytes(sums, codes, x.map(|x| &x[i]), [scale; 2]);
            }
        }),
        Layout::GgufQ8_0 => walk::<68, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            let (codes, scales) = q8_0(c);
            add_bytes(sums, &codes, x, scales);
        }),
        Layout::GgufQ4K => walk::<Q4_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
            let c = chunk.codes;
            let (scales, minima) = kquant::split(c);
            let (d, dmin) = (kquant::half_at(c, 0).to_f32(), kquant::half_at(c, 2).to_f32());
            for (j, pair) in c[kquant::Q4_K_CODES..].as_chunks::<32>().0.iter().enumerate() {
                let codes = std::array::from_fn(|i| pair[i % 32] >> (i / 32 * 4) & 15);
                let two =
                    |of: [u8; 8], d: f32| [of[2 * j], of[2 * j + 1]].map(|it| d * f32::from(it));
                let x = x.map(|x| &x[j]);
                add_bytes(sums, &codes, x, two(scales, d));
                subtract_minima(sums, x, two(minima, dmin));
            }
        }),
        Layout::GgufQ6K => walk::<Q6_K_BYTES, 0, 0, _, M>(row, x.map(fours), |chunk, x| {
            let c = chunk.codes;
            let d = kquant::half_at(c, kquant::Q6_K_D).to_f32();
            for j in 0..4 {
                let code = |i: usize| kquant::q6_k_code(c, CHUNK * j + i).wrapping_sub(32);
                let scale =
                    |i: usize| d * f32::from(c[kquant::Q6_K_SCALES + 4 * j + i].cast_signed());
                let scales: [f32; 4] = std::array::from_fn(scale);
                add_bytes(sums, &std::array::from_fn(code), x.map(|x| &x[j]), scales);
            }
        }),
        _ => unreachable!("the caller comes here with bytes"),
    }
}

fn nibbles<const M: usize>(
    layout: Layout,
    row: &RowRef<'_>,
    x: [&[Nibbles]; M],
    sums: &mut [Sums; M],
) {
    match layout {
        Layout::Int4G32Sym => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            add_nibbles(sums, &weights(chunk.codes, &INT4), x, bf16s::<4>(chunk.scales));
        }),
        Layout::Int4G128Sym => walk::<64, 2, 0, _, M>(row, x, |chunk, x| {
            add_nibbles(sums, &weights(chunk.codes, &INT4), x, bf16s::<1>(chunk.scales));
        }),
        Layout::Int4G32 => walk::<64, 8, 8, _, M>(row, x, |Chunk { codes, scales, zeros }, x| {
            add_nibbles(sums, &weights(codes, &UNSIGNED), x, bf16s::<4>(scales));
            subtract_zero(sums, x, bf16s::<4>(scales), bf16s::<4>(zeros));
        }),
        Layout::Int4G128 => walk::<64, 2, 2, _, M>(row, x, |Chunk { codes, scales, zeros }, x| {
            add_nibbles(sums, &weights(codes, &UNSIGNED), x, bf16s::<1>(scales));
            subtract_zero(sums, x, bf16s::<1>(scales), bf16s::<1>(zeros));
        }),
        Layout::Mxfp4 => walk::<64, 4, 0, _, M>(row, x, |chunk, x| {
            add_nibbles(sums, &weights(chunk.codes, &E2M1_TWICE), x, chunk.scales.map(e8m0));
        }),
        Layout::Nvfp4 => walk::<64, 8, 0, _, M>(row, x, |chunk, x| {
            let scales = chunk.scales.map(|code| E4M3.decode(code));
            add_nibbles(sums, &weights(chunk.codes, &E2M1_TWICE), x, scales);
        }),
        Layout::GgufQ4_0 => walk::<72, 0, 0, _, M>(row, x, |Chunk { codes: c, .. }, x| {
            let (codes, scales) = q4_0(c);
            add_nibbles(sums, &weights(&codes, &INT4), x, scales);
        }),
        _ => unreachable!("the caller comes here with nibbles"),
    }
}

fn add_floats<const M: usize>(
    sums: &mut [Sums; M],
    x: [&Floats; M],
    weight: impl Fn(usize) -> f32,
) {
    for j in 0..CHUNK {
        let weight = weight(j);
        for (x, sums) in x.iter().zip(&mut *sums) {
            sums[j % LANES] += weight * x.0[j];
        }
    }
}

/// Accumulates weight · value · scale; a chunk has `S` scales.
fn add_bytes<const S: usize, const M: usize>(
    sums: &mut [Sums; M],
    codes: &[u8; CHUNK],
    x: [&Bytes; M],
    scales: [f32; S],
) {
    for (x, sums) in x.iter().zip(sums) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let dot: i32 = (4 * lane..4 * lane + 4)
                .map(|i| i32::from(codes[i].cast_signed()) * i32::from(x.codes[i]))
                .sum();
            *sum += dot as f32 * x.scale[lane] * scales[lane * S / LANES];
        }
    }
}

fn subtract_minima<const M: usize>(sums: &mut [Sums; M], x: [&Bytes; M], minima: [f32; 2]) {
    for (x, sums) in x.iter().zip(sums) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            // The start value is -128 times the sum of the codes.
            *sum += x.start[lane] as f32 / 128.0 * x.scale[lane] * minima[lane / 8];
        }
    }
}

/// Values of the low and the high nibbles.
fn weights(codes: &[u8; CHUNK], table: &[i8; 16]) -> [[i8; CHUNK]; 2] {
    let value = |code: u8| table[usize::from(code)];
    [codes.map(|code| value(code & 15)), codes.map(|code| value(code >> 4))]
}

/// Accumulates weight · value · scale; a chunk has `S` scales.
fn add_nibbles<const S: usize, const M: usize>(
    sums: &mut [Sums; M],
    [low, high]: &[[i8; CHUNK]; 2],
    x: [&Nibbles; M],
    scales: [f32; S],
) {
    for (x, sums) in x.iter().zip(sums) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            let byte = |i: usize| {
                i32::from(low[i]) * i32::from(x.low[i]) + i32::from(high[i]) * i32::from(x.high[i])
            };
            let dot: i32 = (4 * lane..4 * lane + 4).map(byte).sum();
            *sum += dot as f32 * x.scale[lane] * scales[lane * S / LANES];
        }
    }
}

fn subtract_zero<const S: usize, const M: usize>(
    sums: &mut [Sums; M],
    x: [&Nibbles; M],
    scales: [f32; S],
    zeros: [f32; S],
) {
    for (x, sums) in x.iter().zip(sums) {
        for (lane, sum) in sums.iter_mut().enumerate() {
            *sum -= zeros[lane * S / LANES] * x.sum[lane] * scales[lane * S / LANES];
        }
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
