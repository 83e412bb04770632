//! JSON answer of `compare` for a file of a benchmark or a profiler: each measured time beside the model's.

use calc_core::roofline::Bound;
use serde::Serialize;

use super::{ExpectedJson, HardwareJson, SCHEMA};
use crate::input::measurements::Comparable;
use crate::input::request::{Done, MeasuredInputs, MeasuredRow};
use crate::output::words::{check, measured as words};

/// Comparable times of a file.
#[derive(Debug, Clone, Serialize)]
pub struct MeasuredJson {
    schema: u32,
    tool: &'static str,
    hardware: Option<HardwareJson>,
    taken: Vec<TakenJson>,
    rows: Vec<MeasuredRowJson>,
    notes: Vec<String>,
}

/// A field that the file told.
#[derive(Debug, Clone, Serialize)]
struct TakenJson {
    field: &'static str,
    value: String,
    of: &'static str,
}

/// A judged time.
#[derive(Debug, Clone, Serialize)]
struct MeasuredRowJson {
    run: String,
    work: &'static str,
    model: Option<String>,
    weights: &'static str,
    batch: Option<u64>,
    prompt: Option<u64>,
    context: Option<u64>,
    new_tokens: Option<u64>,
    statistic: &'static str,
    measured_s: f64,
    /// Null for a kernel, and where the file does not tell the tokens.
    measured_token_per_s: Option<f64>,
    ideal_s: f64,
    expected: ExpectedJson,
    /// Measured over expected time.
    ratio: f64,
    bound: Bound,
    /// `interval`, `roof` or `nothing`: what the file allows to compare.
    judged: &'static str,
    /// Null where the interval cannot be judged.
    inside_expected: Option<bool>,
    /// Null where nothing can be judged.
    above_roof: Option<bool>,
    /// Null where nothing can be judged.
    verdict: Option<&'static str>,
    judgment: &'static str,
    /// The reason against a full comparison.
    hindrance: Option<&'static str>,
    bytes: f64,
    /// DRAM traffic that a profiler counted.
    measured_bytes: Option<f64>,
}

impl MeasuredJson {
    /// Converts the judged times of a file.
    pub fn new(answer: &MeasuredInputs) -> Self {
        let first = answer.rows.first().map(|row| &row.inputs);
        let taken = answer.taken.iter().map(|told| TakenJson {
            field: told.key,
            value: told.value.clone(),
            of: told.of,
        });
        Self {
            schema: SCHEMA,
            tool: answer.tool.name(),
            hardware: first.map(|inputs| HardwareJson::new(inputs.device(), inputs.power_mode())),
            taken: taken.collect(),
            rows: answer.rows.iter().map(row).collect(),
            notes: words::notes(answer),
        }
    }
}

fn row(row: &MeasuredRow) -> MeasuredRowJson {
    let MeasuredRow { measured, inputs, answer, judged, .. } = row;
    let model = match &inputs.done {
        Done::Operator(_) => None,
        Done::Token(model) | Done::Answer(model) => Some(model),
    };
    let of_answer = model.filter(|_| matches!(inputs.done, Done::Answer(_)));
    let is_judged = !matches!(judged, Comparable::Nothing(_));
    MeasuredRowJson {
        run: row.label.clone(),
        work: words::work_key(measured.work),
        model: model.map(|model| model.model.key.clone()),
        weights: answer.weights.key,
        batch: model.map(|model| model.workload.batch),
        prompt: of_answer.map(|model| model.workload.prompt),
        context: model.map(|model| model.workload.context),
        new_tokens: of_answer.map(|model| model.workload.new_tokens),
        statistic: words::statistic(measured.statistic),
        measured_s: measured.time.get(),
        measured_token_per_s: measured.tokens.map(|tokens| tokens / measured.time.get()),
        ideal_s: answer.ideal.get(),
        expected: answer.expected.into(),
        ratio: answer.time / answer.expected.time,
        bound: answer.bound,
        judged: words::judged_key(*judged),
        inside_expected: (*judged == Comparable::Interval).then(|| words::is_inside(row)),
        above_roof: is_judged.then(|| words::is_above(row)),
        verdict: is_judged.then(|| check::verdict(answer.verdict)),
        judgment: words::judgment(row),
        hindrance: match judged {
            Comparable::Interval => None,
            Comparable::Roof(reason) | Comparable::Nothing(reason) => {
                Some(words::hindrance(*reason))
            }
        },
        bytes: answer.cost.traffic.total().get(),
        measured_bytes: measured.traffic.map(calc_core::units::Bytes::get),
    }
}
