//! Sums over many decode steps. The time of a step is a smooth function of the context but for a few kinks (a full
//! window, memory against arithmetic, the fast end of the interval against the roof), so few terms give the sum of many.
//! Derivation: `docs/theory/transformer.md`.

use super::totals::Span;
use crate::units::Seconds;

/// Series of up to this many steps are added term by term, in order.
pub(super) const DIRECT: u64 = 512;

/// When a long series is divided, blocks shorter than this are added term by term.
const SHORT: u64 = 24;

/// Times whose only kinks are full windows, unless user measurements add others.
pub(super) const SMOOTH: [fn(&Span) -> Seconds; 2] =
    [|span| span.expected.time, |span| span.expected.high];

/// Times with a kink where memory and arithmetic, or the roof and the fast end of the interval, cross.
pub(super) const KINKED: [fn(&Span) -> Seconds; 2] = [|span| span.ideal, |span| span.expected.low];

/// Largest accepted difference between the two rules on a block, as a fraction of the whole sum. The finer rule is about
/// 60 times more accurate than the difference, so the whole sum is within 1e-9.
pub(super) const AGREED: f64 = 1e-10;

/// The tolerance for searches; their smooth sums are within 1e-7, a tenth of what a comparison of scores allows.
pub(super) const AGREED_QUICKLY: f64 = 1e-6;

/// A long series of decode steps.
pub(super) struct Series<'a> {
    /// The context of the first step.
    pub(super) from: u64,
    /// Number of steps.
    pub(super) count: u64,
    /// Known contexts at which the time of a step has a kink, in any order.
    pub(super) kinks: &'a [u64],
    /// The times whose sums must be accurate; the others may be less exact.
    pub(super) watched: [fn(&Span) -> Seconds; 2],
    /// Largest accepted difference between the two rules on a block, as a fraction of the sum.
    pub(super) agreed: f64,
}

impl Series<'_> {
    /// The sum over the steps.
    pub(super) fn sum(&self, term: &impl Fn(u64) -> Span) -> Span {
        if self.count < SHORT {
            return direct(self.from, self.count, term);
        }
        let (mut start, end, h) = (self.from, self.from + self.count, self.count / 4);
        let scale = rule(core::array::from_fn(|j| term((start + j as u64 * h).min(end - 1))), h);
        let agree = |coarse: &Span, fine: &Span| {
            let near = |time: &fn(&Span) -> Seconds| {
                (time(coarse) - time(fine)).get().abs() <= self.agreed * time(&scale).get()
            };
            self.watched.iter().all(near)
        };
        let mut sum = Span::ZERO;
        while start < end {
            let next = self.kinks.iter().copied().filter(|kink| *kink > start).fold(end, u64::min);
            sum = sum.then(blocks(start, next - start, &agree, term));
            start = next;
        }
        sum
    }
}

fn direct(from: u64, count: u64, term: &impl Fn(u64) -> Span) -> Span {
    (from..from + count).fold(Span::ZERO, |sum, i| sum.then(term(i)))
}

/// Sums a block by five and by nine of its terms; if the two sums differ, each half is summed on its own.
fn blocks(
    from: u64,
    count: u64,
    agree: &impl Fn(&Span, &Span) -> bool,
    term: &impl Fn(u64) -> Span,
) -> Span {
    if count < SHORT {
        return direct(from, count, term);
    }
    let h = count / 8;
    let terms: [Span; 9] = core::array::from_fn(|j| term(from + j as u64 * h));
    let coarse = rule([terms[0], terms[2], terms[4], terms[6], terms[8]], 2 * h);
    let early = rule([terms[0], terms[1], terms[2], terms[3], terms[4]], h);
    let late = rule([terms[4], terms[5], terms[6], terms[7], terms[8]], h);
    let fine = early.then(late);
    if agree(&coarse, &fine) {
        return fine.then(direct(from + 8 * h, count - 8 * h, term));
    }
    let half = count / 2;
    let early = blocks(from, half, agree, term);
    early.then(blocks(from + half, count - half, agree, term))
}

/// The sum of f(0), f(1), …, f(4 h - 1) from the terms at 0, h, 2 h, 3 h and 4 h; exact where f is a polynomial of degree
/// four.
///
/// ```text
/// sum = h ∫ g dt - (g(4) - g(0)) / 2 + (g'(4) - g'(0)) / (12 h) - (g'''(4) - g'''(0)) / (720 h^3),    g(t) = f(h t)
/// ```
///
/// This is the Euler-Maclaurin formula with the integral and the derivatives of the polynomial through the five terms.
fn rule(terms: [Span; 5], h: u64) -> Span {
    let h = h as f64;
    let (slope, third) = (1.0 / (36.0 * h), 1.0 / (180.0 * h * h * h));
    let end = h * 14.0 / 45.0 + 7.0 * slope - third;
    let inner = h * 64.0 / 45.0 - 16.0 * slope + 4.0 * third;
    let middle = h * 24.0 / 45.0 + 18.0 * slope - 6.0 * third;
    let weights = [end + 0.5, inner, middle, inner, end - 0.5];
    let mut sum = Span::ZERO;
    for (term, weight) in terms.into_iter().zip(weights) {
        sum = sum.then(term.times(weight));
    }
    sum
}

