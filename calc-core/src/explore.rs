//! Explores one model on all devices, power modes, schemes, batches and contexts: the best of each device at each context.
//! A million points take about a second, so callers go device by device and can stop in between.

use alloc::vec::Vec;

use crate::catalog::schemes::SCHEMES;
use crate::device::{Device, PowerMode};
use crate::error::Error;
use crate::footprint::MemoryVerdict;
use crate::plan::Plan;
use crate::recommend::{Bounds, Chooser, Objective, RankedPart, RecommendRequest, Task};
use crate::roofline::Roofs;
use crate::scheme::Scheme;
use crate::units::{Bytes, Seconds, TokensPerSec};

/// The inputs of an exploration.
#[derive(Debug, Clone, Copy)]
pub struct ExploreRequest<'a> {
    /// The model with its prompt; its device, power mode, batch and context are ignored.
    pub task: Task<'a>,
    pub bounds: Bounds,
    /// Batches to try, in ascending order.
    pub batches: &'a [u64],
    /// Contexts to try, in ascending order: those of the decode step, and of the other sequences beside a prompt.
    pub contexts: &'a [u64],
}

/// The highest throughput of a device in a power mode at a context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Best<'d> {
    /// `None` for the device's own peaks.
    pub mode: Option<&'d PowerMode>,
    /// Number of cached tokens.
    pub context: u64,
    pub scheme: &'static Scheme,
    pub batch: u64,
    /// Expected time per token.
    pub tpot: Seconds,
    /// Memory needed on one device.
    pub memory: Bytes,
}

impl Best<'_> {
    /// Token rate over the batch.
    pub fn throughput(&self) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / self.tpot.get())
    }
}

/// The results for one device.
#[derive(Debug, Clone, PartialEq)]
pub struct Explored<'d> {
    /// One entry for each mode and context at which some scheme meets the bounds.
    pub best: Vec<Best<'d>>,
    /// Number of points evaluated.
    pub points: u64,
}

/// Evaluates all combinations on one device.
///
/// # Errors
/// A bound out of range; a task that is not a model. A device that refuses the task, for example for an unknown link,
/// has no results.
pub fn explore<'d>(
    request: &ExploreRequest<'_>,
    device: &'d Device,
) -> Result<Explored<'d>, Error> {
    let Task::Model(_) = request.task else {
        return Err(Error::Conflict { first: "explore", second: "model", needs: true });
    };
    let mut explored = Explored { best: Vec::new(), points: 0 };
    let known = |mode: &&PowerMode| Roofs::new(device, Some(mode)).is_ok();
    let modes = device.power_modes.iter().filter(known).map(Some);
    for mode in core::iter::once(None).chain(modes) {
        let chooser = Chooser::new(&RecommendRequest {
            task: request.task.on(device, mode),
            objective: Objective::Throughput,
            part: RankedPart::Decode,
            bounds: request.bounds,
        })?;
        for scheme in SCHEMES {
            if chooser.allows(scheme) {
                explored.points += improve(request, &chooser, (mode, scheme), &mut explored.best);
            }
        }
    }
    Ok(explored)
}

/// Improves the best of each context with one scheme; returns the number of points evaluated.
fn improve<'d>(
    request: &ExploreRequest<'_>,
    chooser: &Chooser<'_>,
    (mode, scheme): (Option<&'d PowerMode>, &'static Scheme),
    found: &mut Vec<Best<'d>>,
) -> u64 {
    let mut points = 0;
    for &batch in request.batches {
        let Some(estimate) = chooser.estimate_request(scheme, batch) else { continue };
        let Ok((plan, draft)) = Plan::new(estimate).and_then(|plan| {
            let draft = plan.draft()?;
            Ok((plan, draft))
        }) else {
            continue;
        };
        if plan.link_unknown() {
            continue;
        }
        let fixed = plan.footprint();
        for &context in in_time(request, &plan) {
            points += 1;
            let memory = fixed.total() - fixed.kv_caches() + plan.kv_caches_at(context);
            if !MemoryVerdict::of(memory, fixed.usable).may_fit() {
                continue;
            }
            let tpot = plan.token(draft.as_ref(), context).expected.time;
            let best = Best { mode, context, scheme, batch, tpot, memory };
            if request.bounds.tpot.is_none_or(|bound| tpot <= bound)
                && request.bounds.rate.is_none_or(|bound| best.throughput() >= bound)
            {
                keep(found, best);
            }
        }
    }
    points
}

/// The contexts at which the first token is in time; the longer the others' contexts, the later it is.
fn in_time<'a>(request: &ExploreRequest<'a>, plan: &Plan<'_>) -> &'a [u64] {
    let contexts = request.contexts;
    let Some(bound) = request.bounds.ttft else { return contexts };
    let is_in_time = |context: &u64| plan.first_token_beside(*context).expected.time <= bound;
    &contexts[..contexts.partition_point(is_in_time)]
}

