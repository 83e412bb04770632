//! Sums over operators and over steps.

use crate::calibration::Factors;
use crate::expected::Expected;
use crate::op::{OpCost, Traffic};
use crate::roofline::{Bound, KernelTime};
use crate::units::{Bytes, Flops, Seconds};

/// The part that takes the largest share of an expected time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// DRAM traffic.
    Memory,
    /// Arithmetic.
    Compute,
    /// Fixed times of operators and of the step, independent of their size.
    Launch,
    /// The links between devices.
    Links,
    /// The host of a card: its operators, and copies of its weights.
    Host,
}

impl Limit {
    /// The largest of the fixed times, the links, the host and what is left of `expected`, which is the work of the device. That
    /// work waits for memory or arithmetic, whichever takes longer at the shares of the roofs that kernels reach.
    pub(crate) fn of(expected: Seconds, apart: [(Self, Seconds); 3], reached: Bound) -> Self {
        let work = match reached {
            Bound::Memory => Self::Memory,
            Bound::Compute => Self::Compute,
        };
        let left = apart.iter().fold(expected, |left, (_, time)| left - *time);
        apart
            .into_iter()
            .fold((work, left), |best, next| if next.1 > best.1 { next } else { best })
            .0
    }

    /// Key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Compute => "compute",
            Self::Launch => "launch",
            Self::Links => "links",
            Self::Host => "host",
        }
    }
}

/// The resource that limits work, of the device, of its host or between devices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resource {
    /// DRAM of the device.
    Memory,
    /// Arithmetic of the device.
    Compute,
    /// The host computes, and its memory is slower than its processor.
    HostMemory,
    /// The host computes, and its processor is slower than its memory.
    HostCompute,
    /// Weights are copied from the host to the card.
    HostLink,
    /// Weights are read from the SSD of the host.
    HostSsd,
    /// Fixed times of operators and of the step.
    Launch,
    /// The links between devices.
    Links,
}

/// Sums over the operators of a step, or over steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct StepTotals {
    /// Total work and traffic.
    pub cost: OpCost,
    /// Sums of the operators' memory times and compute times.
    pub time: KernelTime,
    /// Sums of the operators' memory times and compute times at the shares of the peaks that kernels reach.
    pub reached: KernelTime,
    /// Sum of the operators' ideal times: they run one after another.
    pub ideal: Seconds,
    /// Sum of the operators' expected times.
    pub expected: Expected,
    /// Part of `expected` that each operator costs even without work.
    pub floors: Seconds,
    /// Part of `expected` on the links between devices.
    pub links: Seconds,
    /// Part of `expected` on the host: its operators, and copies of its weights.
    pub host: Seconds,
    /// Part of `host` in which weights are copied to the card.
    pub copied: Seconds,
    /// Part of `host` in which weights are read from the SSD.
    pub from_ssd: Seconds,
    /// Traffic of the operators that the host computes.
    pub there: Bytes,
    /// Number of kernels: operator instances that move bytes.
    pub kernels: f64,
}

impl StepTotals {
    pub(super) fn nothing() -> Self {
        Self {
            cost: OpCost::default(),
            time: KernelTime::ZERO,
            reached: KernelTime::ZERO,
            ideal: Seconds::ZERO,
            expected: Expected::ZERO,
            floors: Seconds::ZERO,
            links: Seconds::ZERO,
            host: Seconds::ZERO,
            copied: Seconds::ZERO,
            from_ssd: Seconds::ZERO,
            there: Bytes::ZERO,
            kernels: 0.0,
        }
    }

    /// A time in which nothing is computed or moved.
    pub(super) fn outside_kernels(expected: Expected) -> Self {
        Self { expected, floors: expected.time, ..Self::nothing() }
    }

    /// The time that devices exchange data.
    pub(super) fn on_links(expected: Expected) -> Self {
        Self { expected, links: expected.time, ..Self::nothing() }
    }

    pub(super) fn add(&mut self, op: &OpTimes, count: f64) {
        self.cost = self.cost.plus(&op.cost.times(count));
        self.time = self.time.plus(op.time.times(count));
        self.reached = self.reached.plus(op.reached.times(count));
        self.ideal += op.time.ideal() * count;
        self.expected = self.expected.then(op.expected.times(count));
        self.floors += op.floor * count;
        self.host += op.host.time * count;
        self.copied += op.host.copied * count;
        self.from_ssd += op.host.from_ssd * count;
        if op.busy == Seconds::ZERO {
            self.there += op.cost.traffic.total() * count;
        }
        if op.cost.traffic.total() > Bytes::ZERO {
            self.kernels += count;
        }
    }

    /// The sum of two parts that run one after the other.
    #[must_use]
    pub(crate) fn then(self, next: &Self) -> Self {
        Self {
            cost: self.cost.plus(&next.cost),
            time: self.time.plus(next.time),
            reached: self.reached.plus(next.reached),
            ideal: self.ideal + next.ideal,
            expected: self.expected.then(next.expected),
            floors: self.floors + next.floors,
            links: self.links + next.links,
            host: self.host + next.host,
            copied: self.copied + next.copied,
            from_ssd: self.from_ssd + next.from_ssd,
            there: self.there + next.there,
            kernels: self.kernels + next.kernels,
        }
    }

