//! Explanations of numbers: formula, values in it, provenance and source.

use calc_core::analysis::{Analysis, Operator, OperatorPart};
use calc_core::calibration::{Basis, Factors};
use calc_core::cost::gemm::GemmShape;
use calc_core::device::{Device, PowerMode};
use calc_core::provenance::{Fact, Provenance};
use calc_core::quant_format::{ComputeClass, QuantFormat};
use calc_core::units::{BytesPerSec, FlopsPerSec, Seconds};

use super::class_name;
use crate::number_text as text;
use crate::output::lesson::{self, Lesson};
use crate::output::words;

/// Source of a number.
#[derive(Debug, Clone, PartialEq)]
pub enum NumberSource {
    Text(String),
    /// The factors of an expected time. Their words are made where they are shown: most numbers are shown without their source.
    Factors(Provenance, Basis),
}

impl NumberSource {
    /// The source in words.
    pub fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Factors(provenance, basis) => words::factors_source(*provenance, basis),
        }
    }
}

impl From<String> for NumberSource {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&str> for NumberSource {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

/// Derivation and source of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// Name of the number.
    pub title: String,
    /// Formula; empty for a fact.
    pub formula: String,
    /// The formula with its values inserted.
    pub values: String,
    pub provenance: Provenance,
    /// Source of a fact, or what the formula assumes.
    pub source: NumberSource,
    /// The page that explains the term.
    pub lesson: Lesson,
}

impl Explanation {
    /// Whether published measurements stand behind the number.
    pub fn is_fitted(&self) -> bool {
        matches!(self.provenance, Provenance::Fitted | Provenance::Mixed)
            || (self.lesson == lesson::EXPECTED && self.provenance == Provenance::Assumed)
    }
}

/// Formula of an operator's work.
const fn work(operator: &Operator) -> &'static str {
    match operator {
        Operator::Gemm(_) => "2 M N K",
        Operator::Attention { .. } => "2 B h P (d + d)",
        Operator::KvAppend { .. } => "0",
        Operator::AddNorm { .. } => "5 T H",
        Operator::Norm { .. } => "4 T H",
        Operator::Activation { .. } => "FLOP",
        Operator::FeedForward(_) | Operator::MixtureOfExperts(_) => "FLOP of all parts",
    }
}

/// Explanation of an operator's bytes.
pub fn bytes(answer: &Analysis, operator: &Operator) -> Explanation {
    if let Operator::Gemm(shape) = operator {
        return gemm_bytes(answer, *shape);
    }
    let traffic = &answer.cost.traffic;
    let roles = [
        ("weights", traffic.weights),
        ("KV cache", traffic.kv_cache),
        ("activations", traffic.activations),
    ];
    let moved = || roles.into_iter().filter(|(_, bytes)| bytes.get() > 0.0);
    let names: Vec<&str> = moved().map(|(name, _)| name).collect();
    let values: Vec<String> = moved().map(|(_, bytes)| text::bytes(bytes)).collect();
    Explanation {
        title: "Bytes to and from DRAM".to_owned(),
        formula: names.join(" + "),
        values: format!("{} = {}", values.join(" + "), text::bytes(traffic.total())),
        provenance: Provenance::Derived,
        source: if answer.parts.is_empty() {
            "each operand moves once".into()
        } else {
            "each operand of each part moves once".into()
        },
        lesson: lesson::ROOFLINE,
    }
}

/// Explanation of a matrix product's bytes.
fn gemm_bytes(answer: &Analysis, shape: GemmShape) -> Explanation {
    let (m, n, k) = (text::count(shape.m), text::count(shape.n), text::count(shape.k));
    let precision = &answer.precision;
    let size = |format: &QuantFormat| text::short(format.bytes_per_element(), 4);
    let input = format!("{m} × {k} × {} B", size(precision.activations));
    let output = format!("{m} × {n} × {} B", size(precision.carrier));
    let weights = text::bytes(answer.cost.traffic.weights);
    Explanation {
        title: "Bytes to and from DRAM".to_owned(),
        formula: "inputs + weights + outputs = M K b_in + W(N, K) + M N b_out".to_owned(),
        values: format!(
            "{input} + {weights} + {output} = {}",
            text::bytes(answer.cost.traffic.total())
        ),
        provenance: Provenance::Derived,
        source: format!(
            "{}: {} bit per weight with its scales; each operand moves once",
            precision.weights.name,
            text::short(precision.weights.bits_per_element(), 4)
        )
        .into(),
        lesson: lesson::PRODUCTS,
    }
}

