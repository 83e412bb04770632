//! A geometry as one word of a link: groups of numbers in hexadecimal digits.

use calc_core::model_arch::{
    Attention, Compression, Decay, DeltaNet, DenseLayers, GroupedOutput, Indexer, KvSource, Mamba1,
    Mamba2, MatrixSplit, Mla, ModelArch, Moe, Projection, Recurrent, ShortConv, Table,
};
use calc_core::text::{List, Text};

use super::numbers::{BIASES, GROUP, LAYOUTS, MLPS, NORMS, NUMBER, QK_NORMS, Row, nth, numbers};
use super::{towers, version_1};

/// Version of the form that is written; version 1 is read, too.
const VERSION: u64 = 2;
/// Separator of the rows of a part.
const ROW: char = '_';
/// Number of parts without those of towers and the order of the layers.
const PARTS: usize = 11;
/// First letter of the order of the layers, which is the last part; a digit of no number.
const ORDER: char = 'o';
/// Upper limit of the towers of a model.
const MOST_TOWERS: usize = 4;
/// Upper limit of the rows of a part.
const MOST_ROWS: usize = 1024;

const SPLITS: [MatrixSplit; 3] = [MatrixSplit::Whole, MatrixSplit::Outputs, MatrixSplit::Inputs];

const SOURCES: [KvSource; 5] = [
    KvSource::Own,
    KvSource::KeysAreValues,
    KvSource::EarlierLayer,
    KvSource::OneVector,
    KvSource::Images,
];

/// Writes a geometry as one word of letters, digits, dots, hyphens and underscores. Zeros at the end of a row are left out.
pub(super) fn geometry(arch: &ModelArch) -> String {
    let flags = bits(&[
        arch.tied_embeddings,
        arch.mlp_bias,
        arch.final_norm,
        arch.lm_head_bias,
        !arch.has_head,
    ]);
    let kinds = vec![flags, arch.mlp as u64, arch.norm as u64, arch.gguf as u64];
    let sizes = vec![arch.hidden_size, arch.n_layers, arch.vocab_size];
    let small = vec![arch.add_norms, arch.post_norms, arch.position_rows, arch.other_vectors];
    // An unknown context is 0; a known one is never.
    let context = vec![arch.max_context.unwrap_or(0), arch.draft_layers];
    let parts: [Vec<Vec<u64>>; PARTS] = [
        vec![vec![VERSION]],
        vec![sizes],
        vec![small],
        vec![kinds],
        vec![context],
        arch.attention.iter().map(attention).collect(),
        arch.recurrent.iter().map(recurrent).collect(),
        arch.dense.iter().map(|group| vec![group.layers, group.width]).collect(),
        arch.moe.iter().map(moe).collect(),
        arch.projections
            .iter()
            .map(|matrix| {
                vec![matrix.count, matrix.rows, matrix.cols, matrix.streams, matrix.split as u64]
            })
            .collect(),
        arch.tables
            .iter()
            .map(|table| vec![table.rows, table.cols, bits(&[table.is_split])])
            .collect(),
    ];
    let parts = parts.map(|rows| joined(rows.into_iter().map(row), ROW));
    // A model without towers has no part for them, as before there were any.
    let towers =
        arch.towers.iter().map(|tower| joined(towers::rows(tower).into_iter().map(row), ROW));
    let order = Some(written_order(&arch.order)).filter(|_| !arch.order.is_empty());
    joined(parts.into_iter().chain(towers).chain(order), GROUP)
}

/// The order of the layers without commas and parentheses, which a link would escape.
fn written_order(order: &str) -> String {
    format!("{ORDER}{}", order.replace(',', "-").replace(['(', ')'], "_"))
}

/// Parses the text of [`written_order`] without its first letter; underscores open and close in turn.
fn read_order(word: &str) -> Text {
    let pieces = word.split('_').enumerate().map(|(place, piece)| match place {
        0 => piece.to_owned(),
        _ if place % 2 == 1 => format!("({piece}"),
        _ => format!("){piece}"),
    });
    Text::from(pieces.collect::<String>().replace('-', ","))
}

