//! The reversed questions: the largest batch or context that a scheme allows, the devices that meet a goal, and the quality
//! cost of less memory.

use alloc::vec::Vec;

use super::{Axis, Chooser, Drop, Outcome, RecommendRequest};
use crate::catalog;
use crate::device::Device;
use crate::error::Error;
use crate::order::sort_short;
use crate::quality::QualityLoss;
use crate::scheme::Scheme;
use crate::units::{Bytes, Seconds};

/// Room for growth of a workload with a scheme within memory and bounds; `None` if not even the smallest value fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Largest batch at the stated context.
    pub batch: Option<Largest>,
    /// Largest context at the stated batch.
    pub context: Option<Largest>,
}

/// The largest value of an axis, and the limit that is reached there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Largest {
    pub value: u64,
    /// The limit that the next value violates.
    pub end: End,
}

/// The limit on the growth of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The memory is full.
    Memory,
    /// A bound on time would be violated.
    Time,
    /// The model supports no longer context.
    Model,
    /// The largest value of the search.
    Range,
}

impl End {
    /// The key in JSON.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Model => "model",
            Self::Range => "range",
        }
    }

    /// The limit behind a dropped value.
    const fn of(drop: &Drop) -> Self {
        match drop {
            Drop::Memory { .. } => Self::Memory,
            Drop::Tpot { .. } | Drop::Ttft { .. } | Drop::Rate { .. } => Self::Time,
            Drop::Kernel(_)
            | Drop::Split(..)
            | Drop::Cache(..)
            | Drop::Source(_)
            | Drop::Shape(_)
            | Drop::Quality { .. }
            | Drop::Refused(_) => Self::Range,
        }
    }
}

/// Room for growth of the request's workload with a scheme.
///
/// Memory and times grow with batch and context, so the largest value is found by doubling and bisection.
///
/// # Errors
/// The errors of [`super::recommend`].
pub fn room(request: &RecommendRequest<'_>, scheme: &'static Scheme) -> Result<Room, Error> {
    let chooser = Chooser::new(request)?;
    let refusal = |axis: Axis, value: u64| {
        let task = request.task.at(axis, value);
        match axis {
            Axis::Batch | Axis::Rows => chooser.limits_of_batch(&task, scheme),
            Axis::Prompt | Axis::Text | Axis::Context => chooser.limits(&task, scheme),
        }
    };
    let grow = |axis: Axis| {
        let most = request.task.most(axis);
        let value = largest(most, |value| refusal(axis, value).is_none())?;
        let end = match refusal(axis, value + 1) {
            _ if value == most && most < axis.most() => End::Model,
            Some(drop) => End::of(&drop),
            None => End::Range,
        };
        Some(Largest { value, end })
    };
    Ok(Room { batch: grow(Axis::Batch), context: grow(Axis::Context) })
}

/// The largest value from 1 to `most` that holds, provided that all smaller values hold too.
pub(crate) fn largest(most: u64, holds: impl Fn(u64) -> bool) -> Option<u64> {
    if !holds(1) {
        return None;
    }
    let mut good = 1;
    while good < most && holds((good * 2).min(most)) {
        good = (good * 2).min(most);
    }
    let mut bad = (good * 2).min(most + 1);
    while bad > good && bad - good > 1 {
        let middle = good + (bad - good) / 2;
        if holds(middle) {
            good = middle;
        } else {
            bad = middle;
        }
    }
    Some(good)
}

/// A scheme that no other scheme beats in both memory and quality.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemoryStep {
    pub scheme: &'static Scheme,
    /// Memory needed on one device.
    pub memory: Bytes,
    pub quality: QualityLoss,
    /// Expected time per token at the stated context.
    pub tpot: Seconds,
    /// Expected time per token in the mean over the generation.
    pub mean_tpot: Seconds,
}

/// The quality cost of a memory limit: from the best quality down, each scheme that needs less memory than all better ones.
/// Bounds on quality and memory are ignored; kernels and shapes are checked.
///
/// # Errors
/// The errors of [`super::recommend`].
pub fn memory_steps(request: &RecommendRequest<'_>) -> Result<Vec<MemoryStep>, Error> {
    let chooser = Chooser::new(request)?;
    let mut steps: Vec<MemoryStep> = Vec::new();
    for scheme in chooser.candidates() {
        if !chooser.takes(scheme) {
            continue;
        }
        let Ok(outcome) = request.task.run(&chooser.roofs, scheme) else { continue };
        steps.push(MemoryStep {
            scheme,
            memory: outcome.memory,
            quality: chooser.quality(scheme),
            tpot: outcome.decode.expected.time,
            mean_tpot: outcome.token.expected.time,
        });
    }
    sort_short(&mut steps, |a, b| (a.quality.high, a.memory) < (b.quality.high, b.memory));
    let mut smallest = f64::INFINITY;
    steps.retain(|step| {
        let smaller = step.memory.get() < smallest;
        smallest = smallest.min(step.memory.get());
        smaller
    });
    Ok(steps)
}

/// A device that meets the bounds, with its first-ranked scheme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceChoice {
    pub device: &'static Device,
    pub scheme: &'static Scheme,
    pub outcome: Outcome,
}

/// All catalog devices on which some scheme meets the bounds, smallest first: by memory, then by power, then by
/// bandwidth. Devices run at their own peaks. Devices that refuse the task, for example for an unknown link, are left out.
pub fn devices(request: &RecommendRequest<'_>) -> Vec<DeviceChoice> {
    let mut found: Vec<DeviceChoice> = catalog::devices::all()
        .filter_map(|device| {
            let task = request.task.on(device, None);
            let chooser = Chooser::new(&RecommendRequest { task, ..*request }).ok()?;
            let scheme = chooser.winner(&task, &chooser.allowed())?;
            let outcome = task.run(&chooser.roofs, scheme).ok()?;
            Some(DeviceChoice { device, scheme, outcome })
        })
        .collect();
    let key = |choice: &DeviceChoice| {
        let power = choice.device.tdp.map_or(f64::INFINITY, |tdp| tdp.value.get());
        (choice.device.memory.value, power, choice.device.bandwidth.value)
    };
    sort_short(&mut found, |a, b| key(a) < key(b));
    found
}

#[cfg(test)]
mod tests {
    use super::largest;

    #[test]
    fn the_largest_value_that_holds_is_found() {
        for (most, limit) in [(1, 1), (10, 10), (10, 7), (1000, 1), (1000, 999), (1 << 40, 1 << 39)]
        {
            assert_eq!(largest(most, |value| value <= limit), Some(limit), "{most} {limit}");
        }
        assert_eq!(largest(10, |_| false), None);
        assert_eq!(largest(10, |_| true), Some(10));
    }
}
