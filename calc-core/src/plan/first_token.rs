//! Time to first token of one request that joins a running batch. Its prompt is computed in the engine's chunks, and the
//! other sequences decode one token in each of these steps. Derivation: `docs/theory/first-token.md`.

use crate::calibration::Chunk;
use crate::lowering::{Riders, Step};
use crate::workload::Workload;

use super::{Plan, StepTotals};

/// Number of contexts at which the attention of chunks is computed. With more chunks, neighbors share the context in their
/// middle: FLOP and bytes of attention are linear in the context, so their sums stay exact.
const SAMPLES: u64 = 16;

/// The division of a prompt into steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunks {
    /// Number of prompt tokens per step; the last step may have fewer.
    pub tokens: u64,
    pub steps: u64,
    /// Number of other sequences, which decode one token in each of these steps.
    pub riders: u64,
}

impl Chunks {
    /// Divides the prompt of a workload by the engine's `chunk`; a static batch is one step for all prompts.
    fn of(workload: &Workload, chunk: &Chunk) -> Self {
        let Workload { batch, prompt, static_batch, .. } = *workload;
        if static_batch {
            return Self { tokens: prompt, steps: 1, riders: 0 };
        }
        let tokens = chunk.tokens.unwrap_or(prompt).min(prompt);
        Self { tokens, steps: prompt.div_ceil(tokens), riders: batch - 1 }
    }

    /// The step that computes the next chunk after the first `computed` tokens of the prompt.
    fn step(&self, workload: &Workload, computed: u64) -> Step {
        let left = workload.prompt - computed;
        let batch = if workload.static_batch { workload.batch } else { 1 };
        Step {
            cached: workload.cached_prefix + computed,
            riders: Riders { sequences: self.riders, cached: workload.context },
            has_logits: left <= self.tokens && !workload.inner_chunk,
            ..Step::prefill(batch, left.min(self.tokens))
        }
    }
}

impl Plan<'_> {
    /// The chunk size of the selected engine.
    pub fn chunk(&self) -> Chunk {
        self.tuned.engine.chunk(self.request.device)
    }

    /// The chunks of the request's prompt.
    pub fn chunks(&self) -> Chunks {
        Chunks::of(&self.request.workload, &self.chunk())
    }

    /// The step of a workload that needs the most activation memory: a whole chunk, with the logits of all sequences.
    pub fn largest_step(&self, workload: &Workload) -> Step {
        let step = Chunks::of(workload, &self.chunk()).step(workload, 0);
        // With latent attention the last chunk projects all cached latents up, and so needs the most.
        let before =
            if self.model().is_latent() { workload.prompt.saturating_sub(step.new) } else { 0 };
        Step { has_logits: true, cached: step.cached + before, ..step }
    }

    /// A chunk with the mean number of cached tokens over all chunks, whose attention is about their mean.
    pub(super) fn middle_step(&self) -> Step {
        let (chunks, workload) = (self.chunks(), &self.request.workload);
        let step = chunks.step(workload, 0);
        Step { cached: step.cached + (chunks.steps - 1) * chunks.tokens / 2, ..step }
    }

    /// All work up to the first token of a request, with the time on links.
    ///
    /// ```text
    /// TTFT = encoder(images of the prompt) + prompt
    /// ```
    pub fn first_token(&self) -> StepTotals {
        let prompt = self.prompt_time();
        let encoded = self.encoded(&self.request.workload);
        encoded.map_or(prompt, |encoded| encoded.totals.then(&prompt))
    }

    /// All work of a prompt, the tokens of its images included.
    ///
    /// ```text
    /// prompt = sum over chunks of step(q tokens of the prompt at c = those before, and B - 1 decoding sequences)
    /// prompt = prefill(B, p)                                                  with a static batch
    /// ```
    fn prompt_time(&self) -> StepTotals {
        let workload = self.request.workload;
        let chunks = self.chunks();
        let Chunks { tokens, steps, .. } = chunks;
        let step = |computed| chunks.step(&workload, computed);
        let before = steps - 1;
        let computed = before * tokens;
        let last = self.timed_step(step(computed));
        if before == 0 {
            return last;
        }
        let fixed = Step { cached: 0, ..step(0) };
        let fixed = self.without_attention(fixed).times(before as f64);
        let samples = before.min(SAMPLES);
        let attention = (0..samples).map(|sample| {
            let (from, to) = (sample * before / samples, (sample + 1) * before / samples);
            let middle = (from + to - 1) * tokens / 2;
            self.attention_of(step(middle)).times((to - from) as f64)
        });
        attention.fold(fixed, |sum, part| sum.then(&part)).then(&last)
    }

    /// All parts of a step that do not depend on the context, with the time on links. `step` has an empty cache, so that no
    /// latent keys are projected up again.
    fn without_attention(&self, step: Step) -> StepTotals {
        let mut sum = StepTotals::nothing();
        self.lowering().step(step, &mut |op| {
            if !op.kind.grows_with_context() {
                self.placed(&op, step, &mut |times, count| sum.add(times, count));
            }
        });
        self.add_overhead(&mut sum, step.setting());
        sum.then(&StepTotals::on_links(self.link_expected(step)))
    }

    /// The context-dependent part of a step: attention.
    fn attention_of(&self, step: Step) -> StepTotals {
        let mut sum = StepTotals::nothing();
        self.lowering().attention(step, &mut |op| {
            self.placed(&op, step, &mut |times, count| sum.add(times, count));
        });
        sum
    }
}
