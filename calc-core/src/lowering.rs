//! Lowers a model step to operators, with the count and cost of each. Layers of one kind are visited once, with a count.
//! Derivation: `docs/theory/transformer.md`.
//!
//! This file is longer than 400 lines because it is one walk through a step, in the order of a layer.

mod encoder;
mod feed_forward;
mod group;
mod step;

use group::tag;

pub use encoder::{Encoder, Images};
pub(crate) use group::parts_of;
pub use step::{Phase, Riders, Step};

use crate::cost::attention::{
    AttentionShape, fused, fused_over_activations, fused_over_one_vector, index_scores, kv_append,
};
use crate::cost::compression::compress;
use crate::cost::elementwise::{add_norm, embedding, lm_head, mix_streams, norm};
use crate::cost::gemm::{GemmFormats, GemmShape, gemm};
use crate::cost::mla::{Absorbed, absorbed};
use crate::cost::recurrent::scan;
use crate::model_arch::{
    Attention, Compression, GroupedOutput, Indexer, KvSource, LayerGroup, Mla, ModelArch, Reach,
    Recurrent,
};
use crate::op::{OpCost, OpKind, Path, Shape};
use crate::precision::Precision;
use crate::quant_format::QuantFormat;
use crate::units::Bytes;

/// Identical operators of a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OpInstances {
    pub kind: OpKind,
    /// The layers that it belongs to.
    pub group: LayerGroup,
    /// True for attention in layers with a window or chunks, false in other layers of the group; `None` for what both have.
    pub windowed: Option<bool>,
    pub count: u64,
    /// The operands that select its peak.
    pub path: Path,
    /// Cost of one instance.
    pub cost: OpCost,
    /// Format of its weights, or of the data it moves.
    pub format: &'static QuantFormat,
    /// Shape of its kernel; the expected time follows from it.
    pub shape: Shape,
}

/// Lowers the steps of one model on one device of a group.
#[derive(Debug, Clone, Copy)]
pub struct Lowering<'a> {
    /// Geometry of the shard on this device.
    pub model: &'a ModelArch,
    pub precision: &'a Precision,
    /// Number of devices that share the experts.
    pub expert_parallel: u64,
}

