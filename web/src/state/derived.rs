//! Results of the Kernel view, derived from the inputs: the analysis of every row, and all texts. No other module of the page
//! calls the core for this view.

mod captions;
mod flips;
pub mod operator_form;
mod panel;
mod rows;

use std::sync::Arc;

use calc_core::analysis::{Analysis, AnalyzeRequest, Operator, analyze};
use calc_core::calibration::Calibration;
use calc_core::error::Error;
use calc_core::precision::PrecisionChoice;
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::roofline::Roofs;
use chart::mark::mark;
use chart::roofline::{PointInput, Roofline};
use report::input::request::RequestError;
use report::output::verdict;
use report::output::verdict::explain::Explanation;

use super::inputs::{ComparedRole, Inputs};
use super::operator::{OperatorFault, Typed};
use super::points::{self, PointRow};

pub use captions::{
    ModeChoice, chart_summary, focus_key, inputs_summary, mode_choices, point_keys, point_text,
    rule_name, why_stale,
};
pub use panel::{DeviceFact, LimitBar, LimitsAnswer, facts, weakest};
pub use rows::{COLUMNS, KernelRow, RowState};

/// A formatted number with its explanation.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The number with its unit.
    pub text: String,
    /// Formula, values and source of the number.
    pub explanation: Explanation,
}

/// All results of the Kernel view for valid inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelAnswer {
    /// Verdict on the chosen format: its limit, or that it does not run.
    pub sentence: String,
    /// The numbers behind the verdict, or the reason why the format does not run.
    pub line: String,
    /// Rows of the format table, in a fixed order.
    pub rows: Vec<KernelRow>,
    /// Short name of the format that speedups refer to.
    pub baseline: String,
    pub chart: Roofline,
    /// The device computes the chosen format.
    pub runs: bool,
    /// The user's own points.
    pub own_points: Vec<PointRow>,
}

impl KernelAnswer {
    /// The row of a format, by its key.
    pub fn row(&self, key: &str) -> Option<&KernelRow> {
        self.rows.iter().find(|row| row.key == key)
    }
}

/// The last valid answer, and the faults of the current inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct KernelShown {
    /// The last valid answer; it belongs to earlier inputs while there are faults.
    pub kernel: Arc<KernelAnswer>,
    /// The texts of the fields that the answer is of.
    typed: Typed,
    /// Invalid fields of the current inputs.
    pub faults: Vec<OperatorFault>,
}

impl KernelShown {
    /// Whether the answer belongs to earlier inputs.
    pub fn is_stale(&self) -> bool {
        !self.faults.is_empty()
    }
}

/// The next state to show: invalid inputs keep the last valid answer.
pub fn next(before: Option<&KernelShown>, inputs: &Inputs) -> KernelShown {
    match (derive(inputs), before) {
        (Ok(kernel), _) => {
            let typed = inputs.typed.clone();
            KernelShown { kernel: Arc::new(kernel), typed, faults: Vec::new() }
        }
        (Err(faults), Some(before)) => KernelShown { faults, ..before.clone() },
        (Err(faults), None) => {
            let usual = Inputs::default();
            let Ok(kernel) = derive(&usual) else { unreachable!("the default inputs are valid") };
            KernelShown { kernel: Arc::new(kernel), typed: usual.typed, faults }
        }
    }
}

/// Formats that are always compared with the faster 16-bit format, widest first; the chosen one is added.
const fn compared_keys(role: ComparedRole) -> &'static [&'static str] {
    match role {
        ComparedRole::Weights => &["fp8_e4m3", "int8", "nvfp4", "int4_g128", "gguf_q4_k"],
        ComparedRole::KvCache => &["fp8_e4m3", "int8", "gguf_q8_0", "nvfp4", "gguf_q4_0"],
        ComparedRole::Carrier => &["fp32"],
    }
}

/// Computes all results for the inputs.
///
/// # Errors
/// Returns all invalid fields.
pub fn derive(inputs: &Inputs) -> Result<KernelAnswer, Vec<OperatorFault>> {
    let question = OperatorQuestion {
        inputs,
        operator: inputs.operator()?,
        calibration: inputs.place().calibration(),
    };
    let half = inputs.half();
    let baseline = question.analyze_choice(PrecisionChoice::weights(half)).ok();
    let answers = question.answers();
    let chosen = answers.iter().find(|(format, _)| format.key == inputs.format().key);
    let (sentence, line, runs) = match chosen {
        Some((_, Ok(answer))) => (verdict::sentence(answer), verdict::line(answer), true),
        Some((format, Err(error))) => {
            (format!("{} does not run here.", format.short_name), refusal(error), false)
        }
        None => (String::new(), String::new(), false),
    };
    let mut chart = chart(&question, &answers);
    let own_points = points::rows(&inputs.points, &chart, inputs.device.disturbed_roofs());
    chart.points.extend(inputs.points.iter().enumerate().map(|(index, point)| point.input(index)));
    Ok(KernelAnswer {
        sentence,
        line,
        own_points,
        chart,
        rows: answers
            .iter()
            .map(|(format, answer)| question.row(format, answer, baseline.as_ref()))
            .collect(),
        baseline: half.short_name.to_owned(),
        runs,
    })
}

