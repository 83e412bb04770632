//! The plain struct of `vision_config` and `audio_config`. Names are those of the file.

use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Entry, Present};

/// Configuration of a tower; its meaning depends on the family (`tower`).
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default))]
#[expect(missing_docs, reason = "the names are those of config.json")]
pub struct TowerConfig {
    pub model_type: Entry<String>,
    pub architecture: Entry<String>,
    // Layers.
    pub num_hidden_layers: Entry<u64>,
    pub depth: Entry<u64>,
    pub layers: Entry<u64>,
    pub vt_num_hidden_layers: Entry<u64>,
    pub encoder_layers: Entry<u64>,
    pub conf_num_hidden_layers: Entry<u64>,
    pub num_blocks: Entry<u64>,
    pub hidden_size: Entry<u64>,
    pub embed_dim: Entry<u64>,
    pub width: Entry<u64>,
    pub vt_hidden_size: Entry<u64>,
    pub d_model: Entry<u64>,
    pub num_attention_heads: Entry<u64>,
    pub num_heads: Entry<u64>,
    pub heads: Entry<u64>,
    pub vt_num_attention_heads: Entry<u64>,
    pub encoder_attention_heads: Entry<u64>,
    pub conf_num_attention_heads: Entry<u64>,
    pub head_dim: Entry<u64>,
    pub intermediate_size: Entry<u64>,
    pub vt_intermediate_size: Entry<u64>,
    pub encoder_ffn_dim: Entry<u64>,
    pub mlp_ratio: Entry<u64>,
    pub attention_bias: Entry<bool>,
    pub qkv_bias: Entry<bool>,
    pub use_qk_norm: Entry<bool>,
    pub qk_normalization: Entry<bool>,
    pub norm_type: Entry<String>,
    pub window_size: Entry<u64>,
    pub fullatt_block_indexes: Entry<Vec<u64>>,
    // Patches, positions and merging.
    pub num_channels: Entry<u64>,
    pub in_channels: Entry<u64>,
    pub in_chans: Entry<u64>,
    pub image_size: Entry<u64>,
    pub patch_size: Entry<u64>,
    pub temporal_patch_size: Entry<u64>,
    pub spatial_merge_size: Entry<u64>,
    pub merge_kernel_size: Entry<u64>,
    pub pooling_kernel_size: Entry<u64>,
    pub num_patches: Entry<u64>,
    pub num_position_embeddings: Entry<u64>,
    pub position_embedding_size: Entry<u64>,
    pub init_pos_emb_height: Entry<u64>,
    pub init_pos_emb_width: Entry<u64>,
    pub vision_use_head: Entry<bool>,
    pub use_cls_token: Entry<bool>,
    /// A fraction, which is no count.
    pub pixel_shuffle_ratio: Entry<Present>,
    // Projector.
    pub out_hidden_size: Entry<u64>,
    pub deepstack_visual_indexes: Entry<Vec<u64>>,
    pub projector_input_dim: Entry<u64>,
    pub projector_output_dim: Entry<u64>,
    pub vision_output_dim: Entry<u64>,
    pub projection_dim: Entry<u64>,
    pub mm_hidden_size: Entry<u64>,
    pub text_hidden_size: Entry<u64>,
    pub vocab_size: Entry<u64>,
    // Sound.
    pub num_mel_bins: Entry<u64>,
    pub max_source_positions: Entry<u64>,
    pub output_dim: Entry<u64>,
    pub downsample_hidden_size: Entry<u64>,
    pub input_feat_size: Entry<u64>,
    pub conf_conv_kernel_size: Entry<u64>,
    pub conv_kernel_size: Entry<u64>,
    pub sscp_conv_channel_size: Entry<Vec<u64>>,
    pub subsampling_conv_channels: Entry<Vec<u64>>,
    pub output_proj_dims: Entry<u64>,
    pub input_size: Entry<u64>,
    pub ext_pw_out_channel: Entry<u64>,
    pub nemo_conv_channels: Entry<u64>,
    pub kernel_size: Entry<u64>,
    pub bias_max_distance: Entry<u64>,
}
