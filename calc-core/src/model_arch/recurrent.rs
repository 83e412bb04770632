//! Layers that keep a state of constant size per sequence: Mamba, delta rules and short convolutions.
//! Derivation: `docs/theory/mamba.md`, `docs/theory/delta-net.md`.
//!
//! This file is longer than 400 lines because shapes, state and work of a recurrence are one idea.

use crate::quant_format::QuantFormat;
use crate::units::Bytes;

/// Bytes per element of a state in FP32.
const STATE_BYTES: f64 = 4.0;

/// Layers of one recurrence with the same geometry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Recurrent {
    Mamba1(Mamba1),
    Mamba2(Mamba2),
    DeltaNet(DeltaNet),
    ShortConv(ShortConv),
}

/// Kind of a recurrence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecurrentKind {
    Mamba1,
    Mamba2,
    DeltaNet,
    ShortConv,
}

/// Mamba-1 layers: every channel has a state of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mamba1 {
    pub layers: u64,
    /// Inner width (`d_i`).
    pub inner: u64,
    /// State size per channel (s).
    pub state: u64,
    /// Rank of the projection of the time step.
    pub dt_rank: u64,
    /// Kernel length of the convolution (f).
    pub conv_kernel: u64,
    /// The time step, B and C have norms with a weight each (Jamba).
    pub norms: bool,
    /// The convolution has a bias.
    pub conv_bias: bool,
    /// The state is kept in FP32, whatever the carrier.
    pub wide_state: bool,
}

/// Mamba-2 layers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mamba2 {
    pub layers: u64,
    /// Number of heads (n).
    pub n_heads: u64,
    /// Width of a head (p).
    pub head_dim: u64,
    /// State size per channel (s).
    pub state: u64,
    /// Number of groups that share B and C.
    pub n_groups: u64,
    /// Kernel length of the convolution (f).
    pub conv_kernel: u64,
    /// The output is normalized, with a weight per channel.
    pub gated_norm: bool,
    /// The convolution has a bias.
    pub conv_bias: bool,
    /// The state is kept in FP32, whatever the carrier.
    pub wide_state: bool,
}

impl Mamba2 {
    /// No layers; convolution with a bias and a norm, as most models have. A base for the models of the catalog.
    pub const PLAIN: Self = Self {
        layers: 0,
        n_heads: 1,
        head_dim: 1,
        state: 1,
        n_groups: 1,
        conv_kernel: 1,
        gated_norm: true,
        conv_bias: true,
        wide_state: false,
    };

    /// Inner width: `d_i` = n p.
    pub const fn inner(&self) -> u64 {
        self.n_heads * self.head_dim
    }

    /// Number of channels of the convolution: C = `d_i` + 2 `n_groups` s.
    pub const fn channels(&self) -> u64 {
        self.inner() + 2 * self.n_groups * self.state
    }
}

/// Layers of linear attention whose state, one matrix per head, is changed by a delta rule or only decays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeltaNet {
    pub layers: u64,
    /// Number of heads of queries and keys.
    pub key_heads: u64,
    /// Number of heads of values; each has a state.
    pub value_heads: u64,
    /// Width of a head of queries and keys.
    pub key_dim: u64,
    /// Width of a head of values.
    pub value_dim: u64,
    /// Kernel length of the convolution over queries, keys and values; 0 without one.
    pub conv_kernel: u64,
    pub decay: Decay,
}

/// Rule by which the state of a [`DeltaNet`] decays and is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decay {
    /// One decay and one correction per head (gated delta net).
    PerHead,
    /// A decay per channel of the keys, from a projection of this rank (Kimi delta attention).
    PerChannel {
        /// Rank of the projection; 0 projects directly (Ling hybrid).
        rank: u64,
        /// The gate has a matrix of its own, not a projection of the same rank (Kimi K3).
        full_gate: bool,
    },
    /// A constant per head, no correction (lightning attention).
    Constant,
}

/// Layers with a gated short convolution (LFM2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShortConv {
    pub layers: u64,
    /// Number of channels.
    pub channels: u64,
    /// Kernel length of the convolution.
    pub conv_kernel: u64,
    /// Convolution and projections have biases.
    pub bias: bool,
}

impl DeltaNet {
    const fn keys(&self) -> u64 {
        self.key_heads * self.key_dim
    }

    const fn values(&self) -> u64 {
        self.value_heads * self.value_dim
    }

    /// Number of channels of the convolution: queries, keys and values.
    pub const fn channels(&self) -> u64 {
        2 * self.keys() + self.values()
    }

    /// Number of elements of the states of all heads.
    const fn matrix_state(&self) -> u64 {
        self.value_heads * self.key_dim * self.value_dim
    }
}

/// The two low-rank products of decay and gate in Kimi delta attention: inputs, rank and outputs.
type LowRank = (u64, u64, u64);

impl Recurrent {
    /// Kind of the recurrence.
    pub const fn kind(&self) -> RecurrentKind {
        match self {
            Self::Mamba1(_) => RecurrentKind::Mamba1,
            Self::Mamba2(_) => RecurrentKind::Mamba2,
            Self::DeltaNet(_) => RecurrentKind::DeltaNet,
            Self::ShortConv(_) => RecurrentKind::ShortConv,
        }
    }

