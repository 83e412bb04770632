//! Pairs of rows that differ in their formats alone: how far the predicted ratio of their times is off.

use calc_core::analysis::Operator;
use calc_core::calibration::PairRatios;
use calc_core::lowering::Phase;

use crate::row::{PublishedRow, Work};
use crate::score::percentile;

/// Share of the pairs whose ratio is predicted within a [`PairRatios`]. Of two schemes that are predicted to be further apart,
/// 1 in 20 is in the wrong order.
const INSIDE: f64 = 0.9;
/// Rows above which a product is one of those that prefill consists of.
const MANY_ROWS: u64 = 256;
/// Fields of a request in which the rows of a pair differ.
const FORMATS: [&str; 4] = ["weights", "kv", "activations", "embedding"];
/// Fields that follow from the formats.
const SIZES: [&str; 3] = ["streamed_gb", "weight_gb", "weight_bits"];

/// A row with its work apart from its formats.
struct Timed {
    work: String,
    formats: String,
    /// Predicted over measured time.
    error: f64,
}

impl Timed {
    fn new(row: &PublishedRow, predicted: f64) -> Self {
        let is_format = |key: &&str| FORMATS.contains(key);
        let text = |keep: &dyn Fn(&&str) -> bool| {
            let kept = row.request.iter().filter(|(key, _)| keep(key));
            kept.map(|(key, value)| format!("{key}={value} ")).collect::<String>()
        };
        let work = text(&|key| !is_format(key) && !SIZES.contains(key));
        let bandwidth = row.device.bandwidth.value.get();
        Self {
            work: format!("{:?} {bandwidth} {} {work}", phase(row), row.engine_text),
            formats: text(&is_format),
            error: predicted / row.measured.get(),
        }
    }

    /// Factor by which the predicted ratio is off; `None` if the two are no pair.
    fn off(&self, other: &Self) -> Option<f64> {
        let is_pair = self.work == other.work && self.formats != other.formats;
        let ratio = self.error / other.error;
        is_pair.then_some(ratio.max(1.0 / ratio))
    }
}

/// The factors within which 90 % of the pairs' ratios are predicted, from rows with their predicted times [s].
pub fn pair_ratios(rows: &[(&PublishedRow, f64)]) -> PairRatios {
    let within = |keep: fn(&PublishedRow) -> bool| {
        let kept = rows.iter().filter(|(row, _)| keep(row));
        let timed: Vec<Timed> = kept.map(|(row, time)| Timed::new(row, *time)).collect();
        let mut off: Vec<f64> = Vec::new();
        for (at, one) in timed.iter().enumerate() {
            off.extend(timed[at + 1..].iter().filter_map(|other| one.off(other)));
        }
        percentile(&mut off, INSIDE)
    };
    PairRatios {
        decode: within(|row| phase(row) == Some(Phase::Decode)),
        prefill: within(|row| phase(row) == Some(Phase::Prefill) || is_tall_product(row)),
        alone: within(|row| row.set().is_alone()),
    }
}

fn phase(row: &PublishedRow) -> Option<Phase> {
    match &row.work {
        Work::Step(step) => Some(step.phase),
        Work::Operator(_) => None,
    }
}

fn is_tall_product(row: &PublishedRow) -> bool {
    match &row.work {
        Work::Step(_) => false,
        Work::Operator(work) => {
            matches!(work.inputs.operator, Operator::Gemm(shape) if shape.m > MANY_ROWS)
        }
    }
}