fn joined(parts: impl Iterator<Item = String>, separator: char) -> String {
    parts.collect::<Vec<_>>().join(&separator.to_string())
}

fn row(mut numbers: Vec<u64>) -> String {
    while numbers.len() > 1 && numbers.last() == Some(&0) {
        numbers.pop();
    }
    joined(numbers.iter().map(|number| format!("{number:x}")), NUMBER)
}

fn bits(flags: &[bool]) -> u64 {
    flags.iter().enumerate().map(|(place, flag)| u64::from(*flag) << place).sum()
}

fn attention(a: &Attention) -> Vec<u64> {
    let mut row = vec![
        a.n_heads,
        a.n_kv_heads,
        a.head_dim,
        a.v_head_dim,
        a.full_layers,
        a.windowed_layers,
        a.window,
        bits(&[a.chunked, a.sinks]),
        a.bias as u64,
        a.qk_norm as u64,
        a.gate_outputs,
        a.kv_source as u64,
    ];
    // Without a part its numbers are 0, which no such part has.
    row.extend(
        a.latent.map_or([0; 4], |m| {
            [m.kv_lora_rank, m.q_lora_rank.unwrap_or(0), m.rope_dim, m.nope_dim]
        }),
    );
    row.extend(a.indexer.map_or([0; 6], |i| {
        let weighs = u64::from(i.weighs_heads);
        [i.n_heads, i.layers, i.head_dim, i.query_inputs, i.top_k, weighs]
    }));
    row.push(a.query_rank);
    row.extend(a.output.map_or([0; 2], |output| [output.groups, output.rank]));
    row.extend(compression(a.compression));
    row.extend(compression(a.indexer.and_then(|indexer| indexer.compression)));
    row
}

/// Ratio and flags; a ratio is never 0.
fn compression(compression: Option<Compression>) -> [u64; 2] {
    compression.map_or([0; 2], |one| [one.ratio, bits(&[one.overlaps, one.keeps_tokens])])
}

fn recurrent(group: &Recurrent) -> Vec<u64> {
    match group {
        Recurrent::Mamba1(m) => {
            let flags = bits(&[m.norms, m.conv_bias, m.wide_state]);
            vec![1, m.layers, m.inner, m.state, m.dt_rank, m.conv_kernel, flags]
        }
        Recurrent::Mamba2(m) => {
            let flags = bits(&[m.gated_norm, m.conv_bias, m.wide_state]);
            vec![2, m.layers, m.n_heads, m.head_dim, m.state, m.n_groups, m.conv_kernel, flags]
        }
        Recurrent::DeltaNet(d) => {
            let (decay, rank, full_gate) = match d.decay {
                Decay::PerHead => (0, 0, false),
                Decay::PerChannel { rank, full_gate } => (1, rank, full_gate),
                Decay::Constant => (2, 0, false),
            };
            let heads = [3, d.layers, d.key_heads, d.value_heads, d.key_dim, d.value_dim];
            heads.into_iter().chain([d.conv_kernel, decay, rank, u64::from(full_gate)]).collect()
        }
        Recurrent::ShortConv(c) => vec![4, c.layers, c.channels, c.conv_kernel, bits(&[c.bias])],
    }
}

fn moe(m: &Moe) -> Vec<u64> {
    let flags = bits(&[m.shared_gate, m.router_bias, m.correction_bias, m.expert_bias]);
    let sizes = [m.layers, m.n_experts, m.experts_per_token, m.expert_width, m.shared_width];
    let more = [flags, m.latent.unwrap_or(0), m.idle_choices, bits(&[m.for_images])];
    sizes.into_iter().chain(more).collect()
}

