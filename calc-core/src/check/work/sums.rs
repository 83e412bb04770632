//! Sums over the steps of a claim.

use core::ops::Add;

use crate::estimate::EstimateRequest;
use crate::lowering::Step;
use crate::op::OpCost;
use crate::plan::{Plan, StepTotals};
use crate::roofline::KernelTime;
use crate::units::{Bytes, Seconds};

/// Sums over steps, which are interpolated between contexts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sums {
    pub(super) cost: OpCost,
    pub(super) time: KernelTime,
    pub(super) reached: KernelTime,
    pub(super) kernels: f64,
    pub(super) floors: Seconds,
    pub(super) there: Bytes,
}

impl Sums {
    fn of(totals: &StepTotals) -> Self {
        let StepTotals { cost, time, reached, kernels, floors, there, .. } = *totals;
        Self { cost, time, reached, kernels, floors, there }
    }

    fn of_step(plan: &Plan<'_>, step: Step) -> Self {
        Self::of(&plan.step(step))
    }

    fn times(&self, count: f64) -> Self {
        Self {
            cost: self.cost.times(count),
            time: self.time.times(count),
            reached: self.reached.times(count),
            kernels: self.kernels * count,
            floors: self.floors * count,
            there: self.there * count,
        }
    }

    /// Interpolates from these sums to others, by a share from 0 to 1.
    fn towards(&self, other: &Self, share: f64) -> Self {
        self.times(1.0 - share) + other.times(share)
    }

    fn is_near(&self, other: &Self) -> bool {
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
        near(self.cost.flops.get(), other.cost.flops.get())
            && near(self.cost.traffic.total().get(), other.cost.traffic.total().get())
    }
}

impl Add for Sums {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cost: self.cost.plus(&other.cost),
            time: self.time.plus(other.time),
            reached: self.reached.plus(other.reached),
            kernels: self.kernels + other.kernels,
            floors: self.floors + other.floors,
            there: self.there + other.there,
        }
    }
}

/// One token of each sequence at a context; with drafts, a round divided by its tokens.
pub(super) fn token_sums(
    plan: &Plan<'_>,
    draft: Option<&Plan<'_>>,
    request: &EstimateRequest<'_>,
    cached: u64,
) -> Sums {
    let batch = request.workload.batch;
    let Some(speculation) = request.workload.speculation else {
        return Sums::of_step(plan, Step::decode(batch, cached));
    };
    let n = speculation.draft_tokens;
    let verify = Step::verify(batch, n + 1, cached);
    let own = Sums::of_step(plan, verify);
    let drafts = draft.map(|draft| Sums::of_step(draft, Step::decode(batch, cached)));
    let round = drafts.map_or(own, |drafts| own + drafts.times(n as f64));
    round.times(1.0 / speculation.tokens_per_round())
}

/// The prompt and every token after the first, each at its own context.
pub(super) fn answer_sums(
    plan: &Plan<'_>,
    draft: Option<&Plan<'_>>,
    request: &EstimateRequest<'_>,
) -> Sums {
    let workload = &request.workload;
    let prompt = Sums::of(&plan.first_token());
    if workload.new_tokens == 1 {
        return prompt;
    }
    let at = |cached| token_sums(plan, draft, request, cached);
    let first = workload.filled();
    let last = first + workload.new_tokens - 2;
    prompt + series(first, last, (at(first), at(last)), &at)
}

/// The sum over all contexts from `first` to `last`, given the two ends.
///
/// Costs are linear in the context, with a smaller slope once a window is full. Where the middle lies on the line
/// between the ends, all values do; elsewhere the halves are summed separately.
fn series(first: u64, last: u64, (a, b): (Sums, Sums), at: &impl Fn(u64) -> Sums) -> Sums {
    let count = last - first + 1;
    if count == 1 {
        return a;
    }
    let middle = first + (last - first) / 2;
    let share = (middle - first) as f64 / (last - first) as f64;
    let found = at(middle);
    if count == 2 || found.is_near(&a.towards(&b, share)) {
        return (a + b).times(count as f64 / 2.0);
    }
    series(first, middle, (a, found), at) + series(middle + 1, last, (at(middle + 1), b), at)
}
