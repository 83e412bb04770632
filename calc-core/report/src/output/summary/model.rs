//! One model for people: its size, its layers group by group, and where this was read.

use calc_core::catalog::models::CatalogModel;
use calc_core::footprint::parameter_roles;
use calc_core::model_arch::{
    Attention, AttentionBias, KvSource, MlpKind, ModelArch, NormKind, Recurrent,
};

use super::{Document, folded_note, labeled, push_folded};
use crate::input::model_file;
use crate::input::named_model::NamedModel;
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words::{catalog as words, layers, memory, towers, weights as weight_words};

/// Document of one model.
pub fn model(model: &CatalogModel) -> Document {
    let mut out = Document::default();
    out.heading(format!("{} ({})", model.name, model.key));
    let other = model.other_names.join(", ");
    let other = if other.is_empty() { other } else { format!("; also {other}") };
    out.line(labeled("published", &format!("{}, {}{other}", model.hf_id, model.release_year)));
    size(&mut out, &model.arch);
    if let Some(official) = model.official_params {
        let text = format!("{} parameters: {}", n::count(official), model.official_source);
        out.line(labeled("official", &text));
    }
    let experts =
        model.stored.experts.map_or_else(String::new, |f| format!(", experts {}", f.name));
    out.line(labeled("stored", &format!("{}{experts}", model.stored.weights.name)));
    geometry(&mut out, &model.arch);
    out.line("");
    out.line(labeled("source", model.source));
    out.notes((!model.notes.is_empty()).then(|| folded_note(model.notes)).into_iter().collect());
    out
}

/// Document of a model file: its geometry, and the fields that it left out.
pub fn named_model(model: &NamedModel) -> Document {
    let mut out = Document::default();
    out.heading(&model.name);
    size(&mut out, &model.arch);
    if let Some(bytes) = &model.weight_bytes {
        let text = format!("{} in the files", n::bytes(bytes.language_model));
        out.line(labeled("weights", &text));
    }
    let experts = model.stored.experts.map_or_else(String::new, |f| format!(", experts {}", f.key));
    out.line(labeled("stored", &format!("{}{experts}", model.stored.weights.key)));
    geometry(&mut out, &model.arch);
    out.line("");
    out.line(labeled("source", &model.source));
    let mut notes = model_file::first_notes(&model.source, &model.assumed);
    notes.extend(model.assumed.iter().map(model_file::assumed_text));
    notes.extend(model.remarks.iter().map(model_file::remark_text));
    notes.extend(weight_words::model_notes(model));
    out.notes(notes.iter().map(|note| folded_note(note)).collect());
    out
}

/// Lines about the size of a model, and about what it has beside its decoder.
fn size(out: &mut Document, arch: &ModelArch) {
    let active = arch.n_active_params();
    let active = if active == arch.n_params() {
        String::new()
    } else {
        format!("; {} of them work on a token", n::count(active))
    };
    let parameters = format!("{} (derived from the geometry){active}", n::count(arch.n_params()));
    out.line(labeled("parameters", &parameters));
    if !arch.towers.is_empty() {
        out.line(labeled("towers", &towers::counted(arch)));
    }
    if let Some(params) = arch.n_draft_params() {
        let text =
            format!("{} parameters, which engines load only to draft with it", n::count(params));
        out.line(labeled("draft layer", &text));
    }
}

/// Lines and tables about the layers.
fn geometry(out: &mut Document, arch: &ModelArch) {
    let order = layers::pattern(arch).map_or_else(String::new, |order| format!(": {order}"));
    let text = format!("{} of hidden size {}{order}", arch.n_layers, n::count(arch.hidden_size));
    out.line(labeled("layers", &text));
    let head = match (arch.has_head, arch.tied_embeddings) {
        (false, _) => "no LM head",
        (true, true) => "which the LM head shares",
        (true, false) => "LM head of its own",
    };
    let bias = if arch.lm_head_bias { " with bias" } else { "" };
    let text = format!("{} rows, {head}{bias}", n::count(arch.vocab_size));
    out.line(labeled("vocabulary", &text));
    out.line(labeled("norms", &norms(arch)));
    if let Some(context) = arch.max_context {
        out.line(labeled("context", &format!("{} tokens", n::count(context))));
    }
    out.table(attention(arch));
    out.table(recurrence(arch));
    out.table(mlps(arch));
    out.table(further(arch));
    out.table(tower_layers(arch));
    out.table(parts(arch));
}

