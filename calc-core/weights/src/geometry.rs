//! The metadata of a GGUF file as the fields of a config.json, so that `calc_core::hf_config` reads both by the same rules.
//!
//! A key that has no counterpart goes over under its own name: if it looks like geometry, the import refuses it by name.
//! Keys: `gguf.constants` of the Python package gguf 0.19.0; what llama.cpp's converter writes into them.

use serde_json::{Map, Value as Json, json};

use crate::files::Weights;
use crate::metadata::Value;

/// Why there is no geometry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoGeometry {
    /// The metadata name no architecture.
    NoArchitecture,
    /// Towers and projectors only, as `mmproj` files hold them.
    Towers,
    /// An adapter, a calibration matrix or a vocabulary: `general.type` other than `model`.
    NotAModel { kind: String },
    /// There is no table of tokens.
    NoEmbedding,
}

/// Architectures of llama.cpp whose `model_type` has another name; all others change `-` to `_` only.
const MODEL_TYPES: [(&str, &str); 26] = [
    ("command-r", "cohere"),
    ("deepseek2", "deepseek_v2"),
    ("ernie4_5-moe", "ernie4_5_moe"),
    ("falcon-h1", "falcon_h1"),
    ("gemma3", "gemma3_text"),
    ("gemma3n", "gemma3n_text"),
    ("gemma4", "gemma4_text"),
    ("glm-dsa", "glm_moe_dsa"),
    ("glm4moe", "glm4_moe"),
    ("gptneox", "gpt_neox"),
    ("granitehybrid", "granitemoehybrid"),
    ("hunyuan-dense", "hunyuan_v1_dense"),
    ("hunyuan-moe", "hunyuan_v1_moe"),
    ("lfm2moe", "lfm2_moe"),
    ("llama4", "llama4_text"),
    ("mistral3", "ministral3"),
    ("mistral4", "mistral4"),
    ("nemotron_h_moe", "nemotron_h"),
    ("phi2", "phi"),
    ("qwen2moe", "qwen2_moe"),
    ("qwen2vl", "qwen2_vl_text"),
    ("qwen35", "qwen3_5_text"),
    ("qwen35moe", "qwen3_5_moe_text"),
    ("qwen3moe", "qwen3_moe"),
    ("qwen3next", "qwen3_next"),
    ("qwen3vlmoe", "qwen3_vl_moe_text"),
];

/// Keys with the same meaning in both, without the architecture before them.
const FIELDS: [(&str, &str); 27] = [
    ("attention.head_count", "num_attention_heads"),
    ("attention.head_count_kv", "num_key_value_heads"),
    ("attention.indexer.head_count", "index_n_heads"),
    ("attention.indexer.key_length", "index_head_dim"),
    ("attention.indexer.top_k", "index_topk"),
    ("attention.key_length", "head_dim"),
    ("attention.kv_lora_rank", "kv_lora_rank"),
    ("attention.q_lora_rank", "q_lora_rank"),
    ("attention.shared_kv_layers", "num_kv_shared_layers"),
    ("attention.sliding_window", "sliding_window"),
    ("attention.value_length_mla", "v_head_dim"),
    ("context_length", "max_position_embeddings"),
    ("embedding_length", "hidden_size"),
    ("embedding_length_per_layer_input", "hidden_size_per_layer_input"),
    ("expert_count", "num_experts"),
    ("expert_feed_forward_length", "moe_intermediate_size"),
    ("expert_shared_count", "n_shared_experts"),
    ("expert_shared_feed_forward_length", "shared_expert_intermediate_size"),
    ("expert_used_count", "num_experts_per_tok"),
    ("feed_forward_length", "intermediate_size"),
    ("full_attention_interval", "full_attention_interval"),
    ("interleave_moe_layer_step", "interleave_moe_layer_step"),
    ("leading_dense_block_count", "first_k_dense_replace"),
    ("moe_every_n_layers", "moe_layer_freq"),
    ("nextn_predict_layers", "num_nextn_predict_layers"),
    ("shortconv.l_cache", "conv_L_cache"),
    ("use_parallel_residual", "use_parallel_residual"),
];

/// Keys that change no size and no count of operations, or that another key of the file also says.
const WITHOUT_EFFECT: [&str; 12] = [
    "attention.causal",
    "attention.clamp_kqv",
    "attention.max_alibi_bias",
    "attention.value_length",
    "block_count",
    "expert_group_count",
    "expert_group_used_count",
    "expert_weights_norm",
    "experts_per_group",
    "n_deepstack_layers",
    "tensor_data_layout",
    "vocab_size",
];