    /// Number of layers.
    pub const fn layers(&self) -> u64 {
        match self {
            Self::Mamba1(group) => group.layers,
            Self::Mamba2(group) => group.layers,
            Self::DeltaNet(group) => group.layers,
            Self::ShortConv(group) => group.layers,
        }
    }

    /// The number of layers, to change it.
    pub const fn layers_mut(&mut self) -> &mut u64 {
        match self {
            Self::Mamba1(group) => &mut group.layers,
            Self::Mamba2(group) => &mut group.layers,
            Self::DeltaNet(group) => &mut group.layers,
            Self::ShortConv(group) => &mut group.layers,
        }
    }

    /// The dimension that tensor parallelism divides, and its size.
    pub(crate) const fn split(&self) -> (&'static str, u64) {
        match self {
            Self::Mamba1(group) => ("the width of Mamba layers", group.inner),
            Self::Mamba2(group) => ("the heads of Mamba layers", group.n_heads),
            Self::DeltaNet(group) => ("the heads of linear attention", group.value_heads),
            Self::ShortConv(group) => ("the channels of the convolution", group.channels),
        }
    }

    /// Keeps the share of one of `ways` tensor-parallel devices. Groups of B and C, and heads of keys, are on at least one.
    pub(crate) fn shard(&mut self, ways: u64) {
        match self {
            Self::Mamba1(group) => group.inner /= ways,
            Self::Mamba2(group) => {
                group.n_heads /= ways;
                group.n_groups = (group.n_groups / ways).max(1);
            }
            Self::DeltaNet(group) => {
                group.value_heads /= ways;
                group.key_heads = (group.key_heads / ways).max(1);
            }
            Self::ShortConv(group) => group.channels /= ways,
        }
    }

    /// Width of the output before its projection: inputs of the output projection.
    pub const fn inner(&self) -> u64 {
        match self {
            Self::Mamba1(group) => group.inner,
            Self::Mamba2(group) => group.inner(),
            Self::DeltaNet(group) => group.values(),
            Self::ShortConv(group) => group.channels,
        }
    }

    /// Number of outputs of the input projection.
    ///
    /// ```text
    /// Mamba 1                 2 d_i                              x, gate
    /// Mamba 2                 d_i + C + n                        gate, x B C, time step
    /// gated delta net         2 keys + 2 values + 2 heads        q k v, gate, decay and correction
    /// Kimi delta attention    2 keys + values + heads            q k v, correction; and values: gate of full rank
    /// lightning attention     2 keys + 2 values                  q k v, gate
    /// short convolution       3 channels                         B, C, x
    /// ```
    pub const fn inputs(&self) -> u64 {
        match self {
            Self::Mamba1(group) => 2 * group.inner,
            Self::Mamba2(group) => group.inner() + group.channels() + group.n_heads,
            Self::DeltaNet(group) => match group.decay {
                Decay::PerHead => group.channels() + group.values() + 2 * group.value_heads,
                Decay::PerChannel { full_gate, .. } => {
                    let gate = if full_gate { group.values() } else { 0 };
                    group.channels() + group.value_heads + gate
                }
                Decay::Constant => group.channels() + group.values(),
            },
            Self::ShortConv(group) => 3 * group.channels,
        }
    }

    /// The further matrices of a layer, as (outputs, inputs) of a hidden size H.
    pub fn others(&self, hidden: u64) -> impl Iterator<Item = (u64, u64)> + use<> {
        let low_rank = |(inputs, rank, outputs): LowRank| [(rank, inputs), (outputs, rank)];
        let none = [(0, 0); 2];
        let [first, second] = match self {
            // From the inner width to time step, B and C; from the rank of the time step to the inner width.
            Self::Mamba1(group) => {
                let narrow = group.dt_rank + 2 * group.state;
                [[(narrow, group.inner), (group.inner, group.dt_rank)], none]
            }
            Self::DeltaNet(DeltaNet { decay: Decay::PerChannel { rank, full_gate }, .. }) => {
                let keys = self.keys_of_all_heads();
                let decay = match rank {
                    0 => [(keys, hidden), (0, 0)],
                    _ => low_rank((hidden, *rank, keys)),
                };
                let gate = low_rank((hidden, *rank, self.inner()));
                [decay, if *full_gate { none } else { gate }]
            }
            Self::DeltaNet(_) | Self::Mamba2(_) | Self::ShortConv(_) => [none, none],
        };
        first.into_iter().chain(second).filter(|(rows, _)| *rows > 0)
    }

    /// Number of channels of the keys over the heads that have a state.
    const fn keys_of_all_heads(&self) -> u64 {
        match self {
            Self::DeltaNet(group) => group.value_heads * group.key_dim,
            Self::Mamba1(_) | Self::Mamba2(_) | Self::ShortConv(_) => 0,
        }
    }

