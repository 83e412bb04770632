//! The geometry that a key of the file states, and the names that look like geometry.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::entry::{Entry, Found, Length, PerLayer, Present};

/// The statement of a key: whether it is on, and the largest count in it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stated {
    /// True for any value except `null`, false, 0, a negative number, a fraction or an empty list.
    pub on: bool,
    /// The value of a count, or the largest count in a list.
    pub largest: Option<u64>,
    /// Keys of an object that look like geometry and are on.
    pub(super) inner: Vec<String>,
    pub(super) kind: StatedKind,
}

/// Type of a value: flags and words are weaker evidence of geometry than numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum StatedKind {
    /// No value, or a number that is not a count.
    #[default]
    Nothing,
    Flag,
    Count,
    Word,
    List,
    Object,
}

/// Words of a list in which all layers are plain.
const PLAIN: [&str; 4] = ["full_attention", "attention", "dense", "global_attention"];

impl Stated {
    pub(super) fn flag(on: bool) -> Self {
        Self { on, kind: StatedKind::Flag, ..Self::default() }
    }

    pub(super) fn count(count: u64) -> Self {
        Self { on: count > 0, largest: Some(count), kind: StatedKind::Count, ..Self::default() }
    }

    pub(super) fn word(word: &str) -> Self {
        let on = !word.is_empty() && !PLAIN.contains(&word);
        Self { on, kind: StatedKind::Word, ..Self::default() }
    }

    pub(super) fn list(entries: impl Iterator<Item = Self>) -> Self {
        let mut list = Self { kind: StatedKind::List, ..Self::default() };
        for entry in entries {
            list.on |= entry.on;
            list.largest = list.largest.max(entry.largest);
        }
        list
    }

    pub(super) fn object(on: bool, inner: Vec<String>) -> Self {
        Self { on, inner, kind: StatedKind::Object, ..Self::default() }
    }
}

/// Values of any type that a key can state.
pub(super) trait States {
    /// Returns whether the value is on, and the largest count in it.
    fn states(&self) -> Stated;
}

impl<T: States> States for Entry<T> {
    fn states(&self) -> Stated {
        match self {
            Self::Absent | Self::Null | Self::Wrong(Found::Number(_)) => Stated::default(),
            Self::Value(value) => value.states(),
            Self::Wrong(Found::Flag(on)) => Stated::flag(*on),
            Self::Wrong(Found::Text(text)) => Stated::word(text),
            Self::Wrong(Found::List) => {
                Stated { on: true, kind: StatedKind::List, ..Stated::default() }
            }
            Self::Wrong(Found::Object) => Stated::object(true, Vec::new()),
        }
    }
}

impl States for bool {
    fn states(&self) -> Stated {
        Stated::flag(*self)
    }
}
impl States for u64 {
    fn states(&self) -> Stated {
        Stated::count(*self)
    }
}
impl States for String {
    fn states(&self) -> Stated {
        Stated::word(self)
    }
}
impl States for Vec<String> {
    fn states(&self) -> Stated {
        Stated::list(self.iter().map(States::states))
    }
}
impl States for Vec<u64> {
    fn states(&self) -> Stated {
        Stated::list(self.iter().map(States::states))
    }
}
impl States for Vec<bool> {
    fn states(&self) -> Stated {
        Stated::list(self.iter().map(States::states))
    }
}
impl States for PerLayer {
    fn states(&self) -> Stated {
        match self {
            Self::All(count) => Stated::count(*count),
            Self::Each(list) => list.states(),
        }
    }
}
impl States for Length {
    fn states(&self) -> Stated {
        Stated { on: self.0 > 0, ..Stated::default() }
    }
}
impl States for Present {
    fn states(&self) -> Stated {
        Stated { on: true, ..Stated::default() }
    }
}
impl States for Stated {
    fn states(&self) -> Stated {
        self.clone()
    }
}
impl<T> States for Box<T> {
    fn states(&self) -> Stated {
        Stated::object(true, Vec::new())
    }
}

