//! Explanations of a claim, with their numbers. The search for them is in `explain`.

use crate::calibration::Engine;
use crate::device::Device;
use crate::plan::Span;
use crate::quant_format::{ComputeClass, QuantFormat};
use crate::text::Text;
use crate::units::{Bytes, BytesPerSec, FlopsPerSec, Hertz, Seconds, TokensPerSec, Watts};

/// A draft length and the acceptance it needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drafts {
    /// Number of tokens drafted per round.
    pub draft_tokens: u64,
    /// Lowest acceptance of a drafted token that explains the claim.
    pub acceptance: f64,
    /// Mean number of tokens per round at that acceptance.
    pub tokens_per_round: f64,
}

/// A possible explanation of a claim.
#[derive(Debug, Clone, PartialEq)]
pub enum Explanation {
    /// The claim is within the expected interval: there is nothing to explain.
    AsExpected,
    /// The model does not fit, so something else was run, or part of it elsewhere.
    DoesNotFit {
        /// Memory needed on one device.
        needs: Bytes,
        usable: Bytes,
    },
    /// Other formats. For a claim above the roof the widest of the tried ones that allow it, otherwise those whose expected time matches.
    Format {
        /// Format of most of the data that the work reads.
        format: &'static QuantFormat,
        /// Format of the activations, if they are quantized too.
        activations: Option<&'static QuantFormat>,
        /// Bits per element, or per weight of a file that mixes formats.
        bits: f64,
        /// Times in these formats.
        span: Span,
    },
    /// The claim was measured with speculative decoding.
    Drafts {
        /// The shortest draft length that explains the claim.
        shortest: Drafts,
        /// The draft length with the lowest acceptance, if it is another one.
        easiest: Option<Drafts>,
    },
    /// The rate is the total of several users.
    Batch {
        /// The smallest batch that reaches the rate.
        batch: u64,
        /// Rate of that batch.
        reaches: TokensPerSec,
        /// Rate of a batch with one sequence less.
        below: TokensPerSec,
    },
    /// The rate is that of one of several users.
    OneOf {
        /// The batch whose expected time per token matches the claim.
        batch: u64,
        /// Times per token at that batch.
        span: Span,
    },
    Mode {
        /// Name of the mode; `None` for the device's own peaks.
        name: Option<Text>,
        /// Power budget of the mode.
        budget: Option<Watts>,
        /// Times in that mode.
        span: Span,
    },
    /// A benchmark loop with a warm cache reads L2 instead of DRAM.
    Cache {
        /// Size of the cache.
        l2: Bytes,
        /// Bytes that stay in it.
        resident: Bytes,
        /// Lower bound on the time without the cached traffic.
        left: Seconds,
    },
    /// The prompt was cached, or was not timed.
    Prompt {
        /// Times of the prompt.
        prompt: Span,
        /// Times without the prompt.
        rest: Span,
    },
    /// The matmuls ran on other units.
    Units {
        /// The class they ran on.
        class: ComputeClass,
        /// Peak of that class.
        peak: FlopsPerSec,
        /// Times on that class.
        span: Span,
    },
    /// The work ran on a CPU.
    Cpu {
        /// A CPU of the catalog whose expected time matches.
        device: &'static Device,
        /// Times on that CPU.
        span: Span,
    },
    /// The work ran with another engine.
    Engine {
        /// The engine whose expected time matches.
        engine: Engine,
        /// Times with that engine.
        span: Span,
    },
    /// Some of the layers ran on a CPU.
    Offload {
        /// A CPU of the catalog.
        device: &'static Device,
        /// Share of the work that it did.
        share: f64,
        /// Times of the whole work on it.
        span: Span,
    },
    /// Less bandwidth than expected: a lower memory clock, throttling, or another program.
    Bandwidth {
        /// Expected sustained bandwidth.
        expected: BytesPerSec,
        /// Bandwidth that matches the claim.
        needed: BytesPerSec,
    },
    /// Overhead of an engine per kernel.
    Overhead {
        /// Number of kernels in the work.
        kernels: f64,
        /// Expected fixed time per kernel.
        floor: Seconds,
        /// Fixed time per kernel that matches the claim.
        needed: Seconds,
    },
    /// A lower clock, because of heat or a power limit.
    Clock {
        /// The clock at which the peaks are stated.
        full: Hertz,
        /// The clock that matches the claim.
        needed: Hertz,
    },
}
