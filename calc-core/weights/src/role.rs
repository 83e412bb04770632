//! The part that a tensor has in a model, by the names of llama.cpp and of Hugging Face.
//!
//! Names: `gguf.constants` of the Python package gguf 0.19.0; modules of transformers 5.23.0.

use std::collections::BTreeSet;

use crate::tensor::Tensor;

/// A part of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Tables of tokens and positions.
    Embedding,
    LmHead,
    Attention,
    /// Layers with a state: Mamba, linear attention, short convolutions.
    StateSpace,
    Mlp,
    Experts,
    SharedExperts,
    Router,
    /// Norms, biases and other vectors.
    Norms,
    /// Towers for images and sound, and their projectors.
    Towers,
    /// Extra layers for multi-token prediction.
    Draft,
    Other,
}

impl Role {
    /// All roles, in the order of answers.
    pub const ALL: [Self; 12] = [
        Self::Embedding,
        Self::LmHead,
        Self::Attention,
        Self::StateSpace,
        Self::Mlp,
        Self::Experts,
        Self::SharedExperts,
        Self::Router,
        Self::Norms,
        Self::Towers,
        Self::Draft,
        Self::Other,
    ];

    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Embedding => "embedding",
            Self::LmHead => "lm_head",
            Self::Attention => "attention",
            Self::StateSpace => "state_space",
            Self::Mlp => "mlp",
            Self::Experts => "experts",
            Self::SharedExperts => "shared_experts",
            Self::Router => "router",
            Self::Norms => "norms",
            Self::Towers => "towers",
            Self::Draft => "draft_layers",
            Self::Other => "other",
        }
    }

    /// True for what a step of the language model uses.
    pub const fn is_language_model(self) -> bool {
        match self {
            Self::Towers | Self::Draft => false,
            Self::Embedding
            | Self::LmHead
            | Self::Attention
            | Self::StateSpace
            | Self::Mlp
            | Self::Experts
            | Self::SharedExperts
            | Self::Router
            | Self::Norms
            | Self::Other => true,
        }
    }
}

/// Facts about layers that a name alone does not say.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layers {
    /// Number of layers of the language model; those after them predict further tokens. `None` if it is not known.
    pub count: Option<u64>,
    /// Layers with a state.
    stateful: BTreeSet<u64>,
}

impl Layers {
    /// The layers of a model with these tensors.
    pub fn of<'a>(count: Option<u64>, names: impl Iterator<Item = &'a str>) -> Self {
        let is_state = |name: &&str| name.starts_with("blk.") && name.contains(".ssm_");
        Self { count, stateful: names.filter(is_state).filter_map(layer).collect() }
    }

    fn is_extra(&self, name: &str) -> bool {
        layer(name).zip(self.count).is_some_and(|(layer, count)| layer >= count)
    }
}

/// The number of a layer in a name: `blk.3.attn_q.weight`, `model.layers.3.mlp.up_proj.weight`.
fn layer(name: &str) -> Option<u64> {
    let mut parts = name.split('.');
    let found = parts.any(|part| matches!(part, "blk" | "layers" | "h" | "blocks"));
    found.then(|| parts.next()?.parse().ok()).flatten()
}

/// The role of a tensor of GGUF.
pub fn of_gguf(tensor: &Tensor, layers: &Layers) -> Role {
    let name = tensor.name.as_str();
    let starts = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    if starts(&["v.", "a.", "mm.", "resampler.", "model.image_newline", "vision_model."]) {
        return Role::Towers;
    }
    if name.contains(".nextn.") || layers.is_extra(name) {
        return Role::Draft;
    }
    let whole = name.trim_end_matches(".weight").trim_end_matches(".bias");
    match whole {
        "token_embd" | "per_layer_token_embd" | "position_embd" | "token_types" => {
            return Role::Embedding;
        }
        "output" => return Role::LmHead,
        _ => {}
    }
    if tensor.is_vector() {
        return Role::Norms;
    }
    let mut parts = whole.split('.').skip(2);
    let Some(part) = parts.next().filter(|_| name.starts_with("blk.")) else {
        return Role::Other;
    };
    let is_single_expert =
        parts.next().is_some_and(|number| number.bytes().all(|b| b.is_ascii_digit()));
    let is_stateful = layer(name).is_some_and(|layer| layers.stateful.contains(&layer));
    gguf_part(part, is_single_expert, is_stateful)
}

/// The role of a matrix by the third part of its name: `ffn_up` of `blk.3.ffn_up.weight`.
fn gguf_part(part: &str, is_single_expert: bool, is_stateful: bool) -> Role {
    match part {
        _ if part.ends_with("exps") => Role::Experts,
        _ if part.ends_with("shexp") => Role::SharedExperts,
        "ffn_gate_inp" => Role::Router,
        _ if part.contains("norm") => Role::Norms,
        _ if part.starts_with("ffn") && is_single_expert => Role::Experts,
        _ if part.starts_with("ffn") => Role::Mlp,
        "attn_qkv" | "attn_gate" if is_stateful => Role::StateSpace,
        _ if part.starts_with("attn_") || part == "indexer" => Role::Attention,
        "shortconv" => Role::StateSpace,
        _ if ["ssm_", "time_mix_", "channel_mix_"].iter().any(|s| part.starts_with(s)) => {
            Role::StateSpace
        }
        _ => Role::Other,
    }
}

