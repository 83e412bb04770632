//! Names of modules in lists of a `quantization_config`, as layers and the matrices in them: `model.layers.0.self_attn`,
//! `*.mlp.down_proj`, `re:.*\.mixer\..*`.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::pattern::Pattern;

/// Matrices of a layer, one bit each.
pub(super) type Pieces = u32;

pub(super) const QUERIES: Pieces = 1;
pub(super) const KEYS: Pieces = 1 << 1;
pub(super) const VALUES: Pieces = 1 << 2;
pub(super) const QUERIES_UP: Pieces = 1 << 3;
pub(super) const KEYS_UP: Pieces = 1 << 4;
pub(super) const OUTPUT: Pieces = 1 << 5;
pub(super) const INDEXER: Pieces = 1 << 6;
pub(super) const STATE_IN: Pieces = 1 << 7;
pub(super) const STATE_OUT: Pieces = 1 << 8;
pub(super) const STATE_OTHER: Pieces = 1 << 9;
pub(super) const GATE: Pieces = 1 << 10;
pub(super) const UP: Pieces = 1 << 11;
pub(super) const DOWN: Pieces = 1 << 12;
/// Distance from the bits of a dense MLP to those of a shared one, and on to those of the experts.
const NEXT: u32 = 3;
pub(super) const SHARED_GATE: Pieces = GATE << NEXT;
pub(super) const SHARED_UP: Pieces = UP << NEXT;
pub(super) const SHARED_DOWN: Pieces = DOWN << NEXT;
pub(super) const EXPERT_GATE: Pieces = GATE << (2 * NEXT);
pub(super) const EXPERT_UP: Pieces = UP << (2 * NEXT);
pub(super) const EXPERT_DOWN: Pieces = DOWN << (2 * NEXT);
pub(super) const LATENT: Pieces = 1 << 19;
/// Gates and decays of the heads of a delta net.
pub(super) const STATE_GATES: Pieces = 1 << 20;
/// The rows that weigh the heads of an indexer.
pub(super) const INDEX_WEIGHTS: Pieces = 1 << 21;
/// Number of the pieces.
pub(super) const PIECES: usize = 22;

pub(super) const ATTENTION: Pieces =
    QUERIES | KEYS | VALUES | QUERIES_UP | KEYS_UP | OUTPUT | INDEXER | INDEX_WEIGHTS;
pub(super) const STATE: Pieces = STATE_IN | STATE_GATES | STATE_OUT | STATE_OTHER;
pub(super) const DENSE: Pieces = GATE | UP | DOWN;
pub(super) const SHARED: Pieces = DENSE << NEXT;
pub(super) const EXPERTS: Pieces = DENSE << (2 * NEXT);
pub(super) const ALL: Pieces = (1 << PIECES) - 1;

/// Parts of a file that are no layers of the language model.
const ELSEWHERE: [&str; 10] = [
    "vision",
    "visual",
    "audio",
    "mtp",
    "projector",
    "merger",
    "embed",
    "lm_head",
    "talker",
    "modality",
];
/// Words of modules without a matrix of their own in the layers, or with one that is stored like a norm.
const SMALL: [&str; 9] = [
    "norm",
    "conv1d",
    "router",
    "shared_expert_gate",
    "bias",
    "a_log",
    "dt_",
    "gate_weight",
    "indexers_proj",
];

/// The layers that a name is for.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NamedLayers {
    All,
    One(u64),
    /// Those whose number begins with these digits.
    Beginning(String),
    /// Those whose names an expression matches; the pieces are told for each.
    Matching(Pattern),
}

/// A name or pattern in a list of modules.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Modules {
    pub(super) layers: NamedLayers,
    pub(super) pieces: Pieces,
    /// The name could not be read, so it is taken for all matrices.
    pub(super) is_bound: bool,
}

