//! Mutant kernels: each has one common mistake, and the comparison must reject all of them. Those of attention and of the operators
//! that stream are in `layer`.

pub mod layer;

use crate::pack::{Layout, Packed, RowRef, decode_row, kquant};

/// A mutation of a correct kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// Every block has the scale of the next one.
    NextScale,
    /// The two nibbles of a byte are swapped.
    SwappedNibbles,
    /// The last block of K, or the last element of a layout without blocks, is skipped.
    SkippedLast,
    /// All results are zero.
    Zero,
    /// W is transposed.
    Transposed,
    /// Results are shifted by one row.
    ShiftedRows,
    /// One result is NaN.
    NotANumber,
    /// The last result is missing.
    Short,
    /// The accumulator is BF16.
    NarrowSum,
    /// One of sixteen accumulators is lost.
    LostSum,
    /// The scale of the tensor is not applied.
    NoTensorScale,
    /// Zero points are not subtracted.
    NoZeroPoint,
}

impl Mutant {
    /// All mutations.
    pub const ALL: [Self; 12] = [
        Self::NextScale,
        Self::SwappedNibbles,
        Self::SkippedLast,
        Self::Zero,
        Self::Transposed,
        Self::ShiftedRows,
        Self::NotANumber,
        Self::Short,
        Self::NarrowSum,
        Self::LostSum,
        Self::NoTensorScale,
        Self::NoZeroPoint,
    ];

    /// Whether the mutation changes kernels of a layout.
    pub fn is_possible(self, layout: Layout) -> bool {
        match self {
            Self::NextScale => layout.block() > 1,
            Self::SwappedNibbles => is_four_bits(layout),
            Self::NoTensorScale => layout.tensor_bytes() > 0,
            Self::NoZeroPoint => layout.block_zero_bytes() > 0,
            Self::SkippedLast
            | Self::Zero
            | Self::Transposed
            | Self::ShiftedRows
            | Self::NotANumber
            | Self::Short
            | Self::NarrowSum
            | Self::LostSum => true,
        }
    }

    /// W·x with this mutation. Transposing needs a square W.
    pub fn gemv(self, weights: &Packed, x: &[f64]) -> Vec<f32> {
        let rows: Vec<Vec<f64>> = (0..weights.rows()).map(|r| self.row(weights, r)).collect();
        let mut y: Vec<f32> = match self {
            Self::Transposed => (0..rows.len())
                .map(|j| narrow(rows.iter().zip(x).map(|(row, x)| row[j] * x).sum()))
                .collect(),
            Self::NarrowSum => rows.iter().map(|row| narrow_sum(row, x)).collect(),
            _ => {
                rows.iter().map(|row| narrow(row.iter().zip(x).map(|(w, x)| w * x).sum())).collect()
            }
        };
        match self {
            Self::Zero => y.fill(0.0),
            Self::ShiftedRows => y.rotate_right(1),
            Self::NotANumber => y[weights.rows() / 2] = f32::NAN,
            Self::Short => y.truncate(weights.rows() - 1),
            Self::NextScale
            | Self::SwappedNibbles
            | Self::SkippedLast
            | Self::Transposed
            | Self::NarrowSum
            | Self::LostSum
            | Self::NoTensorScale
            | Self::NoZeroPoint => {}
        }
        y
    }

    /// A row of W as the mutant reads it.
    fn row(self, weights: &Packed, r: usize) -> Vec<f64> {
        let layout = weights.layout();
        let mut row = vec![0.0; weights.cols()];
        match self {
            Self::NextScale => decode_with_next_scale(weights, r, &mut row),
            Self::NoTensorScale => decode_row(layout, 1.0, weights.row(r), &mut row),
            Self::NoZeroPoint => {
                let stored = weights.row(r);
                let zeros = vec![0; stored.zeros.len()];
                let stored = RowRef { zeros: &zeros, ..stored };
                decode_row(layout, weights.tensor_scale(), stored, &mut row);
            }
            _ => weights.decode_row(r, &mut row),
        }
        match self {
            Self::SwappedNibbles => swap_nibbles(layout, &mut row),
            Self::SkippedLast => {
                let last = (row.len() - 1) / layout.block() * layout.block();
                row[last..].fill(0.0);
            }
            Self::LostSum => row.iter_mut().step_by(16).for_each(|weight| *weight = 0.0),
            _ => {}
        }
        row
    }
}

