//! The import of config.json for the families of which the catalog has few models or none.
//!
//! The files carry the documented defaults of each class in transformers 5.23.0 (PyPI),
//! models/FAMILY/configuration_FAMILY.py. The counts of parameters are not ours: the causal language model of that package
//! was built from the same fields on the meta device of torch 2.15.0 (PyPI), and the elements of its parameters
//! summed, a tied matrix once. The geometry is written by hand from modeling_FAMILY.py.

#[path = "families/defaults.rs"]
mod defaults;
#[path = "families/others.rs"]
mod others;
#[path = "families/variants.rs"]
mod variants;

use calc_core::hf_config::Imported;
use calc_core::model_arch::{
    Attention, AttentionBias, DenseLayers, GgufLayout, MlpKind, ModelArch, NormKind, QkNorm,
};
use calc_core::text::List;
use report::input::model_file::{ModelFileError, parse};
use serde_json::{Map, Value};

/// Dimensions of a dense decoder: hidden size, layers, vocabulary, query heads, key and value heads, head size, MLP width.
type Sizes = [u64; 7];

/// A dense decoder of the Llama kind: gated MLP, two `RMSNorm`s per layer and one at the end, no biases, untied.
fn llama_like(sizes: Sizes, context: u64) -> ModelArch {
    let [hidden_size, n_layers, vocab_size, n_heads, n_kv_heads, head_dim, width] = sizes;
    ModelArch {
        hidden_size,
        n_layers,
        order: std::borrow::Cow::default(),
        vocab_size,
        tied_embeddings: false,
        attention: vec![Attention {
            n_heads,
            n_kv_heads,
            head_dim,
            full_layers: n_layers,
            windowed_layers: 0,
            window: 0,
            bias: AttentionBias::None,
            qk_norm: QkNorm::None,
            sinks: false,
            v_head_dim: head_dim,
            ..Attention::PLAIN
        }]
        .into(),
        recurrent: List::default(),
        projections: List::default(),
        tables: List::default(),
        other_vectors: 0,
        mlp: MlpKind::Gated,
        mlp_bias: false,
        dense: vec![DenseLayers { layers: n_layers, width }].into(),
        moe: List::default(),
        norm: NormKind::RmsNorm,
        add_norms: 2 * n_layers,
        post_norms: 0,
        final_norm: true,
        position_rows: 0,
        lm_head_bias: false,
        has_head: true,
        towers: List::Borrowed(&[]),
        draft_layers: 0,
        gguf: GgufLayout::Split,
        max_context: Some(context),
    }
}

/// A dense decoder of the GPT kind: plain MLP, two `LayerNorm`s with bias, biases in attention and MLP, untied.
fn gpt_like(sizes: Sizes, context: u64) -> ModelArch {
    let arch = ModelArch {
        mlp: MlpKind::Plain,
        mlp_bias: true,
        norm: NormKind::LayerNorm,
        ..llama_like(sizes, context)
    };
    with_bias(AttentionBias::Qkvo, arch)
}

fn with_bias(bias: AttentionBias, mut arch: ModelArch) -> ModelArch {
    arch.attention.to_mut()[0].bias = bias;
    arch
}

fn with_kv_heads(n_kv_heads: u64, mut arch: ModelArch) -> ModelArch {
    arch.attention.to_mut()[0].n_kv_heads = n_kv_heads;
    arch
}

/// A file with some fields replaced; JSON `null` stays in the file as `null`.
fn changed(file: &Value, changes: &Value) -> Result<Imported, ModelFileError> {
    let mut config = fields(file);
    config.extend(fields(changes));
    parse(&Value::Object(config).to_string())
}

fn fields(object: &Value) -> Map<String, Value> {
    object.as_object().expect("an object").clone()
}

/// The first difference between an import and the expected model, in one line; `None` when they agree.
fn difference(
    imported: Result<Imported, ModelFileError>,
    arch: &ModelArch,
    params: u64,
) -> Option<String> {
    match imported {
        Err(error) => Some(error.to_string()),
        Ok(model) if model.arch != *arch => Some(format!("{:?}\n   not {arch:?}", model.arch)),
        Ok(model) if model.arch.n_params() != params => {
            Some(format!("{} parameters, not {params}", model.arch.n_params()))
        }
        Ok(model) if model.family.is_none() => Some("the family is not known".into()),
        Ok(_) => None,
    }
}