impl Modules {
    /// Reads an entry; one that begins with `re:` is an expression. `None` if it names nothing in the layers.
    pub(super) fn read(entry: &str) -> Option<Self> {
        if let Some(expression) = entry.strip_prefix("re:") {
            return Self::expression(expression);
        }
        let lower = entry.to_ascii_lowercase();
        if lower.is_empty() || is_elsewhere(&lower) {
            return None;
        }
        let parts: Vec<&str> = lower.split('.').filter(|part| !part.is_empty()).collect();
        let number = parts.iter().enumerate().position(|(place, part)| {
            let after_experts = place > 0 && parts[place - 1].contains("expert");
            !after_experts && part.starts_with(|c: char| c.is_ascii_digit())
        });
        let Some(place) = number else {
            let is_layer = lower.trim_matches('*').trim_matches('.').ends_with("layers");
            let pieces = if is_layer { ALL } else { pieces(&parts, false) };
            let all = Self { layers: NamedLayers::All, pieces, is_bound: false };
            return (pieces != 0).then_some(all);
        };
        let digits = parts[place].trim_end_matches('*');
        let layers = match digits.parse() {
            Ok(layer) if digits.len() == parts[place].len() => NamedLayers::One(layer),
            Ok(_) => NamedLayers::Beginning(digits.into()),
            Err(_) => return None,
        };
        let pieces = pieces(&parts[place + 1..], true);
        (pieces != 0).then_some(Self { layers, pieces, is_bound: false })
    }

    /// Reads a regular expression. One that cannot be read is taken for all layers.
    pub(super) fn expression(text: &str) -> Option<Self> {
        if is_elsewhere(&text.to_ascii_lowercase()) {
            return None;
        }
        let pattern = Pattern::read(text);
        let is_bound = pattern.is_none();
        let layers = pattern.map_or(NamedLayers::All, NamedLayers::Matching);
        Some(Self { layers, pieces: ALL, is_bound })
    }

    /// The matrices of a layer that this is for; `None` once the `steps` of expressions are used up.
    pub(super) fn pieces(&self, layer: u64, steps: &mut u64) -> Option<Pieces> {
        let is_here = match &self.layers {
            NamedLayers::All => true,
            NamedLayers::One(own) => *own == layer,
            NamedLayers::Beginning(digits) => format!("{layer}").starts_with(digits.as_str()),
            NamedLayers::Matching(pattern) => return matched(pattern, layer, steps),
        };
        Some(if is_here { self.pieces } else { 0 })
    }
}

fn is_elsewhere(lower: &str) -> bool {
    ELSEWHERE.iter().any(|part| lower.contains(part))
}

/// Names of layers before their number.
const PREFIXES: [&str; 5] = [
    "model.layers.",
    "model.language_model.layers.",
    "language_model.model.layers.",
    "backbone.layers.",
    "layers.",
];
/// Names of modules in a layer, against which expressions are held.
const NAMES: [&str; 47] = [
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.qkv_proj",
    "self_attn.o_proj",
    "self_attn.q_a_proj",
    "self_attn.q_b_proj",
    "self_attn.kv_a_proj_with_mqa",
    "self_attn.kv_b_proj",
    "linear_attn.in_proj_qkvz",
    "linear_attn.in_proj_qkv",
    "linear_attn.in_proj_z",
    "linear_attn.in_proj_a",
    "linear_attn.in_proj_b",
    "linear_attn.in_proj_ba",
    "linear_attn.out_proj",
    "mamba.in_proj",
    "mamba.out_proj",
    "mixer.q_proj",
    "mixer.k_proj",
    "mixer.v_proj",
    "mixer.o_proj",
    "mixer.in_proj",
    "mixer.out_proj",
    "mixer.up_proj",
    "mixer.down_proj",
    "mixer.experts.0.up_proj",
    "mixer.experts.0.down_proj",
    "mixer.shared_experts.up_proj",
    "mixer.shared_experts.down_proj",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.gate_up_proj",
    "mlp.down_proj",
    "mlp.shared_expert.gate_proj",
    "mlp.shared_expert.up_proj",
    "mlp.shared_expert.down_proj",
    "mlp.shared_experts.gate_proj",
    "mlp.shared_experts.up_proj",
    "mlp.shared_experts.down_proj",
    "mlp.experts.0.gate_proj",
    "mlp.experts.0.up_proj",
    "mlp.experts.0.down_proj",
    "block_sparse_moe.experts.0.w1",
    "block_sparse_moe.experts.0.w2",
    "block_sparse_moe.experts.0.w3",
    "feed_forward.experts.gate_up_proj",
];

