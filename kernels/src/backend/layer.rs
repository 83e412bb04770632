//! Problem sizes of the kernels of a layer beside its products: attention, norm, rotary positions, gate, embedding. Bytes and FLOP
//! are those of `calc_core::cost`.

use calc_core::catalog;
use calc_core::cost::attention::{AttentionShape, fused};
use calc_core::cost::elementwise::{add_norm, embedding, gated_activation, rotary};
use calc_core::model_arch::Reach;
use calc_core::op::OpCost;
use calc_core::quant_format::QuantFormat;
use half::{bf16, f16};

use crate::pack::minifloat::E4M3;

/// A float as it is stored: in a KV cache, in a table of embeddings, or between operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoredFloat {
    /// FP32.
    Fp32,
    /// FP16.
    Fp16,
    /// BF16.
    Bf16,
    /// FP8 E4M3 without a scale, as in the KV cache of an engine whose scales are 1.
    Fp8E4m3,
}

impl StoredFloat {
    /// All, widest first: the formats of caches and tables.
    pub const ALL: [Self; 4] = [Self::Fp32, Self::Fp16, Self::Bf16, Self::Fp8E4m3];
    /// Formats of values between operators.
    pub const CARRIERS: [Self; 2] = [Self::Fp32, Self::Fp16];

    /// Key of the format in the catalog.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Fp32 => "fp32",
            Self::Fp16 => "fp16",
            Self::Bf16 => "bf16",
            Self::Fp8E4m3 => "fp8_e4m3",
        }
    }

    /// Bytes per number.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp32 => 4,
            Self::Fp16 | Self::Bf16 => 2,
            Self::Fp8E4m3 => 1,
        }
    }

    /// The bytes of numbers, each the nearest one of the format.
    pub fn store(self, values: &[f32]) -> Vec<u8> {
        let each = values.iter().copied();
        match self {
            Self::Fp32 => each.flat_map(f32::to_le_bytes).collect(),
            Self::Fp16 => each.flat_map(|value| f16::from_f32(value).to_le_bytes()).collect(),
            Self::Bf16 => each.flat_map(|value| bf16::from_f32(value).to_le_bytes()).collect(),
            Self::Fp8E4m3 => each.map(|value| E4M3.encode(value)).collect(),
        }
    }

    /// Numbers from their bytes; what is no whole number at the end is left out.
    pub fn read(self, bytes: &[u8]) -> Vec<f32> {
        let pairs = || bytes.as_chunks().0.iter();
        match self {
            Self::Fp32 => bytes.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect(),
            Self::Fp16 => pairs().map(|it| f16::from_le_bytes(*it).to_f32()).collect(),
            Self::Bf16 => pairs().map(|it| bf16::from_le_bytes(*it).to_f32()).collect(),
            Self::Fp8E4m3 => bytes.iter().map(|code| E4M3.decode(*code)).collect(),
        }
    }

    /// The nearest number of the format.
    pub fn nearest(self, value: f32) -> f32 {
        self.read(&self.store(&[value]))[0]
    }

    /// The format of the catalog.
    ///
    /// # Panics
    /// Never: the catalog has all four formats.
    pub fn format(self) -> &'static QuantFormat {
        catalog::format(self.key()).expect("the catalog has FP32, FP16, BF16 and FP8")
    }
}

/// Causal attention of the last `new` tokens of each sequence to all its tokens, with grouped query heads: new = 1 is decode, more are
/// prefill. Queries and output are FP32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttentionSizes {
    /// Format of keys and values.
    pub cache: StoredFloat,
    /// Sequences.
    pub batch: u64,
    /// Query heads.
    pub heads: u64,
    /// Heads of keys and values; they divide the query heads.
    pub kv_heads: u64,
    /// Width of a head.
    pub head_dim: u64,
    /// New tokens per sequence.
    pub new: u64,
    /// Tokens of a sequence, the new ones among them.
    pub context: u64,
}

impl AttentionSizes {
    /// Most elements of a head: an upper bound on what a thread keeps in its first-level cache.
    pub const MAX_HEAD_DIM: u64 = 1024;

