//! Entries of the cache that stand for several tokens. Derivation: `docs/theory/sparse-attention.md`.
//! The projections of a compressor are plain GEMMs.

use crate::model_arch::Compression;
use crate::op::{OpCost, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Bytes per element of the vectors and weights that wait for their entry, in FP32.
pub(crate) const STATE_BYTES: f64 = 4.0;

/// Compression of T tokens to entries of a width d in one layer: each token's vectors and weights are written and read once, and
/// an entry of every r tokens is a softmax over the tokens that it stands for. Where the tokens are kept, they are written to the
/// cache, with a flag.
///
/// ```text
/// flops = 6 T s² d
/// bytes = 2 * 4 T 2 s d + b_kv T d / r          s = 1, or 2 where entries overlap
/// bytes = b_kv T (2 s d + 1)                    where tokens are kept
/// ```
///
/// ```
/// use calc_core::{catalog, cost::compression::compress, model_arch::Compression};
/// let bf16 = catalog::format("bf16").unwrap();
/// // 128 tokens of DeepSeek V4 become one entry of 512 elements.
/// let cost = compress(&Compression { ratio: 128, overlaps: false, keeps_tokens: false }, 512, 128, bf16);
/// assert_eq!(cost.traffic.total().get(), 128.0 * 2.0 * 512.0 * 8.0 + 512.0 * 2.0);
/// ```
pub fn compress(
    compression: &Compression,
    width: u64,
    tokens: u64,
    kv_cache: &QuantFormat,
) -> OpCost {
    let elements = tokens as f64 * width as f64;
    let series = compression.series() as f64;
    let b_kv = kv_cache.row_bytes_per_element();
    let outputs = compression.outputs(width) as f64;
    let (waiting, entries) = if compression.keeps_tokens {
        (0.0, (outputs + 1.0) * tokens as f64 * b_kv)
    } else {
        let waiting = 2.0 * STATE_BYTES * tokens as f64 * outputs;
        (waiting, elements / compression.ratio as f64 * b_kv)
    };
    OpCost {
        flops: Flops::new(6.0 * series * series * elements),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::new(waiting + entries),
            activations: Bytes::ZERO,
        },
    }
}
