//! The geometry of a decoder-only transformer, from which operators and parameters are computed.
//! Names and sources are in `catalog::models`; reading a config.json is in `hf_config`.
//! It is longer than 400 lines because the parts of a model are read together.

mod attention_parts;
mod check;
mod draft;
mod matrices;
mod order;
mod params;
mod recurrent;
mod stage;
mod tower;

pub use attention_parts::{Compression, GroupedOutput, Indexer, Mla};
pub(crate) use check::{MAX_COUNT, MAX_HEAD, MAX_WIDTH, shares};
pub use matrices::{Matrix, Parts};
pub use order::{LayerGroup, LayerPart, LayerRun, LayerSection, read_order, write_order};
pub use recurrent::{Decay, DeltaNet, Mamba1, Mamba2, Recurrent, RecurrentKind, ShortConv};
pub use stage::Ends;
pub(crate) use stage::Sliced;
pub use tower::{Tower, TowerEnd, TowerKind, TowerLayers};

use crate::text::{List, Text};

/// Attention projections with a bias.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttentionBias {
    None,
    /// Queries, keys and values.
    Qkv,
    /// Queries, keys, values and output.
    Qkvo,
}

/// Norm applied to queries and keys before their product.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QkNorm {
    None,
    /// One weight per element of a head, shared by all heads: d for queries and d for keys.
    Head,
    /// One weight per output of the projections: h d for queries and g d for keys (OLMo 2).
    Projection,
    /// One weight per element of a key head; the norm of queries has none (DeepSeek V4).
    Keys,
}

/// Source of the keys and values of an attention layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KvSource {
    /// Projections of its own.
    Own,
    /// A projection of its own for keys, which are the values, too; both are cached (Gemma 4).
    KeysAreValues,
    /// The cache of an earlier layer; the layer has neither projections of keys and values nor a cache (Gemma 3n).
    EarlierLayer,
    /// One vector per token that is key and value of all heads; cached once (DeepSeek V4).
    OneVector,
    /// Keys and values of images, from projections of its own; tokens of the text have none (Llama 3.2 Vision).
    Images,
}

/// Softmax attention: layers with the same heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attention {
    /// Number of query heads (h).
    pub n_heads: u64,
    /// Number of key and value heads (g).
    pub n_kv_heads: u64,
    /// Width of a query or key head (d).
    pub head_dim: u64,
    /// Width of a value head.
    pub v_head_dim: u64,
    /// Number of layers with full attention.
    pub full_layers: u64,
    /// Number of layers with sliding-window or chunked attention.
    pub windowed_layers: u64,
    /// Window or chunk in tokens; unused without windowed layers.
    pub window: u64,
    /// The window is a chunk: a token attends to the tokens of its own chunk, up to itself (Llama 4).
    pub chunked: bool,
    pub bias: AttentionBias,
    pub qk_norm: QkNorm,
    /// Each head has a learned attention sink.
    pub sinks: bool,
    /// Number of outputs of a projection that gates the heads' outputs; 0 without a gate.
    pub gate_outputs: u64,
    pub kv_source: KvSource,
    /// Rank of the query projection of plain attention; 0 projects queries directly.
    pub query_rank: u64,
    /// Output projection in groups of heads; `None` for one matrix.
    pub output: Option<GroupedOutput>,
    /// Latent attention, which replaces the plain projections.
    pub latent: Option<Mla>,
    /// Entries of the cache beside the window, each for several tokens.
    pub compression: Option<Compression>,
    /// Selection of the tokens, or of the compressed entries, that are attended to.
    pub indexer: Option<Indexer>,
}

impl Attention {
    /// No layers; the parts that most models lack are off. A base for the models of the catalog.
    pub const PLAIN: Self = Self {
        n_heads: 0,
        n_kv_heads: 0,
        head_dim: 0,
        v_head_dim: 0,
        full_layers: 0,
        windowed_layers: 0,
        window: 0,
        chunked: false,
        bias: AttentionBias::None,
        qk_norm: QkNorm::None,
        sinks: false,
        gate_outputs: 0,
        kv_source: KvSource::Own,
        query_rank: 0,
        output: None,
        latent: None,
        compression: None,
        indexer: None,
    };

    /// Number of attention layers.
    pub const fn layers(&self) -> u64 {
        self.full_layers + self.windowed_layers
    }

    /// Layers with full and with windowed attention, each with its number of layers.
    pub fn reaches(&self) -> [(u64, Reach); 2] {
        let window = self.window;
        let windowed = match self.compression {
            Some(Compression { ratio, .. }) => {
                let top_k = self.indexer.map_or(u64::MAX, |indexer| indexer.top_k);
                Reach::Compressed { window, ratio, top_k }
            }
            None if self.chunked => Reach::Chunk(window),
            None => Reach::Window(window),
        };
        let full = self.indexer.map_or(Reach::All, |indexer| Reach::Window(indexer.top_k));
        [(self.full_layers, full), (self.windowed_layers, windowed)]
    }