#[cfg(test)]
mod tests {
    use core::cell::Cell;

    use super::super::Plan;
    use super::super::generation::StepPart;
    use super::*;
    use crate::calibration::Calibration;
    use crate::catalog;
    use crate::estimate::EstimateRequest;
    use crate::expected::Expected;
    use crate::precision::PrecisionChoice;
    use crate::provenance::Provenance;
    use crate::workload::{MAX_NEW_TOKENS, Workload};

    fn span(value: f64) -> Span {
        let time = Seconds::new(value);
        let expected = Expected { time, low: time, high: time, provenance: Provenance::Assumed };
        Span { ideal: time, expected }
    }

    #[test]
    fn the_rule_is_exact_for_degree_four() {
        for h in [1, 2, 3, 7, 100] {
            let f = |i: u64| {
                let x = i as f64 / h as f64;
                3.0 + x - 2.0 * x * x + 0.5 * x * x * x + 0.25 * x * x * x * x
            };
            let found = rule(core::array::from_fn(|j| span(f(j as u64 * h))), h).ideal.get();
            let sum: f64 = (0..4 * h).map(f).sum();
            assert!((found / sum - 1.0).abs() < 1e-13, "{h}: {found} is not {sum}");
        }
    }

    #[test]
    fn kinks_and_jumps_are_found() {
        for at in [3, 700, 5_000, 99_999] {
            let kink = |i: u64| span(5.0 + i.min(at) as f64 * 0.01);
            let jump = |i: u64| span(if i < at { 2.0 } else { 3.0 });
            for term in [&kink as &dyn Fn(u64) -> Span, &jump] {
                let term = |i| term(i);
                let series =
                    Series { from: 1, count: 120_000, kinks: &[], watched: SMOOTH, agreed: AGREED };
                let (found, all) = (series.sum(&term), direct(1, 120_000, &term));
                let error = (found.ideal.get() / all.ideal.get() - 1.0).abs();
                assert!(error < 1e-9, "at {at}: {error}");
            }
        }
    }

    fn request(model: &str, device: &str, workload: Workload) -> EstimateRequest<'static> {
        EstimateRequest {
            device: catalog::device(device).expect("catalog key"),
            mode: None,
            memory_limit: None,
            model: &catalog::model(model).expect("catalog key").arch,
            precision: PrecisionChoice::weights(&catalog::formats::FP16),
            workload,
            weight_size: None,
            draft: None,
            engine: None,
            calibration: &Calibration::FITTED,
            host: None,
            cards: None,
        }
    }

    const PLACES: [(&str, &str); 5] = [
        ("llama-3.1-8b", "h100_sxm"),
        ("gemma-3-27b", "rtx_4090"),
        ("gpt-oss-20b", "jetson_agx_orin_64gb"),
        ("deepseek-v3", "b200"),
        ("mistral-7b-v0.1", "apple_m4"),
    ];

    #[test]
    fn the_longest_answer_costs_few_steps() {
        for (model, device) in PLACES {
            let plan = Plan::new(request(model, device, Workload::new(1, 1))).expect("a plan");
            for count in [DIRECT + 1, 131_071, MAX_NEW_TOKENS - 1] {
                let costed = Cell::new(0_u64);
                let term = |cached| {
                    costed.set(costed.get() + 1);
                    plan.round_part(None, cached, StepPart::Attention)
                };
                for (watched, most) in [(SMOOTH, 300), (KINKED, 400)] {
                    costed.set(0);
                    let kinks = &plan.reaches_full(None, 0);
                    Series { from: 1, count, kinks, watched, agreed: AGREED }.sum(&term);
                    assert!(costed.get() <= most, "{model}: {} of {count}", costed.get());
                }
            }
        }
    }

    #[test]
    fn searches_see_the_time_of_the_whole_answer() {
        for (model, device) in PLACES {
            for new_tokens in [2, 23, 24, 25, 100, 300, 513, 4096, 131_072] {
                let workload = Workload { new_tokens, ..Workload::new(2, 900) };
                let plan = Plan::new(request(model, device, workload)).expect("a plan");
                let Expected { time, high, .. } = plan.quick_generation(None);
                let exact = plan.generation(None).expected;
                for (found, exact) in [(time, exact.time), (high, exact.high)] {
                    assert!((found / exact - 1.0).abs() < 1e-7, "{model}, {new_tokens} tokens");
                }
            }
        }
    }
}
