//! Laws of the adviser that hold for every device, model and bound.

#[path = "tasks/limit.rs"]
mod limit;
mod random;
#[path = "tasks/shape.rs"]
mod shape;
mod tasks;

use calc_core::catalog;
use calc_core::lowering::Phase;
use calc_core::recommend::{
    Axis, Bounds, Change, FirstBy, Objective, RankedPart, RecommendRequest, Standing, recommend,
    room,
};
use calc_core::units::{Bytes, Seconds};
use calc_core::workload::Workload;
use limit::limited;
use random::Random;
use shape::shape_task;
use tasks::model_task;

/// A random request: any device, model, workload, objective and bounds.
fn random_request(random: &mut Random) -> RecommendRequest<'static> {
    let device = random.pick(&catalog::devices::all().collect::<Vec<_>>());
    let model = random.pick(&catalog::models::all().collect::<Vec<_>>());
    let mut workload = Workload::new(1 << random.below(6), 1 << random.below(12));
    workload.context = 1 << random.below(14);
    let task = if random.below(5) == 0 {
        shape_task(device, 1 << random.below(12), Phase::Decode)
    } else {
        model_task(device, model.key, workload)
    };
    let seconds = |random: &mut Random| {
        (random.below(3) == 0).then(|| Seconds::new(f64::from(1 << random.below(10)) * 1e-3))
    };
    let limit = (random.below(3) == 0).then(|| Bytes::from_gb(f64::from(1 << random.below(8))));
    let bounds = Bounds {
        quality: random.pick(&[0.0, 0.5, 1.0, 5.0, 10.0, 100.0]),
        tpot: seconds(random),
        ttft: seconds(random),
        rate: None,
    };
    let objective = random.pick(&[
        Objective::Latency,
        Objective::Throughput,
        Objective::Energy,
        Objective::Memory,
        Objective::Quality,
    ]);
    let part = random.pick(&[RankedPart::Prefill, RankedPart::Decode, RankedPart::Whole]);
    RecommendRequest { task: limited(task, limit), objective, part, bounds }
}

/// Equations (3) and (4) of `docs/theory/recommendation.md`, apart from the code under test.
fn is_like_by_the_equations(a: &Standing, b: &Standing) -> bool {
    let ([low_a, high_a], [low_b, high_b]) = (a.interval, b.interval);
    let third = low_b <= a.score && a.score <= high_b && low_a <= b.score && b.score <= high_a;
    let fourth = |rho: f64| a.score <= b.score * rho && b.score <= a.score * rho;
    third && fourth(a.pair_ratio) && fourth(b.pair_ratio)
}

#[test]
fn every_scheme_is_ranked_within_the_bounds_or_dropped_for_a_reason() {
    let mut random = Random(7);
    let mut answered = 0;
    for case in 0..300 {
        let request = random_request(&mut random);
        let Ok(answer) = recommend(&request) else { continue };
        answered += 1;
        let all = answer.ranked.len() + answer.dropped.len();
        // The published formats are a candidate if they are quantized, and then no other scheme with the same formats is: of MXFP4 experts up to three.
        assert!((23..=25).contains(&all), "case {case}: {all}");
        for row in &answer.ranked {
            assert!(row.quality.high <= request.bounds.quality * (1.0 + 1e-6), "case {case}");
            assert!(row.outcome.memory <= row.outcome.usable.bytes, "case {case}");
            let (tpot, ttft) = (row.outcome.decode.expected.time, row.outcome.ttft.time);
            assert!(request.bounds.tpot.is_none_or(|bound| tpot <= bound), "case {case}");
            assert!(request.bounds.ttft.is_none_or(|bound| ttft <= bound), "case {case}");
            let score = row.standing.score;
            assert!(score.is_finite() && score >= 0.0, "case {case}: {score}");
        }
        let Some(first) = answer.ranked.first() else { continue };
        let scores: Vec<f64> = answer.ranked.iter().map(|row| row.standing.score).collect();
        assert!(scores[1..].is_sorted(), "case {case}: {scores:?}");
        let best = scores.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(answer.first_by != FirstBy::Score || first.standing.score <= best, "case {case}");
        let is_small = first.standing.limit <= Bytes::from_gb(8.0);
        for row in &answer.ranked {
            let (own, other) = (&first.standing, &row.standing);
            let is_better = other.score < own.score && other.loss < own.loss;
            let is_smaller = other.memory * 1.02 < own.memory || !is_small;
            assert!(!(is_better && is_smaller), "case {case}: {} is better", row.scheme.key);
            let is_worse = own.loss > other.loss + 0.1 || own.loss > 0.0 && other.loss <= 0.0;
            let is_like = answer.ranked.iter().any(|row| {
                row.standing.score <= best && is_like_by_the_equations(other, &row.standing)
            });
            assert!(is_small || !(is_like && is_worse), "case {case}: {}", row.scheme.key);
        }
    }
    assert!(answered > 200, "{answered} of 300");
}

