//! The plain struct of a config.json, and the precedence among several names of one quantity.
//! Names are those of the file; the rules of each family interpret them (`rule_table`).
//!
//! This file is longer than 400 lines because it is one list of the names in files.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::RefCell;

use super::entry::{Entry, Length, PerLayer, Present};
use super::part_fields::{
    AttentionOptions, Blocks, CompressRates, ExpertOptions, LayerSizes, LinearAttention,
    OtherHeads, SparseAttention,
};
use super::quantization_fields::QuantizationConfig;
use super::stated::{Stated, States};
use super::tower_fields::TowerConfig;

/// Defines the struct and a visitor of its fields by name, which finds fields that no rule has read, whatever their type.
macro_rules! config {
    ($($(#[$meta:meta])* pub $field:ident: $type:ty,)+) => {
        /// The fields of a config.json that the import uses. Of all other keys it keeps what they state.
        #[derive(Debug, Clone, PartialEq, Default)]
        #[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default, remote = "Self"))]
        #[expect(missing_docs, reason = "the names are those of config.json")]
        pub struct HfConfig {
            $($(#[$meta])* pub $field: $type,)+
            /// Keys that look like geometry and have no field here.
            #[cfg_attr(feature = "serde", serde(skip))]
            pub unknown: Vec<UnknownKey>,
            /// All other keys that have no field here.
            #[cfg_attr(feature = "serde", serde(skip))]
            pub others: Vec<UnknownKey>,
            /// Names of the fields that a rule has read.
            #[cfg_attr(feature = "serde", serde(skip))]
            pub(super) read: RefCell<Vec<&'static str>>,
        }

        const FIELDS: usize = [$(stringify!($field)),+].len();

        impl HfConfig {
            fn fields(&self) -> [(&'static str, &dyn States); FIELDS] {
                [$((stringify!($field), &self.$field)),+]
            }
        }
    };
}

impl HfConfig {
    /// Visits the fields with the values that the file states.
    /// One loop over a table: written out field by field, the code overflows the stack of the compiler.
    pub(super) fn each_field(&self, mut visit: impl FnMut(&'static str, Stated)) {
        for (name, field) in self.fields() {
            visit(name, field.states());
        }
    }
}

config! {
    // Model type.
    pub model_type: Entry<String>,
    pub architectures: Entry<Vec<String>>,
    pub is_encoder_decoder: Entry<bool>,
    pub text_config: Entry<Box<HfConfig>>,
    pub llm_config: Entry<Box<HfConfig>>,
    pub language_config: Entry<Box<HfConfig>>,
    pub decoder_config: Entry<Box<HfConfig>>,
    pub thinker_config: Entry<Box<Thinker>>,
    pub vision_config: Entry<Box<TowerConfig>>,
    pub audio_config: Entry<Box<TowerConfig>>,
    // Projectors of towers.
    pub mm_tokens_per_image: Entry<u64>,
    pub vision_soft_tokens_per_image: Entry<u64>,
    pub multimodal_projector_bias: Entry<bool>,
    pub projector_bias: Entry<bool>,
    pub projector_use_layernorm: Entry<bool>,
    pub projector_hidden_size: Entry<u64>,
    pub spatial_merge_size: Entry<u64>,
    pub scale_factor: Entry<u64>,
    pub alignment_intermediate_size: Entry<u64>,
    pub out_hidden_size: Entry<u64>,
    pub vision_feature_layer: Entry<Length>,
    pub merge_kernel_size: Entry<u64>,
    pub merger_times: Entry<u64>,
    pub perceiver_config: Entry<Box<TowerConfig>>,
    pub downsample_factor: Entry<u64>,
    /// A fraction, which is no count.
    pub downsample_ratio: Entry<Present>,
    // Storage.
    pub torch_dtype: Entry<String>,
    pub dtype: Entry<String>,
    pub quantization_config: Entry<Box<QuantizationConfig>>,
    /// Settings of MLX, which newer files repeat as `quantization_config`.
    pub quantization: Entry<Box<QuantizationConfig>>,
    pub expert_dtype: Entry<String>,
    // Sizes.
    pub hidden_size: Entry<u64>,
    pub n_embd: Entry<u64>,
    pub n_embed: Entry<u64>,
    pub d_model: Entry<u64>,
    pub dim: Entry<u64>,
    pub num_hidden_layers: Entry<u64>,
    pub n_layer: Entry<u64>,
    pub n_layers: Entry<u64>,
    pub num_layers: Entry<u64>,
    pub num_attention_heads: Entry<u64>,
    pub n_head: Entry<u64>,
    pub n_heads: Entry<u64>,
    pub num_heads: Entry<u64>,
    pub num_key_value_heads: Entry<u64>,
    pub num_kv_heads: Entry<u64>,
    pub n_head_kv: Entry<u64>,
    pub n_kv_heads: Entry<u64>,
    pub multi_query_group_num: Entry<u64>,
    pub head_dim: Entry<u64>,
    pub kv_channels: Entry<u64>,
    pub intermediate_size: Entry<u64>,
    pub n_inner: Entry<u64>,
    pub ffn_dim: Entry<u64>,
    pub ffn_hidden_size: Entry<u64>,
    pub vocab_size: Entry<u64>,
    pub padded_vocab_size: Entry<u64>,
    pub max_position_embeddings: Entry<u64>,
    pub n_positions: Entry<u64>,
    pub n_ctx: Entry<u64>,
    pub max_seq_len: Entry<u64>,
    pub seq_length: Entry<u64>,
    pub tie_word_embeddings: Entry<bool>,
    pub word_embed_proj_dim: Entry<u64>,
    // Biases.
    pub attention_bias: Entry<bool>,
    pub qkv_bias: Entry<bool>,
    pub add_qkv_bias: Entry<bool>,
    pub use_qkv_bias: Entry<bool>,
    pub enable_bias: Entry<bool>,
    pub use_bias: Entry<bool>,
    pub bias: Entry<bool>,
    pub mlp_bias: Entry<bool>,
    pub lm_head_bias: Entry<bool>,
    // Attention.
    pub sliding_window: Entry<u64>,
    pub use_sliding_window: Entry<bool>,
    pub max_window_layers: Entry<u64>,
    pub sliding_window_pattern: Entry<u64>,
    #[cfg_attr(feature = "serde", serde(rename = "_sliding_window_pattern"))]
    pub hidden_sliding_window_pattern: Entry<u64>,
    pub layer_switch: Entry<u64>,
    pub layer_types: Entry<Vec<String>>,
    pub share_q_dim: Entry<u64>,
    pub use_mla: Entry<bool>,
    pub qk_layernorm: Entry<bool>,
    pub use_qk_norm: Entry<bool>,
    pub multi_query: Entry<bool>,
    pub multi_query_attention: Entry<bool>,
    pub q_lora_rank: Entry<u64>,
    pub kv_lora_rank: Entry<u64>,
    pub qk_rope_head_dim: Entry<u64>,
    pub qk_nope_head_dim: Entry<u64>,
    pub v_head_dim: Entry<u64>,
    // Norms and the order of a layer.
    pub parallel_attn: Entry<bool>,
    pub parallel_attn_mlp_res: Entry<bool>,
    pub new_decoder_architecture: Entry<bool>,
    pub num_ln_in_parallel_attn: Entry<u64>,
    pub use_parallel_residual: Entry<bool>,
    pub do_layer_norm_before: Entry<bool>,
    pub layer_norm_elementwise_affine: Entry<bool>,
    #[cfg_attr(feature = "serde", serde(rename = "_remove_final_layer_norm"))]
    pub remove_final_layer_norm: Entry<bool>,
    pub rms_norm_eps: Entry<Present>,
    pub layer_norm_eps: Entry<Present>,
    pub layer_norm_epsilon: Entry<Present>,
    pub hidden_act: Entry<String>,
    pub activation_function: Entry<String>,
    // Mixture of experts.
    pub num_experts: Entry<u64>,
    pub moe_num_experts: Entry<u64>,
    pub num_local_experts: Entry<u64>,
    pub n_routed_experts: Entry<u64>,
    pub num_experts_per_tok: Entry<u64>,
    pub experts_per_token: Entry<u64>,
    pub num_experts_per_token: Entry<u64>,
    pub moe_topk: Entry<u64>,
    pub moe_k: Entry<u64>,
    pub moe_intermediate_size: Entry<PerLayer>,
    pub shared_expert_intermediate_size: Entry<u64>,
    pub shared_intermediate_size: Entry<u64>,
    pub n_shared_experts: Entry<u64>,
    pub num_shared_experts: Entry<u64>,
    pub num_shared_expert: Entry<u64>,
    pub moe_num_shared_experts: Entry<u64>,
    pub first_k_dense_replace: Entry<u64>,
    pub moe_layer_freq: Entry<PerLayer>,
    pub decoder_sparse_step: Entry<u64>,
    pub mlp_only_layers: Entry<Vec<u64>>,
    pub mlp_layer_types: Entry<Vec<String>>,
    pub moe_layer_start_index: Entry<u64>,
    pub moe_layer_end_index: Entry<PerLayer>,
    pub moe_layer_interval: Entry<u64>,
    pub topk_method: Entry<String>,
    pub num_nextn_predict_layers: Entry<u64>,
    pub moe_layers_enum: Entry<String>,
    pub moe_top_k: Entry<u64>,
    pub share_expert_dim: Entry<u64>,
    pub expert_ffn_hidden_size: Entry<u64>,
    pub zero_expert_num: Entry<u64>,
    pub dense_intermediate_size: Entry<u64>,
    pub global_attn_every_n_layers: Entry<u64>,
    // Shared and per-layer parts (Gemma 3n and 4).
    pub global_head_dim: Entry<u64>,
    pub num_global_key_value_heads: Entry<u64>,
    pub attention_k_eq_v: Entry<bool>,
    pub num_kv_shared_layers: Entry<u64>,
    pub use_double_wide_mlp: Entry<bool>,
    pub hidden_size_per_layer_input: Entry<u64>,
    pub vocab_size_per_layer_input: Entry<u64>,
    pub enable_moe_block: Entry<bool>,
    pub top_k_experts: Entry<u64>,
    pub altup_num_inputs: Entry<u64>,
    pub laurel_rank: Entry<u64>,
    // Heads of sliding layers (MiMo, Step).
    pub hybrid_layer_pattern: Entry<Vec<u64>>,
    pub swa_num_attention_heads: Entry<u64>,
    pub swa_num_key_value_heads: Entry<u64>,
    pub swa_head_dim: Entry<u64>,
    pub swa_v_head_dim: Entry<u64>,
    pub add_swa_attention_sink_bias: Entry<bool>,
    pub add_full_attention_sink_bias: Entry<bool>,
    pub attention_other_setting: Entry<Box<OtherHeads>>,
    pub use_head_wise_attn_gate: Entry<bool>,
    pub num_attention_groups: Entry<u64>,
    // Indexers (DeepSeek V3.2, GLM-5, MiniMax M3).
    pub sparse_attention_config: Entry<Box<SparseAttention>>,
    pub index_topk: Entry<u64>,
    pub indexer_types: Entry<Vec<String>>,
    pub index_n_heads: Entry<u64>,
    pub index_head_dim: Entry<u64>,
    // Compressed entries, low ranks, residual streams and hash routing (DeepSeek V4).
    pub compress_ratios: Entry<Vec<u64>>,
    pub compress_rates: Entry<Box<CompressRates>>,
    pub o_groups: Entry<u64>,
    pub o_lora_rank: Entry<u64>,
    pub hc_mult: Entry<u64>,
    pub num_hash_layers: Entry<u64>,
    // Indexers of some layers only, and pooled ones.
    pub index_topk_freq: Entry<u64>,
    pub index_skip_topk_offset: Entry<u64>,
    pub index_topk_pattern: Entry<String>,
    pub index_kpool: Entry<u64>,
    pub kv_source_layers: Entry<Vec<u64>>,
    // Latent attention of sliding layers (dots3 note).
    pub swa_q_lora_rank: Entry<u64>,
    pub swa_kv_lora_rank: Entry<u64>,
    pub swa_qk_nope_head_dim: Entry<u64>,
    pub shared_experts_intermediate_size: Entry<u64>,
    // Heads of each layer, and gates (Laguna, LFM3).
    pub num_attention_heads_per_layer: Entry<Vec<u64>>,
    pub use_attention_gate: Entry<bool>,
    pub use_sandwich_norm: Entry<bool>,
    // Gates, latent experts and residuals over layers (Kimi K3, Muse Spark).
    pub mla_use_output_gate: Entry<bool>,
    pub routed_expert_hidden_size: Entry<u64>,
    pub latent_moe_use_norm: Entry<bool>,
    pub attn_res_block_size: Entry<u64>,
    pub moe_hidden_size: Entry<u64>,
    // Layers of other kinds of decoders.
    pub is_moe_layer: Entry<Vec<bool>>,
    pub prefix_dense_sliding_window_pattern: Entry<u64>,
    pub prefix_dense_intermediate_size: Entry<u64>,
    pub cross_attention_layers: Entry<Vec<u64>>,
    pub expansion_ratio: Entry<u64>,
    pub attention_heads: Entry<u64>,
    pub attn_config: Entry<Box<AttentionOptions>>,
    pub ffn_config: Entry<Box<ExpertOptions>>,
    pub is_moe: Entry<bool>,
    pub no_bias: Entry<bool>,
    pub layer_group_size: Entry<u64>,
    pub gated_norm_rank: Entry<u64>,
    pub local_attention: Entry<u64>,
    pub decoder_bias: Entry<bool>,
    pub norm_bias: Entry<bool>,
    pub short_conv_kernel_size: Entry<u64>,
    pub linear_num_heads: Entry<u64>,
    pub linear_head_dim: Entry<u64>,
    pub gating: Entry<String>,
    // Chunks and interleaved experts (Llama 4).
    pub attention_chunk_size: Entry<u64>,
    pub no_rope_layers: Entry<Vec<u64>>,
    pub no_rope_layer_interval: Entry<u64>,
    pub intermediate_size_mlp: Entry<u64>,
    pub interleave_moe_layer_step: Entry<u64>,
    pub moe_layers: Entry<Vec<u64>>,
    // Linear attention and short convolutions.
    pub full_attention_interval: Entry<u64>,
    pub linear_conv_kernel_dim: Entry<u64>,
    pub linear_key_head_dim: Entry<u64>,
    pub linear_value_head_dim: Entry<u64>,
    pub linear_num_key_heads: Entry<u64>,
    pub linear_num_value_heads: Entry<u64>,
    pub linear_attn_config: Entry<Box<LinearAttention>>,
    pub attn_type_list: Entry<Vec<u64>>,
    pub conv_bias: Entry<bool>,
    #[cfg_attr(feature = "serde", serde(rename = "conv_L_cache"))]
    pub conv_l_cache: Entry<u64>,
    pub full_attn_idxs: Entry<Vec<u64>>,
    pub block_ff_dim: Entry<u64>,
    pub block_auto_adjust_ff_dim: Entry<bool>,
    pub block_multiple_of: Entry<u64>,
    pub block_ffn_dim_multiplier: Entry<u64>,
    pub num_dense_layers: Entry<u64>,
    pub tie_embedding: Entry<bool>,
    // Mamba and hybrids.
    pub hybrid_override_pattern: Entry<String>,
    pub layers_block_type: Entry<Vec<String>>,
    pub mamba_num_heads: Entry<u64>,
    pub mamba_n_heads: Entry<u64>,
    pub mamba_head_dim: Entry<u64>,
    pub mamba_d_head: Entry<u64>,
    pub ssm_state_size: Entry<u64>,
    pub mamba_d_state: Entry<u64>,
    pub state_size: Entry<u64>,
    pub n_groups: Entry<u64>,
    pub mamba_n_groups: Entry<u64>,
    pub conv_kernel: Entry<u64>,
    pub mamba_d_conv: Entry<u64>,
    pub use_conv_bias: Entry<bool>,
    pub mamba_conv_bias: Entry<bool>,
    pub mamba_proj_bias: Entry<bool>,
    pub mamba_ssm_dtype: Entry<String>,
    pub mamba_ssm_cache_dtype: Entry<String>,
    pub mamba_expand: Entry<u64>,
    pub expand: Entry<u64>,
    pub mamba_d_ssm: Entry<u64>,
    pub mamba_rms_norm: Entry<bool>,
    pub mamba_dt_rank: Entry<u64>,
    pub time_step_rank: Entry<u64>,
    pub attn_layer_indices: Entry<Vec<u64>>,
    pub attn_layer_period: Entry<u64>,
    pub attn_layer_offset: Entry<u64>,
    pub expert_layer_period: Entry<u64>,
    pub expert_layer_offset: Entry<u64>,
    pub moe_latent_size: Entry<u64>,
    pub moe_shared_expert_intermediate_size: Entry<u64>,
    pub mlp_hidden_act: Entry<String>,
    // Layers for drafts of further tokens.
    pub mtp_num_hidden_layers: Entry<u64>,
    pub num_mtp_layers: Entry<u64>,
    #[cfg_attr(feature = "serde", serde(rename = "_num_mtp_layers"))]
    pub hidden_num_mtp_layers: Entry<u64>,
    pub num_mtp_modules: Entry<u64>,
    // Fields of models that this geometry cannot describe.
    pub image_size: Entry<Present>,
    pub patch_size: Entry<Present>,
    pub num_mel_bins: Entry<Present>,
    pub block_configs: Entry<Blocks>,
    // Sizes of single layers, as transformers 5 writes them.
    pub per_layer_config: Entry<LayerSizes>,
    pub num_sliding_attention_heads: Entry<u64>,
    pub index_block_size: Entry<u64>,
    pub index_topk_blocks: Entry<u64>,
    // Heads that score labels.
    pub num_labels: Entry<u64>,
    pub id2label: Entry<Length>,
}

/// `thinker_config` of a model that speaks: the part that reads and writes text.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct Thinker {
    pub tie_word_embeddings: Entry<bool>,
    pub dtype: Entry<String>,
    pub text_config: Entry<Box<HfConfig>>,
    pub vision_config: Entry<Box<TowerConfig>>,
    pub audio_config: Entry<Box<TowerConfig>>,
}

/// A key of the file without a field in [`HfConfig`].
#[derive(Debug, Clone, PartialEq)]
pub struct UnknownKey {
    /// Name in the file; `outer.inner` for a key inside another configuration.
    pub name: String,
    /// The part of its value that matters.
    pub stated: Stated,
}

impl HfConfig {
    /// Marks a field as read and returns it with its name.
    pub(super) fn named<'a, T>(&self, name: &'static str, entry: &'a Entry<T>) -> Named<'a, T> {
        self.settle(&[name]);
        Named { name, entry }
    }

    /// Marks names as read, or as known to have no effect here.
    pub(super) fn settle(&self, names: &[&'static str]) {
        self.read.borrow_mut().extend_from_slice(names);
    }

    /// The first name with a value; else the first that is `null`; else the first. Names with the same value are marked as read
    /// with it.
    fn first<'a, T: PartialEq>(&self, names: &[(&'static str, &'a Entry<T>)]) -> Named<'a, T> {
        let given = names.iter().find(|(_, entry)| entry.is_given());
        let null = || names.iter().find(|(_, entry)| matches!(entry, Entry::Null));
        let (name, entry) = *given.or_else(null).unwrap_or(&names[0]);
        for (other, _) in names.iter().filter(|(_, other)| *other == entry) {
            self.settle(&[other]);
        }
        Named { name, entry }
    }
}

/// A field with the name it has in the file.
#[derive(Debug)]
pub(super) struct Named<'a, T> {
    pub(super) name: &'static str,
    pub(super) entry: &'a Entry<T>,
}

/// Accessors for quantities with several names, in order of precedence.
macro_rules! names {
    ($($method:ident: $type:ty = $($field:ident)+;)+) => {
        impl HfConfig {
            $(pub(super) fn $method(&self) -> Named<'_, $type> {
                self.first(&[$((stringify!($field), &self.$field)),+])
            })+
        }
    };
}

names! {
    hidden: u64 = hidden_size n_embd n_embed d_model dim;
    layers: u64 = num_hidden_layers n_layer n_layers num_layers;
    heads: u64 = num_attention_heads n_head n_heads num_heads attention_heads;
    kv_heads: u64 = num_key_value_heads num_kv_heads n_head_kv n_kv_heads multi_query_group_num num_attention_groups;
    head_size: u64 = head_dim kv_channels;
    width: u64 = intermediate_size n_inner ffn_dim ffn_hidden_size block_ff_dim;
    vocabulary: u64 = vocab_size padded_vocab_size;
    positions: u64 = max_position_embeddings n_positions n_ctx max_seq_len seq_length;
    experts: u64 = num_experts num_local_experts n_routed_experts moe_num_experts;
    experts_used: u64 = num_experts_per_tok experts_per_token num_experts_per_token moe_topk moe_k top_k_experts moe_top_k;
    shared_width: u64 = shared_expert_intermediate_size shared_intermediate_size moe_shared_expert_intermediate_size share_expert_dim shared_experts_intermediate_size;
    shared_experts: u64 = n_shared_experts num_shared_experts moe_num_shared_experts num_shared_expert;
    dense_first: u64 = first_k_dense_replace num_dense_layers;
    multi_query_flag: bool = multi_query multi_query_attention;
    window_pattern: u64 = sliding_window_pattern hidden_sliding_window_pattern layer_switch;
    data_type: String = torch_dtype dtype;
    state_type: String = mamba_ssm_cache_dtype mamba_ssm_dtype;
    activation: String = hidden_act activation_function;
    mamba_heads: u64 = mamba_num_heads mamba_n_heads;
    mamba_head_size: u64 = mamba_head_dim mamba_d_head;
    mamba_state: u64 = ssm_state_size mamba_d_state state_size;
    mamba_groups: u64 = n_groups mamba_n_groups;
    mamba_kernel: u64 = conv_kernel mamba_d_conv;
    mamba_bias: bool = use_conv_bias mamba_conv_bias;
    mamba_expansion: u64 = mamba_expand expand;
    dt_rank: u64 = time_step_rank mamba_dt_rank;
    draft_layers: u64 = num_nextn_predict_layers mtp_num_hidden_layers num_mtp_layers num_mtp_modules hidden_num_mtp_layers;
}
