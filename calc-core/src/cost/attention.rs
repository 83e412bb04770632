//! Attention over a KV cache. Derivation: `docs/theory/attention.md`.

use crate::model_arch::Reach;
use crate::op::{OpCost, Shape, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

/// Bytes of a score in FP32.
const SCORE_BYTES: f64 = 4.0;

/// Shape of attention in one layer: `new` tokens of each of `batch` sequences attend to `cached + new` tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionShape {
    /// Number of sequences (B).
    pub batch: u64,
    /// Number of query heads (h).
    pub heads: u64,
    /// Number of key and value heads (g).
    pub kv_heads: u64,
    /// Width of a query or key head.
    pub qk_dim: u64,
    /// Width of a value head.
    pub v_dim: u64,
    /// New tokens per sequence (q).
    pub new: u64,
    /// Tokens already in the cache, per sequence (c).
    pub cached: u64,
    /// Tokens that each token attends to.
    pub reach: Reach,
}

impl AttentionShape {
    /// Number of query-key pairs per head and sequence.
    ///
    /// ```text
    /// P = q c + q (q + 1) / 2                                   causal
    /// P = sum over i in 1..=q of min(c + i, w)                  with window w
    /// P = sum over i in 1..=q of (c + i - 1) mod w + 1          with chunks of w
    /// P = sum over i in 1..=q of min(c + i, w) + min((c + i) / r, k)     with a window and k entries for r tokens each
    /// ```
    ///
    /// ```
    /// use calc_core::{cost::attention::AttentionShape, model_arch::Reach};
    /// let mut shape = AttentionShape {
    ///     batch: 1, heads: 1, kv_heads: 1, qk_dim: 1, v_dim: 1, new: 4, cached: 2, reach: Reach::All,
    /// };
    /// assert_eq!(shape.pairs(), 3.0 + 4.0 + 5.0 + 6.0);
    /// shape.reach = Reach::Window(4);
    /// assert_eq!(shape.pairs(), 3.0 + 4.0 + 4.0 + 4.0);
    /// shape.reach = Reach::Chunk(4);
    /// assert_eq!(shape.pairs(), 3.0 + 4.0 + 1.0 + 2.0);
    /// ```
    pub fn pairs(&self) -> f64 {
        let (q, c) = (self.new as f64, self.cached as f64);
        match self.reach {
            Reach::All => q * c + q * (q + 1.0) / 2.0,
            Reach::Window(window) => self.pairs_in_window(window),
            Reach::Compressed { window, ratio, top_k } => {
                let all = self.cached + self.new;
                self.pairs_in_window(window) + first_entries(all, ratio, top_k)
                    - first_entries(self.cached, ratio, top_k)
            }
            Reach::Chunk(chunk) => {
                // Sum over the first n tokens of a sequence.
                let first = |n: u64| {
                    let triangle = |n: u64| n as f64 * (n as f64 + 1.0) / 2.0;
                    (n / chunk) as f64 * triangle(chunk) + triangle(n % chunk)
                };
                first(self.cached + self.new) - first(self.cached)
            }
        }
    }

    /// The first tokens attend to fewer than the window; the others to exactly the window.
    fn pairs_in_window(&self, window: u64) -> f64 {
        let (q, c) = (self.new as f64, self.cached as f64);
        let growing = window.saturating_sub(self.cached).min(self.new) as f64;
        growing * c + growing * (growing + 1.0) / 2.0 + (q - growing) * window as f64
    }

    /// Number of keys read per sequence: c + q, or min(c + q, w + q - 1) with a window, or those since the start of the chunk
    /// of the first new token. Entries for r tokens each: min((c + q) / r, k + q - 1) beside the window.
    pub fn keys(&self) -> f64 {
        let all = self.cached + self.new;
        match self.reach {
            Reach::All => all as f64,
            Reach::Window(window) => all.min(window + self.new - 1) as f64,
            Reach::Chunk(chunk) => (all - self.cached / chunk * chunk) as f64,
            Reach::Compressed { window, ratio, top_k } => {
                let recent = if window == 0 { 0 } else { all.min(window + self.new - 1) };
                let most = top_k.saturating_add(self.new - 1) as f64;
                recent as f64 + (all as f64 / ratio as f64).min(most)
            }
        }
    }

    /// The shape from which the expected time of the kernel follows.
    pub fn kernel(&self) -> Shape {
        Shape::Attention {
            heads: (self.batch * self.heads) as f64,
            new: self.new as f64,
            head_dim: (self.qk_dim + self.v_dim) as f64 / 2.0,
        }
    }

    fn flops_per_score(&self) -> f64 {
        2.0 * self.batch as f64 * self.heads as f64 * self.pairs()
    }