/// Explanation of the arithmetic intensity.
pub fn intensity(answer: &Analysis, operator: &Operator) -> Explanation {
    Explanation {
        title: "Arithmetic intensity".to_owned(),
        formula: format!("{} ÷ bytes", work(operator)),
        values: format!(
            "{} ÷ {} = {}",
            text::flops(answer.cost.flops),
            text::bytes(answer.cost.traffic.total()),
            text::intensity(answer.cost.intensity())
        ),
        provenance: Provenance::Derived,
        source: "a multiply-add counts 2 FLOP; bytes are DRAM traffic".into(),
        lesson: lesson::ROOFLINE,
    }
}

/// Explanation of the ideal time.
pub fn ideal(answer: &Analysis, device: &Device) -> Explanation {
    if !answer.parts.is_empty() {
        return Explanation {
            title: "Ideal time".to_owned(),
            formula: "sum over the parts of the longer of bytes ÷ bandwidth and FLOP ÷ peak"
                .to_owned(),
            values: sum(answer, |part| part.time.ideal(), answer.ideal),
            provenance: Provenance::Derived,
            source: format!("the roofs of {}", device.name).into(),
            lesson: lesson::ROOFLINE,
        };
    }
    let (time, cost) = (answer.time, &answer.cost);
    Explanation {
        title: "Ideal time".to_owned(),
        formula: "the longer of bytes ÷ bandwidth and FLOP ÷ peak".to_owned(),
        values: format!(
            "max({} ÷ {}, {} ÷ {}) = max({}, {})",
            text::bytes(cost.traffic.total()),
            text::published_bandwidth(answer.roofline.bandwidth),
            text::flops(cost.flops),
            text::published_rate(answer.roofline.peak, answer.path.class),
            text::time(time.memory),
            text::time(time.compute)
        ),
        provenance: Provenance::Derived,
        source: format!("the roofs of {}", device.name).into(),
        lesson: lesson::ROOFLINE,
    }
}

/// The times of the parts as a sum.
fn sum(answer: &Analysis, time: impl Fn(&OperatorPart) -> Seconds, total: Seconds) -> String {
    let times: Vec<String> = answer.parts.iter().map(|part| text::time(time(part))).collect();
    format!("{} = {}", times.join(" + "), text::time(total))
}

/// Explanation of the ideal time of a part.
pub fn part(part: &OperatorPart, bandwidth: BytesPerSec) -> Explanation {
    let cost = &part.cost;
    Explanation {
        title: part.kind.describe().to_owned(),
        formula: "the longer of bytes ÷ bandwidth and FLOP ÷ peak".to_owned(),
        values: format!(
            "max({} ÷ {}, {} ÷ {} peak) = max({}, {})",
            text::bytes(cost.traffic.total()),
            text::published_bandwidth(bandwidth),
            text::flops(cost.flops),
            class_name(part.path.class),
            text::time(part.time.memory),
            text::time(part.time.compute)
        ),
        provenance: Provenance::Derived,
        source: format!("{}-bound", crate::output::words::bound(part.time.bound())).into(),
        lesson: lesson::ROOFLINE,
    }
}

/// Explanation of the time that DRAM traffic takes.
pub fn memory_time(answer: &Analysis) -> Explanation {
    Explanation {
        title: "Time for DRAM".to_owned(),
        formula: "bytes ÷ bandwidth".to_owned(),
        values: format!(
            "{} ÷ {} = {}",
            text::bytes(answer.cost.traffic.total()),
            text::published_bandwidth(answer.roofline.bandwidth),
            text::time(answer.time.memory)
        ),
        provenance: Provenance::Derived,
        source: "at the full bandwidth".into(),
        lesson: lesson::ROOFLINE,
    }
}

/// Explanation of the time that arithmetic takes.
pub fn compute_time(answer: &Analysis, operator: &Operator) -> Explanation {
    let class = class_name(answer.path.class);
    let fallback = if answer.path.class == answer.path.wanted {
        String::new()
    } else {
        format!("; this device has no {} peak", class_name(answer.path.wanted))
    };
    Explanation {
        title: format!("Time for {class} arithmetic"),
        formula: format!("{} ÷ peak", work(operator)),
        values: format!(
            "{} ÷ {} = {}",
            text::flops(answer.cost.flops),
            text::published_rate(answer.roofline.peak, answer.path.class),
            text::time(answer.time.compute)
        ),
        provenance: Provenance::Derived,
        source: format!("at the full dense peak{fallback}").into(),
        lesson: lesson::COMPUTE_PATH,
    }
}

