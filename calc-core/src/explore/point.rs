//! The points of one scheme on a device in a power mode. Each is computed only as far as it can still be better than those
//! that were found: its memory, then a lower bound on its times, then the times.

use alloc::vec::Vec;

use super::criterion::at_most;
use super::{Candidate, Costs, Criterion, ExploreRequest, keep};
use crate::device::PowerMode;
use crate::footprint::MemoryVerdict;
use crate::plan::{Plan, Span};
use crate::recommend::{Chooser, Task};
use crate::scheme::Scheme;
use crate::units::{Bytes, Seconds};
use crate::workload::Workload;

/// A scheme with what does not change from point to point.
pub(super) struct Points<'r, 'a> {
    request: &'r ExploreRequest<'a>,
    scheme: &'static Scheme,
    workload: Workload,
    plan: Plan<'a>,
    draft: Option<Plan<'a>>,
    /// Larger end of the quality loss [%].
    loss: f64,
}

/// The values of a point by which it is compared, or lower bounds of them.
struct Values {
    memory: Bytes,
    /// Time from the request to its last token.
    whole: Seconds,
    /// A token in the mean over the generation.
    token: Span,
}

impl<'r, 'a> Points<'r, 'a> {
    /// `None` if the device refuses the model in this scheme, or its link is unknown.
    pub(super) fn new(
        chooser: &Chooser<'a>,
        request: &'r ExploreRequest<'a>,
        scheme: &'static Scheme,
    ) -> Option<Self> {
        let Task::Model(task) = chooser.task() else { return None };
        let plan = Plan::new(chooser.estimate_request(scheme, 1)?).ok()?;
        let draft = plan.draft().ok()?;
        if plan.link_unknown() {
            return None;
        }
        let (workload, loss) = (task.request.workload, chooser.quality(scheme).high);
        Some(Self { request, scheme, workload, plan, draft, loss })
    }

    /// Adds the points that nothing found so far beats; returns the number of points compared.
    pub(super) fn improve(
        mut self,
        mode: Option<&'a PowerMode>,
        prompts: &[u64],
        found: &mut Vec<Candidate<'a>>,
    ) -> u64 {
        'batches: for &batch in self.request.batches {
            self.set(Workload { batch, ..self.workload });
            let footprint = self.plan.footprint();
            // The part that depends neither on the prompt nor on a chunk of it.
            let fixed = footprint.total() - footprint.kv_caches() - footprint.working_set();
            let mut alone = None;
            for &prompt in prompts {
                let workload = Workload { batch, ..self.workload }.with_prompt(prompt);
                self.set(workload);
                let memory = fixed + self.plan.kv_caches_at(workload.context);
                if !MemoryVerdict::of(memory, footprint.usable).may_fit() {
                    if prompt == prompts[0] {
                        break 'batches; // nor does a larger batch fit
                    }
                    break; // nor does a longer prompt fit
                }
                let alone = *alone
                    .get_or_insert_with(|| self.plan.token_without_attention(self.draft.as_ref()));
                let Some(first) = self.first_step(workload, (memory, alone), found) else {
                    break; // nor is a longer prompt faster
                };
                if let Some(costs) = self.costs(workload, (first, alone), found) {
                    let scheme = self.scheme;
                    keep(found, Candidate { mode, scheme, batch, prompt, costs });
                }
            }
        }
        self.request.batches.len() as u64 * prompts.len() as u64
    }

    fn set(&mut self, workload: Workload) {
        self.plan.set_workload(workload);
        if let Some(draft) = &mut self.draft {
            draft.set_workload(workload.alone());
        }
    }

    /// The first step, which has the shortest context, so that the mean over the steps is not shorter; `None` if the point is
    /// out of the question by it alone.
    fn first_step(
        &self,
        workload: Workload,
        (memory, alone): (Bytes, Span),
        found: &[Candidate<'_>],
    ) -> Option<Span> {
        let Workload { batch, new_tokens, .. } = workload;
        let cached = if new_tokens > 1 { workload.filled() } else { workload.context };
        let first = alone.then(self.plan.attention_of_token(self.draft.as_ref(), cached));
        // Where a chunk begins, attention is faster than before: the first step bounds nothing.
        let plans = [Some(&self.plan), self.draft.as_ref()];
        if plans.into_iter().flatten().any(|plan| plan.model().is_chunked()) {
            return Some(first);
        }
        if self.request.bounds.refuses_token(batch, first.expected.time) {
            return None;
        }
        let whole = first.expected.time * (new_tokens - 1) as f64;
        let least = self.of(batch, &Values { memory, whole, token: first })?;
        (!is_beaten(&least, found)).then_some(first)
    }

    /// The costs of a point that fits, meets the bounds and is not beaten.
    fn costs(
        &self,
        workload: Workload,
        (first, alone): (Span, Span),
        found: &[Candidate<'_>],
    ) -> Option<Costs> {
        let (bounds, draft) = (&self.request.bounds, self.draft.as_ref());
        let Workload { batch, new_tokens, .. } = workload;
        let steps = (new_tokens - 1) as f64;
        let footprint = self.plan.footprint();
        if !footprint.verdict().may_fit() {
            return None;
        }
        let token = if new_tokens > 1 {
            self.plan.quick_generation_span(draft).times(1.0 / steps)
        } else {
            first
        };
        let last = alone.then(self.plan.attention_of_token(draft, workload.context));
        let slowest = last.expected.time.max(token.expected.time);
        if bounds.refuses_token(batch, slowest) {
            return None;
        }
        let needs_first =
            bounds.ttft.is_some() || self.request.criteria.contains(&Criterion::Whole);
        let ttft = if needs_first { self.plan.first_token().expected.time } else { Seconds::ZERO };
        if bounds.ttft.is_some_and(|bound| ttft > bound) {
            return None;
        }
        let whole = ttft + token.expected.time * steps;
        let costs = self.of(batch, &Values { memory: footprint.total(), whole, token })?;
        (!is_beaten(&costs, found)).then_some(costs)
    }

    /// Costs by the criteria of the request; `None` if a fact that one needs is not published.
    fn of(&self, batch: u64, values: &Values) -> Option<Costs> {
        let token = values.token.expected.time.get();
        let value = |criterion: Criterion| {
            let value = match criterion {
                Criterion::Whole => values.whole.get(),
                Criterion::Rate => 1.0 / token,
                Criterion::Throughput => batch as f64 / token,
                Criterion::Energy => self.plan.token_energy(values.token)?.per_token.get(),
                Criterion::Memory => values.memory.get(),
                Criterion::Quality => self.loss,
            };
            Some(criterion.cost_of(value))
        };
        let [first, second] = self.request.criteria;
        Some([value(first)?, value(second)?])
    }
}

/// Whether a point that was found before is at most as costly; one that is equal counts.
fn is_beaten(costs: &Costs, found: &[Candidate<'_>]) -> bool {
    found.iter().any(|other| at_most(&other.costs, costs))
}
