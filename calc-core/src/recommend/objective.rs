//! The objective of a ranking, and the part of the work that counts.

use crate::workload::Workload;

/// The quantity that the ranking minimizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Expected time of the ranked part.
    Latency,
    /// Expected time per token over the batch; for a fixed workload, the same order as latency.
    Throughput,
    /// Energy per token over all devices.
    Energy,
    /// Memory needed on one device.
    Memory,
    /// Quality loss; among equal losses, the fastest.
    Quality,
}

impl Objective {
    /// All objectives with their keys in requests.
    pub const ALL: [(&'static str, Self); 5] = [
        ("latency", Self::Latency),
        ("throughput", Self::Throughput),
        ("energy", Self::Energy),
        ("memory", Self::Memory),
        ("quality", Self::Quality),
    ];

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Latency => "latency",
            Self::Throughput => "throughput",
            Self::Energy => "energy",
            Self::Memory => "memory",
            Self::Quality => "quality",
        }
    }
}

/// The part of the work whose time is ranked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankedPart {
    /// The prompt alone.
    Prefill,
    /// One token at the stated context.
    Decode,
    /// Prompt and all new tokens.
    Whole,
}

impl RankedPart {
    /// All parts with their keys in requests.
    pub const ALL: [(&'static str, Self); 3] =
        [("prefill", Self::Prefill), ("decode", Self::Decode), ("whole", Self::Whole)];

    /// The default part for a model: the whole request, prompt and all new tokens. A request for a single token does not state
    /// the length of the answer, so its default is one token at the stated context.
    pub const fn usual(workload: &Workload) -> Self {
        if workload.new_tokens > 1 { Self::Whole } else { Self::Decode }
    }

    /// Tokens that a sequence computes in the part: of the prompt in prefill, new ones otherwise.
    pub const fn tokens(self, workload: &Workload) -> u64 {
        match self {
            Self::Prefill => workload.prompt,
            Self::Decode => 1,
            Self::Whole => workload.new_tokens,
        }
    }

    /// The key in requests.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Prefill => "prefill",
            Self::Decode => "decode",
            Self::Whole => "whole",
        }
    }
}