/// A mistake among the tokens of a product, with kernels that are right for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenMutant {
    /// Every token has the result of the first one.
    Repeated,
    /// Two tokens are swapped.
    Swapped,
    /// The last token is left out: nobody writes it.
    LeftOut,
    /// The last token has zeros.
    Zero,
    /// The result is stored output by output instead of token by token.
    Transposed,
    /// The last token of a block of four is multiplied by the input of the block's first.
    StaleInput,
}

impl TokenMutant {
    /// All mutations.
    pub const ALL: [Self; 6] = [
        Self::Repeated,
        Self::Swapped,
        Self::LeftOut,
        Self::Zero,
        Self::Transposed,
        Self::StaleInput,
    ];

    /// Whether the mutation changes a product of this many tokens.
    pub const fn is_possible(self, tokens: usize) -> bool {
        match self {
            Self::Repeated | Self::Swapped | Self::LeftOut | Self::Zero | Self::Transposed => {
                tokens > 1
            }
            Self::StaleInput => tokens >= 4,
        }
    }

    /// X·Wᵀ with this mutation, from the right result of two tokens or more with `n` outputs each.
    pub fn of(self, right: &[f32], n: usize) -> Vec<f32> {
        let mut y = right.to_vec();
        let (m, last) = (y.len() / n, y.len() - n);
        match self {
            Self::Repeated => y = right[..n].repeat(m),
            Self::Swapped => {
                y[..n].copy_from_slice(&right[last..]);
                y[last..].copy_from_slice(&right[..n]);
            }
            Self::LeftOut => y[last..].fill(f32::NAN),
            Self::Zero => y[last..].fill(0.0),
            Self::Transposed => {
                for (index, value) in y.iter_mut().enumerate() {
                    *value = right[index % m * n + index / m];
                }
            }
            Self::StaleInput => y[3 * n..4 * n].copy_from_slice(&right[..n]),
        }
        y
    }
}

const fn is_four_bits(layout: Layout) -> bool {
    layout.block() > 1 && 8 * layout.block_code_bytes() < 5 * layout.block()
}

fn decode_with_next_scale(weights: &Packed, r: usize, row: &mut [f64]) {
    let layout = weights.layout();
    let stored = weights.row(r);
    let (mut codes, mut scales) = (stored.codes.to_vec(), stored.scales.to_vec());
    scales.rotate_left(layout.block_scale_bytes());
    match layout {
        Layout::GgufQ4K => {
            for stored in codes.as_chunks_mut::<{ kquant::Q4_K_BYTES }>().0 {
                let (mut scales, minima) = kquant::split(stored);
                scales.rotate_left(1);
                stored[4..kquant::Q4_K_CODES].copy_from_slice(&kquant::joined(scales, minima));
            }
        }
        Layout::GgufQ6K => {
            for stored in codes.as_chunks_mut::<{ kquant::Q6_K_BYTES }>().0 {
                stored[kquant::Q6_K_SCALES..kquant::Q6_K_D].rotate_left(1);
            }
        }
        _ if scales.is_empty() => {
            let size = layout.block_code_bytes();
            for block in 0..codes.len() / size {
                let next = (block + 1) * size % codes.len();
                codes[block * size..][..2].copy_from_slice(&stored.codes[next..][..2]);
            }
        }
        _ => {}
    }
    let stored = RowRef { codes: &codes, scales: &scales, zeros: stored.zeros };
    decode_row(layout, weights.tensor_scale(), stored, row);
}

/// Swaps the elements that share a byte.
fn swap_nibbles(layout: Layout, row: &mut [f64]) {
    // Elements that share a byte are half a unit apart.
    let unit = match layout {
        Layout::GgufQ4_0 => 32,
        Layout::GgufQ4K => 64,
        _ => 2,
    };
    if unit > 2 {
        for block in row.chunks_exact_mut(unit) {
            block.rotate_left(unit / 2);
        }
    } else {
        for pair in row.chunks_exact_mut(2) {
            pair.swap(0, 1);
        }
    }
}

fn narrow_sum(row: &[f64], x: &[f64]) -> f32 {
    let add = |sum: half::bf16, (w, x): (&f64, &f64)| half::bf16::from_f64(sum.to_f64() + w * x);
    row.iter().zip(x).fold(half::bf16::ZERO, add).to_f32()
}

#[expect(clippy::cast_possible_truncation, reason = "a kernel's result is an f32")]
fn narrow(value: f64) -> f32 {
    value as f32
}