/// Parses the word of [`geometry`], or of an earlier version; `None` for any other text and for impossible models.
pub(super) fn read_geometry(text: &str) -> Option<ModelArch> {
    if text.starts_with("1.") {
        return version_1::read(text);
    }
    let mut words: Vec<&str> = text.split(GROUP).collect();
    let order = words.last().and_then(|word| word.strip_prefix(ORDER)).map(read_order);
    if order.is_some() {
        words.pop();
    }
    let order = order.unwrap_or_default();
    let mut parts: Vec<Vec<Vec<u64>>> = words.into_iter().map(rows).collect::<Option<_>>()?;
    let towers = parts.split_off(PARTS.min(parts.len()));
    if towers.len() > MOST_TOWERS {
        return None;
    }
    let [version, sizes, small, kinds, context, attention, recurrent, dense, moe, matrices, tables] =
        <[Vec<Vec<u64>>; PARTS]>::try_from(parts).ok()?;
    if version != [[VERSION]] {
        return None;
    }
    let mut sizes = only(&sizes)?;
    let mut small = only(&small)?;
    let mut kinds = only(&kinds)?;
    let [tied_embeddings, mlp_bias, final_norm, lm_head_bias, is_headless] = kinds.flags()?;
    let mut context = only(&context)?;
    let max_context = Some(context.next()).filter(|&max| max > 0);
    let arch = ModelArch {
        hidden_size: sizes.next(),
        n_layers: sizes.next(),
        order,
        vocab_size: sizes.next(),
        tied_embeddings,
        attention: each(&attention, read_attention)?,
        recurrent: each(&recurrent, read_recurrent)?,
        mlp: nth(&MLPS, kinds.next())?,
        mlp_bias,
        dense: each(&dense, |row| Some(DenseLayers { layers: row.next(), width: row.next() }))?,
        moe: each(&moe, read_moe)?,
        projections: each(&matrices, |row| {
            let [count, rows, cols, streams] = core::array::from_fn(|_| row.next());
            Some(Projection { count, rows, cols, streams, split: nth(&SPLITS, row.next())? })
        })?,
        tables: each(&tables, |row| {
            let (rows, cols, [is_split]) = (row.next(), row.next(), row.flags()?);
            Some(Table { rows, cols, is_split })
        })?,
        norm: nth(&NORMS, kinds.next())?,
        add_norms: small.next(),
        post_norms: small.next(),
        final_norm,
        position_rows: small.next(),
        other_vectors: small.next(),
        lm_head_bias,
        has_head: !is_headless,
        towers: towers.iter().map(|rows| towers::read(rows)).collect::<Option<List<_>>>()?,
        gguf: nth(&LAYOUTS, kinds.next())?,
        max_context,
        draft_layers: context.next(),
    };
    let is_read = [sizes, small, kinds, context].iter().all(Row::is_read);
    let is_ordered = arch.order.is_empty() || arch.sections().is_some();
    (is_read && is_ordered && arch.check().is_ok()).then_some(arch)
}

fn only(rows: &[Vec<u64>]) -> Option<Row<'_>> {
    match rows {
        [row] => Some(Row(row.iter())),
        _ => None,
    }
}