/// Keeps the better of two results for the same mode and context.
fn keep<'d>(found: &mut Vec<Best<'d>>, new: Best<'d>) {
    let name = |best: &Best<'d>| best.mode.map(|mode| &*mode.name);
    let same = |best: &&mut Best<'d>| best.context == new.context && name(best) == name(&new);
    match found.iter_mut().find(same) {
        Some(best) if best.throughput() < new.throughput() => *best = new,
        Some(_) => {}
        None => found.push(new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::Calibration;
    use crate::catalog;
    use crate::estimate::EstimateRequest;
    use crate::precision::PrecisionChoice;
    use crate::recommend::{Axis, ModelTask, recommend};
    use crate::workload::Workload;

    fn llama_at_batch_1(device: &'static Device) -> Task<'static> {
        let model = catalog::model("llama-3.1-8b").expect("catalog key");
        Task::Model(ModelTask::new(
            EstimateRequest {
                device,
                mode: None,
                memory_limit: None,
                model: &model.arch,
                precision: PrecisionChoice::weights(&catalog::formats::FP16),
                workload: Workload::new(1, 512),
                weight_size: None,
                draft: None,
                engine: None,
                calibration: &Calibration::FITTED,
            },
            model.stored.choice(),
        ))
    }

    #[test]
    fn the_best_of_a_device_is_that_of_the_adviser_at_its_batch() {
        let device = catalog::device("jetson_orin_nano_8gb_super").expect("catalog key");
        let task = llama_at_batch_1(device);
        let bounds = Bounds::default();
        let request = ExploreRequest {
            task,
            bounds,
            batches: &[1, 2, 4, 8],
            contexts: &[1024, 4096, 65_536],
        };
        let found = explore(&request, device).expect("explored");
        let own: Vec<&Best<'_>> = found.best.iter().filter(|best| best.mode.is_none()).collect();
        let at = |context| own.iter().find(|best| best.context == context);
        assert_eq!(at(4096).map(|best| (best.batch, best.scheme.key)), Some((4, "gguf_q4_k")));
        assert_eq!(at(1024).map(|best| best.batch), Some(8));
        assert!(at(65_536).is_none(), "8.6 GB of cache do not fit");
        let mut workload = Workload::new(4, 512);
        workload.context = 4096;
        let Task::Model(mut model_task) = task else { unreachable!("a model") };
        model_task.request.workload = workload;
        let task = Task::Model(model_task);
        let (objective, part) = (Objective::Throughput, RankedPart::Decode);
        let answer =
            recommend(&RecommendRequest { task, objective, part, bounds }).expect("an answer");
        let first = &answer.ranked[0];
        assert_eq!(Some(first.scheme.key), at(4096).map(|best| best.scheme.key));
        let best = at(4096).expect("something fits");
        let tpot = first.outcome.decode.expected.time;
        assert!((best.tpot / tpot - 1.0).abs() < 1e-12, "{:?} and {tpot:?}", best.tpot);
        assert_eq!(Some(first.outcome.memory), at(4096).map(|best| best.memory));
    }

    /// The other sequences decode beside the prompt, each at the context of the point.
    #[test]
    fn bounds_on_the_first_token_and_the_rate_hold_at_each_context() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let task = llama_at_batch_1(device);
        let batches: &[u64] = &[1, 2, 4, 8, 16, 32, 64];
        let contexts: &[u64] = &[512, 4096, 16_384, 65_536];
        for bounds in [
            Bounds { ttft: Some(Seconds::new(0.025)), ..Bounds::default() },
            Bounds { rate: Some(TokensPerSec::new(1500.0)), ..Bounds::default() },
        ] {
            let found = explore(&ExploreRequest { task, bounds, batches, contexts }, device);
            let found = found.expect("explored").best;
            for &context in contexts {
                let rates = batches.iter().flat_map(|&batch| {
                    let task = task.at(Axis::Batch, batch).at(Axis::Context, context);
                    let (objective, part) = (Objective::Throughput, RankedPart::Decode);
                    let request = RecommendRequest { task, objective, part, bounds };
                    let ranked = recommend(&request).expect("an answer").ranked;
                    ranked
                        .into_iter()
                        .map(move |row| batch as f64 / row.outcome.decode.expected.time.get())
                });
                let best = rates.reduce(f64::max);
                let own = found.iter().find(|best| best.mode.is_none() && best.context == context);
                let own = own.map(|best| best.throughput().get());
                match (own, best) {
                    (None, None) => {}
                    (Some(own), Some(best)) => {
                        assert!((own / best - 1.0).abs() < 1e-12, "{context}: {own}, not {best}");
                    }
                    other => panic!("at {context} with {bounds:?}: {other:?}"),
                }
            }
        }
    }
}
