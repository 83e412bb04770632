//! Explores one model on one device: all power modes, schemes, batches and prompts, of which those remain that no other one
//! beats in both of two criteria. A million points take about a second, so callers go device by device and can stop in between.

mod criterion;
mod point;

use alloc::vec::Vec;

use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, PowerMode};
use crate::error::{Error, real_in_range};
use crate::quality::QualityLoss;
use crate::recommend::{
    Axis, Bounds, Chooser, Objective, Outcome, RankedPart, RecommendRequest, Task,
};
use crate::roofline::Roofs;
use crate::schedule::budget;
use crate::scheme::Scheme;
use crate::units::Watts;

pub use criterion::{Costs, Criterion, beats, front};

use point::Points;

/// The inputs of an exploration.
#[derive(Debug, Clone, Copy)]
pub struct ExploreRequest<'a> {
    /// The model with its workload; its device is ignored, its batch and prompt are those of the lists.
    pub task: Task<'a>,
    /// The power modes to try.
    pub modes: Modes,
    pub bounds: Bounds,
    /// Largest allowed power budget of a mode; a device whose power is not published is left out.
    pub power_cap: Option<Watts>,
    pub criteria: [Criterion; 2],
    /// Batches to try, in ascending order.
    pub batches: &'a [u64],
    /// Prompts to try, in ascending order; a context that ends with the prompt moves with it. Those beyond the model's longest
    /// context are left out.
    pub prompts: &'a [u64],
}

/// The power modes of a device that are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Modes {
    /// The device's own peaks and every mode with known clocks.
    All,
    /// The one of the task.
    OfTask,
}

/// A point that no other one of the same device beats.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploredPoint<'d> {
    /// `None` for the device's own peaks.
    pub mode: Option<&'d PowerMode>,
    pub scheme: &'static Scheme,
    pub batch: u64,
    pub prompt: u64,
    pub quality: QualityLoss,
    /// Times, memory and energy, equal to those that `recommend` gives for this workload.
    pub outcome: Outcome,
    /// By the two criteria of the request.
    pub costs: Costs,
}

/// The results for one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored<'d> {
    /// Points that no other one beats in both criteria.
    pub front: Vec<ExploredPoint<'d>>,
    /// Number of points compared.
    pub points: u64,
}

/// A point by its place in the grid, before its outcome is computed in full.
#[derive(Debug, Clone, Copy)]
struct Candidate<'d> {
    mode: Option<&'d PowerMode>,
    scheme: &'static Scheme,
    batch: u64,
    prompt: u64,
    costs: Costs,
}

/// Compares all combinations on one device. A device that refuses the task, for example for an unknown link, has no results,
/// nor has one that lacks a fact that a criterion needs.
///
/// # Errors
/// A bound or a cap out of range; a task that is not a model.
pub fn explore<'d>(
    request: &ExploreRequest<'d>,
    device: &'d Device,
) -> Result<Explored<'d>, Error> {
    let Task::Model(_) = request.task else {
        return Err(Error::Conflict { first: "explore", second: "model", needs: true });
    };
    if let Some(cap) = request.power_cap {
        real_in_range("power_cap_w", cap.get(), 1e-3, 1e9)?;
    }
    let most = request.task.on(device, None).most(Axis::Context);
    let prompts = &request.prompts[..request.prompts.partition_point(|prompt| *prompt <= most)];
    let mut found: Vec<Candidate<'d>> = Vec::new();
    let mut points = 0;
    for mode in modes(request, device) {
        let chooser = chooser(request, device, mode)?;
        for scheme in SCHEMES {
            if chooser.allows(scheme)
                && let Some(search) = Points::new(&chooser, request, scheme)
            {
                points += search.improve(mode, prompts, &mut found);
            }
        }
    }
    let mut front = Vec::with_capacity(found.len());
    for candidate in &found {
        let chooser = chooser(request, device, candidate.mode)?;
        front.extend(whole(request, &chooser, candidate));
    }
    Ok(Explored { front, points })
}

fn modes<'d>(
    request: &ExploreRequest<'d>,
    device: &'d Device,
) -> impl Iterator<Item = Option<&'d PowerMode>> {
    let is_all = request.modes == Modes::All;
    let own = if is_all { None } else { request.task.mode() };
    let others = device.power_modes.iter().filter(move |_| is_all).map(Some);
    let cap = request.power_cap;
    let known = move |mode: Option<&PowerMode>| {
        let within = |cap: Watts| budget(device, mode).is_some_and(|budget| budget <= cap);
        Roofs::new(device, mode).is_ok() && cap.is_none_or(within)
    };
    core::iter::once(own).chain(others).filter(move |mode| known(*mode))
}

fn chooser<'d>(
    request: &ExploreRequest<'d>,
    device: &'d Device,
    mode: Option<&'d PowerMode>,
) -> Result<Chooser<'d>, Error> {
    Chooser::new(&RecommendRequest {
        task: request.task.on(device, mode),
        objective: Objective::Latency,
        part: RankedPart::Decode,
        bounds: request.bounds,
    })
}

/// The candidate with the outcome of the adviser; `None` if that does not meet a bound by a rounding error.
fn whole<'d>(
    request: &ExploreRequest<'d>,
    chooser: &Chooser<'d>,
    candidate: &Candidate<'d>,
) -> Option<ExploredPoint<'d>> {
    let Candidate { mode, scheme, batch, prompt, .. } = *candidate;
    let task = chooser.task().at(Axis::Batch, batch).at(Axis::Prompt, prompt);
    let outcome = chooser.admit(&task, scheme).ok()?;
    let quality = chooser.quality(scheme);
    let cost = |criterion: Criterion| criterion.cost(batch, &outcome, &quality);
    let [first, second] = request.criteria.map(cost);
    Some(ExploredPoint { mode, scheme, batch, prompt, quality, outcome, costs: [first?, second?] })
}

/// Keeps a candidate and drops those that it beats.
fn keep<'d>(found: &mut Vec<Candidate<'d>>, new: Candidate<'d>) {
    found.retain(|other| !beats(&new.costs, &other.costs));
    found.push(new);
}

#[cfg(test)]
mod tests;
