//! Searches for explanations of a claim that is faster or slower than expected. Each one is a variant of the work that the
//! model evaluates again; a variant that does not bring the claim within reach is not reported.

mod slow;

use alloc::vec;
use alloc::vec::Vec;

use crate::analysis::Operator;
use crate::footprint::MemoryVerdict;
use crate::math::ln;
use crate::plan::Span;
use crate::recommend::largest;
use crate::units::{Bytes, Seconds, TokensPerSec};
use crate::workload::Speculation;

use super::explanation::{Drafts, Explanation};
use super::variants::{StoredWork, modes, stored};
use super::work::{Measure, Work, plans};
use super::{CheckRequest, Claim, Pace};

/// Largest draft length that is tried.
const MOST_DRAFTS: u64 = 16;
/// Largest batch tried for a total rate.
const MOST_BATCH: u64 = 1 << 16;
/// Largest batch for which a rate may be that of one user; assumed.
const MOST_USERS: u64 = 256;
/// Share of the expected time from which the fixed times of the kernels dominate it.
const DOMINATES: f64 = 0.5;
/// Lowest fraction of its clock or bandwidth to which a device may have throttled; assumed.
const LEAST_CLOCK: f64 = 0.25;

/// The claim to explain.
struct Case<'r, 'a> {
    request: &'r CheckRequest<'a>,
    own: &'r Measure,
    time: Seconds,
    pace: Pace,
}

/// The explanations of a claim, the most telling first.
pub(super) fn explanations(
    request: &CheckRequest<'_>,
    own: &Measure,
    time: Seconds,
    pace: Pace,
) -> Vec<Explanation> {
    let case = Case { request, own, time, pace };
    let found = match pace {
        Pace::AsExpected => vec![Some(Explanation::AsExpected)],
        Pace::AboveTheRoof | Pace::Fast => vec![
            case.format(),
            case.batch(),
            case.drafts(),
            case.cache(),
            case.mode(),
            case.prompt(),
        ],
        Pace::Slow => vec![
            case.mode(),
            case.format(),
            case.engine(),
            case.units(),
            case.cpu(),
            case.one_of(),
            case.offload(),
            case.overhead(),
            case.clock(),
            case.bandwidth(),
        ],
    };
    case.does_not_fit().into_iter().chain(found.into_iter().flatten()).collect()
}