fn norms(arch: &ModelArch) -> String {
    let kind = match arch.norm {
        NormKind::RmsNorm => "RMSNorm",
        NormKind::LayerNorm => "LayerNorm",
        NormKind::NoParameters => "LayerNorm without parameters",
    };
    let count = arch.add_norms + arch.post_norms + u64::from(arch.final_norm);
    let positions = match arch.position_rows {
        0 => String::new(),
        rows => format!("; {} learned positions", n::count(rows)),
    };
    format!("{} {kind}{positions}", n::count(count))
}

/// A row per kind of attention: layers of a group with and without a window apart.
fn attention(arch: &ModelArch) -> Table {
    let mut table = Table::new(&[
        ("layers", Align::Right),
        ("heads", Align::Right),
        ("KV heads", Align::Right),
        ("head size", Align::Right),
        ("cached per token", Align::Right),
        ("attention", Align::Left),
    ]);
    for group in arch.attention.iter() {
        for (layers, windowed) in [(group.full_layers, false), (group.windowed_layers, true)] {
            if layers == 0 {
                continue;
            }
            let size = if group.v_head_dim == group.head_dim {
                group.head_dim.to_string()
            } else {
                format!("{}, values {}", group.head_dim, group.v_head_dim)
            };
            let row = vec![
                layers.to_string(),
                group.n_heads.to_string(),
                group.n_kv_heads.to_string(),
                size,
                format!("{} values", n::count(group.cache_row())),
            ];
            push_folded(&mut table, row, &attends_to(group, windowed), 56);
        }
    }
    table
}

/// Tokens that layers of a group attend to, and what is special about them.
fn attends_to(group: &Attention, windowed: bool) -> String {
    let tokens = n::count(group.window);
    let reach = match (windowed, group.indexer) {
        (true, _) if group.chunked => format!("chunk of {tokens}"),
        (true, _) => format!("window of {tokens}"),
        (false, Some(indexer)) => format!("best {} of an indexer", n::count(indexer.top_k)),
        (false, None) => "all tokens".to_owned(),
    };
    let entries = group.compression.map(|compression| {
        let best =
            group.indexer.map_or_else(String::new, |i| format!(", best {}", n::count(i.top_k)));
        format!("entries for {} tokens{best}", compression.ratio)
    });
    let latent = group.latent.map(|mla| format!("latent {} + {}", mla.kv_lora_rank, mla.rope_dim));
    let source = match group.kv_source {
        KvSource::Own => None,
        KvSource::KeysAreValues => Some("keys are values"),
        KvSource::EarlierLayer => Some("cache of an earlier layer"),
        KvSource::OneVector => Some("one vector for all heads"),
        KvSource::Images => Some("to images"),
    };
    let bias = match group.bias {
        AttentionBias::None => None,
        AttentionBias::Qkv => Some("bias of Q, K, V"),
        AttentionBias::Qkvo => Some("bias of Q, K, V, O"),
    };
    let gate = (group.gate_outputs > 0).then_some("gated");
    let sinks = group.sinks.then_some("sinks");
    let words = [source, gate, sinks, bias].into_iter().flatten().map(str::to_owned);
    let all: Vec<String> =
        [Some(reach), latent, entries].into_iter().flatten().chain(words).collect();
    all.join(", ")
}

fn recurrence(arch: &ModelArch) -> Table {
    let mut table = Table::new(&[
        ("layers", Align::Right),
        ("state", Align::Left),
        ("inner width", Align::Right),
        ("state per sequence", Align::Right),
        ("inputs of the convolution", Align::Right),
    ]);
    for group in arch.recurrent.iter() {
        let values = |count: u64| format!("{} values", n::count(count));
        table.push(vec![
            Recurrent::layers(group).to_string(),
            words::recurrence(group.kind()).into(),
            n::count(group.inner()),
            values(group.state_elements()),
            values(group.conv_elements()),
        ]);
    }
    table
}