    /// Number of outputs of the projections of queries, keys and values of plain attention.
    pub const fn qkv_outputs(&self) -> [u64; 3] {
        let keys = self.n_kv_heads * self.head_dim;
        let values = self.n_kv_heads * self.v_head_dim;
        let queries = self.n_heads * self.head_dim;
        match self.kv_source {
            KvSource::Own | KvSource::Images => [queries, keys, values],
            KvSource::KeysAreValues | KvSource::OneVector => [queries, keys, 0],
            KvSource::EarlierLayer => [queries, 0, 0],
        }
    }

    /// Number of elements that a layer keeps per token in its cache of keys and values.
    pub const fn cache_row(&self) -> u64 {
        match (self.kv_source, &self.latent) {
            (KvSource::EarlierLayer | KvSource::Images, _) => 0,
            (KvSource::OneVector, _) => self.n_kv_heads * self.head_dim,
            (KvSource::Own | KvSource::KeysAreValues, Some(mla)) => mla.cache_row(),
            (KvSource::Own | KvSource::KeysAreValues, None) => {
                self.n_kv_heads * (self.head_dim + self.v_head_dim)
            }
        }
    }
}

/// Tokens that a token attends to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All tokens up to itself.
    All,
    /// The last tokens, of this number, itself included; or as many that an indexer selects.
    Window(u64),
    /// The tokens of its own chunk, of this length, up to itself.
    Chunk(u64),
    /// The last tokens, of the number `window`, and entries for `ratio` tokens each: at most `top_k` of them.
    Compressed {
        /// Number of tokens, itself included.
        window: u64,
        ratio: u64,
        /// Largest number of entries; `u64::MAX` without a selection.
        top_k: u64,
    },
}

impl Reach {
    /// Largest number of tokens and entries that the cache of one sequence of `tokens` tokens holds, with `windowed` tokens of a
    /// window.
    pub fn kept(self, tokens: u64, windowed: impl Fn(u64) -> u64) -> u64 {
        match self {
            Self::All => tokens,
            Self::Window(limit) | Self::Chunk(limit) => windowed(limit),
            Self::Compressed { window, ratio, .. } => windowed(window) + tokens / ratio.max(1),
        }
    }
}

/// Matrices of an MLP: two, or three with a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MlpKind {
    /// Gate and up, product, down (`SwiGLU` and similar).
    Gated,
    /// Up, activation, down, without a gate.
    Plain,
}

/// Layers with a dense MLP of the same width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DenseLayers {
    pub layers: u64,
    /// Intermediate size (I).
    pub width: u64,
}

/// Layers with a mixture of experts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a model and has a name at every use"
)]
pub struct Moe {
    pub layers: u64,
    /// Number of experts (E).
    pub n_experts: u64,
    /// Number of experts per token (k).
    pub experts_per_token: u64,
    /// Intermediate size of one expert (I_e).
    pub expert_width: u64,
    /// Intermediate size of the shared MLP; 0 if there is none.
    pub shared_width: u64,
    /// A learned gate of H weights scales the output of the shared MLP (Qwen 2 MoE).
    pub shared_gate: bool,
    pub router_bias: bool,
    /// The router has a correction bias for load balancing.
    pub correction_bias: bool,
    pub expert_bias: bool,
    /// Width in which the experts work, between two projections of the layer; `None` for the hidden size (Nemotron 3).
    pub latent: Option<u64>,
    /// Number of further choices of the router that do nothing (`LongCat`).
    pub idle_choices: u64,
    /// Only tokens of images choose among these experts (ERNIE 4.5 VL).
    pub for_images: bool,
}

impl Moe {
    /// One expert, whose sizes a model of the catalog replaces.
    pub const PLAIN: Self = Self {
        layers: 0,
        n_experts: 1,
        experts_per_token: 1,
        expert_width: 1,
        shared_width: 0,
        shared_gate: false,
        router_bias: false,
        correction_bias: false,
        expert_bias: false,
        latent: None,
        idle_choices: 0,
        for_images: false,
    };

    /// Number of outputs of the router.
    pub const fn choices(&self) -> u64 {
        self.n_experts + self.idle_choices
    }

    /// Fraction of the choices that are experts.
    pub fn busy_share(&self) -> f64 {
        self.n_experts as f64 / self.choices() as f64
    }
}

/// Matrices of layers beside attention and MLP.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Projection {
    /// Number of such matrices.
    pub count: u64,
    /// Number of outputs.
    pub rows: u64,
    /// Number of inputs.
    pub cols: u64,
    /// Number of residual streams that its outputs mix, and that a block writes again; 0 for other matrices (`DeepSeek` V4).
    pub streams: u64,
    /// Division among the devices of a tensor split.
    pub split: MatrixSplit,
}

