//! JSON answer of `compare`: measured times beside predicted ones.

use calc_core::analysis::Analysis;
use calc_core::compare::{Score, error, score};
use calc_core::roofline::Bound;
use calc_core::units::Seconds;
use serde::Serialize;
use serde_json::{Value, json};

use super::{HardwareJson, SCHEMA};
use crate::input::request::AnalyzeInputs;
use crate::output::words;

/// Predicted and measured times of one precision.
#[derive(Debug, Clone, Serialize)]
pub struct ComparedJson {
    weights: &'static str,
    activations: &'static str,
    predicted: PredictedJson,
    measured_s: f64,
    error: f64,
    bound: Bound,
    distance_from_ridge: f64,
    speedup_fp16: SpeedupJson,
    above_roof: bool,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[expect(clippy::struct_field_names, reason = "the published keys name their unit")]
struct PredictedJson {
    ideal_s: f64,
    expected_s: f64,
    low_s: f64,
    high_s: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct SpeedupJson {
    predicted: Option<f64>,
    measured: Option<f64>,
    error: Option<f64>,
}

/// Prediction with the measured time.
#[derive(Debug, Clone)]
pub struct Point {
    /// Request of the prediction.
    pub inputs: AnalyzeInputs,
    pub answer: Analysis,
    pub measured: Seconds,
}

/// Comparison by precision, with the errors of the predictions.
#[derive(Debug, Clone, Serialize)]
pub struct CompareJson {
    schema: u32,
    hardware: Option<HardwareJson>,
    shape: Value,
    /// Rows in the order given.
    pub rows: Vec<ComparedJson>,
    mean_error: Option<f64>,
    worst_error: Option<f64>,
    verdict: Option<&'static str>,
}

impl CompareJson {
    /// Compares predictions with measurements; speedups are relative to the FP16 row, where there is one.
    pub fn new(points: &[Point]) -> Self {
        let base = points.iter().find(|point| point.answer.precision.weights.key == "fp16");
        let rows: Vec<ComparedJson> = points.iter().map(|point| compared(point, base)).collect();
        let errors: Vec<f64> = rows.iter().map(|row| row.error).collect();
        let total: Option<Score> = score(&errors);
        let first = points.first();
        Self {
            schema: SCHEMA,
            hardware: first.map(|point| {
                HardwareJson::new(&point.inputs.device, point.inputs.power_mode.as_deref())
            }),
            shape: first.map_or(Value::Null, |point| {
                json!(super::analyze::ShapeJson::from(point.inputs.operator))
            }),
            rows,
            mean_error: total.map(|score| score.mean),
            worst_error: total.map(|score| score.worst),
            verdict: total.map(|score| words::fit(score.fit, errors.iter().sum::<f64>() < 0.0)),
        }
    }

    /// The verdict as a sentence fragment; `None` without a verdict.
    pub const fn verdict(&self) -> Option<&'static str> {
        self.verdict
    }

    /// Mean and largest error.
    pub const fn errors(&self) -> (Option<f64>, Option<f64>) {
        (self.mean_error, self.worst_error)
    }
}

fn compared(point: &Point, base: Option<&Point>) -> ComparedJson {
    let answer = &point.answer;
    let predicted = base.map(|base| base.answer.expected.time / answer.expected.time);
    let measured = base.map(|base| base.measured / point.measured);
    ComparedJson {
        weights: answer.precision.weights.key,
        activations: answer.precision.activations.key,
        predicted: PredictedJson {
            ideal_s: answer.ideal.get(),
            expected_s: answer.expected.time.get(),
            low_s: answer.expected.low.get(),
            high_s: answer.expected.high.get(),
        },
        measured_s: point.measured.get(),
        error: error(point.measured, answer.expected.time),
        bound: answer.time.bound(),
        distance_from_ridge: answer.cost.intensity() / answer.roofline.ridge(),
        speedup_fp16: SpeedupJson {
            predicted,
            measured,
            error: predicted
                .zip(measured)
                .map(|(predicted, measured)| (measured - predicted) / predicted),
        },
        above_roof: point.measured < answer.ideal,
    }
}

impl ComparedJson {
    /// Numbers of a table row: ideal, expected and measured time, error, distance from the roof, both speedups.
    pub fn cells(&self) -> [f64; 7] {
        let speedup = |value: Option<f64>| value.unwrap_or(f64::NAN);
        [
            self.predicted.ideal_s,
            self.predicted.expected_s,
            self.measured_s,
            self.error,
            self.distance_from_ridge,
            speedup(self.speedup_fp16.predicted),
            speedup(self.speedup_fp16.measured),
        ]
    }

    /// Weights and bound of the row.
    pub const fn labels(&self) -> (&'static str, Bound) {
        (self.weights, self.bound)
    }

    /// True for a measurement faster than the roofline allows.
    pub const fn above_roof(&self) -> bool {
        self.above_roof
    }
}