    /// Number of elements of queries and output.
    fn query_elements(&self) -> f64 {
        (self.batch * self.heads) as f64 * self.new as f64 * (self.qk_dim + self.v_dim) as f64
    }

    /// Number of elements of the keys and values that are read.
    fn key_elements(&self) -> f64 {
        (self.batch * self.kv_heads) as f64 * self.keys() * (self.qk_dim + self.v_dim) as f64
    }
}

/// Number of pairs of the first n tokens with entries for r tokens each, at most k per token. A part of an entry counts as such:
/// on average over the sequences of a batch one is complete by that part.
///
/// ```text
/// sum over t in 1..=n of min(t / r, k)
/// ```
fn first_entries(n: u64, ratio: u64, top_k: u64) -> f64 {
    let growing = n.min(ratio.saturating_mul(top_k));
    let rising = growing as f64 * (growing as f64 + 1.0) / (2.0 * ratio as f64);
    let full = if n > growing { (n - growing) as f64 * top_k as f64 } else { 0.0 };
    rising + full
}

/// Fused attention: the scores stay on chip.
///
/// ```text
/// flops = 2 B h P (d_qk + d_v)
/// bytes = b_o B h q (d_qk + d_v) + b_kv B g S (d_qk + d_v)
/// ```
///
/// P: attended pairs, S: keys read, see [`AttentionShape`].
///
/// ```
/// use calc_core::{catalog, cost::attention::{fused, AttentionShape}, model_arch::Reach};
/// let fp16 = catalog::format("fp16").unwrap();
/// // One decode step of a Llama-3 layer over 1023 cached tokens: intensity near h / g = 4.
/// let shape = AttentionShape {
///     batch: 1, heads: 32, kv_heads: 8, qk_dim: 128, v_dim: 128, new: 1, cached: 1023, reach: Reach::All,
/// };
/// let cost = fused(&shape, fp16, fp16);
/// assert_eq!(cost.flops.get(), 2.0 * 32.0 * 1024.0 * 256.0);
/// assert_eq!(cost.traffic.kv_cache.get(), 2.0 * 8.0 * 1024.0 * 256.0);
/// ```
pub fn fused(shape: &AttentionShape, carrier: &QuantFormat, kv_cache: &QuantFormat) -> OpCost {
    let head = (shape.qk_dim + shape.v_dim) as f64;
    OpCost {
        flops: Flops::new(shape.flops_per_score() * head),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::new(kv_cache.row_bytes_per_element() * shape.key_elements()),
            activations: Bytes::new(carrier.bytes_per_element() * shape.query_elements()),
        },
    }
}

/// Fused attention whose keys and values are activations instead of the cache (MLA prefill).
pub fn fused_over_activations(shape: &AttentionShape, carrier: &QuantFormat) -> OpCost {
    let mut cost = fused(shape, carrier, carrier);
    cost.traffic.activations += cost.traffic.kv_cache;
    cost.traffic.kv_cache = Bytes::ZERO;
    cost
}

/// Fused attention to one vector per token that is key and value, so it is read once.
///
/// ```text
/// flops = 4 B h P d      bytes = 2 b_o B h q d + b_kv B S d
/// ```
pub fn fused_over_one_vector(
    shape: &AttentionShape,
    carrier: &QuantFormat,
    kv_cache: &QuantFormat,
) -> OpCost {
    let mut cost = fused(shape, carrier, kv_cache);
    let both = (shape.qk_dim + shape.v_dim) as f64;
    cost.traffic.kv_cache = cost.traffic.kv_cache * (shape.qk_dim as f64 / both);
    cost
}

/// Attention of an encoder: every position attends to all others of its part of the image, or of its window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BothWays {
    /// Number of parts that are computed apart (B).
    pub parts: u64,
    /// Number of positions per part (n).
    pub positions: u64,
    /// Number of heads (h).
    pub heads: u64,
    /// Width of a head (d).
    pub head_dim: u64,
    /// Number of positions of a window (w); `None` for the whole part.
    pub window: Option<u64>,
}

impl BothWays {
    /// The shape from which the expected time of the kernel follows.
    pub const fn kernel(&self) -> Shape {
        let (heads, new) = ((self.parts * self.heads) as f64, self.positions as f64);
        Shape::Attention { heads, new, head_dim: self.head_dim as f64 }
    }
}