    /// Whether there is such a problem.
    pub const fn is_possible(&self) -> bool {
        self.batch > 0
            && self.kv_heads > 0
            && self.heads > 0
            && self.heads.is_multiple_of(self.kv_heads)
            && self.head_dim > 0
            && self.head_dim <= Self::MAX_HEAD_DIM
            && self.new > 0
            && self.new <= self.context
    }

    /// Queries that share the keys of a KV head of a sequence.
    pub const fn queries_of_kv_head(&self) -> u64 {
        match self.heads.checked_div(self.kv_heads) {
            Some(group) => self.new.saturating_mul(group),
            None => 0,
        }
    }

    /// Cost by the core's formula.
    pub fn cost(&self) -> OpCost {
        let shape = AttentionShape {
            batch: self.batch,
            heads: self.heads,
            kv_heads: self.kv_heads,
            qk_dim: self.head_dim,
            v_dim: self.head_dim,
            new: self.new,
            cached: self.context.saturating_sub(self.new),
            reach: Reach::All,
        };
        fused(&shape, StoredFloat::Fp32.format(), self.cache.format())
    }

    /// Bytes of all keys and values; the largest number where it has more digits.
    pub const fn cache_bytes(&self) -> u64 {
        let tokens = self.batch.saturating_mul(self.context);
        let elements = tokens.saturating_mul(self.kv_heads).saturating_mul(self.head_dim);
        elements.saturating_mul(2 * self.cache.bytes())
    }

    /// Elements of the queries, and of the output.
    pub const fn query_elements(&self) -> u64 {
        self.batch.saturating_mul(self.new).saturating_mul(self.heads).saturating_mul(self.head_dim)
    }
}

/// Rows of an operator that works on one token at a time: add and norm, gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowSizes {
    /// Format of what is read and written.
    pub carrier: StoredFloat,
    /// Tokens.
    pub tokens: u64,
    /// Elements per token.
    pub width: u64,
}

impl RowSizes {
    /// Whether there is such a problem.
    pub fn is_possible(&self) -> bool {
        StoredFloat::CARRIERS.contains(&self.carrier) && self.tokens > 0 && self.width > 0
    }

    /// Bytes of one array.
    pub const fn bytes(&self) -> u64 {
        self.tokens.saturating_mul(self.width).saturating_mul(self.carrier.bytes())
    }

    /// Cost of adding the residual and normalizing, by the core's formula.
    pub fn norm_cost(&self) -> OpCost {
        add_norm(self.tokens, self.width, self.carrier.format())
    }

    /// Cost of the gated activation, by the core's formula.
    pub fn gate_cost(&self) -> OpCost {
        gated_activation(self.tokens, self.width, self.carrier.format())
    }
}

/// Rotary positions of the heads of queries and keys, in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RopeSizes {
    /// Format of what is read and written.
    pub carrier: StoredFloat,
    /// Tokens.
    pub tokens: u64,
    /// Heads, those of queries and keys together.
    pub heads: u64,
    /// Width of a head; even.
    pub head_dim: u64,
}

impl RopeSizes {
    /// Whether there is such a problem.
    pub fn is_possible(&self) -> bool {
        let sizes = [self.tokens, self.heads, self.head_dim];
        StoredFloat::CARRIERS.contains(&self.carrier)
            && !sizes.contains(&0)
            && self.head_dim.is_multiple_of(2)
    }

    /// Elements per token; the largest number where it has more digits.
    pub const fn width(&self) -> u64 {
        self.heads.saturating_mul(self.head_dim)
    }

    /// Bytes of the heads.
    pub const fn bytes(&self) -> u64 {
        self.tokens.saturating_mul(self.width()).saturating_mul(self.carrier.bytes())
    }

    /// Cost by the core's formula.
    pub fn cost(&self) -> OpCost {
        rotary(self.tokens, self.width(), self.carrier.format())
    }
}

/// Look-up of the rows of tokens in a table of embeddings; the output is FP32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbeddingSizes {
    /// Format of the table.
    pub table: StoredFloat,
    /// Tokens that are looked up; at most the rows of the table.
    pub tokens: u64,
    /// Elements per row.
    pub width: u64,
    /// Rows of the table.
    pub vocab: u64,
}

