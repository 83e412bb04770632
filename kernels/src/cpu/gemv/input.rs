//! The input x prepared for GEMV kernels: FP32, or INT8 codes in the order in which nibbles are unpacked.

use crate::activation::{BLOCK, quantize_block};
use crate::pack::{CodeKind, Layout};

/// Elements per chunk of floats or bytes.
pub(super) const CHUNK: usize = 64;
/// Elements per chunk of nibbles.
pub(super) const NIBBLES: usize = 128;
/// Accumulator lanes.
pub(super) const LANES: usize = 16;

/// An input for one layout.
#[derive(Debug, Clone)]
pub struct Input {
    layout: Layout,
    cols: usize,
    floats: Vec<Floats>,
    bytes: Vec<Bytes>,
    nibbles: Vec<Nibbles>,
}

/// 64 values. For NF4, two chunks form a unit in the order of [`place_of_nf4`].
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Floats(pub [f32; CHUNK]);

/// 64 quantized values, four per lane.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Bytes {
    pub codes: [i8; CHUNK],
    /// −128 · the sum of a lane's codes: the start value that compensates for weights with 128 added.
    pub start: [i32; LANES],
    /// Scale of the block that a lane belongs to.
    pub scale: [f32; LANES],
}

impl Bytes {
    const ZERO: Self = Self { codes: [0; CHUNK], start: [0; LANES], scale: [0.0; LANES] };
}

/// 128 quantized values in two vectors, for the low and the high nibbles of 64 bytes.
/// A lane has four of each: eight elements that are adjacent or (GGUF) half a block apart.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Nibbles {
    pub low: [i8; CHUNK],
    pub high: [i8; CHUNK],
    /// −`nibble_offset` of the layout · the sum of a lane's codes.
    pub start: [i32; LANES],
    /// Scale of the block that a lane belongs to.
    pub scale: [f32; LANES],
    /// Scaled sum of a lane's values; a zero point multiplies it.
    pub sum: [f32; LANES],
}

impl Input {
    /// Prepares K values.
    pub fn new(layout: Layout, x: &[f32]) -> Self {
        let mut input = Self {
            layout,
            cols: x.len(),
            floats: Vec::new(),
            bytes: Vec::new(),
            nibbles: Vec::new(),
        };
        match layout.code_kind() {
            CodeKind::Floats => {
                input.floats = x.chunks(NIBBLES).flat_map(|x| two_of_floats(layout, x)).collect();
            }
            CodeKind::Bytes => {
                input.bytes = x.chunks(NIBBLES).flat_map(two_of_bytes).collect();
                // The last block of weights is whole.
                let whole = layout.blocks(x.len()) * layout.block();
                let chunks = whole.div_ceil(CHUNK).max(input.bytes.len());
                input.bytes.resize(chunks, Bytes::ZERO);
            }
            CodeKind::Nibbles => {
                input.nibbles = x.chunks(NIBBLES).map(|x| nibbles(layout, x)).collect();
            }
        }
        input
    }

    pub(super) fn is_for(&self, layout: Layout, cols: usize) -> bool {
        self.layout == layout && self.cols == cols
    }

    /// Chunks of floats; an even number of them.
    pub(super) fn floats(&self) -> &[Floats] {
        &self.floats
    }

    /// Chunks of bytes; an even number of them.
    pub(super) fn bytes(&self) -> &[Bytes] {
        &self.bytes
    }

    pub(super) fn nibbles(&self) -> &[Nibbles] {
        &self.nibbles
    }
}

/// Chunks in units of two.
pub(super) fn pairs<X>(chunks: &[X]) -> &[[X; 2]] {
    chunks.as_chunks().0
}

/// Chunks in units of four.
pub(super) fn fours<X>(chunks: &[X]) -> &[[X; 4]] {
    chunks.as_chunks().0
}

fn two_of_floats(layout: Layout, x: &[f32]) -> [Floats; 2] {
    let mut chunks = [Floats([0.0; CHUNK]); 2];
    for (j, value) in x.iter().enumerate() {
        let place = if layout == Layout::Nf4 { place_of_nf4(j) } else { j };
        chunks[place / CHUNK].0[place % CHUNK] = *value;
    }
    chunks
}