/// The aspect of geometry that a name refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Attention to part of the context: `window`, `sliding`, `swa`, `chunk`.
    Window,
    /// Layers of different kinds: `pattern`, `layer_types`.
    LayerKinds,
    /// A mixture of experts.
    Experts,
    /// Number or width of heads: `head`, `multi_query`, `attention_groups`.
    Heads,
    /// Keys and values as one short vector: `kv_lora_rank`, `attn_latent`.
    Latent,
    /// Number or order of layers.
    Layers,
    /// A state beside or instead of the KV cache: `linear_`, `ssm`, `mamba`.
    State,
    /// Selection of the tokens that are attended to: `index`.
    Selection,
}

/// A key that looks like geometry and that no rule has read.
#[derive(Debug, Clone, PartialEq)]
pub struct UnreadKey {
    /// Name in the file.
    pub name: String,
    /// The geometry that its name refers to.
    pub meaning: Meaning,
    /// The largest count that it states.
    pub largest: Option<u64>,
}

/// Words that refer to geometry, the most specific first.
const WORDS: [(Meaning, &[&str]); 7] = [
    (
        Meaning::Window,
        &["window", "windows", "windowed", "sliding", "swa", "span", "chunk", "chunks", "chunked"],
    ),
    (Meaning::LayerKinds, &["pattern"]),
    (Meaning::Experts, &["expert", "experts", "moe", "routed"]),
    (Meaning::Heads, &["head", "heads", "nheads"]),
    (Meaning::Layers, &["layer", "layers", "nlayers", "nextn"]),
    (Meaning::State, &["linear", "ssm", "mamba"]),
    (Meaning::Selection, &["index", "indexer"]),
];

/// Words of keys about other subjects: training, numerics, positions, tokens, towers.
pub(super) const OTHER_THINGS: [&str; 65] = [
    "act",
    "activation",
    "alpha",
    "audio",
    "aux",
    "balance",
    "balancing",
    "bias",
    "cap",
    "capacity",
    "checkpoint",
    "checkpointing",
    "classifier",
    "coef",
    "coefficient",
    "coeff",
    "connector",
    "dispatch",
    "dropout",
    "drop",
    "dtype",
    "eps",
    "epsilon",
    "factor",
    "fn",
    "func",
    "fused",
    "id",
    "ids",
    "image",
    "implementation",
    "init",
    "initializer",
    "jitter",
    "label",
    "labels",
    "lm",
    "logit",
    "logits",
    "loss",
    "mm",
    "multiplier",
    "multipliers",
    "noise",
    "parallel",
    "prob",
    "probs",
    "projector",
    "range",
    "recompute",
    "rope",
    "rotary",
    "scale",
    "scaling",
    "score",
    "scores",
    "scoring",
    "segm",
    "softcap",
    "softcapping",
    "std",
    "theta",
    "video",
    "vision",
    "vit",
];

/// The geometry that a key refers to, by its words; `None` for other keys.
///
/// `layer` before `norm`, `drop` or `scale` refers to those. A flag or a word refers to geometry only if it switches between
/// kinds of attention or layers: most others select a router, an activation or a loss.
pub(super) fn meaning(key: &str, kind: StatedKind) -> Option<Meaning> {
    let words = words(key);
    let has = |word: &str| words.iter().any(|other| other == word);
    let other_thing = OTHER_THINGS.iter().any(|word| has(word));
    let norm =
        words.windows(2).any(|two| two[0] == "layer" && matches!(&*two[1], "norm" | "norms"));
    if other_thing || norm || key == "select_layer" {
        return None;
    }
    let multi_query = words.windows(2).any(|two| two[0] == "multi" && two[1] == "query");
    let attention = has("attention") || has("attn");
    let keys = has("kv") || has("query");
    let groups = has("groups") && (keys || attention);
    let latent = (has("latent") || has("latents") || has("rank"))
        && (attention || keys || has("q") || has("key") || has("value") || has("mla"));
    let list = matches!(kind, StatedKind::List | StatedKind::Object);
    let kinds = list && has("types") && (attention || has("block"));
    let found = WORDS.iter().find(|(_, names)| names.iter().any(|name| has(name)));
    let found = match found {
        Some((Meaning::Layers, _)) if has("type") || has("types") => Some(Meaning::LayerKinds),
        Some((meaning, _)) => Some(*meaning),
        None if kinds => Some(Meaning::LayerKinds),
        None if latent => Some(Meaning::Latent),
        None => (multi_query || groups).then_some(Meaning::Heads),
    }?;
    // `boi_token_index` is the number of a token.
    if found == Meaning::Selection && has("token") {
        return None;
    }
    let tells = match kind {
        StatedKind::Nothing => false,
        StatedKind::Count | StatedKind::List | StatedKind::Object => true,
        StatedKind::Word => matches!(found, Meaning::LayerKinds | Meaning::Layers),
        StatedKind::Flag => {
            multi_query || found == Meaning::Window || found == Meaning::Experts && words.len() < 3
        }
    };
    tells.then_some(found)
}