impl<'a> Case<'_, 'a> {
    fn work(&self) -> &Work<'a> {
        &self.request.work
    }

    /// Whether work of these times explains the claim: the claim is under that roof, or as expected there.
    fn explains(&self, span: &Span) -> bool {
        self.takes(span, self.time)
    }

    fn takes(&self, span: &Span, time: Seconds) -> bool {
        match self.pace {
            Pace::AboveTheRoof => span.ideal <= time,
            Pace::Fast | Pace::AsExpected | Pace::Slow => {
                span.ideal <= time && span.expected.low <= time && time <= span.expected.high
            }
        }
    }

    /// The compared time: ideal for a claim above the roof, otherwise expected.
    fn counted(&self, span: &Span) -> Seconds {
        match self.pace {
            Pace::AboveTheRoof => span.ideal,
            Pace::Fast | Pace::AsExpected | Pace::Slow => span.expected.time,
        }
    }

    /// Distance of the compared time from the claim: the absolute logarithm of their ratio.
    fn distance(&self, span: &Span) -> f64 {
        let ratio = ln(self.counted(span) / self.time);
        if ratio < 0.0 { -ratio } else { ratio }
    }

    fn does_not_fit(&self) -> Option<Explanation> {
        let memory = self.own.memory?;
        match memory.verdict() {
            MemoryVerdict::Fits { .. } | MemoryVerdict::Unknown { .. } => None,
            MemoryVerdict::DoesNotFit { .. } => {
                let (needs, usable) = (memory.total(), memory.usable.bytes);
                Some(Explanation::DoesNotFit { needs, usable })
            }
        }
    }

    /// The best of the other formats that explain the claim.
    fn format(&self) -> Option<Explanation> {
        let mut best: Option<(StoredWork<'a>, Span)> = None;
        for other in stored(self.work(), self.own) {
            let Ok(span) = other.work.span() else { continue };
            if !self.explains(&span) || !other.work.fits() {
                continue;
            }
            if best.as_ref().is_none_or(|best| self.is_better((&other, &span), best)) {
                best = Some((other, span));
            }
        }
        let (StoredWork { format, activations, bits, .. }, span) = best?;
        Some(Explanation::Format { format, activations, bits, span })
    }

    /// Prefers wider formats for a claim above the roof, of any software, and the less quantized of equals; otherwise those of
    /// the same software, and the nearer time.
    fn is_better(&self, new: (&StoredWork<'_>, &Span), old: &(StoredWork<'_>, Span)) -> bool {
        let quantized = |stored: &StoredWork<'_>| u8::from(stored.activations.is_some());
        match self.pace {
            Pace::AboveTheRoof => (new.0.bits, quantized(&old.0)) > (old.0.bits, quantized(new.0)),
            Pace::Fast | Pace::AsExpected | Pace::Slow => {
                let order = |stored: &StoredWork<'_>, span| (!stored.is_kin, self.distance(span));
                order(new.0, new.1) < order(&old.0, &old.1)
            }
        }
    }

    fn mode(&self) -> Option<Explanation> {
        let mut best: Option<(Explanation, Span)> = None;
        for mode in modes(self.work()) {
            let Ok(span) = self.work().on(self.work().device(), mode).span() else { continue };
            let nearer =
                best.as_ref().is_none_or(|(_, old)| self.distance(&span) < self.distance(old));
            if self.explains(&span) && nearer && self.work().fits() {
                let (name, budget) =
                    mode.map_or((None, None), |mode| (Some(mode.name.clone()), mode.watts));
                best = Some((Explanation::Mode { name, budget, span }, span));
            }
        }
        best.map(|(found, _)| found)
    }

    /// The claimed rate, as it was typed.
    fn rate(&self) -> Option<TokensPerSec> {
        match (self.request.claim, self.work()) {
            (Claim::Rate { rate, .. }, Work::Token(_)) => Some(rate),
            (Claim::Time(time), Work::Token(_)) => Some(TokensPerSec::new(1.0 / time.get())),
            (_, Work::Operator(_) | Work::Answer(_)) => None,
        }
    }

    fn batch(&self) -> Option<Explanation> {
        let rate = self.rate()?;
        let reaches = |batch: u64| {
            let span = self.work().with_batch(batch).span().ok()?;
            Some(TokensPerSec::new(batch as f64 / self.counted(&span).get()))
        };
        let too_slow = |batch| reaches(batch).is_some_and(|found| found < rate);
        let below = largest(MOST_BATCH, too_slow)?;
        let batch = below + 1;
        let found = reaches(batch).filter(|found| *found >= rate)?;
        let fits = self.work().with_batch(batch).fits();
        fits.then(|| Explanation::Batch {
            batch,
            reaches: found,
            below: reaches(below).unwrap_or(TokensPerSec::ZERO),
        })
    }

    /// The requested batch if the rate was that of all its users, otherwise the largest that is no slower than the claim.
    fn one_of(&self) -> Option<Explanation> {
        let time = Seconds::new(1.0 / self.rate()?.get());
        let span = |batch: u64| self.work().with_batch(batch).span().ok();
        let own = self.work().model()?.workload.batch;
        let is_short = |batch| span(batch).is_some_and(|found| found.expected.time <= time);
        let batch = if self.takes(&self.own.span, time) {
            Some(own)
        } else {
            largest(MOST_USERS, is_short)
        };
        let batch = batch.filter(|batch| *batch > 1)?;
        let found = span(batch).filter(|found| self.takes(found, time))?;
        let fits = self.work().with_batch(batch).fits();
        fits.then_some(Explanation::OneOf { batch, span: found })
    }

    fn drafts(&self) -> Option<Explanation> {
        if !self.work().fits() {
            return None;
        }
        let mut shortest: Option<Drafts> = None;
        let mut easiest: Option<Drafts> = None;
        for length in 1..=MOST_DRAFTS {
            let Some(drafts) = self.drafts_of(length) else { continue };
            shortest = shortest.or(Some(drafts));
            if easiest.is_none_or(|best| drafts.acceptance < best.acceptance) {
                easiest = Some(drafts);
            }
        }
        let shortest = shortest?;
        Some(Explanation::Drafts {
            shortest,
            easiest: easiest.filter(|drafts| *drafts != shortest),
        })
    }

    /// The lowest acceptance at which drafts of a given length explain the claim.
    ///
    /// With all drafts accepted, a round generates n + 1 tokens, so its time is n + 1 times that of a token.
    fn drafts_of(&self, draft_tokens: u64) -> Option<Drafts> {
        let all = Speculation { draft_tokens, acceptance: 1.0, own_layers: false };
        let work = self.work().with_drafts(all);
        let (token, time) = match work {
            Work::Operator(_) => return None,
            Work::Token(_) => (self.counted(&work.span().ok()?), self.time),
            Work::Answer(request) => {
                let (plan, draft) = plans(&request).ok()?;
                let prompt = self.counted(&plan.first_token().span());
                (self.counted(&plan.generation(draft.as_ref())), self.time - prompt)
            }
        };
        let most = all.tokens_per_round();
        let needed = most * (token / time);
        if time <= Seconds::ZERO || token <= Seconds::ZERO || needed <= 1.0 || needed > most {
            return None;
        }
        let acceptance = acceptance(draft_tokens, needed);
        let own = self.work().model().and_then(|request| request.workload.speculation);
        let known =
            own.is_some_and(|own| own.draft_tokens == draft_tokens && own.acceptance >= acceptance);
        (!known).then_some(Drafts { draft_tokens, acceptance, tokens_per_round: needed })
    }

    fn cache(&self) -> Option<Explanation> {
        let Work::Operator(request) = self.work() else { return None };
        let l2 = request.device.l2?.value;
        let traffic = self.own.cost.traffic;
        let (all, kept) = (traffic.total(), traffic.weights.max(traffic.kv_cache));
        let resident = if all <= l2 { all } else { kept };
        let left = ((all - resident) / self.own.roofs.bandwidth).max(self.own.time.compute);
        let explains = resident > Bytes::ZERO && resident <= l2 && left <= self.time;
        // The parts of a composite operator run in sequence: data that one part reads is evicted by the next.
        let composite =
            matches!(request.operator, Operator::FeedForward(_) | Operator::MixtureOfExperts(_));
        (explains && !composite).then_some(Explanation::Cache { l2, resident, left })
    }

    fn prompt(&self) -> Option<Explanation> {
        let Work::Answer(request) = self.work() else { return None };
        let (plan, draft) = plans(request).ok()?;
        let rest = plan.generation(draft.as_ref());
        let explains = request.workload.new_tokens > 1 && self.explains(&rest);
        explains.then(|| Explanation::Prompt { prompt: plan.first_token().span(), rest })
    }
}

/// The acceptance at which a round generates the given number of tokens.
fn acceptance(draft_tokens: u64, tokens: f64) -> f64 {
    /// Number of bisections until only two neighboring numbers remain.
    const HALVINGS: u32 = 60;
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..HALVINGS {
        let acceptance = f64::midpoint(low, high);
        if (Speculation { draft_tokens, acceptance, own_layers: false }).tokens_per_round() < tokens
        {
            low = acceptance;
        } else {
            high = acceptance;
        }
    }
    high
}