/// Reads every row of a part; `None` if a row has a number too many.
fn each<T: Clone>(
    rows: &[Vec<u64>],
    read: impl Fn(&mut Row<'_>) -> Option<T>,
) -> Option<calc_core::text::List<T>> {
    let one = |row: &Vec<u64>| {
        let mut row = Row(row.iter());
        read(&mut row).filter(|_| row.is_read())
    };
    rows.iter().map(one).collect()
}

fn rows(part: &str) -> Option<Vec<Vec<u64>>> {
    if part.is_empty() {
        return Some(Vec::new());
    }
    let rows: Vec<_> = part.split(ROW).take(MOST_ROWS + 1).map(numbers).collect::<Option<_>>()?;
    (rows.len() <= MOST_ROWS).then_some(rows)
}

fn read_attention(row: &mut Row<'_>) -> Option<Attention> {
    let mut a = Attention {
        n_heads: row.next(),
        n_kv_heads: row.next(),
        head_dim: row.next(),
        v_head_dim: row.next(),
        full_layers: row.next(),
        windowed_layers: row.next(),
        window: row.next(),
        ..Attention::PLAIN
    };
    [a.chunked, a.sinks] = row.flags()?;
    a.bias = nth(&BIASES, row.next())?;
    a.qk_norm = nth(&QK_NORMS, row.next())?;
    a.gate_outputs = row.next();
    a.kv_source = nth(&SOURCES, row.next())?;
    let [kv_lora_rank, query_rank, rope_dim, nope_dim] = core::array::from_fn(|_| row.next());
    let q_lora_rank = (query_rank > 0).then_some(query_rank);
    a.latent = (kv_lora_rank > 0).then_some(Mla { q_lora_rank, kv_lora_rank, rope_dim, nope_dim });
    let [n_heads, layers, head_dim, query_inputs, top_k] = core::array::from_fn(|_| row.next());
    let [weighs_heads] = row.flags()?;
    a.query_rank = row.next();
    let (groups, rank) = (row.next(), row.next());
    a.output = (groups > 0).then_some(GroupedOutput { groups, rank });
    let [of_keys, of_indexer] = [read_compressions(row)?, read_compressions(row)?];
    a.compression = of_keys.into_iter().next();
    let compression = of_indexer.into_iter().next();
    let indexer =
        Indexer { layers, n_heads, head_dim, query_inputs, top_k, weighs_heads, compression };
    a.indexer = (n_heads > 0).then_some(indexer);
    Some(a)
}

/// One compression, or none with a ratio of 0.
fn read_compressions(row: &mut Row<'_>) -> Option<Vec<Compression>> {
    let (ratio, [overlaps, keeps_tokens]) = (row.next(), row.flags()?);
    let one = (ratio > 0).then_some(Compression { ratio, overlaps, keeps_tokens });
    Some(one.into_iter().collect())
}

fn read_recurrent(row: &mut Row<'_>) -> Option<Recurrent> {
    let (kind, layers) = (row.next(), row.next());
    Some(match kind {
        1 => {
            let [inner, state, dt_rank, conv_kernel] = core::array::from_fn(|_| row.next());
            let [norms, conv_bias, wide_state] = row.flags()?;
            Recurrent::Mamba1(Mamba1 {
                layers,
                inner,
                state,
                dt_rank,
                conv_kernel,
                norms,
                conv_bias,
                wide_state,
            })
        }
        2 => {
            let [n_heads, head_dim, state, n_groups, conv_kernel] =
                core::array::from_fn(|_| row.next());
            let [gated_norm, conv_bias, wide_state] = row.flags()?;
            Recurrent::Mamba2(Mamba2 {
                layers,
                n_heads,
                head_dim,
                state,
                n_groups,
                conv_kernel,
                gated_norm,
                conv_bias,
                wide_state,
            })
        }
        3 => {
            let [key_heads, value_heads, key_dim, value_dim, conv_kernel, decay, rank] =
                core::array::from_fn(|_| row.next());
            let [full_gate] = row.flags()?;
            let decay = match (decay, rank, full_gate) {
                (0, 0, false) => Decay::PerHead,
                (1, rank, full_gate) => Decay::PerChannel { rank, full_gate },
                (2, 0, false) => Decay::Constant,
                _ => return None,
            };
            Recurrent::DeltaNet(DeltaNet {
                layers,
                key_heads,
                value_heads,
                key_dim,
                value_dim,
                conv_kernel,
                decay,
            })
        }
        4 => {
            let (channels, conv_kernel, [bias]) = (row.next(), row.next(), row.flags()?);
            Recurrent::ShortConv(ShortConv { layers, channels, conv_kernel, bias })
        }
        _ => return None,
    })
}

fn read_moe(row: &mut Row<'_>) -> Option<Moe> {
    let [layers, n_experts, experts_per_token, expert_width, shared_width] =
        core::array::from_fn(|_| row.next());
    let [shared_gate, router_bias, correction_bias, expert_bias] = row.flags()?;
    let latent = Some(row.next()).filter(|&width| width > 0);
    let idle_choices = row.next();
    let [for_images] = row.flags()?;
    Some(Moe {
        layers,
        n_experts,
        experts_per_token,
        expert_width,
        shared_width,
        shared_gate,
        router_bias,
        correction_bias,
        expert_bias,
        latent,
        idle_choices,
        for_images,
    })
}