/// True if a name may refer to geometry, whatever its value.
#[cfg(feature = "serde")]
pub(super) fn looks_like_geometry(key: &str) -> bool {
    meaning(key, StatedKind::Count).is_some()
}

/// The words of a key in lower case: `numKvHeads` and `num_kv_heads` give the same words.
pub(super) fn words(key: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut new, mut was_lower) = (true, false);
    for letter in key.chars() {
        if !letter.is_ascii_alphanumeric() {
            new = true;
            continue;
        }
        if new || (was_lower && letter.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(letter.to_ascii_lowercase());
        }
        (new, was_lower) = (false, letter.is_ascii_lowercase());
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_geometry_are_told_from_names_of_other_things() {
        for (key, kind, expected) in [
            ("hybrid_layer_pattern", StatedKind::List, Some(Meaning::LayerKinds)),
            ("swa_num_key_value_heads", StatedKind::Count, Some(Meaning::Window)),
            ("attention_chunk_size", StatedKind::Count, Some(Meaning::Window)),
            ("multi_query", StatedKind::Flag, Some(Meaning::Heads)),
            ("numKvHeads", StatedKind::Count, Some(Meaning::Heads)),
            ("moe_layer_start_index", StatedKind::Count, Some(Meaning::Experts)),
            ("mlp_layer_types", StatedKind::List, Some(Meaning::LayerKinds)),
            ("global_attn_every_n_layers", StatedKind::Count, Some(Meaning::Layers)),
            ("use_moe", StatedKind::Flag, Some(Meaning::Experts)),
            ("local_attn_span", StatedKind::Count, Some(Meaning::Window)),
            ("num_routed", StatedKind::Count, Some(Meaning::Experts)),
            ("n_kv_groups", StatedKind::Count, Some(Meaning::Heads)),
            ("num_query_groups", StatedKind::Count, Some(Meaning::Heads)),
            ("num_local_attention_groups", StatedKind::Count, Some(Meaning::Heads)),
            ("kv_lora_rank", StatedKind::Count, Some(Meaning::Latent)),
            ("attn_latent_width", StatedKind::Count, Some(Meaning::Latent)),
            ("lora_rank", StatedKind::Count, None),
            ("time_step_rank", StatedKind::Count, None),
            ("n_latents", StatedKind::Count, None),
            ("n_group", StatedKind::Count, None),
            ("attention_types", StatedKind::List, Some(Meaning::LayerKinds)),
            ("routed_scaling_factor", StatedKind::Count, None),
            ("topk_group", StatedKind::Count, None),
            ("moe_use_aux_free", StatedKind::Flag, None),
            ("moe_capacity", StatedKind::List, None),
            ("moe_gate", StatedKind::Word, None),
            ("layer_norm_eps", StatedKind::Count, None),
            ("do_layer_norm_before", StatedKind::Flag, None),
            ("layerdrop", StatedKind::Count, None),
            ("attention_dropout", StatedKind::Count, None),
            ("initializer_range", StatedKind::Count, None),
            ("router_aux_loss_coef", StatedKind::Count, None),
            ("expert_capacity_factor", StatedKind::Count, None),
            ("no_rope_layers", StatedKind::List, None),
            ("pad_token_id", StatedKind::Count, None),
            ("use_cache", StatedKind::Flag, None),
            ("vision_feature_layer", StatedKind::Count, None),
            ("tie_lm_head", StatedKind::Flag, None),
        ] {
            assert_eq!(meaning(key, kind), expected, "{key}");
        }
    }
}
