//! The kernels of a layer beside its products: attention, norm, rotary positions, gate, embedding.

use super::{Argument, Call, NoCall, THREADS, WARP, WIDE, buffers, count, int};
use crate::backend::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes};

/// The norm of the sum of residual and branch. Buffers: residual, branch, weights, result.
///
/// # Errors
/// See [`NoCall`].
pub fn norm(sizes: RowSizes, epsilon: f32) -> Result<Call, NoCall> {
    let width = int(sizes.width)?;
    let mut arguments = buffers::<4>();
    arguments.extend([Argument::Int(width), Argument::Float(epsilon)]);
    Ok(Call {
        program: "layer.cu",
        kernel: format!("norm_{}_v1", sizes.carrier.key()),
        grid: [count(sizes.tokens)?, 1, 1],
        threads: WIDE,
        shared: 4 * WIDE / WARP,
        arguments,
    })
}

/// Rotary positions, in place. Buffers: heads, cosines, sines.
///
/// # Errors
/// See [`NoCall`].
pub fn rope(sizes: RopeSizes) -> Result<Call, NoCall> {
    let pairs = sizes.tokens.saturating_mul(sizes.width()) / 2;
    let mut arguments = buffers::<3>();
    arguments.extend([Argument::Int(int(sizes.heads)?), Argument::Int(int(sizes.head_dim)?)]);
    arguments.push(Argument::Long(pairs));
    by_element(format!("rope_{}_v1", sizes.carrier.key()), pairs, arguments)
}

/// Gated activation. Buffers: gates, ups, result.
///
/// # Errors
/// See [`NoCall`].
pub fn gate(sizes: RowSizes) -> Result<Call, NoCall> {
    let count = sizes.tokens.saturating_mul(sizes.width);
    let mut arguments = buffers::<3>();
    arguments.push(Argument::Long(count));
    by_element(format!("gate_{}_v1", sizes.carrier.key()), count, arguments)
}

/// A call with a thread for each of `count` elements.
fn by_element(kernel: String, count: u64, arguments: Vec<Argument>) -> Result<Call, NoCall> {
    let blocks = count.div_ceil(u64::from(WIDE));
    let blocks = int(blocks)?;
    let grid = [blocks.unsigned_abs(), 1, 1];
    Ok(Call { program: "layer.cu", kernel, grid, threads: WIDE, shared: 0, arguments })
}

/// Look-up of embeddings. Buffers: table, tokens, result in FP32.
///
/// # Errors
/// See [`NoCall`].
pub fn embedding(sizes: EmbeddingSizes) -> Result<Call, NoCall> {
    let mut arguments = buffers::<3>();
    let vocabulary = count(sizes.vocab)?;
    arguments.extend([Argument::Int(int(sizes.width)?), Argument::Int(vocabulary.cast_signed())]);
    Ok(Call {
        program: "layer.cu",
        kernel: format!("embedding_{}_v1", sizes.table.key()),
        grid: [int(sizes.tokens)?.unsigned_abs(), 1, 1],
        threads: WIDE,
        shared: 0,
        arguments,
    })
}

/// Versions of attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionVersion {
    /// A warp per query.
    Warp,
    /// A block per KV head and token, whose warps share the keys and whose queries share each key.
    Group,
}

/// Widths of heads that have a kernel of attention.
pub const HEAD_DIMS: [u64; 4] = [64, 96, 128, 256];

/// Attention. Buffers: queries, keys, values, result; keys and values by sequence, KV head and token.
///
/// # Errors
/// See [`NoCall`].
pub fn attention(version: AttentionVersion, sizes: AttentionSizes) -> Result<Call, NoCall> {
    let AttentionSizes { batch, heads, kv_heads, head_dim, new, context, cache } = sizes;
    if !HEAD_DIMS.contains(&head_dim) {
        return Err(NoCall::HeadDim);
    }
    let (number, warps, queries) = match version {
        AttentionVersion::Warp => (1, 1, 1),
        AttentionVersion::Group => (2, THREADS / WARP, 4),
    };
    let groups = kv_heads * (heads / kv_heads).div_ceil(u64::from(queries));
    let grid = [new, groups, batch].map(|count| int(count).map(i32::unsigned_abs));
    let [x, y, z] = grid;
    let grid = [x?, y?, z?];
    // The second and third dimension of a grid have 16 bits.
    if grid[1..].iter().any(|count| *count > 0xffff) {
        return Err(NoCall::TooLarge);
    }
    let head = count(head_dim)?;
    let mut arguments = buffers::<4>();
    for number in [heads, kv_heads, context, new] {
        arguments.push(Argument::Int(int(number)?));
    }
    Ok(Call {
        program: "attention.cu",
        kernel: format!("attention_v{number}_{}_d{head_dim}", cache.key()),
        grid,
        threads: warps * WARP,
        shared: 4 * warps * queries * (2 + head),
        arguments,
    })
}