    /// The totals of `count` repetitions.
    #[must_use]
    pub(crate) fn times(&self, count: f64) -> Self {
        Self {
            cost: self.cost.times(count),
            time: self.time.times(count),
            reached: self.reached.times(count),
            ideal: self.ideal * count,
            expected: self.expected.times(count),
            floors: self.floors * count,
            links: self.links * count,
            host: self.host * count,
            copied: self.copied * count,
            from_ssd: self.from_ssd * count,
            there: self.there * count,
            kernels: self.kernels * count,
        }
    }

    /// The part that takes the largest share of the expected time.
    pub fn limit(&self) -> Limit {
        let apart =
            [(Limit::Links, self.links), (Limit::Host, self.host), (Limit::Launch, self.floors)];
        Limit::of(self.expected.time, apart, self.reached.bound())
    }

    /// The resource behind a bound of these sums: one of the host where the host takes the largest share of the expected time.
    pub fn resource(&self, bound: Bound) -> Resource {
        let computed = self.host - self.copied - self.from_ssd;
        let is_of_host = self.limit() == Limit::Host;
        match bound {
            _ if is_of_host && self.from_ssd > self.copied.max(computed) => Resource::HostSsd,
            Bound::Memory if is_of_host && self.copied > computed => Resource::HostLink,
            Bound::Memory if is_of_host => Resource::HostMemory,
            Bound::Memory => Resource::Memory,
            Bound::Compute if is_of_host && self.copied <= computed => Resource::HostCompute,
            Bound::Compute => Resource::Compute,
        }
    }

    /// The resource that takes the largest share of the expected time.
    pub fn expected_resource(&self) -> Resource {
        match self.limit() {
            Limit::Launch => Resource::Launch,
            Limit::Links => Resource::Links,
            Limit::Memory | Limit::Compute | Limit::Host => self.resource(self.reached.bound()),
        }
    }

    /// The ideal and expected times alone.
    pub const fn span(&self) -> Span {
        Span { ideal: self.ideal, expected: self.expected }
    }
}

/// A time at the roof and as expected.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Span {
    /// Lower bound at the roof.
    pub ideal: Seconds,
    /// Time expected in practice, with its interval.
    pub expected: Expected,
}

impl Span {
    /// No time, ideal or expected.
    pub const ZERO: Self = Self { ideal: Seconds::ZERO, expected: Expected::ZERO };

    /// The sum of two spans that run one after the other.
    #[must_use]
    pub fn then(self, next: Self) -> Self {
        Self { ideal: self.ideal + next.ideal, expected: self.expected.then(next.expected) }
    }

    /// The span of `count` repetitions.
    #[must_use]
    pub fn times(self, count: f64) -> Self {
        Self { ideal: self.ideal * count, expected: self.expected.times(count) }
    }
}

/// Parts of an expected time on the host.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostTime {
    /// All of them.
    pub(super) time: Seconds,
    /// Weights are copied to the card.
    pub(super) copied: Seconds,
    /// Weights are read from the SSD.
    pub(super) from_ssd: Seconds,
}

impl HostTime {
    /// The card alone.
    pub(super) const NONE: Self =
        Self { time: Seconds::ZERO, copied: Seconds::ZERO, from_ssd: Seconds::ZERO };
}

/// The times of one operator instance.
#[derive(Debug, Clone, Copy)]
pub(super) struct OpTimes {
    pub(super) cost: OpCost,
    pub(super) time: KernelTime,
    /// Memory time and compute time at the shares of the peaks that kernels reach.
    pub(super) reached: KernelTime,
    pub(super) expected: Expected,
    pub(super) floor: Seconds,
    pub(super) host: HostTime,
    /// Ideal time of the device; none where the host computes.
    pub(super) busy: Seconds,
    pub(super) factors: Factors,
    pub(super) unlike: Unlike,
}

/// Factors that make the bytes and the FLOP of another card those that the plan's own device would move and compute in the same
/// ideal time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unlike {
    pub(super) bytes: f64,
    pub(super) flops: f64,
}

impl Unlike {
    /// The own device.
    pub(super) const OWN: Self = Self { bytes: 1.0, flops: 1.0 };
}

impl OpTimes {
    /// Bytes of weights and KV cache that the device reads.
    pub(super) fn streamed(&self) -> Bytes {
        let Traffic { weights, kv_cache, .. } = self.cost.traffic;
        if self.busy > Seconds::ZERO {
            (weights + kv_cache) * self.unlike.bytes
        } else {
            Bytes::ZERO
        }
    }

    /// Work of the device.
    pub(super) fn computed(&self) -> Flops {
        if self.busy > Seconds::ZERO { self.cost.flops * self.unlike.flops } else { Flops::ZERO }
    }
}