/// Position of an element within a unit of 128: 64 bytes are 16 words of eight nibbles, and the i-th nibbles of all words form
/// a vector. The even element of a byte is its high nibble.
const fn place_of_nf4(element: usize) -> usize {
    let (byte, high) = (element / 2, 1 - element % 2);
    (byte % 4 * 2 + high) * LANES + byte / 4
}

/// Quantizes up to 128 values, padded with zeros.
fn quantized(x: &[f32]) -> ([i8; NIBBLES], [f32; NIBBLES / BLOCK]) {
    let (mut codes, mut scales) = ([0; NIBBLES], [0.0; NIBBLES / BLOCK]);
    for (b, values) in x.chunks(BLOCK).enumerate() {
        let (block, scale) = quantize_block(values);
        codes[b * BLOCK..][..BLOCK].copy_from_slice(&block);
        scales[b] = scale;
    }
    (codes, scales)
}

fn two_of_bytes(x: &[f32]) -> [Bytes; 2] {
    let (codes, scales) = quantized(x);
    [0, 1].map(|half| {
        let mut chunk = Bytes::ZERO;
        chunk.codes.copy_from_slice(&codes[half * CHUNK..][..CHUNK]);
        for lane in 0..LANES {
            chunk.start[lane] = -128 * lane_sum(&chunk.codes, lane);
            chunk.scale[lane] = scales[2 * half + lane * 4 / BLOCK];
        }
        chunk
    })
}

fn nibbles(layout: Layout, x: &[f32]) -> Nibbles {
    let (codes, scales) = quantized(x);
    let mut chunk = Nibbles {
        low: [0; CHUNK],
        high: [0; CHUNK],
        start: [0; LANES],
        scale: [0.0; LANES],
        sum: [0.0; LANES],
    };
    for i in 0..CHUNK {
        let (low, high) = elements_of_byte(layout, i);
        (chunk.low[i], chunk.high[i]) = (codes[low], codes[high]);
    }
    for lane in 0..LANES {
        let sum = lane_sum(&chunk.low, lane) + lane_sum(&chunk.high, lane);
        chunk.start[lane] = -layout.spec().nibble_offset * sum;
        chunk.scale[lane] = scales[lane * 8 / BLOCK];
        chunk.sum[lane] = chunk.scale[lane] * sum as f32;
    }
    chunk
}

/// Elements of a chunk in the low and the high nibble of byte `i`.
const fn elements_of_byte(layout: Layout, i: usize) -> (usize, usize) {
    match layout {
        Layout::GgufQ4_0 => {
            let first = i / 16 * 32 + i % 16;
            (first, first + 16)
        }
        _ => (2 * i, 2 * i + 1),
    }
}

fn lane_sum(codes: &[i8; CHUNK], lane: usize) -> i32 {
    codes[4 * lane..][..4].iter().map(|code| i32::from(*code)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_the_elements_and_scales_of_their_block() {
        let x: Vec<f32> = (0..128_u8).map(|i| f32::from(i / 32 + 1) * 127.0).collect();
        for layout in [Layout::Mxfp4, Layout::GgufQ4_0] {
            let input = Input::new(layout, &x);
            let chunk = &input.nibbles()[0];
            for lane in 0..LANES {
                let expected = f32::from(u8::try_from(lane / 4 + 1).unwrap());
                assert!((chunk.scale[lane] - expected).abs() < 1e-6);
                assert!((chunk.sum[lane] - expected * 8.0 * 127.0).abs() < 1e-2);
                assert_eq!(chunk.start[lane], -layout.spec().nibble_offset * 8 * 127);
            }
        }
    }

    #[test]
    fn each_element_meets_one_nibble() {
        for layout in [Layout::Mxfp4, Layout::GgufQ4_0] {
            let mut seen = [0; NIBBLES];
            for i in 0..CHUNK {
                let (low, high) = elements_of_byte(layout, i);
                seen[low] += 1;
                seen[high] += 1;
            }
            assert_eq!(seen, [1; NIBBLES]);
        }
    }
}
