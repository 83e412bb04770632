//! The kernels of a layer beside its products: attention, norm, rotary positions, gate, embedding.

use super::{Argument, Call, NoCall, THREADS, WARP, WIDE, buffers, count, int};
use crate::backend::{AttentionSizes, EmbeddingSizes, RopeSizes, RowSizes, StoredFloat};
use crate::reference::layer::WeightRounding;

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
    /// Tensor cores, from architecture 8.0: a block per KV head and tile of queries.
    TensorCores,
}

/// Queries of a block on tensor cores, and keys that it has in shared memory at once.
const TILE: u64 = 64;

impl AttentionVersion {
    /// The best version that an architecture runs: tensor cores for several new tokens whose queries fill a block, over a cache in one of
    /// their formats.
    pub fn of(sizes: &AttentionSizes, (major, _): (u32, u32)) -> Self {
        let fills_a_block = sizes.new > 1 && sizes.queries_of_kv_head() >= TILE;
        let has_kernel = check_on_tensor_cores(sizes).is_ok();
        if major >= 8 && fills_a_block && has_kernel { Self::TensorCores } else { Self::Group }
    }

    /// How the weights of keys are rounded before they multiply values.
    pub const fn rounding(self, cache: StoredFloat) -> WeightRounding {
        match (self, cache) {
            (Self::TensorCores, StoredFloat::Bf16) => WeightRounding::BF16,
            (Self::TensorCores, _) => WeightRounding::FP16,
            (Self::Warp | Self::Group, _) => WeightRounding::NONE,
        }
    }

    /// A query as the kernel multiplies it.
    pub fn query(self, cache: StoredFloat, value: f32) -> f32 {
        match self {
            Self::TensorCores => cache.nearest(value),
            Self::Warp | Self::Group => value,
        }
    }
}

/// Whether tensor cores have the width of a head and the format of the cache.
fn check_on_tensor_cores(sizes: &AttentionSizes) -> Result<(), NoCall> {
    if !matches!(sizes.cache, StoredFloat::Fp16 | StoredFloat::Bf16) {
        return Err(NoCall::Format);
    }
    if matches!(sizes.head_dim, 64 | 128) { Ok(()) } else { Err(NoCall::HeadDim) }
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
    let head = count(head_dim)?;
    // Shared memory has the parts of each warp, or a tile of keys and one of values in 16 bits.
    let parts = |warps: u32, queries: u32| 4 * warps * queries * (2 + head);
    let blocks_of_heads = |queries: u64| kv_heads * (heads / kv_heads).div_ceil(queries);
    let (number, threads, grid, shared) = match version {
        AttentionVersion::Warp => (1, WARP, [new, blocks_of_heads(1), batch], parts(1, 1)),
        AttentionVersion::Group => {
            (2, THREADS, [new, blocks_of_heads(4), batch], parts(THREADS / WARP, 4))
        }
        AttentionVersion::TensorCores => {
            check_on_tensor_cores(&sizes)?;
            let tiles = sizes.queries_of_kv_head().div_ceil(TILE);
            (3, THREADS, [tiles, kv_heads, batch], 2 * 2 * count(TILE)? * head)
        }
    };
    let [x, y, z] = grid.map(count);
    let grid = [x?, y?, z?];
    // The second and third dimension of a grid have 16 bits.
    if grid[1..].iter().any(|count| *count > 0xffff) {
        return Err(NoCall::TooLarge);
    }
    // A kernel on tensor cores counts the queries of a KV head.
    int(sizes.queries_of_kv_head())?;
    let mut arguments = buffers::<4>();
    for number in [heads, kv_heads, context, new] {
        arguments.push(Argument::Int(int(number)?));
    }
    Ok(Call {
        program: if number == 3 { "attention_mma.cu" } else { "attention.cu" },
        kernel: format!("attention_v{number}_{}_d{head_dim}", cache.key()),
        grid,
        threads,
        shared,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PREFILL: AttentionSizes = AttentionSizes {
        cache: StoredFloat::Fp16,
        batch: 1,
        heads: 8,
        kv_heads: 2,
        head_dim: 128,
        new: 16,
        context: 100,
    };

    #[test]
    fn tensor_cores_compute_prefill_whose_queries_fill_a_block() {
        use AttentionVersion::{Group, TensorCores};
        for (sizes, capability, expected) in [
            (PREFILL, (8, 0), TensorCores),
            (PREFILL, (7, 5), Group),
            (AttentionSizes { new: 15, ..PREFILL }, (9, 0), Group),
            (AttentionSizes { new: 1, heads: 128, ..PREFILL }, (9, 0), Group),
            (
                AttentionSizes { cache: StoredFloat::Bf16, head_dim: 64, ..PREFILL },
                (12, 0),
                TensorCores,
            ),
            (AttentionSizes { cache: StoredFloat::Fp32, ..PREFILL }, (9, 0), Group),
            (AttentionSizes { cache: StoredFloat::Fp8E4m3, ..PREFILL }, (9, 0), Group),
            (AttentionSizes { head_dim: 96, ..PREFILL }, (9, 0), Group),
        ] {
            assert_eq!(AttentionVersion::of(&sizes, capability), expected, "{sizes:?}");
        }
    }

    #[test]
    fn a_block_on_tensor_cores_has_64_queries_and_keys_and_values_of_64_tokens() {
        let sizes = AttentionSizes { new: 17, batch: 3, ..PREFILL };
        let call = attention(AttentionVersion::TensorCores, sizes).unwrap();
        assert_eq!(
            (call.program, call.kernel.as_str()),
            ("attention_mma.cu", "attention_v3_fp16_d128")
        );
        assert_eq!((call.grid, call.shared), ([2, 2, 3], 2 * 64 * 128 * 2));
        let wide = AttentionSizes { head_dim: 256, ..PREFILL };
        assert_eq!(attention(AttentionVersion::TensorCores, wide), Err(NoCall::HeadDim));
        let many = AttentionSizes { new: 1 << 30, ..PREFILL };
        assert_eq!(attention(AttentionVersion::Group, many), Err(NoCall::TooLarge));
    }
}
