//! Bounds the native time of an answer; the browser test prints the time in the browser.

use crate::state::place::Place;
use std::time::Instant;

use calc_core::catalog;

use super::answer::derive;
use super::fields::Field;
use super::inputs::{ModelInputs, ModelSource};

/// Far above the actual time, so that only a mistake in the amount of work fails the test [ms].
const MOST_MILLISECONDS: f64 = 25.0;

#[test]
fn the_heaviest_models_answer_at_once() {
    let device = catalog::device("h100_sxm").expect("catalog key");
    for model in ["deepseek-v3", "llama-3.1-405b"] {
        let mut inputs = ModelInputs::default();
        inputs.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
        inputs.set_text(Field::Generate, "10000000".into());
        let best = (0..5)
            .map(|_| {
                let start = Instant::now();
                assert!(derive(&inputs, Place::of(device)).is_ok());
                start.elapsed().as_secs_f64() * 1e3
            })
            .fold(f64::INFINITY, f64::min);
        println!("{model}: {best:.2} ms");
        assert!(best < MOST_MILLISECONDS, "{model}: {best:.2} ms");
    }
}