fn mlps(arch: &ModelArch) -> Table {
    let mut columns = vec![("layers", Align::Right), ("MLP", Align::Left), ("width", Align::Right)];
    if arch.moe.iter().any(|group| group.shared_width > 0) {
        columns.push(("width of the shared expert", Align::Right));
    }
    let mut table = Table::new(&columns);
    let kind = if arch.mlp == MlpKind::Gated { "gated" } else { "plain" };
    let bias = if arch.mlp_bias { ", bias" } else { "" };
    for group in arch.dense.iter() {
        let text = format!("dense, {kind}{bias}");
        table.push(vec![group.layers.to_string(), text, n::count(group.width), "–".into()]);
    }
    for group in arch.moe.iter() {
        let mut text =
            format!("{} experts, {} per token, {kind}", group.n_experts, group.experts_per_token);
        if let Some(latent) = group.latent {
            text += &format!(", in {} of the hidden size", n::count(latent));
        }
        if group.idle_choices > 0 {
            text += &format!(", {} choices of none", group.idle_choices);
        }
        if group.for_images {
            text += ", for images";
        }
        let shared =
            if group.shared_width > 0 { n::count(group.shared_width) } else { "–".into() };
        table.push(vec![group.layers.to_string(), text, n::count(group.expert_width), shared]);
    }
    table
}

/// Matrices and tables beside attention and MLP.
fn further(arch: &ModelArch) -> Table {
    let mut table = Table::new(&[
        ("count", Align::Right),
        ("further matrix", Align::Left),
        ("rows", Align::Right),
        ("columns", Align::Right),
    ]);
    for matrix in arch.projections.iter() {
        let name = if matrix.streams > 0 { "residual streams" } else { "projection" };
        let [rows, cols] = [matrix.rows, matrix.cols].map(n::count);
        table.push(vec![n::count(matrix.count), name.into(), rows, cols]);
    }
    for one in arch.tables.iter() {
        let [rows, cols] = [one.rows, one.cols].map(n::count);
        table.push(vec!["1".into(), "table, a row per token".into(), rows, cols]);
    }
    table
}

fn tower_layers(arch: &ModelArch) -> Table {
    let mut table = Table::new(&[
        ("tower", Align::Left),
        ("parameters", Align::Right),
        ("layers", Align::Right),
        ("hidden size", Align::Right),
        ("heads", Align::Right),
        ("width", Align::Right),
        ("window", Align::Right),
    ]);
    for tower in arch.towers.iter() {
        let mut name = towers::kind(tower.kind).to_owned();
        let mut parameters = n::count(tower.n_params());
        if tower.layers.is_empty() {
            table.push(vec![name.clone(), parameters.clone(), "unknown".into()]);
        }
        for group in tower.layers.iter() {
            let window = group.window.map_or_else(|| "–".into(), |window| window.to_string());
            table.push(vec![
                core::mem::take(&mut name),
                core::mem::take(&mut parameters),
                group.layers.to_string(),
                n::count(group.hidden_size),
                group.n_heads.to_string(),
                n::count(group.width),
                window,
            ]);
        }
    }
    table
}

/// Parameters by part of the model, with their shares.
fn parts(arch: &ModelArch) -> Table {
    let mut table =
        Table::new(&[("part", Align::Left), ("parameters", Align::Right), ("share", Align::Right)]);
    let all = arch.n_params() as f64;
    for (role, count) in parameter_roles(arch) {
        let share = n::percent(count as f64 / all);
        table.push(vec![memory::role(role).into(), n::count(count), share]);
    }
    table
}

#[cfg(test)]
mod tests {
    use calc_core::catalog::models;

    use super::*;

    #[test]
    fn no_line_is_longer_than_a_terminal_is_wide() {
        for row in models::all() {
            let text = model(row).to_text();
            for line in text.lines() {
                assert!(line.chars().count() < 120, "{}: {line}", row.key);
            }
            assert!(!text.contains('{') && !text.contains("null"), "{text}");
        }
    }
}