/// Modules of towers and projectors.
const TOWERS: [&str; 22] = [
    "aligner",
    "audio_encoder",
    "audio_model",
    "audio_projector",
    "audio_tower",
    "connector",
    "embed_audio",
    "embed_vision",
    "image_newline",
    "mlp1",
    "mm_projector",
    "multi_modal_projector",
    "patch_merger",
    "resampler",
    "vision_adapter",
    "vision_encoder",
    "vision_language_adapter",
    "vision_model",
    "vision_projector",
    "vision_tower",
    "visual",
    "vpm",
];

/// Role by the names of a module, the first that has one of them. Hybrids call every kind of layer `mixer`, so the projections
/// tell attention and MLPs from layers with a state.
const MODULES: [(Role, &[&str]); 9] = [
    (Role::SharedExperts, &["shared_expert", "shared_experts", "shared_expert_gate", "shared_mlp"]),
    // The last two are those of Granite, which has no module `experts`.
    (Role::Experts, &["experts", "input_linear", "output_linear"]),
    (Role::Router, &["router", "router_gate", "gate"]),
    (Role::Attention, ATTENTION),
    (Role::Mlp, MLP),
    (Role::StateSpace, &["linear_attn", "mamba", "mixer", "ssm", "conv", "short_conv", "rwkv"]),
    (Role::Embedding, EMBEDDING),
    (Role::LmHead, &["lm_head", "embed_out", "output"]),
    (Role::Norms, &["norm", "ln_f", "final_layernorm"]),
];

const ATTENTION: &[&str] = &[
    "self_attn",
    "attn",
    "attention",
    "self_attention",
    "cross_attn",
    "att_proj",
    "attn_out",
    "q_proj",
    "k_proj",
    "v_proj",
    "o_proj",
    "qkv_proj",
];

const MLP: &[&str] = &[
    "mlp",
    "mlps",
    "feed_forward",
    "ffn",
    "block_sparse_moe",
    "mlp_block",
    "fc1",
    "fc2",
    "moe",
    "ff_proj",
    "ff_out",
    "up_proj",
    "down_proj",
    "gate_proj",
];

const EMBEDDING: &[&str] = &[
    "embed_tokens",
    "embed_tokens_per_layer",
    "wte",
    "wpe",
    "word_embeddings",
    "tok_embeddings",
    "embed_in",
    "embed_positions",
    "position_embeddings",
    "embeddings",
    "embedding",
];