    /// Number of elements of the recurrent state per sequence and layer.
    pub const fn state_elements(&self) -> u64 {
        match self {
            Self::Mamba1(group) => group.inner * group.state,
            Self::Mamba2(group) => group.inner() * group.state,
            Self::DeltaNet(group) => group.matrix_state(),
            Self::ShortConv(_) => 0,
        }
    }

    /// Number of elements that the convolution keeps per sequence and layer: (f - 1) per channel.
    pub const fn conv_elements(&self) -> u64 {
        let (kernel, channels) = self.convolution();
        kernel.saturating_sub(1) * channels
    }

    /// Bytes of state and convolution per sequence and layer. Engines keep the state of a delta net in FP32, whatever the
    /// carrier, and that of Mamba where its file says so.
    pub fn state_bytes(&self, carrier: &QuantFormat) -> Bytes {
        let b_o = carrier.bytes_per_element();
        let is_wide = match self {
            Self::DeltaNet(_) => true,
            Self::Mamba1(group) => group.wide_state,
            Self::Mamba2(group) => group.wide_state,
            Self::ShortConv(_) => false,
        };
        let state = if is_wide { STATE_BYTES.max(b_o) } else { b_o };
        Bytes::new(self.state_elements() as f64 * state + self.conv_elements() as f64 * b_o)
    }

    /// Number of channels of the convolution; 0 without one.
    pub const fn conv_channels(&self) -> u64 {
        let (kernel, channels) = self.convolution();
        if kernel == 0 { 0 } else { channels }
    }

    /// Kernel length and number of channels of the convolution.
    const fn convolution(&self) -> (u64, u64) {
        match self {
            Self::Mamba1(group) => (group.conv_kernel, group.inner),
            Self::Mamba2(group) => (group.conv_kernel, group.channels()),
            Self::DeltaNet(group) => (group.conv_kernel, group.channels()),
            Self::ShortConv(group) => (group.conv_kernel, group.channels),
        }
    }

    /// Number of small parameters of a layer: the convolution with its bias, decays, skips and norms.
    pub(super) fn vector_params(&self, hidden: u64) -> u64 {
        let (kernel, channels) = self.convolution();
        let conv = |bias: bool| (kernel + u64::from(bias)) * channels;
        match self {
            Self::Mamba1(m) => {
                let norms = if m.norms { m.dt_rank + 2 * m.state } else { 0 };
                // The bias of the time step, A per state element and D per channel.
                conv(m.conv_bias) + m.inner + m.inner * m.state + m.inner + norms
            }
            Self::Mamba2(m) => {
                let norm = if m.gated_norm { m.inner() } else { 0 };
                conv(m.conv_bias) + 3 * m.n_heads + norm
            }
            Self::DeltaNet(d) => match d.decay {
                Decay::PerHead => conv(false) + 2 * d.value_heads + d.value_dim,
                Decay::PerChannel { .. } => {
                    conv(false) + d.value_heads + d.value_heads * d.key_dim + d.value_dim
                }
                Decay::Constant => d.values(),
            },
            Self::ShortConv(c) => conv(c.bias) + if c.bias { 3 * c.channels + hidden } else { 0 },
        }
    }

    /// FLOP per token of convolution and state update.
    ///
    /// ```text
    /// Mamba          5 d_i s + 2 f C         decay, input, output: 1 + 2 + 2 per state element
    /// delta rule     7 heads d_k d_v + 2 f C      decay 1, correction 2 + 2, output 2
    /// constant       5 heads d_k d_v              decay 1, input 2, output 2
    /// convolution    2 f C + 2 C                  two gates
    /// ```
    pub fn flops_per_token(&self) -> f64 {
        let (kernel, channels) = self.convolution();
        let conv = 2.0 * kernel as f64 * channels as f64;
        let state = self.state_elements() as f64;
        conv + match self {
            Self::Mamba1(_)
            | Self::Mamba2(_)
            | Self::DeltaNet(DeltaNet { decay: Decay::Constant, .. }) => 5.0 * state,
            Self::DeltaNet(_) => 7.0 * state,
            Self::ShortConv(group) => 2.0 * group.channels as f64,
        }
    }

    /// Number of elements per token that convolution and state update read and write: the outputs of the input projection, what
    /// the further matrices give, and the output.
    ///
    /// ```text
    /// Mamba 1                 + 2 d_i + 2 s        convolved x, which is written for them, time step, B and C
    /// Kimi delta attention    + keys + values      decay per channel over all heads; gate of low rank
    /// ```
    pub const fn streamed_per_token(&self) -> u64 {
        let further = match self {
            Self::Mamba1(group) => 2 * group.inner + 2 * group.state,
            Self::DeltaNet(group) => match group.decay {
                Decay::PerChannel { full_gate, .. } => {
                    let gate = if full_gate { 0 } else { group.values() };
                    self.keys_of_all_heads() + gate
                }
                Decay::PerHead | Decay::Constant => 0,
            },
            Self::Mamba2(_) | Self::ShortConv(_) => 0,
        };
        self.inputs() + further + self.inner()
    }
}
