//! Gemma 3n and 4: layers that use the keys and values of an earlier one, heads by kind of layer, per-layer embeddings.

use alloc::vec;
use alloc::vec::Vec;

use super::super::attention::{self, Frame};
use super::super::feed_forward::{self, FeedForward};
use super::super::reader::Reader;
use super::super::refusal::ConfigError;
use super::super::rules::{DenseWhere, Experts, Rules, Shared};
use super::{Kind, Layers, NormCount, count_of, flag_of, kinds, only};
use crate::error::in_range;
use crate::model_arch::{Attention, DenseLayers, KvSource, MatrixSplit, Moe, Projection, Table};

/// A matrix whose outputs a tensor split divides, as vLLM does (`ColumnParallelLinear`).
const OUTPUTS: Projection = Projection { split: MatrixSplit::Outputs, ..Projection::PLAIN };
/// A matrix whose inputs a tensor split divides (`RowParallelLinear`).
const INPUTS: Projection = Projection { split: MatrixSplit::Inputs, ..Projection::PLAIN };

/// Heads of a kind of layer, as the file states them.
#[derive(Debug, Clone, Copy)]
struct Heads {
    sliding: Attention,
    full: Attention,
}

/// Gemma 4.
pub(super) fn gemma4(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let n = frame.n_layers;
    let mut kinds = kinds(reader, n, |i| every(i, 6))?;
    // The last layer is full, whatever the list.
    if let Some(last) = kinds.last_mut() {
        *last = Kind::Full;
    }
    only(reader, &kinds, &[Kind::Full, Kind::Sliding])?;
    let sliding = attention::heads(reader, rules, frame)?;
    let mut full = sliding;
    full.head_dim = count_of(reader, "global_head_dim", &text.global_head_dim, 512)?;
    full.v_head_dim = full.head_dim;
    let same = flag_of(reader, "attention_k_eq_v", &text.attention_k_eq_v, false)?;
    let global = text.named("num_global_key_value_heads", &text.num_global_key_value_heads);
    if same {
        full.kv_source = KvSource::KeysAreValues;
        full.n_kv_heads = Reader::count(&global)?.unwrap_or(full.n_kv_heads);
    }
    let shared = shared_layers(reader, n, 0)?;
    let attention = groups(reader, &kinds, shared, &Heads { sliding, full }, 512)?;
    let wide = flag_of(reader, "use_double_wide_mlp", &text.use_double_wide_mlp, false)?;
    let mut feed_forward = feed_forward::read(reader, rules, frame.hidden_size, n)?;
    if let Some(width) = feed_forward.dense.first().map(|group| group.width).filter(|_| wide) {
        feed_forward.dense = vec![
            DenseLayers { layers: n - shared, width },
            DenseLayers { layers: shared, width: 2 * width },
        ];
    }
    let with_experts = flag_of(reader, "enable_moe_block", &text.enable_moe_block, false)?;
    let mut other_vectors = 0;
    let mut post = 2 * n;
    if with_experts {
        let moe = experts(reader, n)?;
        // The dense MLP runs beside the experts; the router has a scale per input and per expert.
        other_vectors += n * (frame.hidden_size + moe.n_experts);
        post += 3 * n;
        feed_forward.moe = vec![moe];
    } else {
        text.settle(&["num_experts", "top_k_experts", "moe_intermediate_size"]);
    }
    let mut layers = Layers { other_vectors, ..Layers::of(attention, feed_forward) };
    post += per_layer_embeddings(reader, rules, frame, &mut layers)?;
    layers.norms = NormCount::Total { add: 2 * n, post };
    Ok(layers)
}

fn experts(reader: &mut Reader<'_>, layers: u64) -> Result<Moe, ConfigError> {
    let rules = Experts {
        count: 0,
        per_token: None,
        width: Some(0),
        shared: Shared::Nothing,
        shared_gate: false,
        dense: DenseWhere::Nowhere,
        biases: false,
        correction_bias: false,
    };
    feed_forward::mixture(reader, &rules, layers)?
        .ok_or(ConfigError::Missing { field: "num_experts" })
}

