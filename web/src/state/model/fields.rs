//! Number fields of the Model view: labels, ranges and parsing.

use calc_core::workload::{MAX_BATCH, MAX_DRAFT, MAX_NEW_TOKENS, MAX_TOKENS};
use report::input::number_input;
use report::number_text;
use report::output::address::key;

/// A field that takes a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Batch,
    Prompt,
    Context,
    Generate,
    Tensor,
    Pipeline,
    Expert,
    Memory,
    WeightBits,
    Draft,
    Acceptance,
    Layers,
    Hidden,
    Heads,
    KvHeads,
    HeadSize,
    Intermediate,
    Vocabulary,
    Experts,
    ExpertsPerToken,
    ExpertWidth,
    Window,
}

/// Label, default and range of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spec {
    /// Id in the document, and key in the address.
    pub id: &'static str,
    /// Label in the form.
    pub name: &'static str,
    /// Unit, or a remark in its place.
    pub unit: &'static str,
    /// Placeholder of an empty field; empty where a value is required or the model provides it.
    pub empty: &'static str,
    /// Initial text.
    pub usual: &'static str,
    pub min: u64,
    pub max: u64,
    /// Fractions are allowed.
    pub real: bool,
}

impl Spec {
    const fn count(
        id: &'static str,
        name: &'static str,
        unit: &'static str,
        (min, max): (u64, u64),
    ) -> Self {
        Self { id, name, unit, empty: "", usual: "", min, max, real: false }
    }

    const fn starts_at(self, usual: &'static str) -> Self {
        Self { usual, ..self }
    }

    const fn or_empty(self, empty: &'static str) -> Self {
        Self { empty, ..self }
    }

    const fn real(self) -> Self {
        Self { real: true, ..self }
    }
}

/// Most devices of one kind of parallelism.
const MAX_WAYS: u64 = 1 << 16;
/// Largest width and count that a field takes; they equal the core's own limits, which are checked last.
const MAX_WIDTH: u64 = 1 << 32;
const MAX_COUNT: u64 = 1 << 16;

static SPECS: [Spec; 22] = [
    Spec::count(key::BATCH, "Batch", "sequences", (1, MAX_BATCH)).starts_at("1"),
    Spec::count(key::PROMPT, "Prompt", "tokens", (1, MAX_TOKENS)).starts_at("4096"),
    Spec::count(key::CONTEXT, "Context", "tokens", (0, MAX_TOKENS)).or_empty("as prompt"),
    Spec::count(key::NEW_TOKENS, "New tokens", "", (1, MAX_NEW_TOKENS)).starts_at("128"),
    Spec::count(key::TENSOR_PARALLEL, "Number of devices", "tensor-parallel", (1, MAX_WAYS))
        .starts_at("1"),
    Spec::count(key::PIPELINE_PARALLEL, "Pipeline", "stages", (1, MAX_WAYS)).starts_at("1"),
    Spec::count(key::EXPERT_PARALLEL, "Expert parallel", "ways", (1, MAX_WAYS)).starts_at("1"),
    Spec::count(key::MEMORY_LIMIT, "Memory limit", "GB", (0, 1_000_000))
        .or_empty("all usable")
        .real(),
    Spec::count(key::WEIGHT_BITS, "Weight bits", "mean", (0, 64)).or_empty("by format").real(),
    Spec::count(key::DRAFT_TOKENS, "Draft tokens", "", (0, MAX_DRAFT)).or_empty("none"),
    Spec::count(key::ACCEPTANCE, "Acceptance", "0–1", (0, 1)).starts_at("0.7").real(),
    Spec::count("layers", "Layers", "", (1, MAX_COUNT)),
    Spec::count("hidden", "Hidden size", "", (1, MAX_WIDTH)),
    Spec::count("heads", "Heads", "", (1, MAX_COUNT)),
    Spec::count("kvheads", "KV heads", "", (1, MAX_COUNT)),
    Spec::count("headsize", "Head size", "", (1, MAX_COUNT)),
    Spec::count("ffn", "Intermediate", "", (1, MAX_WIDTH)),
    Spec::count("vocab", "Vocabulary", "", (1, MAX_WIDTH)),
    Spec::count("nexperts", "Experts", "", (1, MAX_COUNT)),
    Spec::count("topk", "Experts per token", "", (1, MAX_COUNT)),
    Spec::count("expertsize", "Expert width", "", (1, MAX_WIDTH)),
    Spec::count("window", "Window", "0: none", (0, MAX_WIDTH)),
];

