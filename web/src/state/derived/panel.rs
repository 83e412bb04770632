//! The right column: limits of the chosen format, changes that would lift them, and facts of the device.

use calc_core::analysis::{Analysis, OperatorPart};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::ComputeClass;
use calc_core::roofline::Roofs;
use report::input::request::AnalyzeInputs;
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::{self, class_name, explain};
use report::output::words;

use super::{Cell, OperatorQuestion, flips};
use crate::state::inputs::{ComparedRole, Inputs};

/// Limits of the chosen format.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitsAnswer {
    /// Short name of the format.
    pub name: String,
    /// Formats that the operator reads and computes in.
    pub formats: String,
    /// Times; the longest fills the column.
    pub bars: Vec<LimitBar>,
    /// Changes that would lift the limit, one sentence each.
    pub changes: Vec<String>,
    /// Caveats of the answer.
    pub notes: Vec<String>,
}

/// A time as a bar.
#[derive(Debug, Clone, PartialEq)]
pub struct LimitBar {
    /// Resource or part that takes the time.
    pub name: String,
    pub time: Cell,
    /// Fraction of the longest bar, 0 to 1.
    pub share: f64,
    /// This bar is the limit.
    pub limits: bool,
}

/// A fact of the device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceFact {
    pub name: String,
    pub value: Cell,
    /// Also shown in the line under the device's name.
    pub in_brief: bool,
}

pub(super) fn limits(question: &OperatorQuestion<'_>, answer: &Analysis) -> LimitsAnswer {
    let precision = &answer.precision;
    LimitsAnswer {
        name: question.inputs.format().short_name.to_owned(),
        formats: match question.inputs.role() {
            ComparedRole::Weights => format!(
                "weights {} bit, activations {}",
                text::short(precision.weights.bits_per_element(), 4),
                precision.activations.short_name.to_owned()
            ),
            ComparedRole::KvCache => format!(
                "KV cache {} bit, everything else {}",
                text::short(precision.kv_cache.bytes_per_element() * 8.0, 4),
                precision.carrier.short_name.to_owned()
            ),
            ComparedRole::Carrier => format!("everything in {}", precision.carrier.short_name),
        },
        bars: if answer.parts.is_empty() { bars(question, answer) } else { part_bars(answer) },
        changes: verdict::changes(answer, &flips::flips(question, answer)),
        notes: words::analyze_notes(&request(question), answer),
    }
}

/// The command line's request for the same question, from which the notes are made.
fn request(question: &OperatorQuestion<'_>) -> AnalyzeInputs {
    let inputs = question.inputs;
    AnalyzeInputs {
        taken: Vec::new(),
        device: inputs.device.clone(),
        power_mode: inputs.mode.as_ref().map(ToString::to_string),
        operator: question.operator,
        precision: inputs.precision(inputs.format()),
        engine: None,
        calibration: inputs.own.as_ref().map(|own| own.calibration.clone()),
    }
}

fn bars(question: &OperatorQuestion<'_>, answer: &Analysis) -> Vec<LimitBar> {
    let (time, ideal) = (answer.time, answer.ideal);
    let floor = answer.factors.floor;
    let longest = ideal.max(floor);
    let cell = |seconds, explanation| Cell { text: text::time(seconds), explanation };
    vec![
        LimitBar {
            name: "DRAM".to_owned(),
            time: cell(time.memory, explain::memory_time(answer)),
            share: time.memory / longest,
            limits: time.memory > time.compute,
        },
        LimitBar {
            name: format!("{} arithmetic", class_name(answer.path.class)),
            time: cell(time.compute, explain::compute_time(answer, &question.operator)),
            share: time.compute / longest,
            limits: time.compute >= time.memory,
        },
        LimitBar {
            name: "fixed, per kernel".to_owned(),
            time: cell(floor, explain::floor(answer)),
            share: floor / longest,
            limits: false,
        },
    ]
}

/// The parts of a composite operator, and their minimal launch time.
fn part_bars(answer: &Analysis) -> Vec<LimitBar> {
    let floor = verdict::floors(answer);
    let times = answer.parts.iter().map(|part| part.time.ideal());
    let longest = times.fold(floor, calc_core::units::Seconds::max);
    let bar = |part: &OperatorPart| {
        let time = part.time.ideal();
        LimitBar {
            name: format!(
                "{} · {}",
                part.kind.key().replace('_', " "),
                words::bound(part.time.bound())
            ),
            time: Cell {
                text: text::time(time),
                explanation: explain::part(part, answer.roofline.bandwidth),
            },
            share: time / longest,
            limits: time >= longest,
        }
    };
    let fixed = LimitBar {
        name: format!("fixed, {} kernels", verdict::kernels(answer)),
        time: Cell { text: text::time(floor), explanation: explain::floor(answer) },
        share: floor / longest,
        limits: false,
    };
    answer.parts.iter().map(bar).chain([fixed]).collect()
}

