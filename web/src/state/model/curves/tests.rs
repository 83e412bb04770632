//! Tests of the curves.

use super::*;
use crate::state::model::fields::Field;
use calc_core::catalog;

fn swept(weights: &str, prompt: &str) -> [CurveSweep; 2] {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let mut inputs = ModelInputs::default();
    inputs.set_text(Field::Prompt, prompt.into());
    inputs.formats.set(
        crate::state::model::roles::Role::Weights,
        Some(catalog::format(weights).expect("catalog key")),
    );
    CurveAxis::ALL.map(|against| next(None, &inputs, Place::of(device), against))
}

#[test]
fn the_steps_rise_and_hold_the_readers_value() {
    for (first, last, here) in [
        (1, 1024, 1),
        (1, 1024, 37),
        (1, 5000, 5000),
        (256, 131_072, 4096),
        (7, 512, 7),
        (1, 1_000_000, 999),
    ] {
        let steps = steps(first, last, here);
        assert!(steps.windows(2).all(|pair| pair[0] < pair[1]), "{steps:?}");
        assert_eq!((steps.first(), steps.last()), (Some(&first), Some(&last)));
        assert!(steps.contains(&here) && steps.len() <= MOST_COLUMNS + 4, "{here}: {steps:?}");
    }
}

#[test]
fn a_wrong_field_keeps_the_curves_before() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    let mut wrong = ModelInputs::default();
    wrong.set_text(Field::Batch, "many".into());
    for (against, before) in CurveAxis::ALL.into_iter().zip(swept("fp16", "64")) {
        assert_eq!(next(Some(&before), &wrong, Place::of(device), against), before);
        assert!(next(None, &wrong, Place::of(device), against).rows.len() > 10);
    }
}

#[test]
fn the_crossing_is_where_the_bound_changes() {
    let [by_batch, by_context] = swept("int4_g128", "16");
    let crossing = by_batch.curves.crossing.expect("a short context gets compute-bound").at;
    for row in &by_batch.rows {
        assert_eq!(row.limiter == Resource::Compute, row.at as f64 >= crossing, "{}", row.at);
    }
    assert_eq!(by_context.curves.crossing, None);
    assert!(by_context.words.contains("limits all along"), "{}", by_context.words);
}

#[test]
fn throughput_is_batch_over_latency_and_memory_ends_it() {
    let [by_batch, _] = swept("fp16", "4096");
    for row in &by_batch.rows {
        for (rate, time) in row.throughput.iter().zip(row.latency) {
            assert!((rate * time.get() / row.at as f64 - 1.0).abs() < 1e-9);
        }
    }
    let end = by_batch.curves.limit.expect("KV caches fill the memory").at;
    assert!(by_batch.rows.iter().all(|row| row.fits == (row.at as f64 <= end)));
    assert!(by_batch.rows.iter().any(|row| !row.fits && row.cells()[2] == "–"));
}