fn matched(pattern: &Pattern, layer: u64, steps: &mut u64) -> Option<Pieces> {
    let mut found = 0;
    for name in NAMES {
        let parts: Vec<&str> = name.split('.').collect();
        let own = module(&parts);
        if own & !found == 0 {
            continue;
        }
        for prefix in PREFIXES {
            if pattern.matches(&format!("{prefix}{layer}.{name}"), steps)? {
                found |= own;
                break;
            }
        }
    }
    Some(found)
}

/// The pieces of a name after the number of its layer; the rest of a whole layer is empty. A dense MLP and a mixture of experts
/// have one name in many files.
fn pieces(parts: &[&str], of_layer: bool) -> Pieces {
    let rest: Vec<&str> = parts.iter().map(|part| part.trim_matches('*')).collect();
    if rest.iter().all(|part| part.is_empty()) {
        return if of_layer { ALL } else { 0 };
    }
    module(&rest)
}

fn module(parts: &[&str]) -> Pieces {
    let last = parts.iter().rev().find(|part| !part.is_empty()).copied().unwrap_or_default();
    let is_small = SMALL.iter().any(|word| parts.iter().any(|part| part.contains(word)));
    if is_small || last == "gate" {
        return 0;
    }
    let has = |word: &str| parts.iter().any(|part| part.contains(word));
    if has("weights_proj") {
        return INDEX_WEIGHTS;
    }
    if has("index") {
        return INDEXER | INDEX_WEIGHTS;
    }
    let mlp = mlp_pieces(last);
    if has("shared_expert") || has("shared_mlp") {
        return mlp << NEXT;
    }
    if has("experts") || has("fusedmoe") || has("switch_mlp") {
        return mlp << (2 * NEXT);
    }
    let is = |names: &[&str]| parts.iter().any(|part| names.contains(part));
    if is(&["linear_attn", "mamba", "conv", "short_conv", "temporal_block"]) {
        return state_pieces(last);
    }
    if is(&["self_attn", "self_attention", "attention", "attn"]) {
        return attention_pieces(last);
    }
    if is(&["mlp", "feed_forward", "ffn", "block_sparse_moe", "moe"]) {
        // Experts have names of their own below; those of a matrix are of a dense or a shared MLP.
        let experts = if mlp == DENSE { EXPERTS } else { 0 };
        return mlp | mlp << NEXT | experts;
    }
    if last == "mixer" {
        return ALL;
    }
    by_matrix(last)
}

/// The pieces by the name of the matrix alone.
fn by_matrix(last: &str) -> Pieces {
    match last {
        "in_proj" => STATE_IN,
        "in_proj_a" | "in_proj_b" | "in_proj_ba" => STATE_GATES,
        "out_proj" => STATE_OUT | OUTPUT,
        "up_proj" | "down_proj" | "gate_proj" | "gate_up_proj" | "w1" | "w2" | "w3" | "fc1"
        | "fc2" => {
            let mlp = mlp_pieces(last);
            mlp | mlp << NEXT | mlp << (2 * NEXT)
        }
        _ if last.starts_with("in_proj_") => STATE_IN,
        _ if last.contains("latent_proj") => LATENT,
        _ => {
            let found = attention_pieces(last);
            if found == ATTENTION { 0 } else { found }
        }
    }
}

fn attention_pieces(last: &str) -> Pieces {
    match last {
        "q_proj" | "wq" | "q_a_proj" | "wq_a" => QUERIES,
        "k_proj" | "wk" => KEYS,
        "v_proj" | "wv" => VALUES,
        "kv_a_proj_with_mqa" | "kv_a_proj" | "wkv" | "wkv_a" => KEYS | VALUES,
        "qkv_proj" | "qkv" | "query_key_value" | "c_attn" | "w_pack" | "wqkv"
        | "fused_qkv_a_proj" => QUERIES | KEYS | VALUES,
        "q_b_proj" | "wq_b" => QUERIES_UP,
        "kv_b_proj" | "wkv_b" => KEYS_UP,
        "o_proj" | "out_proj" | "dense" | "c_proj" | "wo" | "wo_a" | "wo_b" => OUTPUT,
        _ => ATTENTION,
    }
}

