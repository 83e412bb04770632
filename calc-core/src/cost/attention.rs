//! Attention over a KV cache. Derivation: `docs/theory/attention.md`.

use crate::op::{OpCost, Shape, Traffic};
use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops};

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
    /// Sliding window: largest number of tokens that each token attends to.
    pub window: Option<u64>,
}

impl AttentionShape {
    /// Number of query-key pairs per head and sequence.
    ///
    /// ```text
    /// P = q c + q (q + 1) / 2                                   causal
    /// P = sum over i in 1..=q of min(c + i, w)                  with window w
    /// ```
    ///
    /// ```
    /// use calc_core::cost::attention::AttentionShape;
    /// let mut shape = AttentionShape {
    ///     batch: 1, heads: 1, kv_heads: 1, qk_dim: 1, v_dim: 1, new: 4, cached: 2, window: None,
    /// };
    /// assert_eq!(shape.pairs(), 3.0 + 4.0 + 5.0 + 6.0);
    /// shape.window = Some(4);
    /// assert_eq!(shape.pairs(), 3.0 + 4.0 + 4.0 + 4.0);
    /// ```
    pub fn pairs(&self) -> f64 {
        let (q, c) = (self.new as f64, self.cached as f64);
        let Some(window) = self.window else {
            return q * c + q * (q + 1.0) / 2.0;
        };
        // The first tokens attend to fewer than the window; the others to exactly the window.
        let growing = window.saturating_sub(self.cached).min(self.new) as f64;
        growing * c + growing * (growing + 1.0) / 2.0 + (q - growing) * window as f64
    }

    /// Number of keys read per sequence: c + q, or min(c + q, w + q - 1) with a window.
    pub fn keys(&self) -> f64 {
        let all = self.cached + self.new;
        self.window.map_or(all, |window| all.min(window + self.new - 1)) as f64
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
/// use calc_core::{catalog, cost::attention::{fused, AttentionShape}};
/// let fp16 = catalog::format("fp16").unwrap();
/// // One decode step of a Llama-3 layer over 1023 cached tokens: intensity near h / g = 4.
/// let shape = AttentionShape {
///     batch: 1, heads: 32, kv_heads: 8, qk_dim: 128, v_dim: 128, new: 1, cached: 1023, window: None,
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
        for window in [None, Some(1), Some(3), Some(7), Some(100)] {
            for cached in [0, 1, 2, 6, 7, 8, 99, 100, 101] {
                for new in [1, 2, 3, 8, 50] {
                    let shape = AttentionShape {
                        batch: 1,
                        heads: 1,
                        kv_heads: 1,
                        qk_dim: 1,
                        v_dim: 1,
                        new,
                        cached,
                        window,
                    };
                    let sum: u64 =
                        (1..=new).map(|i| (cached + i).min(window.unwrap_or(u64::MAX))).sum();
                    assert!((shape.pairs() - sum as f64).abs() < 1e-9, "{shape:?}");
                }
            }
        }
    }
}
