//! A model with a scheme: its times, energy and memory, and its standing by as few of them as decide it.

use core::cell::LazyCell;

use super::bounds::Drop;
use super::objective::{Objective, RankedPart};
use super::outcome::{Outcome, PhaseWork};
use super::standing::{Aim, RankedTime, Standing};
use crate::device::UsableMemory;
use crate::energy::mean_power;
use crate::error::Error;
use crate::expected::Expected;
use crate::lowering::Step;
use crate::plan::{EstimateRequest, MeanToken, Plan, Span, StepTotals};
use crate::units::{Bytes, Joules, Seconds};
use crate::workload::Workload;

/// A model with a scheme; each time is computed on demand.
struct ModelRun<'a> {
    request: EstimateRequest<'a>,
    plan: Plan<'a>,
    draft: Option<Plan<'a>>,
}

impl<'a> ModelRun<'a> {
    fn new(request: &EstimateRequest<'a>) -> Result<Self, Error> {
        let plan = Plan::new(*request)?;
        let draft = plan.draft()?;
        Ok(Self { request: *request, plan, draft })
    }

    /// Memory that the scheme needs on one device, and what its engine may use there.
    fn memory(&self) -> (Bytes, UsableMemory) {
        self.plan.footprint().both()
    }

    fn prefill(&self) -> PhaseWork {
        let workload = &self.request.workload;
        let totals = self.plan.timed_step(workload.prefill_step());
        let work = step_work(&self.request, &totals, workload.prompt);
        if totals.host <= Seconds::ZERO || self.plan.chunks().steps == 1 {
            return work;
        }
        // Each chunk of the prompt waits for the host anew, so that its share is larger than in one step of all tokens.
        let chunks = self.plan.first_token();
        let host = work.expected.time * (chunks.host / chunks.expected.time);
        PhaseWork { host, limit: chunks.limit(), ..work }
    }

    fn decode(&self) -> PhaseWork {
        self.decode_at(self.request.workload.context)
    }

    fn decode_at(&self, context: u64) -> PhaseWork {
        let Workload { batch, speculation, .. } = self.request.workload;
        let mut totals = self.plan.timed_step(Step::decode(batch, context));
        if speculation.is_some() {
            let token = self.plan.token(self.draft.as_ref(), context);
            (totals.expected, totals.ideal) = (token.expected, token.ideal);
        }
        step_work(&self.request, &totals, 1)
    }

    fn ttft(&self) -> Expected {
        self.plan.first_token().expected
    }

    fn generation(&self) -> Span {
        if self.request.workload.new_tokens > 1 {
            self.plan.generation(self.draft.as_ref())
        } else {
            Span::ZERO
        }
    }

    /// Time of the last token, which has the longest context of the generation.
    fn last_token(&self) -> Seconds {
        let Workload { new_tokens, .. } = self.request.workload;
        let last = self.request.workload.filled() + new_tokens.max(2) - 2;
        self.plan.token(self.draft.as_ref(), last).expected.time
    }

    fn mean_token(&self, decode: &PhaseWork, generation: Span) -> MeanToken {
        let token = Span { ideal: decode.ideal, expected: decode.expected };
        self.plan.mean_token(token, generation)
    }

    /// The generation time from few steps, see [`Plan::quick_generation`].
    fn quick_generation(&self) -> Expected {
        if self.request.workload.new_tokens > 1 {
            self.plan.quick_generation(self.draft.as_ref())
        } else {
            Expected::ZERO
        }
    }
}

pub(super) fn run_model(request: &EstimateRequest<'_>) -> Result<Outcome, Error> {
    let run = ModelRun::new(request)?;
    let (prefill, decode, generation) = (run.prefill(), run.decode(), run.generation());
    let Workload { new_tokens, .. } = request.workload;
    let middle = if new_tokens > 1 { run.decode_at(request.workload.middle()) } else { decode };
    let token = run.mean_token(&decode, generation);
    let generation = generation.expected;
    let (memory, usable) = run.memory();
    Ok(Outcome {
        precision: run.plan.precision,
        prefill,
        decode,
        middle,
        token,
        ttft: run.ttft(),
        whole: run.ttft().then(generation),
        batch_whole: prefill.expected.then(generation),
        whole_energy: whole_energy(&prefill, &decode, generation.time, &request.workload),
        memory,
        host: run.plan.footprint().host,
        usable,
        placement: run.plan.placement(),
    })
}

pub(super) fn probe_model(
    request: &EstimateRequest<'_>,
    aim: &Aim,
    loss: f64,
) -> Result<Standing, Drop> {
    let run = ModelRun::new(request).map_err(Drop::Refused)?;
    let memory = run.memory();
    aim.admit_memory(memory.0, memory.1)?;
    let (prefill, decode) = (LazyCell::new(|| run.prefill()), LazyCell::new(|| run.decode()));
    let ttft = LazyCell::new(|| run.ttft());
    let generation = LazyCell::new(|| run.quick_generation());
    let slowest_token = || {
        let first = decode.expected.time;
        let Workload { batch, new_tokens, .. } = request.workload;
        if new_tokens == 1 || aim.bounds.refuses_token(batch, first) {
            return first;
        }
        // The mean is at most the time of the last token, which costs one step instead of a sum.
        let last = first.max(run.last_token());
        if aim.bounds.refuses_token(batch, last) {
            first.max(generation.time / (new_tokens - 1) as f64)
        } else {
            last
        }
    };
    aim.bounds.admit_times(request.workload.batch, slowest_token, || ttft.time)?;
    let (engine, pairs) = (run.plan.tuned.engine, &request.calibration.intervals.pairs);
    let timed = |expected, pair_ratio| RankedTime { expected, engine, pair_ratio };
    if aim.only_limits {
        return Ok(aim.place(&timed(Expected::ZERO, 1.0), None, loss, memory));
    }
    let (time, energy) = match aim.part {
        RankedPart::Prefill => (timed(prefill.expected, pairs.prefill), prefill.energy),
        RankedPart::Decode => (timed(decode.expected, pairs.decode), decode.energy),
        RankedPart::Whole => {
            let energy = (aim.objective == Objective::Energy)
                .then(|| whole_energy(&prefill, &decode, generation.time, &request.workload));
            let first = match aim.objective {
                Objective::Throughput => prefill.expected,
                _ => *ttft,
            };
            (RankedTime::whole(engine, pairs, first, *generation), energy.flatten())
        }
    };
    Ok(aim.place(&time, energy, loss, memory))
}

fn step_work(request: &EstimateRequest<'_>, totals: &StepTotals, tokens: u64) -> PhaseWork {
    let time = totals.expected.time;
    let count = (request.workload.batch * tokens) as f64;
    PhaseWork {
        expected: totals.expected,
        ideal: totals.ideal,
        floors: totals.floors,
        links: totals.links,
        host: totals.host,
        limit: totals.limit(),
        compute: totals.time.compute,
        traffic: totals.cost.traffic,
        energy: mean_power(
            (request.device, request.mode),
            &request.workload.parallel,
            totals.ideal,
            time,
        )
        .map(|power| power.all * time / count),
    }
}

/// Energy per generated token, including its share of the prompt. The power of decode is assumed during generation.
fn whole_energy(
    prefill: &PhaseWork,
    decode: &PhaseWork,
    generation: Seconds,
    workload: &Workload,
) -> Option<Joules> {
    let prompt = prefill.energy? * workload.prompt as f64;
    let steps = generation / decode.expected.time;
    Some((prompt + decode.energy? * steps) / workload.new_tokens as f64)
}