/// Explanation of the expected time with its interval.
pub fn expected(answer: &Analysis) -> Explanation {
    let share = |eta: f64| text::short(eta, 2);
    let interval = format!(
        "interval {} to {} times that",
        share(answer.factors.low),
        share(answer.factors.high)
    );
    let (formula, values) = if answer.parts.is_empty() {
        let Factors { eta_memory, eta_compute, floor, .. } = answer.factors;
        let values = format!(
            "max({} ÷ {}, {} ÷ {}) + {} = {}",
            text::time(answer.time.memory),
            share(eta_memory),
            text::time(answer.time.compute),
            share(eta_compute),
            text::time(floor),
            text::time(answer.expected.time),
        );
        ("max(DRAM time ÷ η_mem, arithmetic time ÷ η_comp) + fixed time", values)
    } else {
        let values = sum(answer, |part| part.expected.time, answer.expected.time);
        (
            "sum over the parts of max(DRAM time ÷ η_mem, arithmetic time ÷ η_comp) + fixed time",
            values,
        )
    };
    Explanation {
        title: "Expected time".to_owned(),
        formula: formula.to_owned(),
        values: format!("{values}; {interval}"),
        provenance: answer.expected.provenance,
        source: NumberSource::Factors(answer.expected.provenance, answer.basis),
        lesson: lesson::EXPECTED,
    }
}

/// Explanation of the fixed cost of an operator's kernels.
pub fn floor(answer: &Analysis) -> Explanation {
    Explanation {
        title: "Fixed time of a kernel".to_owned(),
        formula: String::new(),
        values: format!("{}, however small the operator", text::time(super::floors(answer))),
        provenance: answer.expected.provenance,
        source: "launch, first bytes, last bytes".into(),
        lesson: lesson::EXPECTED,
    }
}

/// Explanation of the speedup against the 16-bit baseline.
pub fn speedup(answer: &Analysis, baseline: &Analysis) -> Explanation {
    let name = class_name(baseline.path.class);
    Explanation {
        title: format!("Against {name}"),
        formula: format!("expected time in {name} ÷ expected time"),
        values: format!(
            "{} ÷ {} = {}",
            text::time(baseline.expected.time),
            text::time(answer.expected.time),
            text::ratio(baseline.expected.time / answer.expected.time)
        ),
        provenance: answer.expected.provenance,
        source: format!("weights and activations in {}", baseline.precision.weights.name).into(),
        lesson: lesson::EXPECTED,
    }
}

/// Explanation of a device's memory bandwidth.
pub fn bandwidth(device: &Device, mode: Option<&PowerMode>) -> Explanation {
    match mode {
        None => fact("DRAM bandwidth", device.bandwidth.provenance, device, lesson::ROOFLINE),
        Some(mode) => Explanation {
            title: "DRAM bandwidth".to_owned(),
            formula: "memory clock × 2 × bus width; the GPU clock does not change it".to_owned(),
            values: mode
                .memory_clock
                .map_or_else(String::new, |clock| format!("memory at {}", text::clock(clock))),
            provenance: mode.provenance,
            source: mode_source(device, mode).into(),
            lesson: lesson::ROOFLINE,
        },
    }
}

/// Explanation of a device's compute peak in a power mode.
pub fn peak(
    device: &Device,
    mode: Option<&PowerMode>,
    class: ComputeClass,
    own: Fact<FlopsPerSec>,
) -> Explanation {
    let title = format!("{} peak, dense", class_name(class));
    let scaling = mode.and_then(|mode| Some((mode, mode.active_sm?, mode.gpu_clock?)));
    let Some((mode, active, clock)) = scaling else {
        return fact(&title, own.provenance, device, lesson::COMPUTE_PATH);
    };
    let (all, full) =
        (device.sm_count.map(|fact| fact.value), device.tensor_clock.map(|fact| fact.value));
    Explanation {
        title,
        formula: "peak × (active SMs × clock) ÷ (all SMs × full clock)".to_owned(),
        values: format!(
            "{} × ({active} × {}) ÷ ({} × {})",
            text::published_rate(own.value, class),
            text::clock(clock),
            all.map_or_else(|| text::NO_NUMBER.to_owned(), |all| all.to_string()),
            full.map_or_else(|| text::NO_NUMBER.to_owned(), text::clock)
        ),
        provenance: Provenance::Derived,
        source: mode_source(device, mode).into(),
        lesson: lesson::COMPUTE_PATH,
    }
}

/// Explanation of a device's memory capacity.
pub fn memory(device: &Device) -> Explanation {
    let usable = device.usable_memory(None);
    let most = if usable.is_known { "" } else { "at most " };
    let usable = text::capacity(usable.bytes);
    Explanation {
        values: format!("{}; a model may use {most}{usable}", device.memory_type),
        ..fact("Memory", device.memory.provenance, device, lesson::MEMORY)
    }
}

/// Explanation of any other fact of a device.
pub fn fact(title: &str, provenance: Provenance, device: &Device, lesson: Lesson) -> Explanation {
    Explanation {
        title: title.to_owned(),
        formula: String::new(),
        values: String::new(),
        provenance,
        source: device.source.trim().into(),
        lesson,
    }
}

fn mode_source(device: &Device, mode: &PowerMode) -> String {
    let notes = if mode.notes.is_empty() { &device.source } else { &mode.notes };
    format!("power mode {}: {}", mode.name, notes.trim())
}

#[cfg(test)]
mod tests;
