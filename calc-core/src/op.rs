//! Operators of a step: their names, costs and peaks.

use crate::quant_format::QuantFormat;
use crate::units::{Bytes, Flops, FlopsPerByte};

/// DRAM traffic by role of the data.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Traffic {
    pub weights: Bytes,
    /// Keys, values and recurrent state.
    pub kv_cache: Bytes,
    /// Everything else, mostly activations.
    pub activations: Bytes,
}

impl Traffic {
    /// The sum over all roles.
    pub fn total(&self) -> Bytes {
        self.weights + self.kv_cache + self.activations
    }
}

/// Work and traffic of one operator instance.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OpCost {
    pub flops: Flops,
    pub traffic: Traffic,
}

impl OpCost {
    /// Arithmetic intensity: FLOP per byte of DRAM traffic.
    pub fn intensity(&self) -> FlopsPerByte {
        self.flops / self.traffic.total()
    }

    /// The cost of `count` instances.
    #[must_use]
    pub fn times(&self, count: f64) -> Self {
        Self {
            flops: self.flops * count,
            traffic: Traffic {
                weights: self.traffic.weights * count,
                kv_cache: self.traffic.kv_cache * count,
                activations: self.traffic.activations * count,
            },
        }
    }

    /// The sum of two costs.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            flops: self.flops + other.flops,
            traffic: Traffic {
                weights: self.traffic.weights + other.traffic.weights,
                kv_cache: self.traffic.kv_cache + other.traffic.kv_cache,
                activations: self.traffic.activations + other.traffic.activations,
            },
        }
    }
}

/// Shape of a kernel. Ideal times ignore it, expected times depend on it: padding, waves of tiles, distinct experts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Shape {
    /// A matrix multiplication with weights.
    Product(ProductShape),
    /// The matmuls of the selected experts, one for each expert that any token selected.
    Experts {
        /// All token-expert pairs on this device, as one matmul.
        product: ProductShape,
        /// Number of distinct experts selected in the step, with uniform routing (D).
        distinct: f64,
    },
    /// Attention over a KV cache.
    Attention {
        /// Number of sequences times query heads (B h).
        heads: f64,
        /// New tokens per sequence (q).
        new: f64,
        /// Mean of the widths of a query head and a value head.
        head_dim: f64,
    },
    /// A recurrence over tokens.
    Scan,
    /// An operator that reads and writes each element once.
    Stream,
}

impl Shape {
    /// The matrix multiplication; `None` for kernels without weights.
    pub const fn product(&self) -> Option<&ProductShape> {
        match self {
            Self::Product(product) | Self::Experts { product, .. } => Some(product),
            Self::Attention { .. } | Self::Scan | Self::Stream => None,
        }
    }
}

/// Shape and weight format of a matrix multiplication.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProductShape {
    /// M: number of input rows.
    pub rows: f64,
    /// N: number of outputs.
    pub outputs: f64,
    /// K: number of inputs.
    pub inputs: f64,
    pub weights: &'static QuantFormat,
}

/// The operand formats that select the peak of an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Path {
    /// Matmul with layer weights: (weights, activations).
    Layer,
    /// Matmul with expert weights: (experts, activations).
    Expert,
    /// LM head: (its format, carrier).
    LmHead,
    /// No weights, or weights in the carrier: (carrier, carrier).
    Carrier,
}

macro_rules! op_kinds {
    ($($variant:ident $key:literal $doc:literal,)*) => {
        /// Name of an operator.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum OpKind {
            $(#[doc = $doc] $variant,)*
        }

        impl OpKind {
            /// All names, in no particular order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name in JSON.
            pub const fn key(self) -> &'static str {
                match self {
                    $(Self::$variant => $key,)*
                }
            }

            /// A description in a few words.
            pub const fn describe(self) -> &'static str {
                match self {
                    $(Self::$variant => $doc,)*
                }
            }
        }
    };
}

op_kinds! {
    Embedding "embedding" "look up the rows of the tokens",
    AddNorm "add_norm" "add the residual and normalize",
    Norm "norm" "normalize",
    Qkv "qkv" "project to queries, keys and values",
    QkvA "qkv_a" "project down to latent queries, keys and values (MLA)",
    QB "q_b" "project latent queries up to the heads (MLA)",
    KvAppend "kv_append" "write new keys and values to the cache",
    KvB "kv_b" "project latent keys and values up to the heads (MLA, prefill)",
    WUk "w_uk" "absorb the key projection into the queries (MLA, decode)",
    Rotary "rotary" "rotate queries and keys by their positions",
    Attention "attention" "attend to all cached tokens",
    WUv "w_uv" "project attended latents up to values (MLA, decode)",
    OProj "o_proj" "project the heads back",
    GateUp "gate_up" "gate and up projection of the MLP",
    Up "up" "up projection of the MLP",
    Activation "activation" "activation function of the MLP",
    Down "down" "down projection of the MLP",
    Router "router" "choose experts",
    ExpertGateUp "expert_gate_up" "gate and up projections of the chosen experts",
    ExpertUp "expert_up" "up projections of the chosen experts",
    ExpertDown "expert_down" "down projections of the chosen experts",
    InProj "in_proj" "input projection of a recurrent layer",
    Scan "scan" "convolution and state update of a recurrent layer",
    OutProj "out_proj" "output projection of a recurrent layer",
    IndexProj "index_proj" "project to the queries, key and weights of the indexer",
    IndexScores "index_scores" "score all cached tokens, to attend to the best of them",
    Projection "projection" "a further projection of a layer",
    LmHead "lm_head" "logits of each sequence's last token",
    Gemm "gemm" "a matrix product",
    FeedForward "ffn" "the feed-forward part of a layer: gate and up, activation, down",
    MixtureOfExperts "moe" "a mixture of experts: router, chosen experts, shared expert",
    Step "step" "scheduling, sampling and launches: the time of a step outside its kernels",
    Links "links" "exchange results with the other devices",
}

impl OpKind {
    /// False for rows of a step that are not kernels: the step's own overhead and the time on links.
    pub const fn is_kernel(self) -> bool {
        !matches!(self, Self::Step | Self::Links)
    }

    /// True if the cost depends on the number of cached tokens.
    pub const fn grows_with_context(self) -> bool {
        matches!(self, Self::Attention | Self::IndexScores)
    }

    /// Finds the kernel with the given key.
    pub fn kernel(key: &str) -> Option<Self> {
        Self::ALL.iter().find(|kind| kind.is_kernel() && kind.key() == key).copied()
    }
}