/// Facts of the device in its power mode.
pub fn facts(inputs: &Inputs) -> Vec<DeviceFact> {
    let (device, mode) = (&*inputs.device, inputs.power_mode());
    let Ok(roofs) = Roofs::new(device, mode) else { return Vec::new() };
    let fact = |name: String, text: String, explanation, in_brief| DeviceFact {
        name,
        value: Cell { text, explanation },
        in_brief,
    };
    let shared = if device.memory_platform.is_shared() { " shared" } else { "" };
    let mut facts = vec![
        fact(
            "DRAM".to_owned(),
            text::published_bandwidth(roofs.bandwidth),
            explain::bandwidth(device, mode),
            true,
        ),
        fact(
            "Memory".to_owned(),
            format!("{}{shared}", text::capacity(device.memory.value)),
            explain::memory(device),
            true,
        ),
    ];
    let half = inputs.half().class;
    for class in ComputeClass::ALL {
        let (Some(own), Some(peak)) = (device.peaks.get(class), roofs.peak(class)) else {
            continue;
        };
        let explanation = explain::peak(device, mode, class, own);
        let text = text::published_rate(peak, class);
        let is_equal = |other: &&mut DeviceFact| {
            other.value.text == text && other.value.explanation.provenance == explanation.provenance
        };
        match facts.iter_mut().find(is_equal) {
            Some(other) => other.name = format!("{}, {}", other.name, class_name(class)),
            None => facts.push(fact(class_name(class), text, explanation, Some(class) == half)),
        }
    }
    let watts =
        mode.and_then(|mode| Some(Fact { value: mode.watts?, provenance: mode.provenance }));
    if let Some(Fact { value, provenance }) = watts.or(device.tdp) {
        let explanation = explain::fact("Power budget", provenance, device, lesson::ENERGY);
        facts.push(fact("Power".to_owned(), text::power(value), explanation, false));
    }
    facts
}

/// The weakest provenance of a line of facts, for its one badge; the capacity is left out, because it is printed on the box.
pub fn weakest(facts: &[DeviceFact]) -> Provenance {
    let rank = |provenance: Provenance| match provenance {
        Provenance::Read => 0,
        Provenance::Measured => 1,
        Provenance::Reported => 2,
        Provenance::Derived => 3,
        Provenance::Fitted => 4,
        Provenance::Mixed => 5,
        Provenance::Recalled => 6,
        Provenance::Assumed => 7,
    };
    facts
        .iter()
        .filter(|fact| fact.name != "Memory")
        .map(|fact| fact.value.explanation.provenance)
        .max_by_key(|provenance| rank(*provenance))
        .unwrap_or(Provenance::Assumed)
}

#[cfg(test)]
mod tests {
    use super::super::{Inputs, limits};
    use super::facts;
    use report::number_text::SPACE;

    #[test]
    fn facts_are_those_of_the_power_mode() {
        let said = |mode: Option<&'static str>| {
            let inputs = Inputs { mode: mode.map(Into::into), ..Inputs::default() };
            facts(&inputs)
                .iter()
                .map(|it| format!("{} {}", it.name, it.value.text).replace(SPACE, " "))
                .collect::<Vec<_>>()
        };
        let own = said(None);
        assert!(
            own.contains(&"DRAM 102.4 GB/s".to_owned())
                && own.contains(&"FP16, BF16 16.7 TFLOP/s".to_owned()),
            "{own:?}"
        );
        let low = said(Some("7W"));
        assert!(
            low.contains(&"DRAM 68.3 GB/s".to_owned()) && low.contains(&"Power 7 W".to_owned()),
            "{low:?}"
        );
    }

    #[test]
    fn one_bar_limits_and_fills_the_column() {
        let limits = limits(&Inputs::default()).expect("it runs");
        let limiting: Vec<_> = limits.bars.iter().filter(|bar| bar.limits).collect();
        assert_eq!(limiting.len(), 1);
        assert_eq!(limiting[0].name, "DRAM");
        assert!((limiting[0].share - 1.0).abs() < 1e-12);
    }
}
