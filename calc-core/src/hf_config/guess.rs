//! Best effort for an unknown architecture: the commonest rules, bent by what the file says, and every one of them listed.

use super::AssumedValue::Word;
use super::fields::{HfConfig, Named};
use super::reader::Reader;
use super::rule_table::LLAMA;
use super::rules::{DenseWhere, Experts, KvHeads, Norms, Rules, Shared, Switch, Windows};
use crate::model_arch::{AttentionBias, MlpKind, NormKind, QkNorm};

/// Rules of a guess: those of Llama, but for what the fields hint at.
pub(super) fn rules(text: &HfConfig) -> Rules {
    let plain = text.activation().entry.value().is_some_and(|name| is_plain(name));
    let layer_norm = !text.rms_norm_eps.is_given()
        && (text.layer_norm_eps.is_given() || text.layer_norm_epsilon.is_given());
    let qkv_only = text.qkv_bias.is_given() || text.add_qkv_bias.is_given();
    let qk_norm = text.use_qk_norm.value() == Some(&true);
    Rules {
        attention_bias: Switch::Field(attention_bias, false),
        bias_kind: if qkv_only { AttentionBias::Qkv } else { AttentionBias::Qkvo },
        windows: Windows::Every(None),
        latent: text.kv_lora_rank.is_given(),
        mlp: if plain { MlpKind::Plain } else { MlpKind::Gated },
        norm: if layer_norm { NormKind::LayerNorm } else { NormKind::RmsNorm },
        norms: if text.parallel_attn.value() == Some(&true) { Norms::One } else { Norms::Two },
        qk_norm: if qk_norm { QkNorm::Head } else { QkNorm::None },
        kv_heads: KvHeads::AsHeads,
        experts: experts(text),
        sizes: None,
        ..LLAMA
    }
}

/// Families with these activations have a plain MLP more often than not.
fn is_plain(activation: &str) -> bool {
    activation.starts_with("gelu") || activation.starts_with("relu")
}

/// The first of the names under which files say that attention has biases.
fn attention_bias(text: &HfConfig) -> Named<'_, bool> {
    let named = |name, entry| Named { name, entry };
    let names = [
        named("attention_bias", &text.attention_bias),
        named("qkv_bias", &text.qkv_bias),
        named("add_qkv_bias", &text.add_qkv_bias),
        named("use_bias", &text.use_bias),
        named("bias", &text.bias),
    ];
    let [first, ..] = &names;
    let fallback = named(first.name, first.entry);
    names.into_iter().find(|field| field.entry.is_given()).unwrap_or(fallback)
}

fn experts(text: &HfConfig) -> Option<Experts> {
    text.experts().entry.value().filter(|&&count| count > 1)?;
    let shared =
        if text.shared_width().entry.is_given() { Shared::Width(0) } else { Shared::Count(0) };
    let dense = if text.first_k_dense_replace.is_given() {
        DenseWhere::First(0)
    } else {
        DenseWhere::Listed
    };
    Some(Experts {
        count: 0,
        per_token: None,
        width: text.moe_intermediate_size.value().copied(),
        shared,
        shared_gate: false,
        dense,
        biases: false,
        correction_bias: false,
    })
}

/// Lists what no field says: the shape of a layer itself.
pub(super) fn note(reader: &mut Reader<'_>, rules: &Rules) {
    let mlp = match rules.mlp {
        MlpKind::Gated => "gated",
        MlpKind::Plain => "plain",
    };
    let norm = match rules.norm {
        NormKind::RmsNorm => "rmsnorm",
        NormKind::LayerNorm => "layernorm",
        NormKind::NoParameters => "without parameters",
    };
    let order = match rules.norms {
        Norms::One => "attention and MLP side by side",
        Norms::Two | Norms::Four | Norms::ParallelResidual | Norms::Falcon(_) | Norms::Opt => {
            "attention, then MLP, each after a norm"
        }
    };
    reader.assume("kind of MLP", Word(mlp));
    reader.assume("kind of norm", Word(norm));
    reader.assume("order of a layer", Word(order));
    if reader.text.sliding_window.is_given() && !reader.text.layer_types.is_given() {
        reader.assume("layers with a window", Word("all"));
    }
}
