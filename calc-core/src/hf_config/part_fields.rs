//! Plain structs of the objects within a config.json that describe a part of the layers.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Allowed, Entry, FieldType};
use super::stated::{Stated, States};

/// `linear_attn_config` of Kimi Linear; its lists count layers from 1.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct LinearAttention {
    pub full_attn_layers: Entry<Vec<u64>>,
    pub kda_layers: Entry<Vec<u64>>,
    pub head_dim: Entry<u64>,
    pub num_heads: Entry<u64>,
    pub short_conv_kernel_size: Entry<u64>,
    pub use_full_rank_gate: Entry<bool>,
}

/// `attn_config` of MPT and DBRX.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct AttentionOptions {
    pub attn_type: Entry<String>,
    pub kv_n_heads: Entry<u64>,
    pub qk_ln: Entry<bool>,
    pub alibi: Entry<bool>,
}

/// `ffn_config` of DBRX.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct ExpertOptions {
    pub ffn_hidden_size: Entry<u64>,
    pub moe_num_experts: Entry<u64>,
    pub moe_top_k: Entry<u64>,
}

/// `compress_rates` of DeepSeek V4: tokens per entry by kind of layer.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct CompressRates {
    pub compressed_sparse_attention: Entry<u64>,
    pub heavily_compressed_attention: Entry<u64>,
}

/// `block_configs` of `nemotron_nas`: one block per layer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Blocks(pub Vec<Entry<Box<Block>>>);

impl FieldType for Blocks {
    const ALLOWED: Allowed = Allowed::Object;
}

impl States for Blocks {
    fn states(&self) -> Stated {
        Stated::object(true, Vec::new())
    }
}

/// A layer of `block_configs`.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct Block {
    pub attention: Entry<Box<BlockPart>>,
    pub ffn: Entry<Box<BlockPart>>,
}

/// Attention or MLP of a [`Block`].
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct BlockPart {
    pub n_heads_in_group: Entry<u64>,
    /// Width as a multiple of the hidden size, usually a fraction.
    pub ffn_mult: Entry<u64>,
    pub intermediate_size: Entry<u64>,
    pub no_op: Entry<bool>,
    pub replace_with_linear: Entry<bool>,
    pub window_length: Entry<u64>,
}

/// `attention_other_setting` of Step 3.5: the heads of sliding layers.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct OtherHeads {
    pub num_attention_heads: Entry<u64>,
    pub num_attention_groups: Entry<u64>,
    pub head_dim: Entry<u64>,
}

/// `sparse_attention_config` of MiniMax M3.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, clippy::struct_field_names, reason = "the names are those of config.json")]
pub struct SparseAttention {
    pub sparse_num_index_heads: Entry<u64>,
    pub sparse_index_dim: Entry<u64>,
    pub sparse_block_size: Entry<u64>,
    pub sparse_topk_blocks: Entry<u64>,
    pub sparse_attention_freq: Entry<Vec<u64>>,
}

/// `per_layer_config`: sizes of single layers that differ from those of the model, by the index and the name in the file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LayerSizes(pub Vec<(String, NamedSizes)>);

/// Sizes with their names; `None` for a value that is no count.
pub type NamedSizes = Vec<(String, Option<u64>)>;

impl FieldType for LayerSizes {
    const ALLOWED: Allowed = Allowed::Object;
}

impl States for LayerSizes {
    fn states(&self) -> Stated {
        Stated::object(!self.0.is_empty(), Vec::new())
    }
}