/// Gemma 3n.
pub(super) fn gemma3n(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
) -> Result<Layers, ConfigError> {
    let text = reader.text;
    let (n, hidden) = (frame.n_layers, frame.hidden_size);
    let kinds = kinds(reader, n, |i| every(i, 5))?;
    only(reader, &kinds, &[Kind::Full, Kind::Sliding])?;
    let heads = attention::heads(reader, rules, frame)?;
    let shared = shared_layers(reader, n, 15.min(n))?;
    let attention = groups(reader, &kinds, shared, &Heads { sliding: heads, full: heads }, 512)?;
    let feed_forward: FeedForward = feed_forward::read(reader, rules, hidden, n)?;
    let inputs = count_of(reader, "altup_num_inputs", &text.altup_num_inputs, 4)?;
    let inputs = in_range("altup_num_inputs", inputs, 1, 64).map_err(ConfigError::Value)?;
    let rank = count_of(reader, "laurel_rank", &text.laurel_rank, 64)?;
    let mut layers = Layers::of(attention, feed_forward);
    // Alternating updates: projections of the model into and out of the further inputs; per layer two matrices of coefficients,
    // a router, and two vectors. A low-rank residual (laurel) with a norm.
    layers.projections = vec![
        Projection { count: 2 * (inputs - 1), rows: hidden, cols: hidden, ..OUTPUTS },
        Projection { count: n, rows: rank, cols: hidden, ..OUTPUTS },
        Projection { count: n, rows: hidden, cols: rank, ..INPUTS },
    ];
    layers.projections.retain(|matrix| matrix.count > 0);
    let coefficients = inputs * inputs + inputs * inputs * inputs;
    layers.other_vectors = n * (coefficients + inputs * hidden + 2 * hidden);
    let post = 3 * n + per_layer_embeddings(reader, rules, frame, &mut layers)?;
    layers.norms = NormCount::Total { add: 2 * n, post };
    Ok(layers)
}

/// Every n-th layer is full.
const fn every(layer: u64, period: u64) -> Kind {
    if (layer + 1).is_multiple_of(period) { Kind::Full } else { Kind::Sliding }
}

/// Number of layers at the end that use the keys and values of an earlier layer.
fn shared_layers(reader: &mut Reader<'_>, n: u64, default: u64) -> Result<u64, ConfigError> {
    let text = reader.text;
    let shared = count_of(reader, "num_kv_shared_layers", &text.num_kv_shared_layers, default)?;
    in_range("num_kv_shared_layers", shared, 0, n).map_err(ConfigError::Value)
}

/// Groups by kind of layer, and by whether a layer has keys and values of its own.
fn groups(
    reader: &mut Reader<'_>,
    kinds: &[Kind],
    shared: u64,
    heads: &Heads,
    default_window: u64,
) -> Result<Vec<Attention>, ConfigError> {
    let window = attention::window(reader, Some(default_window))?;
    let window = window.ok_or(ConfigError::Missing { field: "sliding_window" })?;
    let own = kinds.len() - usize::try_from(shared).unwrap_or(0);
    let (first, last) = kinds.split_at(own);
    let mut found = Vec::new();
    reader.order.groups_in_sequence = true;
    for (kinds, is_shared) in [(first, false), (last, true)] {
        let source = |group: Attention| {
            if is_shared { KvSource::EarlierLayer } else { group.kv_source }
        };
        let full_layers = super::count(kinds, Kind::Full);
        let windowed_layers = super::count(kinds, Kind::Sliding);
        let sliding = Attention { windowed_layers, window, ..heads.sliding };
        let full = Attention { full_layers, ..heads.full };
        if heads.sliding == heads.full {
            // Sliding and full layers with equal heads are one group.
            found.push(Attention { full_layers, kv_source: source(sliding), ..sliding });
        } else {
            found.push(Attention { kv_source: source(sliding), ..sliding });
            found.push(Attention { kv_source: source(full), ..full });
        }
    }
    found.retain(|group| group.layers() > 0);
    Ok(found)
}

/// Adds the embeddings of each layer; returns the number of norms of width H that they bring.
fn per_layer_embeddings(
    reader: &mut Reader<'_>,
    rules: &Rules,
    frame: &Frame,
    layers: &mut Layers,
) -> Result<u64, ConfigError> {
    let text = reader.text;
    let width = count_of(
        reader,
        "hidden_size_per_layer_input",
        &text.hidden_size_per_layer_input,
        rules.per_layer_width,
    )?;
    let rows =
        count_of(reader, "vocab_size_per_layer_input", &text.vocab_size_per_layer_input, 262_144)?;
    if width == 0 {
        return Ok(0);
    }
    let (n, hidden) = (frame.n_layers, frame.hidden_size);
    layers.tables.push(Table { rows, cols: n * width, is_split: true });
    layers.projections.extend([
        Projection { count: 1, rows: n * width, cols: hidden, ..OUTPUTS },
        Projection { count: n, rows: width, cols: hidden, ..Projection::PLAIN },
        Projection { count: n, rows: hidden, cols: width, ..Projection::PLAIN },
    ]);
    layers.other_vectors += width;
    Ok(n)
}