/// The fields of a config.json that the metadata and the list of tensors state.
///
/// # Errors
/// [`NoGeometry`] for files without a language model.
pub fn config(weights: &Weights) -> Result<Map<String, Json>, NoGeometry> {
    let general = |key: &str| weights.metadata.get(key).and_then(Value::text);
    if let Some(kind) = general("general.type").filter(|&kind| kind != "model") {
        return Err(match kind {
            "mmproj" => NoGeometry::Towers,
            kind => NoGeometry::NotAModel { kind: crate::error::clipped(kind) },
        });
    }
    let architecture = general("general.architecture").ok_or(NoGeometry::NoArchitecture)?;
    if architecture == "clip" {
        return Err(NoGeometry::Towers);
    }
    let embedding = weights.tensor("token_embd.weight").ok_or(NoGeometry::NoEmbedding)?;
    let file = GgufModel { weights, architecture };
    let mut fields = file.stated();
    let mut set = |name: &str, value: Json| fields.insert(name.to_owned(), value);
    set("model_type", json!(file.model_type()));
    set("torch_dtype", json!("float16"));
    set("vocab_size", json!(embedding.shape.first()));
    set("tie_word_embeddings", json!(weights.tensor("output.weight").is_none()));
    if let Some(layers) = file.count("block_count") {
        let extra = file.count("nextn_predict_layers").unwrap_or(0);
        set("num_hidden_layers", json!(layers.saturating_sub(extra)));
    }
    file.set_biases(&mut fields);
    file.set_windows(&mut fields);
    file.set_latent(&mut fields);
    file.set_state(&mut fields);
    file.set_family(&mut fields);
    Ok(fields)
}

/// The metadata of a language model.
struct GgufModel<'a> {
    weights: &'a Weights,
    architecture: &'a str,
}

