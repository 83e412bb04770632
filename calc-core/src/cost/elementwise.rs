//! Operators without weight matrices that stream their input; and the embedding and LM head.
//! Derivation: `docs/theory/elementwise.md`.

use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::op::{OpCost, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// `flops_each` FLOP and `touches` reads or writes for each of `elements` elements in the carrier format.
fn streaming(elements: f64, flops_each: f64, touches: f64, carrier: &QuantFormat) -> OpCost {
    OpCost {
        flops: Flops::new(flops_each * elements),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(touches * elements * carrier.bytes_per_element()),
        },
    }
}

/// Add the residual and normalize: 5 T H FLOP, 4 T H b_o bytes (residual and branch read, residual and norm written).
pub fn add_norm(tokens: u64, hidden: u64, carrier: &QuantFormat) -> OpCost {
    streaming(tokens as f64 * hidden as f64, 5.0, 4.0, carrier)
}

/// Normalize: 4 T H FLOP, 2 T H b_o bytes.
pub fn norm(tokens: u64, hidden: u64, carrier: &QuantFormat) -> OpCost {
    streaming(tokens as f64 * hidden as f64, 4.0, 2.0, carrier)
}

/// Mixes n residual streams after a block, beside the first stream, which [`add_norm`] has: 2 N T H FLOP with N coefficients per
/// token, 2 (n - 1) T H b_o bytes (the other streams read and written).
///
/// ```
/// use calc_core::{catalog::formats, cost::elementwise::mix_streams};
/// let cost = mix_streams(512, 4096, (4, 24), &formats::BF16); // DeepSeek V4 Flash
/// assert_eq!((cost.flops.get(), cost.traffic.activations.get()), (100_663_296.0, 25_165_824.0));
/// ```
pub fn mix_streams(
    tokens: u64,
    hidden: u64,
    (streams, coefficients): (u64, u64),
    carrier: &QuantFormat,
) -> OpCost {
    let others = streams.saturating_sub(1) as f64;
    let flops = 2.0 * coefficients as f64;
    streaming(tokens as f64 * hidden as f64, flops, 2.0 * others, carrier)
}

/// Rotary positions as a kernel of their own, of heads with D elements per token in all: 3 T D FLOP (four products and two sums per
/// pair), 2 T D b_o bytes. Steps of a model do not count it, because engines fuse it.
///
/// ```
/// use calc_core::{catalog::formats, cost::elementwise::rotary};
/// let cost = rotary(1, 40 * 128, &formats::FP16); // 32 query heads and 8 key heads of Llama-3.1-8B
/// assert_eq!((cost.flops.get(), cost.traffic.activations.get()), (15_360.0, 20_480.0));
/// ```
pub fn rotary(tokens: u64, width: u64, carrier: &QuantFormat) -> OpCost {
    streaming(tokens as f64 * width as f64, 3.0, 2.0, carrier)
}

/// Gated activation: 5 T I FLOP, 3 T I b_o bytes (gate and up read, product written). `rows` is T, or T k in a MoE.
pub fn gated_activation(rows: u64, width: u64, carrier: &QuantFormat) -> OpCost {
    streaming(rows as f64 * width as f64, 5.0, 3.0, carrier)
}

/// Plain activation: 8 T I FLOP, 2 T I b_o bytes.
pub fn plain_activation(rows: u64, width: u64, carrier: &QuantFormat) -> OpCost {
    streaming(rows as f64 * width as f64, 8.0, 2.0, carrier)
}

/// Embedding look-up of T rows: no FLOP, T H (b_emb + b_o) bytes; the rows read count as weights.
pub fn embedding(tokens: u64, hidden: u64, table: &QuantFormat, carrier: &QuantFormat) -> OpCost {
    let elements = tokens as f64 * hidden as f64;
    OpCost {
        flops: Flops::ZERO,
        traffic: Traffic {
            weights: Bytes::new(elements * table.bytes_per_element()),
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(elements * carrier.bytes_per_element()),
        },
    }
}

/// Logits of each sequence's last token: a GEMM with M = B, N = V, K = H, activations in the carrier.
pub fn lm_head(
    batch: u64,
    vocab: u64,
    hidden: u64,
    weights: &'static QuantFormat,
    carrier: &'static QuantFormat,
) -> OpCost {
    let shape = GemmShape { m: batch, n: vocab, k: hidden };
    gemm(shape, GemmFormats { weights, input: carrier, output: carrier })
}