/// Limits of the chosen format and the changes that would lift them; `None` if it does not run or a field is invalid.
pub fn limits(inputs: &Inputs) -> Option<LimitsAnswer> {
    let operator = inputs.operator().ok()?;
    let question = OperatorQuestion { inputs, operator, calibration: inputs.place().calibration() };
    let answer = question.analyze(inputs.format()).ok()?;
    Some(panel::limits(&question, &answer))
}

/// Analyzes every format of the table.
///
/// # Errors
/// Returns all invalid fields.
pub fn answers(inputs: &Inputs) -> Result<Vec<Answered>, Vec<OperatorFault>> {
    let operator = inputs.operator()?;
    Ok(OperatorQuestion { inputs, operator, calibration: inputs.place().calibration() }.answers())
}

/// Analyzes the operator with the chosen format.
///
/// # Errors
/// Returns the core's reason why the format cannot be analyzed.
pub fn chosen(inputs: &Inputs, operator: Operator) -> Result<Analysis, Error> {
    let question = OperatorQuestion { inputs, operator, calibration: inputs.place().calibration() };
    question.analyze(inputs.format())
}

/// A format with its analysis, or the reason why there is none.
pub type Answered = (&'static QuantFormat, Result<Analysis, Error>);

/// The reason why a format has no numbers, in the command line's wording.
pub fn refusal(error: &Error) -> String {
    RequestError::Core(error.clone()).to_string()
}

fn compared(inputs: &Inputs, half: &'static QuantFormat) -> Vec<&'static QuantFormat> {
    let keys = compared_keys(inputs.role()).iter();
    let fixed = keys.filter_map(|key| calc_core::catalog::format(key).ok());
    let mut formats: Vec<&'static QuantFormat> = core::iter::once(half).chain(fixed).collect();
    let chosen = inputs.format();
    if !formats.iter().any(|format| format.key == chosen.key) {
        formats.push(chosen);
    }
    formats
}

/// Valid inputs with the operator and the calibration that they imply.
pub(crate) struct OperatorQuestion<'a> {
    inputs: &'a Inputs,
    operator: Operator,
    calibration: &'a Calibration,
}

impl OperatorQuestion<'_> {
    fn roofs(&self) -> Result<Roofs, Error> {
        Roofs::new(&self.inputs.device, self.inputs.power_mode())
    }

    fn answers(&self) -> Vec<Answered> {
        let formats = compared(self.inputs, self.inputs.half());
        formats.into_iter().map(|format| (format, self.analyze(format))).collect()
    }

    fn analyze(&self, format: &'static QuantFormat) -> Result<Analysis, Error> {
        self.analyze_choice(self.inputs.precision(format))
    }

    fn analyze_choice(&self, precision: PrecisionChoice) -> Result<Analysis, Error> {
        self.analyze_operator(self.operator, precision)
    }

    fn analyze_operator(
        &self,
        operator: Operator,
        precision: PrecisionChoice,
    ) -> Result<Analysis, Error> {
        analyze(&AnalyzeRequest {
            device: &self.inputs.device,
            mode: self.inputs.power_mode(),
            operator,
            precision,
            engine: None,
            calibration: self.calibration,
        })
    }
}

/// Roofs in drawing order, which decides which label is placed first: most common compute classes first.
const ROOFS: [ComputeClass; 8] = [
    ComputeClass::Fp16,
    ComputeClass::Bf16,
    ComputeClass::Fp8,
    ComputeClass::Fp4,
    ComputeClass::Int8,
    ComputeClass::Int4,
    ComputeClass::Fp64,
    ComputeClass::Fp32,
];

