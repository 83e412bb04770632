//! What lies between the roofline and a clock: shares of the peaks that kernels reach, and a fixed time per operator.
//! Until fits and measurements replace them row by row, everything is assumed.

use crate::device::DeviceClass;
use crate::op::OpKind;
use crate::provenance::Provenance;
use crate::text::{List, Text};
use crate::units::Seconds;

/// Shares of the peaks and a fixed time, with their interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factors {
    /// Share of the bandwidth that is reached.
    pub eta_memory: f64,
    /// Share of the compute peak that is reached.
    pub eta_compute: f64,
    /// Time that every operator instance costs, however small.
    pub floor: Seconds,
    /// The fast end of the interval, as a multiple of the expected time.
    pub low: f64,
    /// The slow end.
    pub high: f64,
    /// Where the factors come from.
    pub provenance: Provenance,
}

impl Factors {
    /// Assumed, for every device, format and operator: typical of good kernels, with a wide interval.
    pub const ASSUMED: Self = Self {
        eta_memory: 0.8,
        eta_compute: 0.6,
        floor: Seconds::new(3e-6),
        low: 0.6,
        high: 1.6,
        provenance: Provenance::Assumed,
    };
}

/// Inference engine whose kernels a number is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[expect(missing_docs, reason = "the names are the engines themselves")]
pub enum Engine {
    #[cfg_attr(feature = "serde", serde(rename = "llama.cpp"))]
    LlamaCpp,
    #[cfg_attr(feature = "serde", serde(rename = "tensorrt-llm"))]
    TensorRtLlm,
    #[cfg_attr(feature = "serde", serde(rename = "tensorrt-edge-llm"))]
    TensorRtEdgeLlm,
    #[cfg_attr(feature = "serde", serde(rename = "vllm"))]
    Vllm,
    #[cfg_attr(feature = "serde", serde(rename = "sglang"))]
    Sglang,
    #[cfg_attr(feature = "serde", serde(rename = "gpt-fast"))]
    GptFast,
    #[cfg_attr(feature = "serde", serde(rename = "exllamav2"))]
    ExLlamaV2,
    #[cfg_attr(feature = "serde", serde(rename = "mlc"))]
    Mlc,
    #[cfg_attr(feature = "serde", serde(rename = "ollama"))]
    Ollama,
    #[cfg_attr(feature = "serde", serde(rename = "ideal-kernels"))]
    IdealKernels,
}

impl Engine {
    /// All engines with the keys of requests.
    pub const ALL: [(&'static str, Self); 10] = [
        ("llama.cpp", Self::LlamaCpp),
        ("tensorrt-llm", Self::TensorRtLlm),
        ("tensorrt-edge-llm", Self::TensorRtEdgeLlm),
        ("vllm", Self::Vllm),
        ("sglang", Self::Sglang),
        ("gpt-fast", Self::GptFast),
        ("exllamav2", Self::ExLlamaV2),
        ("mlc", Self::Mlc),
        ("ollama", Self::Ollama),
        ("ideal-kernels", Self::IdealKernels),
    ];

    /// The key in requests.
    pub fn key(self) -> &'static str {
        Self::ALL.iter().find(|(_, engine)| *engine == self).map_or("", |(key, _)| key)
    }
}

/// What a factor is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Subject<'a> {
    /// Key of the device.
    pub device: &'a str,
    /// Its kind.
    pub class: DeviceClass,
    /// Key of the format that the operator streams.
    pub format: &'a str,
    /// Operator.
    pub op: OpKind,
    /// Engine, when the user named one.
    pub engine: Option<Engine>,
}

/// Factors for part of the world; an open field matches everything.
#[derive(Debug, Clone, PartialEq)]
pub struct FactorRow {
    /// Key of the device.
    pub device: Option<Text>,
    /// Kind of device.
    pub class: Option<DeviceClass>,
    /// Key of the format.
    pub format: Option<Text>,
    /// Operator.
    pub op: Option<OpKind>,
    /// Engine.
    pub engine: Option<Engine>,
    /// The factors.
    pub factors: Factors,
}

impl FactorRow {
    /// How specific a matching row is; `None` when it does not match. A device counts most, then the engine.
    fn specificity(&self, subject: &Subject<'_>) -> Option<u32> {
        let mut score = 0;
        let mut require = |asked: Option<bool>, weight: u32| match asked {
            None => true,
            Some(matches) => {
                score += weight;
                matches
            }
        };
        let matches = require(self.device.as_ref().map(|device| device == subject.device), 16)
            && require(self.engine.map(|engine| Some(engine) == subject.engine), 8)
            && require(self.format.as_ref().map(|format| format == subject.format), 4)
            && require(self.op.map(|op| op == subject.op), 2)
            && require(self.class.map(|class| class == subject.class), 1);
        matches.then_some(score)
    }
}

/// The factors in force: rows from fits and measurements, and the assumed ones under them.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibration {
    /// Rows; of several that match, the most specific counts.
    pub rows: List<FactorRow>,
}

impl Calibration {
    /// No row: everything assumed.
    pub const ASSUMED: Self = Self { rows: List::Borrowed(&[]) };

    /// The factors for a subject.
    pub fn factors(&self, subject: &Subject<'_>) -> Factors {
        self.rows
            .iter()
            .filter_map(|row| row.specificity(subject).map(|score| (score, row.factors)))
            .max_by_key(|(score, _)| *score)
            .map_or(Factors::ASSUMED, |(_, factors)| factors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn the_most_specific_row_wins_and_a_row_of_another_device_never_does() {
        let row = |device: Option<&'static str>, op, eta_memory| FactorRow {
            device: device.map(Text::Borrowed),
            class: None,
            format: None,
            op,
            engine: None,
            factors: Factors { eta_memory, provenance: Provenance::Fitted, ..Factors::ASSUMED },
        };
        let calibration = Calibration {
            rows: List::Owned(vec![
                row(None, Some(OpKind::Gemm), 0.7),
                row(Some("gb10"), None, 0.85),
                row(Some("t4"), Some(OpKind::Gemm), 0.1),
            ]),
        };
        let subject = |device, op| Subject {
            device,
            class: DeviceClass::UnifiedGpu,
            format: "fp16",
            op,
            engine: None,
        };
        for (device, op, expected) in [
            ("gb10", OpKind::Gemm, 0.85),
            ("l4", OpKind::Gemm, 0.7),
            ("l4", OpKind::Norm, Factors::ASSUMED.eta_memory),
        ] {
            let eta = calibration.factors(&subject(device, op)).eta_memory;
            assert!((eta - expected).abs() < 1e-15, "{device} {op:?}: {eta}");
        }
    }
}
