//! Laws of the adviser that hold for every device, model and bound.

#[path = "tasks/limit.rs"]
mod limit;
mod random;
#[path = "tasks/shape.rs"]
mod shape;
mod tasks;

use calc_core::calibration::Engine;
use calc_core::catalog;
use calc_core::lowering::Phase;
use calc_core::recommend::{
    Axis, Bounds, Change, FirstBy, Objective, Ranked, RankedPart, RecommendRequest, Standing,
    recommend, room,
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
    let (score_a, score_b) = (a.score, b.score);
    let ([low_a, high_a], [low_b, high_b]) = (a.interval, b.interval);
    let (rho_a, rho_b) = (a.pair_ratio, b.pair_ratio);
    let third = low_b <= score_a && score_a <= high_b && low_a <= score_b && score_b <= high_a;
    let ratio_is_within = |rho: f64| score_a <= score_b * rho && score_b <= score_a * rho;
    third && (a.engine != b.engine || (ratio_is_within(rho_a) && ratio_is_within(rho_b)))
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
        // The published formats are a candidate if they are quantized, and then no other scheme with the same formats is.
        assert!((24..=25).contains(&all), "case {case}: {all}");
        for row in &answer.ranked {
            assert!(row.quality.high <= request.bounds.quality * (1.0 + 1e-6), "case {case}");
            assert!(row.outcome.memory <= row.outcome.usable.bytes, "case {case}");
            let (tpot, ttft) = (row.outcome.decode.expected.time, row.outcome.ttft.time);
            assert!(request.bounds.tpot.is_none_or(|bound| tpot <= bound), "case {case}");
            assert!(request.bounds.ttft.is_none_or(|bound| ttft <= bound), "case {case}");
            let score = row.standing.score;
            assert!(score.is_finite() && score >= 0.0, "case {case}: {score}");
        }
        // Best first, except the smallest of those near the best on a small device, and those indistinguishable from the best.
        let Some(best) = (answer.ranked.iter().map(|row| row.standing))
            .min_by(|a, b| a.score.total_cmp(&b.score))
        else {
            continue;
        };
        // One engine's schemes are compared by their ratio, so that a row slower than its engine's best is no match for another.
        let is_like = |row: &Ranked| {
            let own = row.standing;
            let same =
                answer.ranked.iter().map(|row| row.standing).filter(|s| s.engine == own.engine);
            let leader = same.min_by(|a, b| a.score.total_cmp(&b.score)).expect("the row itself");
            is_like_by_the_equations(&own, &best) && is_like_by_the_equations(&own, &leader)
        };
        let is_small = best.limit <= Bytes::from_gb(8.0);
        // Another engine counts as half a percent of loss.
        let loss = |row: &Ranked, engine: Engine| {
            row.quality.high + if row.standing.engine == engine { 0.0 } else { 0.5 }
        };
        // A row that is better in loss or memory, or as published, may take the place of a first row that it cannot be told from.
        let is_moved = matches!(answer.first_by, FirstBy::LessMemory | FirstBy::Published)
            || matches!(answer.first_by, FirstBy::LessLoss | FirstBy::SameEngine)
                && !is_like(&answer.ranked[0]);
        let lightened = usize::from(is_moved);
        if let ([first, second, ..], 1) = (&answer.ranked[..], lightened) {
            let larger = if first.standing.engine == second.standing.engine { 1.05 } else { 1.0 };
            let no_worse = loss(first, second.standing.engine) <= second.quality.high
                && first.outcome.memory <= second.outcome.memory * larger;
            let [low, high] = second.standing.interval;
            let is_within = (low..=high).contains(&first.standing.score);
            assert!(no_worse && is_within, "case {case}");
        }
        for pair in answer.ranked[lightened..].windows(2) {
            let is_near = is_small && pair[0].standing.score <= best.score * 1.05;
            let is_ordered = pair[0].standing.score <= pair[1].standing.score;
            assert!(is_near || is_like(&pair[0]) || is_ordered, "case {case}");
        }
        if !is_small {
            let first = loss(&answer.ranked[0], best.engine);
            let less =
                answer.ranked.iter().find(|row| is_like(row) && loss(row, best.engine) < first);
            assert!(less.is_none(), "case {case}: {} loses less", less.expect("one").scheme.key);
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
