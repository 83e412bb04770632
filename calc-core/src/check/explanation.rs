//! What could explain a claim, with the numbers that make it so. How it is found is in `explain`.

use crate::calibration::Engine;
use crate::device::Device;
use crate::plan::Span;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::text::Text;
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Seconds, TokensPerSec, Watts};

/// A draft length, and what must be accepted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drafts {
    /// Tokens drafted per round.
    pub draft_tokens: u64,
    /// Least acceptance of a drafted token.
    pub acceptance: f64,
    /// Tokens per round at that acceptance.
    pub tokens_per_round: f64,
}

/// Something that could explain a claim, with the numbers that make it so.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The claim is inside the expected interval: there is nothing to explain.
    AsExpected,
    /// The model does not fit in this way, so something else was run, or part of it elsewhere.
    DoesNotFit {
        /// Memory that it needs.
        needs: Bytes,
        /// Memory that there is.
        usable: Bytes,
    },
    /// Other formats. For a claim above the roof the widest that allow it, otherwise those that are expected to take as long.
    Format {
        /// Format of what the work mostly reads.
        format: &'static QuantFormat,
        /// Activations, where they are quantized too.
        activations: Option<&'static QuantFormat>,
        /// Bits per element, or per weight of a file that mixes formats.
        bits: f64,
        /// Times with it.
        span: Span,
    },
    /// Speculative decoding.
    Drafts {
        /// The shortest drafts that do.
        shortest: Drafts,
        /// Those that need the least acceptance, where they are others.
        easiest: Option<Drafts>,
    },
    /// The rate is that of several users together.
    Batch {
        /// The smallest batch that reaches it.
        batch: u64,
        /// What that batch reaches.
        reaches: TokensPerSec,
        /// What one sequence less reaches.
        below: TokensPerSec,
    },
    /// The rate is that of one of several users.
    OneOf {
        /// The batch whose tokens are expected to take as long.
        batch: u64,
        /// Times of a token then.
        span: Span,
    },
    /// Another power mode.
    Mode {
        /// Its name; `None` for the device's own peaks.
        name: Option<Text>,
        /// Its power budget.
        budget: Option<Watts>,
        /// Times in it.
        span: Span,
    },
    /// A warm loop reads the L2 cache instead of the DRAM.
    Cache {
        /// Size of the cache.
        l2: Bytes,
        /// What stays in it.
        resident: Bytes,
        /// Lower bound on the time without that traffic.
        left: Seconds,
    },
    /// The prompt was in the cache, or not timed.
    Prompt {
        /// Times of the prompt.
        prompt: Span,
        /// Times without it.
        rest: Span,
    },
    /// The matmuls ran on other units.
    Units {
        /// The class that they ran on.
        class: ComputeClass,
        /// Its peak.
        peak: FlopsPerSec,
        /// Times on it.
        span: Span,
    },
    /// A CPU did it.
    Cpu {
        /// A CPU of the catalog that is expected to take as long.
        device: &'static Device,
        /// Times on it.
        span: Span,
    },
    /// Another engine did it.
    Engine {
        /// The engine that is expected to take as long.
        engine: Engine,
        /// Times with it.
        span: Span,
    },
    /// A part of the layers ran on a CPU.
    Offload {
        /// A CPU of the catalog.
        device: &'static Device,
        /// Share of the work that it did.
        share: f64,
        /// Times if it did all.
        span: Span,
    },
    /// Less bandwidth than expected: a lower memory clock, heat, or another program.
    Bandwidth {
        /// Bandwidth that is expected to be reached.
        expected: BytesPerSec,
        /// Bandwidth that would take as long.
        needed: BytesPerSec,
    },
    /// What an engine adds to every kernel.
    Overhead {
        /// Kernels.
        kernels: f64,
        /// What each is expected to cost however small it is.
        floor: Seconds,
        /// What each would have to cost.
        needed: Seconds,
    },
    /// A lower clock, of heat or of a power limit.
    Clock {
        /// The clock of the peaks.
        full: Hertz,
        /// The clock that would take as long.
        needed: Hertz,
    },
}