/// The role of a tensor of safetensors. Scales and zero points have the role of their matrix.
pub fn of_safetensors(tensor: &Tensor, layers: &Layers) -> Role {
    let parts: Vec<&str> = tensor.name.split('.').collect();
    if parts.iter().any(|part| TOWERS.contains(part)) {
        return Role::Towers;
    }
    if parts.contains(&"mtp") || layers.is_extra(&tensor.name) {
        return Role::Draft;
    }
    let leaf = parts.last().copied().unwrap_or_default();
    let is_plain = matches!(leaf, "weight" | "bias") || leaf.ends_with("_bias");
    let is_norm = parts.iter().any(|part| part.contains("norm") || part.starts_with("ln_"));
    // Weights packed by bitsandbytes are a column of bytes.
    let is_vector = tensor.is_vector() && tensor.kind.is_plain_float();
    if is_norm || is_plain && is_vector {
        return Role::Norms;
    }
    let named = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    MODULES.iter().find(|(_, names)| named(names)).map_or(Role::Other, |(role, _)| *role)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::SAFETENSORS_TYPES;

    fn tensor(name: &str, shape: &[u64]) -> Tensor {
        let is_packed = shape == [9, 1];
        let name_of_type = if is_packed { "U8" } else { "BF16" };
        let kind = SAFETENSORS_TYPES.iter().find(|kind| kind.name == name_of_type);
        let (kind, shape) = (kind.expect("a known type"), shape.to_vec());
        Tensor { name: name.into(), shape, kind, bytes: 0, offset: 0 }
    }

    #[test]
    fn names_of_llama_cpp_have_their_roles() {
        let names = ["blk.7.ssm_out.weight"];
        let layers = Layers::of(Some(40), names.into_iter());
        for (name, shape, expected) in [
            ("token_embd.weight", &[9, 9][..], Role::Embedding),
            ("output.weight", &[9, 9], Role::LmHead),
            ("output_norm.weight", &[9], Role::Norms),
            ("blk.0.attn_q.weight", &[9, 9], Role::Attention),
            ("blk.0.attn_q.bias", &[9], Role::Norms),
            ("blk.0.attn_kv_a_mqa.weight", &[9, 9], Role::Attention),
            ("blk.0.attn_qkv.weight", &[9, 9], Role::Attention),
            ("blk.7.attn_qkv.weight", &[9, 9], Role::StateSpace),
            ("blk.7.attn_q.weight", &[9, 9], Role::Attention),
            ("blk.7.ssm_conv1d.weight", &[9, 4], Role::StateSpace),
            ("blk.0.indexer.attn_k.weight", &[9, 9], Role::Attention),
            ("blk.0.ffn_gate.weight", &[9, 9], Role::Mlp),
            ("blk.0.ffn_gate.3.weight", &[9, 9], Role::Experts),
            ("blk.0.ffn_gate_up_exps.weight", &[9, 9, 9], Role::Experts),
            ("blk.0.ffn_down_shexp.weight", &[9, 9], Role::SharedExperts),
            ("blk.0.ffn_gate_inp.weight", &[9, 9], Role::Router),
            ("blk.40.ffn_gate.weight", &[9, 9], Role::Draft),
            ("blk.39.nextn.eh_proj.weight", &[9, 9], Role::Draft),
            ("v.blk.0.attn_q.weight", &[9, 9], Role::Towers),
            ("mm.0.weight", &[9, 9], Role::Towers),
            ("altup_proj.weight", &[9, 9, 9], Role::Other),
        ] {
            assert_eq!(of_gguf(&tensor(name, shape), &layers), expected, "{name}");
        }
    }

    #[test]
    fn names_of_hugging_face_have_their_roles() {
        let layers = Layers { count: Some(40), ..Layers::default() };
        for (name, shape, expected) in [
            ("model.embed_tokens.weight", &[9, 9][..], Role::Embedding),
            ("model.language_model.embed_tokens.weight", &[9, 9], Role::Embedding),
            ("lm_head.weight", &[9, 9], Role::LmHead),
            ("transformer.wte.weight", &[9, 9], Role::Embedding),
            ("model.layers.0.self_attn.q_proj.weight", &[9, 9], Role::Attention),
            ("model.layers.0.self_attn.q_proj.qweight", &[9, 9], Role::Attention),
            ("model.layers.0.self_attn.q_proj.weight_scale", &[9], Role::Attention),
            ("model.layers.0.self_attn.q_norm.weight", &[9], Role::Norms),
            ("model.layers.0.self_attn.q_proj.bias", &[9], Role::Norms),
            ("model.layers.0.mlp.gate_proj.weight", &[9, 9], Role::Mlp),
            ("model.layers.0.mlp.gate.weight", &[9, 9], Role::Router),
            ("model.layers.0.mlp.gate.e_score_correction_bias", &[9], Role::Norms),
            ("model.layers.0.mlp.experts.3.up_proj.weight", &[9, 9], Role::Experts),
            ("model.layers.0.mlp.experts.gate_up_proj_blocks", &[9, 9, 9], Role::Experts),
            ("model.layers.0.mlp.router.weight", &[9, 9], Role::Router),
            ("model.layers.0.mlp.shared_experts.up_proj.weight", &[9, 9], Role::SharedExperts),
            ("model.layers.0.block_sparse_moe.gate.weight", &[9, 9], Role::Router),
            ("model.layers.0.linear_attn.in_proj_qkvz.weight", &[9, 9], Role::StateSpace),
            ("model.layers.0.linear_attn.A_log", &[9], Role::StateSpace),
            ("model.layers.0.block_sparse_moe.input_linear.weight", &[9, 9, 9], Role::Experts),
            ("model.layers.0.block_sparse_moe.router.layer.weight", &[9, 9], Role::Router),
            ("model.transformer.blocks.0.att_proj.weight", &[9, 1], Role::Attention),
            ("model.transformer.blocks.0.att_proj.weight.absmax", &[9], Role::Attention),
            ("model.transformer.blocks.0.ff_proj.weight", &[9, 1], Role::Mlp),
            ("backbone.layers.0.mixer.in_proj.weight", &[9, 9], Role::StateSpace),
            ("backbone.layers.0.mixer.q_proj.weight", &[9, 9], Role::Attention),
            ("backbone.layers.0.mixer.up_proj.weight", &[9, 9], Role::Mlp),
            ("model.layers.40.mlp.gate_proj.weight", &[9, 9], Role::Draft),
            ("mtp.layers.0.mlp.gate_proj.weight", &[9, 9], Role::Draft),
            ("model.visual.blocks.0.attn.qkv.weight", &[9, 9], Role::Towers),
            ("vision_tower.encoder.layers.0.mlp.fc1.weight", &[9, 9], Role::Towers),
            ("model.norm.weight", &[9], Role::Norms),
            ("transformer.h.0.ln_1.weight", &[9], Role::Norms),
        ] {
            assert_eq!(of_safetensors(&tensor(name, shape), &layers), expected, "{name}");
        }
    }
}
