//! A model's geometry as JSON, group by group.

use calc_core::model_arch::{
    Attention, AttentionBias, KvSource, MatrixSplit, MlpKind, ModelArch, Moe, NormKind, Projection,
    Recurrent, Table, Tower,
};
use calc_core::provenance::Provenance;
use serde_json::{Value, json};

use super::row::CatalogRow;
use crate::output::words;

/// JSON of a model's geometry, with the names of its config.json where it has them. Names of attention are those of the group
/// with the most layers; `attention_groups` has all groups.
pub fn geometry(arch: &ModelArch, source: &str, kind: Provenance) -> Value {
    let main = arch.main_attention();
    let total = |layers: fn(&Attention) -> u64| arch.attention.iter().map(layers).sum::<u64>();
    let window = main.filter(|a| a.windowed_layers > 0).map(|a| a.window);
    let row = CatalogRow::new(source)
        .sourced("hidden_size", arch.hidden_size, kind)
        .sourced("num_hidden_layers", arch.n_layers, kind)
        .sourced("vocab_size", arch.vocab_size, kind)
        .sourced("tie_word_embeddings", arch.tied_embeddings, kind)
        .sourced("num_attention_heads", main.map(|a| a.n_heads), kind)
        .sourced("num_key_value_heads", main.map(|a| a.n_kv_heads), kind)
        .sourced("head_dim", main.map(|a| a.head_dim), kind)
        .sourced("full_attention_layers", total(|a| a.full_layers), kind)
        .sourced("windowed_attention_layers", total(|a| a.windowed_layers), kind)
        .sourced("sliding_window", window, kind)
        .sourced("attention_bias", main.map(|a| attention_bias(a.bias)), kind)
        .sourced("attention_sinks", main.is_some_and(|a| a.sinks), kind)
        .sourced("mlp", if arch.mlp == MlpKind::Gated { "gated" } else { "plain" }, kind)
        .sourced("mlp_bias", arch.mlp_bias, kind)
        .sourced("dense_layers", dense_layers(arch), kind)
        .sourced("norm", norm(arch.norm), kind)
        .sourced("norms", arch.add_norms + arch.post_norms + u64::from(arch.final_norm), kind)
        .sourced("learned_position_rows", arch.position_rows, kind)
        .sourced("max_position_embeddings", arch.max_context, kind);
    parts(row, arch, kind).done()
}

/// Adds experts, latent attention, recurrent layers and other parts that only some models have.
fn parts<'a>(mut row: CatalogRow<'a>, arch: &ModelArch, kind: Provenance) -> CatalogRow<'a> {
    let moe: Vec<Value> = arch.moe.iter().map(experts).collect();
    if let Some(first) = moe.first() {
        row = row.sourced("moe", first.clone(), kind);
    }
    if let Some((a, mla)) = arch.attention.iter().find_map(|a| Some((a, a.latent?))) {
        let value = json!({
            "q_lora_rank": mla.q_lora_rank, "kv_lora_rank": mla.kv_lora_rank, "qk_rope_head_dim": mla.rope_dim,
            "qk_nope_head_dim": mla.nope_dim, "v_head_dim": a.v_head_dim,
        });
        row = row.sourced("mla", value, kind);
    }
    let recurrent: Vec<Value> = arch.recurrent.iter().map(recurrent).collect();
    if let Some(Recurrent::Mamba2(mamba)) = arch.recurrent.first() {
        let value = json!({
            "layers": mamba.layers, "mamba_num_heads": mamba.n_heads, "mamba_head_dim": mamba.head_dim,
            "ssm_state_size": mamba.state, "n_groups": mamba.n_groups, "conv_kernel": mamba.conv_kernel,
        });
        row = row.sourced("mamba", value, kind);
    }
    let attention: Vec<Value> =
        arch.attention.iter().filter(|group| group.layers() > 0).map(attention_group).collect();
    let lists = [
        ("attention_groups", attention),
        ("recurrent_groups", recurrent),
        ("expert_groups", moe),
        ("projections", arch.projections.iter().map(projection).collect()),
        ("tables", arch.tables.iter().map(table).collect()),
        ("towers", arch.towers.iter().map(tower).collect()),
    ];
    for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
        row = row.sourced(key, list, kind);
    }
    row
}