impl Field {
    /// All fields, in the order of the form.
    pub const ALL: [Self; 22] = [
        Self::Batch,
        Self::Prompt,
        Self::Context,
        Self::Generate,
        Self::Tensor,
        Self::Pipeline,
        Self::Expert,
        Self::Memory,
        Self::WeightBits,
        Self::Draft,
        Self::Acceptance,
        Self::Layers,
        Self::Hidden,
        Self::Heads,
        Self::KvHeads,
        Self::HeadSize,
        Self::Intermediate,
        Self::Vocabulary,
        Self::Experts,
        Self::ExpertsPerToken,
        Self::ExpertWidth,
        Self::Window,
    ];

    /// Label, default and range of the field.
    pub fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }

    /// Fields that override a number of the model's geometry.
    pub fn geometry() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().skip(Self::Layers as usize)
    }
}

/// An error of one field or of several together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFault {
    /// `None` if several fields together are invalid.
    pub field: Option<Field>,
    /// The error and the allowed values, as a sentence.
    pub text: String,
}

impl ModelFault {
    /// An error of one field.
    pub fn of(field: Field, text: String) -> Self {
        Self { field: Some(field), text }
    }
}

/// Parses a whole number; `None` for an empty field that may be empty.
///
/// # Errors
/// Returns the allowed range as a sentence.
pub fn count(field: Field, typed: &str) -> Result<Option<u64>, ModelFault> {
    if typed.trim().is_empty() && may_be_empty(field) {
        return Ok(None);
    }
    let spec = field.spec();
    number_input::count(typed)
        .filter(|value| (spec.min..=spec.max).contains(value))
        .map(Some)
        .ok_or_else(|| refusal(field))
}

/// Parses a number with an optional fraction; `None` for an empty field that may be empty.
///
/// # Errors
/// Returns the allowed range as a sentence.
pub fn real(field: Field, typed: &str) -> Result<Option<f64>, ModelFault> {
    if typed.trim().is_empty() && may_be_empty(field) {
        return Ok(None);
    }
    let spec = field.spec();
    let written = match field {
        Field::Memory => memory(typed),
        _ => number_input::real(typed),
    };
    written
        .filter(|value| (spec.min as f64..=spec.max as f64).contains(value))
        .map(Some)
        .ok_or_else(|| refusal(field))
}

/// Parses a memory limit in GB, or with its unit: `24GiB`.
fn memory(typed: &str) -> Option<f64> {
    number_input::real(typed).or_else(|| number_input::memory(typed, 1e9))
}

fn may_be_empty(field: Field) -> bool {
    let spec = field.spec();
    !spec.empty.is_empty() || spec.usual.is_empty()
}

fn refusal(field: Field) -> ModelFault {
    let spec = field.spec();
    let kind = if spec.real { "a number" } else { "a whole number" };
    let (min, max) = (number_text::count(spec.min), number_text::count(spec.max));
    let or_empty = if spec.empty.is_empty() { "" } else { ", or empty" };
    ModelFault::of(field, format!("{} must be {kind} from {min} to {max}{or_empty}.", spec.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_has_a_name_of_its_own() {
        for (index, field) in Field::ALL.iter().enumerate() {
            assert_eq!(*field as usize, index);
            let is_same = |other: &&Field| other.spec().id == field.spec().id;
            assert_eq!(Field::ALL.iter().filter(is_same).count(), 1, "{}", field.spec().id);
        }
    }

    #[test]
    fn numbers_are_read_as_typed() {
        for (typed, expected) in [("1", Some(1)), (" 4\u{202f}096 ", Some(4096)), ("007", Some(7))]
        {
            assert_eq!(count(Field::Batch, typed), Ok(expected));
        }
        assert_eq!(count(Field::Context, " "), Ok(None));
        for (typed, expected) in
            [("0.7", 0.7), ("1", 1.0), (".25", 0.25), ("1.", 1.0), ("0.000001", 1e-6)]
        {
            assert_eq!(real(Field::Acceptance, typed), Ok(Some(expected)), "{typed}");
        }
        assert_eq!(real(Field::Memory, ""), Ok(None));
    }

    #[test]
    fn what_is_no_number_says_what_is_allowed() {
        for typed in ["", "0", "-1", "1.5", "1e7", "1000001", "x", "99999999999999999999999", "٣"]
        {
            let fault = count(Field::Batch, typed).expect_err(typed);
            assert_eq!(fault.field, Some(Field::Batch));
            assert!(
                fault.text.contains("whole number from 1 to 1\u{202f}000\u{202f}000"),
                "{}",
                fault.text
            );
        }
        for typed in ["1.1", "-0.5", "0,5", "..", ".", "NaN", "inf", "x"] {
            assert!(real(Field::Acceptance, typed).is_err(), "{typed}");
        }
        assert!(count(Field::Draft, "x").expect_err("no number").text.ends_with(", or empty."));
    }
}