/// Fused attention of an encoder; queries, keys, values and output are activations.
///
/// ```text
/// flops = 4 B h n min(n, w) d
/// bytes = 4 b_o B h n d
/// ```
///
/// ```
/// use calc_core::{catalog, cost::attention::{BothWays, both_ways}};
/// let fp16 = catalog::format("fp16").unwrap();
/// // A layer of SigLIP over the 4,096 patches of an image of 896 by 896 pixels.
/// let shape = BothWays { parts: 1, positions: 4096, heads: 16, head_dim: 72, window: None };
/// let cost = both_ways(&shape, fp16);
/// assert_eq!(cost.flops.get(), 4.0 * 16.0 * 4096.0 * 4096.0 * 72.0);
/// assert_eq!(cost.traffic.activations.get(), 2.0 * 4.0 * 16.0 * 4096.0 * 72.0);
/// ```
pub fn both_ways(shape: &BothWays, carrier: &QuantFormat) -> OpCost {
    let BothWays { parts, positions, heads, head_dim, window } = *shape;
    let rows = (parts * heads) as f64 * positions as f64 * head_dim as f64;
    let reach = window.map_or(positions, |window| window.min(positions)) as f64;
    OpCost {
        flops: Flops::new(4.0 * rows * reach),
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::ZERO,
            activations: Bytes::new(4.0 * rows * carrier.bytes_per_element()),
        },
    }
}

/// Scores of an indexer: every new token against every cached key, with a sum over the heads. The scores, in FP32, are written,
/// and read once to choose the best.
///
/// ```text
/// flops = 2 B h P d + 2 B h P
/// bytes = b_o B h q d + b_kv B S d + 8 B P
/// ```
pub fn index_scores(
    shape: &AttentionShape,
    carrier: &QuantFormat,
    kv_cache: &QuantFormat,
) -> OpCost {
    let mut cost = fused(shape, carrier, kv_cache);
    cost.flops += Flops::new(shape.flops_per_score());
    cost.traffic.activations += Bytes::new(2.0 * SCORE_BYTES * shape.batch as f64 * shape.pairs());
    cost
}

/// Unfused attention: the scores are written to memory and read back twice, and the softmax is an operator of its own.
///
/// ```text
/// flops = fused + 5 B h P
/// bytes = fused + 4 b_o B h P
/// ```
pub fn unfused(shape: &AttentionShape, carrier: &QuantFormat, kv_cache: &QuantFormat) -> OpCost {
    let mut cost = fused(shape, carrier, kv_cache);
    let scores = shape.flops_per_score() / 2.0;
    cost.flops += Flops::new(5.0 * scores);
    cost.traffic.activations += Bytes::new(4.0 * carrier.bytes_per_element() * scores);
    cost
}

/// Appends new keys and values to the cache: `bytes = b_kv B g q (d_qk + d_v)`.
pub fn kv_append(elements_per_token: u64, tokens: u64, kv_cache: &QuantFormat) -> OpCost {
    let bytes = kv_cache.row_bytes_per_element() * tokens as f64 * elements_per_token as f64;
    OpCost {
        flops: Flops::ZERO,
        traffic: Traffic {
            weights: Bytes::ZERO,
            kv_cache: Bytes::new(bytes),
            activations: Bytes::ZERO,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_of_pairs_equals_the_sum() {
        for width in [1, 3, 7, 100, u64::MAX] {
            for cached in [0, 1, 2, 6, 7, 8, 99, 100, 101] {
                for new in [1, 2, 3, 8, 50] {
                    let sum = |attended: &dyn Fn(u64) -> u64| {
                        (1..=new).map(|i| attended(cached + i)).sum::<u64>() as f64
                    };
                    let shape = |reach| AttentionShape {
                        batch: 1,
                        heads: 1,
                        kv_heads: 1,
                        qk_dim: 1,
                        v_dim: 1,
                        new,
                        cached,
                        reach,
                    };
                    let all = shape(Reach::All).pairs();
                    assert!((all - sum(&|length| length)).abs() < 1e-9);
                    let window = shape(Reach::Window(width)).pairs();
                    assert!((window - sum(&|length| length.min(width))).abs() < 1e-9);
                    let compressed = |ratio: u64, top_k: u64| {
                        let reach = Reach::Compressed { window: width, ratio, top_k };
                        let part = |length: u64| (length as f64 / ratio as f64).min(top_k as f64);
                        let entries: f64 = (1..=new).map(|i| part(cached + i)).sum();
                        let all = entries + sum(&|length| length.min(width));
                        (shape(reach).pairs() - all).abs() < 1e-6
                    };
                    for (ratio, top_k) in [(1, 3), (4, 1), (4, 5), (7, u64::MAX)] {
                        assert!(compressed(ratio, top_k), "{cached} + {new}, {ratio}, {top_k}");
                    }
                    let chunk = shape(Reach::Chunk(width)).pairs();
                    assert!((chunk - sum(&|length| (length - 1) % width + 1)).abs() < 1e-9);
                }
            }
        }
    }
}
