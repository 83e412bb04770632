//! The objective of a ranking, and the part of the work that counts.

use crate::workload::Workload;

/// What the ranking is by. Less is better in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Objective {
    /// Expected time.
    Latency,
    /// Expected time per token over the batch; at a given workload the same order as latency.
    Throughput,
    /// Energy per token.
    Energy,
    /// Memory.
    Memory,
    /// Loss of quality; of equal ones the fastest.
    Quality,
}

impl Objective {
    /// All, with the keys of requests.
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

/// Which part of the work counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankedPart {
    /// The prompt.
    Prefill,
    /// One token at the stated context.
    Decode,
    /// Both, over all new tokens.
    Whole,
}

impl RankedPart {
    /// All, with the keys of requests.
    pub const ALL: [(&'static str, Self); 3] =
        [("prefill", Self::Prefill), ("decode", Self::Decode), ("whole", Self::Whole)];

    /// The part that counts for a model when nobody says: the whole request, prompt and all new tokens. A request for a
    /// single token says nothing about the length of the answer, so the token at the stated context counts.
    pub const fn usual(workload: &Workload) -> Self {
        if workload.new_tokens > 1 { Self::Whole } else { Self::Decode }
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
