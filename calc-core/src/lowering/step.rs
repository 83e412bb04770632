//! One forward pass: its sequences and tokens, the cached tokens, and the sequences that decode beside a chunk of a prompt.

use crate::calibration::machine::Setting;

/// Phase of a step. The phases differ only in attention with latent keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(rename_all = "lowercase")
)]
pub enum Phase {
    /// The prompt is computed.
    Prefill,
    /// New tokens are generated, one or a few per sequence.
    Decode,
}

/// One forward pass through the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub phase: Phase,
    /// Number of sequences (B).
    pub batch: u64,
    /// New tokens per sequence (q).
    pub new: u64,
    /// Tokens already in the cache, per sequence (c).
    pub cached: u64,
    /// Sequences that decode a token in the same step, beside a chunk of a prompt.
    pub riders: Riders,
    /// Computes logits for the last new token of each sequence; false in a chunk that is not the last of its prompt.
    pub has_logits: bool,
}

/// Sequences that decode a token each while a chunk of a prompt is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Riders {
    /// Number of decoding sequences.
    pub sequences: u64,
    /// Tokens already in the cache, per sequence.
    pub cached: u64,
}

impl Riders {
    /// No sequence decodes beside the step.
    pub const NONE: Self = Self { sequences: 0, cached: 0 };
}

impl Step {
    /// The step that computes whole prompts at once.
    pub const fn prefill(batch: u64, prompt: u64) -> Self {
        let (phase, riders) = (Phase::Prefill, Riders::NONE);
        Self { phase, batch, new: prompt, cached: 0, riders, has_logits: true }
    }

    /// The step that decodes one token per sequence.
    pub const fn decode(batch: u64, cached: u64) -> Self {
        Self::verify(batch, 1, cached)
    }

    /// The step that computes a few tokens per sequence: the last one and drafts of the next.
    pub const fn verify(batch: u64, new: u64, cached: u64) -> Self {
        let (phase, riders) = (Phase::Decode, Riders::NONE);
        Self { phase, batch, new, cached, riders, has_logits: true }
    }

    /// Setting in which its kernels run. Drafted tokens of one sequence are verified side by side, like further sequences.
    pub const fn setting(&self) -> Setting {
        let prefill = matches!(self.phase, Phase::Prefill);
        let batch = if prefill { self.sequences() } else { self.tokens() };
        Setting::Step { batch: batch as f64, prefill }
    }

    /// Number of tokens in this step over the batch and its riders (T).
    pub const fn tokens(&self) -> u64 {
        self.own_tokens() + self.riders.sequences
    }

    /// Number of tokens without those of the riders.
    pub(super) const fn own_tokens(&self) -> u64 {
        self.batch * self.new
    }

    pub(super) const fn sequences(&self) -> u64 {
        self.batch + self.riders.sequences
    }

    /// Number of rows of the LM head.
    pub(crate) const fn logits(&self) -> u64 {
        if self.has_logits { self.sequences() } else { self.riders.sequences }
    }

    /// The riders as a step of their own.
    pub(super) const fn riding(&self) -> Option<Self> {
        match self.riders {
            Riders { sequences: 0, .. } => None,
            Riders { sequences, cached } => Some(Self::decode(sequences, cached)),
        }
    }
}
