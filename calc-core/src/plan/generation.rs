//! Decode steps: one token at a context, and all tokens of an answer.

use alloc::vec::Vec;

use super::series::{AGREED, AGREED_QUICKLY, DIRECT, KINKED, SMOOTH, Series};
use super::totals::Span;
use super::{EstimateRequest, Plan};
use crate::energy::{Energy, mean_power};
use crate::expected::Expected;
use crate::lowering::{OpInstances, Step};
use crate::model_arch::Reach;
use crate::units::{Bytes, Seconds, TokensPerSec};
use crate::workload::Workload;

/// Number of full chunks at which a long generation is divided; later ones are summed as one part.
const MOST_CHUNKS: usize = 256;

/// An output token in the mean over the steps of the generation. A request for a single token has no such step: its token is
/// that of the step at the stated context.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanToken {
    /// Number of sequences.
    pub batch: u64,
    /// Time per output token at the roof.
    pub ideal: Seconds,
    /// Time per output token.
    pub expected: Expected,
    /// Energy over all devices; `None` if the power is unknown.
    pub energy: Option<Energy>,
}

impl MeanToken {
    /// Token rate over the batch.
    pub fn throughput(&self) -> TokensPerSec {
        self.rate(self.expected.time)
    }

    /// Token rate over the batch if every operator ran at its roof.
    pub fn ideal_throughput(&self) -> TokensPerSec {
        self.rate(self.ideal)
    }

    fn rate(&self, time: Seconds) -> TokensPerSec {
        TokensPerSec::new(self.batch as f64 / time.get())
    }
}

/// The two parts of a decode step.
#[derive(Debug, Clone, Copy)]
pub(super) enum StepPart {
    /// Depends on the number of cached tokens.
    Attention,
    /// Independent of the number of cached tokens.
    Fixed,
}

