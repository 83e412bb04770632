//! The times, the energy and the memory of a scheme.

use crate::device::UsableMemory;
use crate::expected::Expected;
use crate::footprint::{HostMemory, MemoryVerdict};
use crate::lowering::Phase;
use crate::op::Traffic;
use crate::plan::{Limit, MeanToken};
use crate::precision::Precision;
use crate::tiers::Placement;
use crate::units::{Bytes, Joules, Seconds};

use super::objective::RankedPart;

/// Times, traffic and energy of one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseWork {
    pub expected: Expected,
    /// Ideal time at the roof.
    pub ideal: Seconds,
    /// Part of the expected time that operators cost independent of their size.
    pub floors: Seconds,
    /// Part of the expected time on the links between devices.
    pub links: Seconds,
    /// Part of the expected time on the host of a card.
    pub host: Seconds,
    /// The part that takes the largest share of the expected time.
    pub limit: Limit,
    /// Ideal time of the arithmetic.
    pub compute: Seconds,
    pub traffic: Traffic,
    /// Energy per token over all devices, or of one matrix multiplication; `None` if the power is unknown.
    pub energy: Option<Joules>,
}

/// Times, memory and energy of a task with a scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    pub precision: Precision,
    /// The prompt, or the shape with many rows.
    pub prefill: PhaseWork,
    /// One token at the stated context, or the shape with few rows.
    pub decode: PhaseWork,
    /// One token in the middle of the generation; of a single token and of a shape, `decode`.
    pub middle: PhaseWork,
    /// A token in the mean over the generation; of a single token and of a shape, `decode`.
    pub token: MeanToken,
    /// Time to first token of one request, see [`Plan::first_token`](crate::plan::Plan::first_token); for a shape, the time
    /// with many rows.
    pub ttft: Expected,
    /// Time from the request to its last token; for a shape, its own time.
    pub whole: Expected,
    /// Time of a batch whose requests start together: the prompts of all of them and their tokens. Throughput is ranked by it,
    /// because every request's prompt costs the device time.
    pub batch_whole: Expected,
    /// Energy per generated token of the whole request; `None` if the power is unknown.
    pub whole_energy: Option<Joules>,
    /// Memory needed on one device; with a host, on both together.
    pub memory: Bytes,
    /// Bytes on the host; `None` without one.
    pub host: Option<HostMemory>,
    /// Memory that a model may use on the device.
    pub usable: UsableMemory,
    /// Where the parts of the model lie; `None` without a host.
    pub placement: Option<Placement>,
}

impl Outcome {
    /// The phase that takes most of the ranked part.
    pub fn longer_phase(&self, part: RankedPart) -> Phase {
        match part {
            RankedPart::Prefill => Phase::Prefill,
            RankedPart::Whole if self.ttft.time * 2.0 > self.whole.time => Phase::Prefill,
            RankedPart::Whole | RankedPart::Decode => Phase::Decode,
        }
    }

    /// The step that stands for a phase of the ranked part.
    pub const fn step(&self, part: RankedPart, phase: Phase) -> &PhaseWork {
        match (phase, part) {
            (Phase::Prefill, _) => &self.prefill,
            (Phase::Decode, RankedPart::Whole) => &self.middle,
            (Phase::Decode, RankedPart::Prefill | RankedPart::Decode) => &self.decode,
        }
    }

    /// Time per output token that a bound limits: at the stated context, and in the mean over the generation.
    pub fn slowest_token(&self) -> Seconds {
        self.decode.expected.time.max(self.token.expected.time)
    }

    /// Memory needed on the device itself.
    pub fn on_card(&self) -> Bytes {
        self.memory - self.host.map_or(Bytes::ZERO, |host| host.in_memory())
    }

    /// Whether it fits.
    pub fn verdict(&self) -> MemoryVerdict {
        MemoryVerdict::of(self.memory, self.usable)
    }
}