#[test]
fn a_flip_is_where_it_says() {
    let mut random = Random(11);
    let mut seen = 0;
    for case in 0..120 {
        let request = random_request(&mut random);
        let Ok(answer) = recommend(&request) else { continue };
        let Some(first) = answer.ranked.first() else { continue };
        let winner = |request: &RecommendRequest<'_>| {
            let answer = recommend(request).expect("a recommendation");
            answer.ranked.first().map(|row| row.scheme.key)
        };
        for flip in &first.flips {
            let to = flip.to.map(|scheme| scheme.key);
            let at = |axis, value| {
                winner(&RecommendRequest { task: request.task.at(axis, value), ..request })
            };
            let with = |bounds| winner(&RecommendRequest { bounds, ..request });
            match flip.when {
                Change::From(axis, value) => {
                    assert_eq!(at(axis, value), to, "case {case}: {flip:?}");
                    assert_ne!(at(axis, value - 1), to, "case {case}: {flip:?}");
                }
                Change::DownFrom(axis, value) => {
                    assert_eq!(at(axis, value), to, "case {case}: {flip:?}");
                    assert_ne!(at(axis, value + 1), to, "case {case}: {flip:?}");
                }
                Change::LossAllowed(loss) => {
                    let admitted = answer.dropped.iter().find(|row| Some(row.scheme.key) == to);
                    assert!(admitted.is_some(), "case {case}: {flip:?} is allowed already");
                    assert_eq!(
                        with(Bounds { quality: loss, ..request.bounds }),
                        to,
                        "case {case}: {flip:?}"
                    );
                }
                Change::LossBelow(loss) => {
                    let quality = loss * (1.0 - 1e-6);
                    assert_eq!(
                        with(Bounds { quality, ..request.bounds }),
                        to,
                        "case {case}: {flip:?}"
                    );
                }
                Change::Memory(needs) => assert!(needs > first.outcome.usable.bytes),
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen} flips");
}

#[test]
fn room_is_the_last_value_that_meets_the_bounds() {
    let mut random = Random(13);
    for case in 0..40 {
        let mut request = random_request(&mut random);
        request.bounds.quality = 100.0;
        let Ok(answer) = recommend(&request) else { continue };
        let Some(row) = answer.ranked.last() else { continue };
        let found = room(&request, row.scheme).expect("room");
        for (axis, value) in [(Axis::Batch, found.batch), (Axis::Context, found.context)] {
            let value = value.expect("the workload itself meets the bounds").value;
            let holds = |value| {
                let task = request.task.at(axis, value);
                recommend(&RecommendRequest { task, ..request }).is_ok_and(|answer| {
                    answer.ranked.iter().any(|r| r.scheme.key == row.scheme.key)
                })
            };
            assert!(holds(value), "case {case} {axis:?} {value}");
            assert!(
                value == request.task.most(axis) || !holds(value + 1),
                "case {case} {axis:?} {value}"
            );
        }
    }
}

/// The sequences that decode beside a prompt are as long as it, unless a context is stated.
#[test]
fn another_prompt_is_the_question_with_that_prompt() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    for (prompt, value) in [(512, 65_536), (32_768, 300)] {
        let bounds = Bounds { ttft: Some(Seconds::new(2.0)), ..Bounds::default() };
        let (objective, part) = (Objective::Latency, RankedPart::Whole);
        let request = |workload: Workload| {
            let task = model_task(device, "llama-3.1-8b", workload);
            RecommendRequest { task, objective, part, bounds }
        };
        let workload = |prompt| Workload { new_tokens: 64, ..Workload::new(16, prompt) };
        let asked = request(workload(prompt));
        let moved = RecommendRequest { task: asked.task.at(Axis::Prompt, value), ..asked };
        let (moved, fresh) = (recommend(&moved), recommend(&request(workload(value))));
        assert_eq!(moved, fresh, "{prompt} to {value}");
        let stated = Workload { context: 5000, ..workload(prompt) };
        let moved = request(stated).task.at(Axis::Prompt, value);
        assert_eq!(moved.get(Axis::Context), 5000);
    }
}
