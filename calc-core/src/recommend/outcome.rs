//! The times, the energy and the memory of a scheme.

use crate::device::UsableMemory;
use crate::expected::Expected;
use crate::footprint::MemoryVerdict;
use crate::op::Traffic;
use crate::precision::Precision;
use crate::units::{Bytes, Joules, Seconds};

/// Times, traffic and energy of one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseWork {
    pub expected: Expected,
    /// Ideal time at the roof.
    pub ideal: Seconds,
    /// Part of the expected time that operators cost independent of their size.
    pub floors: Seconds,
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
    /// One token, or the shape with few rows.
    pub decode: PhaseWork,
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
    /// Memory needed on one device.
    pub memory: Bytes,
    /// Memory that a model may use on the device.
    pub usable: UsableMemory,
}

impl Outcome {
    /// Whether it fits.
    pub fn verdict(&self) -> MemoryVerdict {
        MemoryVerdict::of(self.memory, self.usable)
    }
}