fn state_pieces(last: &str) -> Pieces {
    match last {
        "out_proj" | "o_proj" => STATE_OUT,
        "in_proj_a" | "in_proj_b" | "in_proj_ba" => STATE_GATES,
        _ if last.starts_with("in_proj") => STATE_IN,
        "x_proj" | "dt_proj" => STATE_OTHER,
        _ => STATE,
    }
}

fn mlp_pieces(last: &str) -> Pieces {
    match last {
        "gate_proj" | "w1" => GATE,
        "up_proj" | "w3" => UP,
        "gate_up_proj" | "fc1" | "c_fc" | "dense_h_to_4h" | "linear_fc1" => GATE | UP,
        "down_proj" | "w2" | "fc2" | "c_proj" | "dense_4h_to_h" | "linear_fc2" => DOWN,
        _ => DENSE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_layers_and_matrices() {
        let mlps = DENSE | SHARED | EXPERTS;
        for (entry, expected) in [
            ("model.layers.2.mlp", Some((NamedLayers::One(2), mlps))),
            ("model.layers.0.", Some((NamedLayers::One(0), ALL))),
            ("model.layers.60*", Some((NamedLayers::Beginning("60".into()), ALL))),
            ("self_attn", Some((NamedLayers::All, ATTENTION))),
            ("model.layers.*.self_attn.k_proj", Some((NamedLayers::All, KEYS))),
            ("backbone.layers.5.mixer.q_proj", Some((NamedLayers::One(5), QUERIES))),
            ("backbone.layers.4.mixer.in_proj", Some((NamedLayers::One(4), STATE_IN))),
            ("backbone.layers.4.mixer.conv1d", None),
            ("model.layers.1.mlp.gate", None),
            ("mlp.gate", None),
            ("gate", None),
            ("lm_head", None),
            ("merger", None),
            ("model.visual.blocks.0.attn.qkv", None),
            ("mtp.layers.0*", None),
            ("*.mlp.shared_expert.*", Some((NamedLayers::All, SHARED))),
            ("model.layers.3.mlp.experts.7.down_proj", Some((NamedLayers::One(3), EXPERT_DOWN))),
            ("model.layers.3.mlp.experts", Some((NamedLayers::One(3), EXPERTS))),
            ("model.layers.0.mlp.down_proj", Some((NamedLayers::One(0), DOWN | SHARED_DOWN))),
            ("model.layers.0.input_layernorm", None),
            ("in_proj_b", Some((NamedLayers::All, STATE_GATES))),
            ("model.layers.1.linear_attn.in_proj_a", Some((NamedLayers::One(1), STATE_GATES))),
            (
                "model.layers.1.self_attn.indexer.weights_proj",
                Some((NamedLayers::One(1), INDEX_WEIGHTS)),
            ),
            ("model.layers", Some((NamedLayers::All, ALL))),
        ] {
            let found = Modules::read(entry).map(|found| (found.layers, found.pieces));
            assert_eq!(found, expected, "{entry}");
        }
    }

    #[test]
    fn expressions_tell_the_matrices_of_each_layer() {
        let mut steps = 10_000_000;
        for (entry, layer, expected) in [
            ("re:.*mlp\\.(gate|up|gate_up|down)_proj.*", 3, DENSE | SHARED),
            ("re:.*self_attn.*", 3, ATTENTION & !INDEXER & !INDEX_WEIGHTS),
            ("re:model\\.layers\\.[01]\\.self_attn.*", 2, 0),
            ("re:(?!x).*", 2, ALL),
        ] {
            let found = Modules::read(entry).expect(entry);
            assert_eq!(found.pieces(layer, &mut steps), Some(expected), "{entry}");
        }
        assert_eq!(Modules::read("re:.*visual.*"), None);
    }
}