impl GgufModel<'_> {
    fn value(&self, key: &str) -> Option<&Value> {
        self.weights.metadata.get(&format!("{}.{key}", self.architecture))
    }

    fn count(&self, key: &str) -> Option<u64> {
        self.value(key)?.count()
    }

    /// True if any layer has this tensor.
    fn has(&self, part: &str) -> bool {
        let end = format!(".{part}");
        let names = self.weights.tensors().map(|(tensor, _)| tensor.name.as_str());
        names.into_iter().any(|name| name.starts_with("blk.") && name.ends_with(&end))
    }

    fn model_type(&self) -> String {
        match self.architecture {
            "llama" if self.count("expert_count").unwrap_or(0) > 0 => "mixtral".to_owned(),
            // The converter of llama.cpp has one architecture for both; the bias of the router tells them apart.
            "deepseek2" if self.has("exp_probs_b.bias") => "deepseek_v3".to_owned(),
            name => MODEL_TYPES
                .iter()
                .find(|(known, _)| *known == name)
                .map_or_else(|| name.replace('-', "_"), |(_, model_type)| (*model_type).to_owned()),
        }
    }

    /// The keys of the architecture under the names of a config.json, or under their own.
    fn stated(&self) -> Map<String, Json> {
        let start = format!("{}.", self.architecture);
        let mut fields = Map::new();
        for (key, value) in &self.weights.metadata {
            let Some(key) = key.strip_prefix(&start) else { continue };
            let is_numeric = key.starts_with("rope.") || WITHOUT_EFFECT.contains(&key);
            if is_numeric {
                continue;
            }
            let name = FIELDS.iter().find(|(known, _)| *known == key).map_or(key, |(_, name)| name);
            fields.insert(name.to_owned(), plain(value));
        }
        fields
    }

    /// Biases, which the list of tensors states and no key.
    fn set_biases(&self, fields: &mut Map<String, Json>) {
        let attention = self.has("attn_q.bias") || self.has("attn_qkv.bias");
        let mlp = self.has("ffn_up.bias");
        for (name, value) in [
            ("attention_bias", attention),
            ("qkv_bias", attention),
            ("use_qkv_bias", attention),
            ("enable_bias", attention),
            ("use_bias", attention),
            ("bias", attention),
            ("mlp_bias", mlp),
        ] {
            fields.insert(name.to_owned(), json!(value));
        }
    }

    /// Layers with a window: a flag per layer, or a period n, of which the last layer has full attention.
    fn set_windows(&self, fields: &mut Map<String, Json>) {
        const PATTERN: &str = "attention.sliding_window_pattern";
        fields.remove(PATTERN);
        match self.value(PATTERN) {
            Some(Value::Flags(flags)) => {
                let word =
                    |&windowed| if windowed { "sliding_attention" } else { "full_attention" };
                let words: Vec<&str> = flags.iter().map(word).collect();
                fields.insert("layer_types".to_owned(), json!(words));
            }
            Some(value) => {
                fields.insert("sliding_window_pattern".to_owned(), plain(value));
            }
            None => {}
        }
        if fields.get("sliding_window") == Some(&json!(0)) {
            fields.insert("sliding_window".to_owned(), Json::Null);
        }
    }

    /// Heads of latent attention. Older files have no keys with `_mla`, and the sizes of a head in the general ones.
    fn set_latent(&self, fields: &mut Map<String, Json>) {
        let of_head = fields.remove("attention.key_length_mla");
        let value = self.count("attention.value_length");
        if self.count("attention.kv_lora_rank").is_none() {
            let differs =
                value.is_some_and(|value| self.count("attention.key_length") != Some(value));
            if let Some(value) = value.filter(|_| differs) {
                fields.insert("v_head_dim".to_owned(), json!(value));
            }
            return;
        }
        let key = of_head.and_then(|key| key.as_u64()).or(self.count("attention.key_length"));
        let rotated = self.count("rope.dimension_count");
        fields.remove("head_dim");
        fields.remove("num_key_value_heads");
        fields.entry("q_lora_rank").or_insert(Json::Null);
        if let Some(value) = value {
            fields.entry("v_head_dim").or_insert(json!(value));
        }
        if let (Some(key), Some(rotated)) = (key, rotated) {
            fields.insert("qk_rope_head_dim".to_owned(), json!(rotated));
            fields.insert("qk_nope_head_dim".to_owned(), json!(key.saturating_sub(rotated)));
        }
    }

    /// Layers with a state: linear attention with gates, or Mamba.
    fn set_state(&self, fields: &mut Map<String, Json>) {
        let names: &[(&str, &str)] = match self.architecture {
            "qwen3next" | "qwen35" | "qwen35moe" => &[
                ("ssm.conv_kernel", "linear_conv_kernel_dim"),
                ("ssm.group_count", "linear_num_key_heads"),
                ("ssm.time_step_rank", "linear_num_value_heads"),
                ("ssm.state_size", "linear_key_head_dim"),
            ],
            _ => &[
                ("ssm.conv_kernel", "mamba_d_conv"),
                ("ssm.group_count", "mamba_n_groups"),
                ("ssm.time_step_rank", "mamba_n_heads"),
                ("ssm.state_size", "mamba_d_state"),
            ],
        };
        for (key, name) in names {
            if let Some(value) = fields.remove(*key) {
                fields.insert((*name).to_owned(), value);
            }
        }
        let inner = fields.remove("ssm.inner_size").and_then(|inner| inner.as_u64());
        let heads = self.count("ssm.time_step_rank").filter(|&heads| heads > 0);
        if let (Some(inner), Some(heads)) = (inner, heads) {
            let is_linear = fields.contains_key("linear_num_value_heads");
            let name = if is_linear { "linear_value_head_dim" } else { "mamba_d_head" };
            fields.insert(name.to_owned(), json!(inner / heads));
        }
    }

    /// Names that one family alone has.
    fn set_family(&self, fields: &mut Map<String, Json>) {
        let mut rename = |from: &str, to: &str| {
            if let Some(value) = fields.remove(from) {
                fields.insert(to.to_owned(), value);
            }
        };
        match self.architecture {
            "ernie4_5-moe" => {
                rename("first_k_dense_replace", "moe_layer_start_index");
                rename("interleave_moe_layer_step", "moe_layer_interval");
            }
            // In its files the general keys are those of the layers that see everything.
            "gemma4" => {
                rename("head_dim", "global_head_dim");
                rename("attention.key_length_swa", "head_dim");
                fields.remove("attention.value_length_swa");
            }
            "glm4moe" => {
                let norms = self.has("attn_q_norm.weight");
                fields.insert("use_qk_norm".to_owned(), json!(norms));
            }
            "falcon" => {
                let is_new = self.has("attn_norm_2.weight");
                fields.insert("new_decoder_architecture".to_owned(), json!(is_new));
                let one = self.count("attention.head_count_kv") == Some(1);
                fields.insert("multi_query".to_owned(), json!(one));
            }
            _ => {}
        }
    }
}

/// A metadata value as JSON; a list of equal counts as one count.
fn plain(value: &Value) -> Json {
    match value {
        Value::Count(count) => json!(count),
        Value::Negative(number) => json!(number),
        Value::Real(number) => json!(number),
        Value::Flag(flag) => json!(flag),
        Value::Text(text) => json!(text),
        Value::LongText { .. } => Json::Null,
        Value::Counts(counts) => match counts.split_first() {
            Some((first, rest)) if rest.iter().all(|count| count == first) => json!(first),
            _ => json!(counts),
        },
        Value::Flags(flags) => json!(flags),
        Value::List { entries } => json!({ "entries": entries }),
    }
}