impl Projection {
    /// One matrix, whole on each device, whose sizes a model replaces.
    pub const PLAIN: Self =
        Self { count: 1, rows: 1, cols: 1, streams: 0, split: MatrixSplit::Whole };
}

/// Division of a matrix among the devices of a tensor split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatrixSplit {
    /// Each device has all of it.
    Whole,
    /// Each device has some of its outputs.
    Outputs,
    /// Each device has some of its inputs.
    Inputs,
}

/// A table of which every token reads one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    pub rows: u64,
    pub cols: u64,
    /// A tensor split divides its rows among the devices.
    pub is_split: bool,
}

/// Kind of normalization, by its learned parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NormKind {
    /// One weight vector.
    RmsNorm,
    /// A weight and a bias.
    LayerNorm,
    /// No learned parameters.
    NoParameters,
}

impl NormKind {
    /// Number of learned vectors per norm.
    pub const fn vectors(self) -> u64 {
        match self {
            Self::RmsNorm => 1,
            Self::LayerNorm => 2,
            Self::NoParameters => 0,
        }
    }
}

/// Tensors of a GGUF file that llama-quantize treats apart from those of other models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GgufLayout {
    /// Queries, keys and values are three tensors.
    Split,
    /// Queries, keys and values are one tensor, `attn_qkv`.
    FusedQkv,
    /// As [`Self::FusedQkv`], with rules for `ffn_down`, `attn_output` and the LM head.
    Falcon,
}

/// The geometry of a model. Layers of one kind are counted, not listed: their order affects no sum, and is kept for readers.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of a model and has a name at every use"
)]
pub struct ModelArch {
    /// Hidden size (H).
    pub hidden_size: u64,
    /// Number of layers as the model counts them.
    pub n_layers: u64,
    /// The order of the layers, see `order.rs`; empty if it is unknown, or if all layers have the same parts.
    pub order: Text,
    /// Vocabulary size (V).
    pub vocab_size: u64,
    /// Embedding and LM head share one matrix.
    pub tied_embeddings: bool,
    /// Softmax attention, grouped by the geometry of its heads.
    pub attention: List<Attention>,
    /// Layers that keep a state of constant size instead of a cache, grouped by geometry.
    pub recurrent: List<Recurrent>,
    /// Kind of all MLPs and experts.
    pub mlp: MlpKind,
    pub mlp_bias: bool,
    /// Dense MLP layers, grouped by width.
    pub dense: List<DenseLayers>,
    /// Mixture-of-experts layers, grouped by geometry.
    pub moe: List<Moe>,
    /// Matrices beside attention and MLP: per-layer embeddings, low-rank residuals.
    pub projections: List<Projection>,
    /// Further embedding tables, which every token reads a row of.
    pub tables: List<Table>,
    /// Number of further small parameters, kept in the carrier: scales and norms that no other field counts.
    pub other_vectors: u64,
    pub norm: NormKind,
    /// Number of norms that first add the residual, without the final one.
    pub add_norms: u64,
    /// Number of other norms.
    pub post_norms: u64,
    /// A norm precedes the LM head.
    pub final_norm: bool,
    /// Number of rows of learned positions; 0 if there are none.
    pub position_rows: u64,
    pub lm_head_bias: bool,
    /// The model ends in logits of the vocabulary; false for classes with scores of labels, or without a head.
    pub has_head: bool,
    /// Encoders of images and sound beside the decoder, with their projectors.
    pub towers: List<Tower>,
    /// Number of further layers for multi-token prediction, which engines load only for speculative decoding.
    pub draft_layers: u64,
    pub gguf: GgufLayout,
    /// Longest context that the model supports; `None` if unknown.
    pub max_context: Option<u64>,
}

impl ModelArch {
    /// Tokens attended to, for each kind of attention layer of all groups.
    pub fn attention_reaches(&self) -> impl Iterator<Item = (u64, Reach)> {
        self.attention.iter().flat_map(Attention::reaches).filter(|(layers, _)| *layers > 0)
    }

    /// The group with the most attention layers.
    pub fn main_attention(&self) -> Option<&Attention> {
        self.attention.iter().filter(|group| group.layers() > 0).max_by_key(|group| group.layers())
    }

    /// True if any layer has experts.
    pub fn has_experts(&self) -> bool {
        self.moe.iter().any(|group| group.layers > 0)
    }

    /// True if any layer attends to chunks.
    pub fn is_chunked(&self) -> bool {
        self.attention.iter().any(|group| group.chunked && group.windowed_layers > 0)
    }

    /// True if any layer has latent attention.
    pub fn is_latent(&self) -> bool {
        self.attention.iter().any(|group| group.latent.is_some())
    }

    /// Number of outputs of the first MLP matmul per unit of width: 2 if gated, else 1.
    pub const fn mlp_inputs(&self) -> u64 {
        match self.mlp {
            MlpKind::Gated => 2,
            MlpKind::Plain => 1,
        }
    }
}