fn tower(tower: &Tower) -> Value {
    let layers = tower.layers.iter().map(|group| {
        json!({
            "layers": group.layers, "hidden_size": group.hidden_size, "num_attention_heads": group.n_heads,
            "head_dim": group.head_dim, "intermediate_size": group.width, "window": group.window,
        })
    });
    json!({
        "kind": words::towers::kind(tower.kind), "parameters": tower.n_params(), "bytes": tower.weight_bytes().get(),
        "layers": layers.collect::<Vec<_>>(),
    })
}

fn experts(moe: &Moe) -> Value {
    json!({
        "layers": moe.layers, "num_experts": moe.n_experts, "num_experts_per_tok": moe.experts_per_token,
        "moe_intermediate_size": moe.expert_width, "shared_expert_intermediate_size": moe.shared_width,
        "moe_latent_size": moe.latent, "zero_expert_num": moe.idle_choices, "for_images": moe.for_images,
    })
}

fn attention_group(a: &Attention) -> Value {
    let indexer = a.indexer.map(|index| {
        json!({
            "layers": index.layers, "index_n_heads": index.n_heads, "index_head_dim": index.head_dim,
            "index_topk": index.top_k, "tokens_per_key": index.tokens_per_key(),
        })
    });
    let keys = match a.kv_source {
        KvSource::Own => "own",
        KvSource::KeysAreValues => "keys are values",
        KvSource::EarlierLayer => "of an earlier layer",
        KvSource::OneVector => "one vector",
        KvSource::Images => "of images",
    };
    json!({
        "full_layers": a.full_layers, "windowed_layers": a.windowed_layers,
        "window": (a.windowed_layers > 0).then_some(a.window), "chunked": a.chunked,
        "num_attention_heads": a.n_heads, "num_key_value_heads": a.n_kv_heads, "head_dim": a.head_dim,
        "v_head_dim": a.v_head_dim, "gate_outputs": a.gate_outputs, "keys_and_values": keys,
        "kv_lora_rank": a.latent.map(|mla| mla.kv_lora_rank), "indexer": indexer,
        "tokens_per_compressed_entry": a.compression.map(|compression| compression.ratio),
        "q_lora_rank": (a.query_rank > 0).then_some(a.query_rank),
        "o_lora_rank": a.output.map(|output| output.rank), "o_groups": a.output.map(|output| output.groups),
        "cache_elements_per_token": a.cache_row(),
    })
}

fn recurrent(group: &Recurrent) -> Value {
    json!({
        "kind": words::catalog::recurrence(group.kind()), "layers": group.layers(), "inner": group.inner(),
        "state_elements": group.state_elements(), "conv_elements": group.conv_elements(),
    })
}

fn projection(matrix: &Projection) -> Value {
    let mut row = json!({"count": matrix.count, "rows": matrix.rows, "columns": matrix.cols});
    if matrix.streams > 0 {
        row["residual_streams"] = json!(matrix.streams);
    }
    match matrix.split {
        MatrixSplit::Whole => {}
        MatrixSplit::Outputs => row["split"] = json!("rows"),
        MatrixSplit::Inputs => row["split"] = json!("columns"),
    }
    row
}

fn table(table: &Table) -> Value {
    let mut row = json!({"rows": table.rows, "columns": table.cols});
    if table.is_split {
        row["split"] = json!("rows");
    }
    row
}

fn dense_layers(arch: &ModelArch) -> Vec<Value> {
    arch.dense
        .iter()
        .map(|group| json!({"layers": group.layers, "intermediate_size": group.width}))
        .collect()
}

const fn attention_bias(bias: AttentionBias) -> &'static str {
    match bias {
        AttentionBias::None => "none",
        AttentionBias::Qkv => "qkv",
        AttentionBias::Qkvo => "qkvo",
    }
}

const fn norm(norm: NormKind) -> &'static str {
    match norm {
        NormKind::RmsNorm => "rmsnorm",
        NormKind::LayerNorm => "layernorm",
        NormKind::NoParameters => "layernorm without parameters",
    }
}