fn chart(question: &OperatorQuestion<'_>, answers: &[Answered]) -> Roofline {
    let uses = |class: &ComputeClass| {
        answers
            .iter()
            .filter_map(|(_, answer)| answer.as_ref().ok())
            .any(|answer| answer.path.class == *class)
    };
    let shown: Vec<ComputeClass> =
        ROOFS.into_iter().filter(|class| *class != ComputeClass::Fp64 || uses(class)).collect();
    let inputs = question.inputs;
    let chart = Roofline::of_device(&inputs.device, inputs.power_mode(), &shown)
        .or_else(|_| Roofline::of_device(&inputs.device, None, &shown));
    // No `expect` here: it formats the error with all its numbers, which adds some kilobytes to the page.
    let Ok(mut chart) = chart else { unreachable!("a device without a power mode has roofs") };
    for (format, answer) in answers {
        let Ok(answer) = answer else { continue };
        if format.key == inputs.format().key {
            let is_main = |peak: f64| (peak / answer.roofline.peak.get() - 1.0).abs() < 1e-3;
            chart.main =
                chart.roofs.iter().find(|roof| is_main(roof.peak.get())).map(|roof| roof.class);
        }
        if answer.cost.flops.get() == 0.0 {
            continue; // a logarithmic axis cannot show 0 FLOP
        }
        chart.points.push(PointInput {
            key: format.key.to_owned(),
            mark: mark(format.key),
            label: format.short_name.to_owned(),
            intensity: answer.cost.intensity(),
            attained: answer.ideal_rate(),
            expected: Some(answer.cost.flops / answer.expected.time),
            filled: true,
        });
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::operator::{Field, Op};
    use calc_core::catalog::{self, devices, formats::FORMATS};
    use std::borrow::Cow;

    fn typed(m: &str) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.typed.set(Field::M, m.to_owned());
        inputs
    }

    fn row<'a>(kernel: &'a KernelAnswer, key: &str) -> &'a KernelRow {
        kernel.row(key).expect("a row")
    }

    fn cells(row: &KernelRow) -> Vec<String> {
        let RowState::Runs { cells, .. } = &row.state else { panic!("{row:?}") };
        cells.iter().map(|cell| cell.text.replace(report::number_text::SPACE, " ")).collect()
    }

    #[test]
    fn the_default_page_says_what_the_model_says() {
        let kernel = derive(&Inputs::default()).expect("valid");
        assert!(kernel.sentence.starts_with("Memory-bound"));
        assert!(kernel.line.contains("43 times below the FP16 ridge"), "{}", kernel.line);
        assert_eq!(cells(row(&kernel, "int4_g128"))[..3], ["8.93 MB", "3.76", "87.2 µs"]);
        assert_eq!(cells(row(&kernel, "fp16"))[..3], ["33.6 MB", "1.00", "328 µs"]);
        assert_eq!(cells(row(&kernel, "fp16"))[4], "1.00×");
        assert!(row(&kernel, "int4_g128").chosen && !row(&kernel, "fp16").chosen);
    }

    #[test]
    fn every_device_answers_every_format_with_numbers_or_a_reason() {
        for device in devices::all() {
            for weights in FORMATS {
                for activations in
                    [None, catalog::format("fp8_e4m3").ok(), catalog::format("fp64").ok()]
                {
                    let mut inputs = Inputs { weights, activations, ..Inputs::default() };
                    inputs.set_device(Cow::Borrowed(device));
                    let kernel = derive(&inputs).expect("valid fields");
                    assert_eq!(kernel.rows.iter().filter(|row| row.chosen).count(), 1);
                    assert!(!kernel.sentence.is_empty() && !facts(&inputs).is_empty());
                    for row in &kernel.rows {
                        if let RowState::Refused { reason } = &row.state {
                            assert!(reason.len() > 20, "{reason}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn every_operator_has_an_answer_on_every_device() {
        for device in devices::all() {
            for op in Op::ALL {
                let mut inputs = Inputs { op, ..Inputs::default() };
                inputs.set_device(Cow::Borrowed(device));
                let kernel = derive(&inputs).expect("valid fields");
                assert_eq!(kernel.rows.iter().filter(|row| row.chosen).count(), 1, "{op:?}");
                assert!(kernel.runs && kernel.rows.len() > 1, "{op:?} {}", device.key);
                let texts = format!("{} {} {:?}", kernel.sentence, kernel.line, limits(&inputs));
                assert!(!texts.contains("NaN") && !texts.contains('∞'), "{op:?}: {texts}");
            }
        }
    }

    #[test]
    fn a_wrong_field_keeps_the_last_good_answer() {
        let good = next(None, &typed("64"));
        let wrong = next(Some(&good), &typed("0"));
        assert!(wrong.is_stale() && !good.is_stale());
        assert_eq!(wrong.kernel, good.kernel);
        assert!(why_stale(&wrong).ends_with("What is below is still of M 64."), "{wrong:?}");
        assert_eq!(why_stale(&good), "");
        assert!(next(None, &typed("")).is_stale());
    }

    #[test]
    fn a_refused_format_is_listed_with_its_reason() {
        let weights = catalog::format("fp64").expect("catalog key");
        let mut inputs = Inputs { weights, ..Inputs::default() };
        inputs
            .set_device(Cow::Borrowed(catalog::device("jetson_orin_nano_8gb_super").expect("key")));
        let kernel = derive(&inputs).expect("valid fields");
        let reason = match &row(&kernel, "fp64").state {
            RowState::Refused { reason } => reason.clone(),
            RowState::Runs { .. } => panic!("it has no FP64 peak"),
        };
        assert!(reason.contains("fp64"), "{reason}");
        assert!(kernel.sentence.contains("does not run") && !kernel.runs);
        assert!(kernel.chart.points.iter().all(|point| point.key != "fp64"));
    }
}
