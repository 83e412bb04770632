//! Rules for an unknown architecture: the most common ones, adjusted to the file's fields, with every assumption listed.

use super::AssumedValue::{NotRead, Word};
use super::fields::{HfConfig, Named};
use super::reader::Reader;
use super::rule_table::{LATENT, LLAMA};
use super::rules::{DenseWhere, Experts, KvHeads, Norms, Rules, Shared, Switch, Windows};
use super::stated::{OTHER_THINGS, States, words};
use super::{AssumedField, AssumedWhy};
use crate::model_arch::{AttentionBias, MlpKind, NormKind, QkNorm};
use crate::text::Text;

/// `model_type`s of decoders without rules here whose classes in transformers 5.23.0 tie embedding and LM head by default.
const TIED: [&str; 10] = [
    "biogpt",
    "bloom",
    "cohere2_moe",
    "cpmant",
    "ctrl",
    "gpt_neo",
    "gpt_neox_japanese",
    "granite_swa",
    "mpt",
    "xglm",
];

/// The guessed rules: those of Llama, except where fields suggest otherwise.
pub(super) fn rules(text: &HfConfig, model_type: &str) -> Rules {
    settle_absent(text);
    let multi_query = is_multi_query(text);
    let plain = text.activation().entry.value().is_some_and(|name| is_plain(name));
    let layer_norm = !text.rms_norm_eps.is_given()
        && (text.layer_norm_eps.is_given() || text.layer_norm_epsilon.is_given());
    let qkv_only = text.qkv_bias.is_given() || text.add_qkv_bias.is_given();
    Rules {
        attention_bias: Switch::Field(attention_bias, false),
        bias_kind: if qkv_only { AttentionBias::Qkv } else { AttentionBias::Qkvo },
        windows: Windows::Listed,
        latent: text.kv_lora_rank.is_given().then_some(LATENT),
        mlp: if plain { MlpKind::Plain } else { MlpKind::Gated },
        norm: if layer_norm { NormKind::LayerNorm } else { NormKind::RmsNorm },
        norms: if text.parallel_attn.value() == Some(&true) { Norms::One } else { Norms::Two },
        qk_layernorm: text.use_qk_norm.is_given().then_some(QkNorm::Head),
        kv_heads: if multi_query { KvHeads::MultiQuery(true) } else { KvHeads::AsHeads },
        tied: TIED.contains(&model_type),
        experts: experts(text),
        ..LLAMA
    }
}

/// Marks the absent fields that decide which rules are guessed as looked for: a misspelt one is found by that.
fn settle_absent(text: &HfConfig) {
    let given = [
        ("kv_lora_rank", text.kv_lora_rank.is_given()),
        ("q_lora_rank", text.q_lora_rank.is_given()),
        ("moe_intermediate_size", text.moe_intermediate_size.is_given()),
        ("first_k_dense_replace", text.first_k_dense_replace.is_given()),
        ("moe_layer_start_index", text.moe_layer_start_index.is_given()),
        ("parallel_attn", text.parallel_attn.is_given()),
        ("qkv_bias", text.qkv_bias.is_given()),
        ("hidden_act", text.hidden_act.is_given()),
    ];
    for (name, _) in given.iter().filter(|(_, given)| !given) {
        text.settle(&[name]);
    }
}

/// True if `multi_query` decides: no number of key and value heads is stated, or one that the flag disables.
fn is_multi_query(text: &HfConfig) -> bool {
    let (flag, heads) = (text.multi_query_flag().entry, text.kv_heads());
    let switched_off = flag.value() == Some(&false) && heads.name == "multi_query_group_num";
    flag.is_given() && (switched_off || !heads.entry.is_given())
}

/// Families with these activations usually have a plain MLP.
fn is_plain(activation: &str) -> bool {
    activation.starts_with("gelu") || activation.starts_with("relu")
}

/// The first field found among the names that files use for attention biases.
fn attention_bias(text: &HfConfig) -> Named<'_, bool> {
    let named = |name, entry| text.named(name, entry);
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
    } else if text.moe_layer_start_index.is_given() {
        DenseWhere::Outside(0)
    } else {
        DenseWhere::Listed
    };
    Some(Experts {
        count: 0,
        per_token: None,
        width: text.moe_intermediate_size.states().largest,
        shared,
        shared_gate: false,
        dense,
        biases: false,
        correction_bias: false,
    })
}

/// Lists the assumption that no field covers: the structure of a layer itself.
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
    let text = reader.text;
    if !text.use_qk_norm.is_given() && !text.qk_layernorm.is_given() {
        reader.assume("norm of queries and keys", Word("none"));
    }
    if rules.experts.is_some_and(|experts| experts.width.is_none()) {
        reader.assume("width of an expert", Word("as a dense MLP"));
    }
    let why = AssumedWhy::Guessed;
    let unread = text.others.iter().map(|key| &key.name).filter(|name| may_matter(name));
    reader.assumed.extend(unread.map(|name| AssumedField {
        field: Text::Owned(name.clone()),
        value: NotRead,
        why,
    }));
}

/// Words of keys that all classes have, and that say how to run or sample, not what the model is.
const OF_EVERY_MODEL: [&str; 40] = [
    "architectures",
    "auto",
    "beam",
    "beams",
    "bfloat16",
    "cache",
    "decoder",
    "dist",
    "id2label",
    "implementation",
    "invalid",
    "label2id",
    "length",
    "map",
    "max",
    "method",
    "mode",
    "name",
    "ngram",
    "norm",
    "output",
    "path",
    "penalty",
    "prefix",
    "pretraining",
    "problem",
    "pruned",
    "return",
    "sample",
    "stopping",
    "suppress",
    "task",
    "temperature",
    "tf",
    "token",
    "tokenizer",
    "top",
    "torchscript",
    "typical",
    "version",
];

/// True for a key that may say what a model is, by its words.
fn may_matter(key: &str) -> bool {
    let words = words(key);
    let none_of = |list: &[&str]| !words.iter().any(|word| list.contains(&&**word));
    none_of(&OF_EVERY_MODEL) && none_of(&OTHER_THINGS)
}
