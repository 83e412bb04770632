//! The times, the energy and the memory of a scheme.

use crate::device::UsableMemory;
use crate::expected::Expected;
use crate::footprint::MemoryVerdict;
use crate::op::Traffic;
use crate::precision::Precision;
use crate::units::{Bytes, Joules, Seconds};

/// Work of one phase.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PhaseWork {
    /// What the user will see.
    pub expected: Expected,
    /// At the roof.
    pub ideal: Seconds,
    /// Part of the expected time that operators cost however small they are.
    pub floors: Seconds,
    /// Time that arithmetic needs at the peaks.
    pub compute: Seconds,
    /// Traffic by role.
    pub traffic: Traffic,
    /// Energy of one token over all devices, or of one matrix product; `None` when the power is unknown.
    pub energy: Option<Joules>,
}

/// What a scheme comes to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Outcome {
    /// Format of every role.
    pub precision: Precision,
    /// The prompt, or the shape with many rows.
    pub prefill: PhaseWork,
    /// One token, or the shape with few.
    pub decode: PhaseWork,
    /// Time to first token of one request, see [`Plan::first_token`]; the shape with many rows.
    pub ttft: Expected,
    /// First to last token; the shape itself.
    pub whole: Expected,
    /// Energy of one of all generated tokens.
    pub whole_energy: Option<Joules>,
    /// Memory of one device.
    pub memory: Bytes,
    /// What a model may use of it.
    pub usable: UsableMemory,
}

impl Outcome {
    /// Whether it fits.
    pub fn verdict(&self) -> MemoryVerdict {
        MemoryVerdict::of(self.memory, self.usable)
    }
}