impl EmbeddingSizes {
    /// Most rows: an index has 32 bits.
    pub const MAX_VOCAB: u64 = u32::MAX as u64;

    /// Whether there is such a problem.
    pub const fn is_possible(&self) -> bool {
        self.tokens > 0
            && self.width > 0
            && self.tokens <= self.vocab
            && self.vocab <= Self::MAX_VOCAB
    }

    /// Bytes of the table.
    pub const fn table_bytes(&self) -> u64 {
        self.vocab.saturating_mul(self.width).saturating_mul(self.table.bytes())
    }

    /// Cost by the core's formula.
    pub fn cost(&self) -> OpCost {
        embedding(self.tokens, self.width, self.table.format(), StoredFloat::Fp32.format())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_by_hand() {
        let attention = AttentionSizes {
            cache: StoredFloat::Fp16,
            batch: 2,
            heads: 8,
            kv_heads: 2,
            head_dim: 64,
            new: 1,
            context: 100,
        };
        let cost = attention.cost();
        // 2 · 2 · 8 heads · 100 tokens · 128; cache 2 · 2 · 100 · 128 · 2 B, queries and output 2 · 8 · 128 · 4 B.
        assert!((cost.flops.get() - 409_600.0).abs() < 0.5);
        assert!((cost.traffic.kv_cache.get() - 102_400.0).abs() < 0.5);
        assert!((cost.traffic.activations.get() - 8192.0).abs() < 0.5);
        assert_eq!(attention.cache_bytes(), 102_400);
        let prefill = AttentionSizes { new: 100, ..attention };
        // 5050 pairs instead of 100.
        assert!((prefill.cost().flops.get() - 50.5 * 409_600.0).abs() < 0.5);
        let rows = RowSizes { carrier: StoredFloat::Fp16, tokens: 3, width: 10 };
        assert!((rows.norm_cost().traffic.total().get() - 240.0).abs() < 1e-9);
        assert!((rows.gate_cost().traffic.total().get() - 180.0).abs() < 1e-9);
        let rope = RopeSizes { carrier: StoredFloat::Fp32, tokens: 3, heads: 5, head_dim: 4 };
        assert!((rope.cost().traffic.total().get() - 480.0).abs() < 1e-9);
        assert!((rope.cost().flops.get() - 180.0).abs() < 1e-9);
        let rows = EmbeddingSizes { table: StoredFloat::Bf16, tokens: 3, width: 10, vocab: 100 };
        assert!((rows.cost().traffic.total().get() - 180.0).abs() < 1e-9);
        assert_eq!(rows.table_bytes(), 2000);
    }

    #[test]
    fn what_is_no_problem_is_told_from_one() {
        let attention = AttentionSizes {
            cache: StoredFloat::Fp32,
            batch: 1,
            heads: 6,
            kv_heads: 3,
            head_dim: 8,
            new: 2,
            context: 2,
        };
        assert!(attention.is_possible());
        for wrong in [
            AttentionSizes { heads: 0, ..attention },
            AttentionSizes { kv_heads: 0, ..attention },
            AttentionSizes { kv_heads: 4, ..attention },
            AttentionSizes { new: 3, ..attention },
            AttentionSizes { new: 0, ..attention },
            AttentionSizes { batch: 0, ..attention },
            AttentionSizes { head_dim: 0, ..attention },
            AttentionSizes { head_dim: 1025, ..attention },
        ] {
            assert!(!wrong.is_possible(), "{wrong:?}");
        }
        let rope = RopeSizes { carrier: StoredFloat::Fp32, tokens: 1, heads: 1, head_dim: 2 };
        assert!(rope.is_possible());
        assert!(!RopeSizes { head_dim: 3, ..rope }.is_possible());
        assert!(!RopeSizes { carrier: StoredFloat::Bf16, ..rope }.is_possible());
        let rows = EmbeddingSizes { table: StoredFloat::Fp32, tokens: 5, width: 1, vocab: 5 };
        assert!(rows.is_possible());
        assert!(!EmbeddingSizes { tokens: 6, ..rows }.is_possible());
    }
}
