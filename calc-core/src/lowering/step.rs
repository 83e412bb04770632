//! One pass through the model: how many sequences and tokens, what is cached, and who decodes beside a chunk of a prompt.

use crate::calibration::machine::Setting;

/// Which of the two phases a step belongs to. They differ in attention with latent keys only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Phase {
    /// The prompt.
    Prefill,
    /// New tokens, one or a few at a time.
    Decode,
}

/// One pass through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Phase.
    pub phase: Phase,
    /// Sequences (B).
    pub batch: u64,
    /// New tokens per sequence (q).
    pub new: u64,
    /// Tokens already in the cache, per sequence (c).
    pub cached: u64,
    /// Sequences that decode a token in the same step, beside a chunk of a prompt.
    pub riders: Riders,
    /// Logits are computed for the last new token of each sequence: not in a chunk that ends before its prompt does.
    pub has_logits: bool,
}

/// Sequences that decode a token each while a chunk of a prompt is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Riders {
    /// Sequences.
    pub sequences: u64,
    /// Tokens already in the cache of each.
    pub cached: u64,
}

impl Riders {
    /// The step is alone.
    pub const NONE: Self = Self { sequences: 0, cached: 0 };
}

impl Step {
    /// The whole prompt at once.
    pub const fn prefill(batch: u64, prompt: u64) -> Self {
        let (phase, riders) = (Phase::Prefill, Riders::NONE);
        Self { phase, batch, new: prompt, cached: 0, riders, has_logits: true }
    }

    /// One token per sequence.
    pub const fn decode(batch: u64, cached: u64) -> Self {
        Self::verify(batch, 1, cached)
    }

    /// A few tokens per sequence: the last one, and drafts of the next.
    pub const fn verify(batch: u64, new: u64, cached: u64) -> Self {
        let (phase, riders) = (Phase::Decode, Riders::NONE);
        Self { phase, batch, new, cached, riders, has_logits: true }
    }

    /// How its kernels run. Drafted tokens of one sequence are verified side by side, as further sequences would be.
    pub const fn setting(&self) -> Setting {
        let prefill = matches!(self.phase, Phase::Prefill);
        let batch = if prefill { self.sequences() } else { self.tokens() };
        Setting::Step { batch: batch as f64, prefill }
    }

    /// Tokens in this step over the batch and its riders (T).
    pub const fn tokens(&self) -> u64 {
        self.own_tokens() + self.riders.sequences
    }

    /// Tokens without those of the riders.
    pub(super) const fn own_tokens(&self) -> u64 {
        self.batch * self.new
    }

    pub(super) const fn sequences(&self) -> u64 {
        self.batch + self.riders.sequences
    }

    /// Rows of the LM head.
    pub(crate) const fn logits(&self) -> u64 {
        if self.has_logits { self.sequences() } else { self.riders.sequences }
    }

    /// The step that the riders would be alone.
    pub(super) const fn riding(&self) -> Option<Self> {
        match self.riders {
            Riders { sequences: 0, .. } => None,
            Riders { sequences, cached } => Some(Self::decode(sequences, cached)),
        }
    }
}