impl Lowering<'_> {
    /// Visits every operator of a step, in the order of a layer.
    pub fn step(&self, step: Step, visit: &mut dyn FnMut(OpInstances)) {
        let mut emit = |op: OpInstances| {
            if op.count > 0 {
                visit(op);
            }
        };
        let (model, p, tokens, hidden) =
            (self.model, self.precision, step.tokens(), self.model.hidden_size);
        emit(stream(
            OpKind::Embedding,
            1,
            embedding(tokens, hidden, p.embedding, p.carrier),
            p.embedding,
        ));
        for table in model.tables.iter() {
            let cost = embedding(tokens, table.cols, p.embedding, p.carrier);
            emit(stream(OpKind::Embedding, 1, cost, p.embedding));
        }
        let add_norms = model.add_norms + u64::from(model.final_norm);
        emit(stream(OpKind::AddNorm, add_norms, add_norm(tokens, hidden, p.carrier), p.carrier));
        emit(stream(OpKind::Norm, model.post_norms, norm(tokens, hidden, p.carrier), p.carrier));
        // Rows appear in the order of their first block; hybrids begin with Mamba and MLP blocks.
        if model.recurrent.is_empty() {
            self.projected_attention(step, &mut emit);
            self.mlps(tokens, &mut emit);
        } else {
            for (index, group) in model.recurrent.iter().enumerate() {
                let mut emit = tag(LayerGroup::Recurrent(index), &mut emit);
                self.recurrence(group, step, &mut emit);
            }
            self.mlps(tokens, &mut emit);
            self.projected_attention(step, &mut emit);
        }
        for matrix in model.projections.iter() {
            let shape = GemmShape { m: tokens, n: matrix.rows, k: matrix.cols };
            emit(self.matmul(OpKind::Projection, matrix.count, shape));
            if matrix.streams > 0 {
                let mixed = (matrix.streams, matrix.rows);
                let cost = mix_streams(tokens, hidden, mixed, p.carrier);
                emit(stream(OpKind::AddNorm, matrix.count, cost, p.carrier));
            }
        }
        if !model.has_head {
            return;
        }
        let logits = step.logits();
        let cost = lm_head(logits, model.vocab_size, hidden, p.lm_head, p.carrier);
        let head = GemmShape { m: logits, n: model.vocab_size, k: hidden };
        emit(OpInstances {
            kind: OpKind::LmHead,
            group: LayerGroup::Whole,
            windowed: None,
            count: u64::from(logits > 0),
            path: Path::LmHead,
            cost,
            format: p.lm_head,
            shape: Shape::Product(head.product(p.lm_head)),
        });
    }

    /// Visits only the operators that depend on the number of cached tokens: attention, the scores of an indexer, and with latent
    /// keys the up-projection of cached tokens for a chunk of a prompt.
    pub fn attention(&self, step: Step, visit: &mut dyn FnMut(OpInstances)) {
        let mut visit = |op| visit(op);
        for (index, group) in self.model.attention.iter().enumerate() {
            self.attention_of(group, step, &mut tag(LayerGroup::Attention(index), &mut visit));
        }
    }

    fn attention_of(&self, group: &Attention, step: Step, visit: &mut impl FnMut(OpInstances)) {
        if let (Some(mla), Phase::Prefill, 1..) = (&group.latent, step.phase, step.cached) {
            visit(self.keys_and_values(group, mla, step.batch * step.cached));
        }
        self.attention_alone(group, step, visit);
        if let Some(riding) = step.riding() {
            self.attention_alone(group, riding, visit);
        }
    }

    fn attention_alone(&self, group: &Attention, step: Step, visit: &mut impl FnMut(OpInstances)) {
        // Text alone attends to no image.
        if group.kv_source == KvSource::Images {
            return;
        }
        let p = self.precision;
        if let Some(indexer) = group.indexer.filter(|indexer| indexer.layers > 0) {
            let shape = index_shape(&indexer, step);
            let mut cost = index_scores(&shape, p.carrier, p.kv_cache);
            if let Some(compression) = indexer.compression.filter(|one| one.keeps_tokens) {
                // The entries are made from all tokens again.
                let tokens = step.cached + step.new;
                let kept = compression.kept(indexer.head_dim, step.batch * tokens) as f64;
                cost.traffic.kv_cache = Bytes::new(kept * p.kv_cache.row_bytes_per_element());
            }
            let op = stream(OpKind::IndexScores, indexer.layers, cost, p.kv_cache);
            let windowed = Some(group.full_layers == 0);
            visit(OpInstances { shape: shape.kernel(), windowed, ..op });
        }
        for ((count, shape), windowed) in
            attention_shapes(group, step).into_iter().zip([false, true])
        {
            if count == 0 {
                continue;
            }
            let (cost, format) = match (&group.latent, step.phase) {
                (Some(_), Phase::Prefill) => (fused_over_activations(&shape, p.carrier), p.carrier),
                (Some(mla), Phase::Decode) => (absorbed_attention(&shape, mla, p), p.kv_cache),
                (None, _) if group.kv_source == KvSource::OneVector => {
                    (fused_over_one_vector(&shape, p.carrier, p.kv_cache), p.kv_cache)
                }
                (None, _) => (fused(&shape, p.carrier, p.kv_cache), p.kv_cache),
            };
            let op = stream(OpKind::Attention, count, cost, format);
            visit(OpInstances { shape: shape.kernel(), windowed: Some(windowed), ..op });
        }
    }

    /// Matmuls with layer weights on `shape.m` tokens.
    fn matmul(&self, kind: OpKind, count: u64, shape: GemmShape) -> OpInstances {
        let p = self.precision;
        let formats =
            GemmFormats { weights: p.weights, input: p.layer_inputs(), output: p.carrier };
        OpInstances {
            kind,
            group: LayerGroup::Whole,
            windowed: None,
            count,
            path: Path::Layer,
            cost: self.mixed(kind, gemm(shape, formats)),
            format: p.weights,
            shape: Shape::Product(shape.product(p.weights)),
        }
    }

    /// The cost with the weights of a GGUF file, which mixes formats.
    fn mixed(&self, kind: OpKind, mut cost: OpCost) -> OpCost {
        cost.traffic.weights = cost.traffic.weights * self.precision.mixture.ratio(kind);
        cost
    }

    fn projected_attention(&self, step: Step, emit: &mut impl FnMut(OpInstances)) {
        for (index, group) in self.model.attention.iter().enumerate() {
            if group.layers() == 0 {
                continue;
            }
            let mut emit = tag(LayerGroup::Attention(index), emit);
            match &group.latent {
                None => self.plain_attention(group, step, &mut emit),
                Some(mla) => self.latent_attention(group, mla, step, &mut emit),
            }
        }
    }

    fn plain_attention(&self, group: &Attention, step: Step, emit: &mut impl FnMut(OpInstances)) {
        let (p, m, hidden, layers) =
            (self.precision, step.tokens(), self.model.hidden_size, group.layers());
        let [queries, keys, values] = group.qkv_outputs();
        // Keys and values of images are projected from images.
        let new = if group.kv_source == KvSource::Images { 0 } else { keys + values };
        let (kind, n) = match group.query_rank {
            0 => (OpKind::Qkv, queries + group.gate_outputs + new),
            _ => (OpKind::QkvA, group.low_rank_outputs()),
        };
        emit(self.matmul(kind, layers, GemmShape { m, n, k: hidden }));
        if group.query_rank > 0 {
            emit(self.matmul(OpKind::QB, layers, GemmShape { m, n: queries, k: group.query_rank }));
        }
        if group.cache_row() > 0 {
            let cost = kv_append(group.cache_row(), m, p.kv_cache);
            emit(stream(OpKind::KvAppend, layers, cost, p.kv_cache));
        }
        if let Some(compression) = &group.compression {
            let cost = compress(compression, keys, m, p.kv_cache);
            emit(stream(OpKind::KvAppend, layers, cost, p.kv_cache));
        }
        self.indexer(group, m, emit);
        self.attention_of(group, step, emit);
        self.output(group, m, emit);
    }

    /// The projection of the heads' outputs.
    fn output(&self, group: &Attention, m: u64, emit: &mut impl FnMut(OpInstances)) {
        let (p, hidden, layers) = (self.precision, self.model.hidden_size, group.layers());
        let k = group.n_heads * group.v_head_dim;
        let Some(GroupedOutput { groups, rank }) = group.output else {
            return emit(self.matmul(OpKind::OProj, layers, GemmShape { m, n: hidden, k }));
        };
        // Each group reads its own heads only, as the heads of an absorbed projection do.
        let (rows, cols) = (groups * rank, k / groups);
        let shape = Absorbed { tokens: m, rows, cols, inputs: k, outputs: rows };
        emit(OpInstances {
            kind: OpKind::OProj,
            group: LayerGroup::Whole,
            windowed: None,
            count: layers,
            path: Path::Layer,
            cost: self.mixed(OpKind::OProj, absorbed(&shape, p)),
            format: p.weights,
            shape: Shape::Product(shape.product(p.weights)),
        });
        emit(self.matmul(OpKind::OProj, layers, GemmShape { m, n: hidden, k: rows }));
    }

    /// The projections of an indexer, and the keys that it caches.
    fn indexer(&self, group: &Attention, m: u64, emit: &mut impl FnMut(OpInstances)) {
        let Some(indexer) = &group.indexer else { return };
        let p = self.precision;
        let windowed = Some(group.full_layers == 0);
        let mut emit = |op| emit(OpInstances { windowed, ..op });
        for (n, k) in indexer.projections(self.model.hidden_size) {
            emit(self.matmul(OpKind::IndexProj, indexer.layers, GemmShape { m, n, k }));
        }
        let cost = match &indexer.compression {
            Some(compression) => compress(compression, indexer.head_dim, m, p.kv_cache),
            None => kv_append(indexer.head_dim, m, p.kv_cache),
        };
        emit(stream(OpKind::KvAppend, indexer.layers, cost, p.kv_cache));
    }

    fn latent_attention(
        &self,
        group: &Attention,
        mla: &Mla,
        step: Step,
        emit: &mut impl FnMut(OpInstances),
    ) {
        let (p, m, hidden) = (self.precision, step.tokens(), self.model.hidden_size);
        let (layers, heads, r) = (group.layers(), group.n_heads, mla.kv_lora_rank);
        let (nope, v) = (heads * mla.nope_dim, heads * group.v_head_dim);
        let queries = nope + heads * mla.rope_dim;
        let latent = mla.cache_row();
        let n = group.latent_outputs(mla);
        emit(self.matmul(OpKind::QkvA, layers, GemmShape { m, n, k: hidden }));
        if let Some(k) = mla.q_lora_rank {
            emit(self.matmul(OpKind::QB, layers, GemmShape { m, n: queries, k }));
        }
        emit(stream(OpKind::KvAppend, layers, kv_append(latent, m, p.kv_cache), p.kv_cache));
        self.indexer(group, m, emit);
        let absorb = |kind, shape: Absorbed| OpInstances {
            kind,
            group: LayerGroup::Whole,
            windowed: None,
            count: if shape.tokens > 0 { layers } else { 0 },
            path: Path::Layer,
            cost: self.mixed(kind, absorbed(&shape, p)),
            format: p.weights,
            shape: Shape::Product(shape.product(p.weights)),
        };
        let tokens = match step.phase {
            Phase::Prefill => {
                emit(self.keys_and_values(group, mla, step.own_tokens()));
                step.riders.sequences
            }
            Phase::Decode => m,
        };
        let (inputs, outputs) = (nope, heads * r);
        emit(absorb(OpKind::WUk, Absorbed { tokens, rows: nope, cols: r, inputs, outputs }));
        self.attention_of(group, step, emit);
        let (inputs, outputs) = (heads * r, v);
        emit(absorb(OpKind::WUv, Absorbed { tokens, rows: v, cols: r, inputs, outputs }));
        emit(self.matmul(OpKind::OProj, layers, GemmShape { m, n: hidden, k: v }));
    }

    /// The up-projection of latent keys and values for all heads.
    fn keys_and_values(&self, group: &Attention, mla: &Mla, tokens: u64) -> OpInstances {
        let n = group.n_heads * (mla.nope_dim + group.v_head_dim);
        let shape = GemmShape { m: tokens, n, k: mla.kv_lora_rank };
        self.matmul(OpKind::KvB, group.layers(), shape)
    }

    fn recurrence(&self, group: &Recurrent, step: Step, emit: &mut impl FnMut(OpInstances)) {
        let (p, m, hidden) = (self.precision, step.tokens(), self.model.hidden_size);
        let layers = group.layers();
        emit(self.matmul(OpKind::InProj, layers, GemmShape { m, n: group.inputs(), k: hidden }));
        for (n, k) in group.others(hidden) {
            emit(self.matmul(OpKind::Projection, layers, GemmShape { m, n, k }));
        }
        let op =
            stream(OpKind::Scan, layers, scan(group, m, step.sequences(), p.carrier), p.carrier);
        emit(OpInstances { shape: Shape::Scan, ..op });
        emit(self.matmul(OpKind::OutProj, layers, GemmShape { m, n: hidden, k: group.inner() }));
    }
}