impl Plan<'_> {
    /// Time per output token at a context, ideal and expected.
    ///
    /// ```text
    /// TPOT = decode                                                         without speculation
    /// TPOT = (n decode steps of the draft + a step with q = n + 1) / tokens per round
    /// ```
    pub fn token(&self, draft: Option<&Self>, cached: u64) -> Span {
        let Workload { batch, speculation, .. } = self.request.workload;
        if speculation.is_none() {
            return self.timed_step(Step::decode(batch, cached)).span();
        }
        let fixed = self.round_part(draft, cached, StepPart::Fixed);
        fixed.then(self.round_part(draft, cached, StepPart::Attention))
    }

    /// The decode steps at i = 0, 1, …, `new_tokens` - 2 tokens after the prompt, each at its own context.
    ///
    /// Only attention depends on the context, so everything else is computed once. The sum is exact up to 512 steps; longer
    /// sums are computed by blocks, within 1e-9 of the exact sum.
    pub fn generation(&self, draft: Option<&Self>) -> Span {
        let Workload { new_tokens, .. } = self.request.workload;
        let (prompt, count) = (self.request.workload.filled(), new_tokens - 1);
        if count <= DIRECT {
            let fixed = self.round_part(draft, prompt, StepPart::Fixed).times(count as f64);
            let attention = |i| self.round_part(draft, prompt + i, StepPart::Attention);
            return (0..count).fold(fixed, |sum, i| sum.then(attention(i)));
        }
        let smooth = self.generation_by_blocks(draft, SMOOTH, AGREED);
        let kinked = self.generation_by_blocks(draft, KINKED, AGREED);
        let provenance = smooth.then(kinked).expected.provenance;
        let expected = Expected { low: kinked.expected.low, provenance, ..smooth.expected };
        Span { ideal: kinked.ideal, expected }
    }

    /// The mean token of a generation; `token` is the one at the stated context.
    ///
    /// ```text
    /// mean TPOT = generation of n tokens / (n - 1)        TPOT for n = 1
    /// ```
    pub fn mean_token(&self, token: Span, generation: Span) -> MeanToken {
        let Workload { batch, new_tokens, .. } = self.request.workload;
        let mean = match new_tokens - 1 {
            0 => token,
            steps => generation.times(1.0 / steps as f64),
        };
        let Span { ideal, expected } = mean;
        MeanToken { batch, ideal, expected, energy: self.token_energy(mean) }
    }

    /// Energy of a token that takes the given time.
    pub fn token_energy(&self, token: Span) -> Option<Energy> {
        let EstimateRequest { device, mode, workload, .. } = self.request;
        let Span { ideal, expected } = token;
        let power = if let Some(seats) = &self.seats {
            self.power_on_seats(seats, token)?
        } else {
            mean_power((device, mode), &workload.parallel, self.busy(ideal), expected.time)?
        };
        Some(Energy::of_token(power, expected.time, workload.batch))
    }

    /// Bytes of weights and KV cache that the steps of a token read on the device, in the mean over the generation.
    ///
    /// Between the contexts that fill a window they are linear in the context, so a sum is the mean of its ends.
    pub fn mean_streamed(&self, draft: Option<&Self>) -> Bytes {
        let Workload { new_tokens, context, .. } = self.request.workload;
        if new_tokens == 1 {
            return self.streamed_at(draft, context);
        }
        let start = self.request.workload.filled();
        let end = start + new_tokens - 1;
        let kinks = self.reaches_full(draft, 0);
        let mut from = start;
        let mut sum = Bytes::ZERO;
        while from < end {
            let to = kinks.iter().copied().filter(|kink| *kink > from).fold(end, u64::min);
            let ends = self.streamed_at(draft, from) + self.streamed_at(draft, to - 1);
            sum += ends * ((to - from) as f64 / 2.0);
            from = to;
        }
        sum / (new_tokens - 1) as f64
    }

    /// Bytes of weights and KV cache per token at a context.
    fn streamed_at(&self, draft: Option<&Self>, cached: u64) -> Bytes {
        let batch = self.request.workload.batch;
        let read = |plan: &Self, step| {
            let mut read = Bytes::ZERO;
            plan.lowering().step(step, &mut |op| {
                plan.placed(&op, step, &mut |times, count| read += times.streamed() * count);
            });
            read
        };
        let Some(speculation) = self.request.workload.speculation else {
            return read(self, Step::decode(batch, cached));
        };
        let n = speculation.draft_tokens;
        let own = read(self, Step::verify(batch, n + 1, cached));
        let drafted = draft.map_or(Bytes::ZERO, |plan| read(plan, Step::decode(batch, cached)));
        (own + drafted * n as f64) / speculation.tokens_per_round()
    }

    /// The expected time of [`Plan::generation`] and its slow end within 1e-7, for searches. The fast end, which has a kink
    /// where it meets the roof, is less exact.
    pub(crate) fn quick_generation(&self, draft: Option<&Self>) -> Expected {
        self.quick_generation_span(draft).expected
    }

    /// [`Plan::quick_generation`] with the ideal time, which has kinks and is less exact.
    pub(crate) fn quick_generation_span(&self, draft: Option<&Self>) -> Span {
        self.generation_by_blocks(draft, SMOOTH, AGREED_QUICKLY)
    }

    /// The part of a token's time that does not depend on the context.
    pub(crate) fn token_without_attention(&self, draft: Option<&Self>) -> Span {
        self.round_part(draft, self.request.workload.filled(), StepPart::Fixed)
    }

    /// The part of a token's time that depends on the context.
    pub(crate) fn attention_of_token(&self, draft: Option<&Self>, cached: u64) -> Span {
        self.round_part(draft, cached, StepPart::Attention)
    }

    fn generation_by_blocks(
        &self,
        draft: Option<&Self>,
        watched: [fn(&Span) -> Seconds; 2],
        agreed: f64,
    ) -> Span {
        let Workload { new_tokens, .. } = self.request.workload;
        let (prompt, count) = (self.request.workload.filled(), new_tokens - 1);
        let fixed = self.round_part(draft, prompt, StepPart::Fixed).times(count as f64);
        let attention = |cached| self.round_part(draft, cached, StepPart::Attention);
        let drafted = self.request.workload.speculation.map_or(0, |s| s.draft_tokens);
        let kinks = &self.reaches_full(draft, drafted);
        let series = Series { from: prompt, count, kinks, watched, agreed };
        fixed.then(series.sum(&attention))
    }

    /// The contexts at which a step starts and ends filling a window or a chunk, of the model and of its draft model. `new` is
    /// the number of tokens per step beyond the first.
    pub(super) fn reaches_full(&self, draft: Option<&Self>, new: u64) -> Vec<u64> {
        let start = self.request.workload.filled();
        let end = start + self.request.workload.new_tokens;
        let mut kinks = Vec::new();
        for (plan, new) in [(Some(self), new), (draft, 0)] {
            for (_, reach) in plan.iter().flat_map(|plan| plan.model().attention_reaches()) {
                match reach {
                    Reach::All => {}
                    Reach::Window(window) => {
                        kinks.extend([window.saturating_sub(new + 1), window]);
                    }
                    Reach::Compressed { window, ratio, top_k } => {
                        let full = ratio.saturating_mul(top_k);
                        for end in [window, full] {
                            kinks.extend([end.saturating_sub(new + 1), end]);
                        }
                    }
                    Reach::Chunk(chunk) => {
                        let full = (start / chunk + 1..=end / chunk).take(MOST_CHUNKS);
                        kinks.extend(
                            full.flat_map(|n| [(n * chunk).saturating_sub(new + 1), n * chunk]),
                        );
                    }
                }
            }
        }
        kinks
    }

    pub(super) fn round_part(&self, draft: Option<&Self>, cached: u64, part: StepPart) -> Span {
        let batch = self.request.workload.batch;
        let Some(speculation) = self.request.workload.speculation else {
            return self.step_part(Step::decode(batch, cached), part);
        };
        let n = speculation.draft_tokens;
        let verify = Step::verify(batch, n + 1, cached);
        let own = self.step_part(verify, part);
        let drafts =
            draft.map_or(Span::ZERO, |draft| draft.step_part(Step::decode(batch, cached), part));
        own.then(drafts.times(n as f64)).times(1.0 / speculation.tokens_per_round())
    }

    /// The part of a step that depends on the context, or the rest with the time on links.
    fn step_part(&self, step: Step, part: StepPart) -> Span {
        let mut sum = Span::ZERO;
        let setting = step.setting();
        let mut add = |op: OpInstances| {
            self.placed(&op, step, &mut |times, count| {
                let one = Span { ideal: times.time.ideal(), expected: times.expected };
                sum = sum.then(one.times(count));
            });
        };
        match part {
            StepPart::Attention => self.lowering().attention(step, &mut add),
            StepPart::Fixed => {
                self.lowering().step(step, &mut |op| {
                    if !op.kind.grows_with_context() {
                        add(op);
                    }
                });
                let overhead = self.overhead(setting).then(self.link_expected(step));
                sum.expected = sum.expected.then(overhead);
            }
        }
        sum
    }
}