/// Full and windowed attention of a step, each with its number of layers.
fn attention_shapes(group: &Attention, step: Step) -> [(u64, AttentionShape); 2] {
    let (kv_heads, qk_dim, v_dim) = match (&group.latent, step.phase) {
        (None, _) => (group.n_kv_heads, group.head_dim, group.v_head_dim),
        (Some(mla), Phase::Prefill) => {
            (group.n_heads, mla.nope_dim + mla.rope_dim, group.v_head_dim)
        }
        (Some(mla), Phase::Decode) => (1, mla.cache_row(), mla.kv_lora_rank),
    };
    group.reaches().map(|(count, reach)| {
        let (batch, heads, new, cached) = (step.batch, group.n_heads, step.new, step.cached);
        (count, AttentionShape { batch, heads, kv_heads, qk_dim, v_dim, new, cached, reach })
    })
}

/// The scores of an indexer as attention of its heads to one cached key per token, without values.
fn index_shape(indexer: &Indexer, step: Step) -> AttentionShape {
    let reach = indexer.compression.map_or(Reach::All, |Compression { ratio, .. }| {
        Reach::Compressed { window: 0, ratio, top_k: u64::MAX }
    });
    AttentionShape {
        batch: step.batch,
        heads: indexer.n_heads,
        kv_heads: 1,
        qk_dim: indexer.head_dim,
        v_dim: 0,
        new: step.new,
        cached: step.cached,
        reach,
    }
}

/// Operators without layer weights; `format` is the format of most of their traffic.
fn stream(kind: OpKind, count: u64, cost: OpCost, format: &'static QuantFormat) -> OpInstances {
    let (group, path, shape) = (LayerGroup::Whole, Path::Carrier, Shape::Stream);
    OpInstances { kind, group, windowed: None, count, path, cost, format, shape }
}

/// Decode attention with latent keys: one cached row of r + rope elements is both key and value, so it is read once.
///
/// ```text
/// flops = 2 B h P (2 r + rope)      bytes = b_o B h q (2 r + rope) + b_kv B S (r + rope)
/// ```
fn absorbed_attention(shape: &AttentionShape, mla: &Mla, precision: &Precision) -> OpCost {
    let mut cost = fused(shape, precision.carrier, precision.kv_cache);
    let row = (mla.kv_lora_rank + mla.rope_dim) as f64;
    let rows = shape.batch as f64 * shape.keys();
    cost.traffic.kv_cache = Bytes::new(precision.kv_cache.row_bytes_per_element() * rows * row);
    cost
}
