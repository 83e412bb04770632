//! The fields of the Explore place as typed values.

use calc_core::explore::Criterion;
use calc_core::units::Watts;
use report::input::number_input;
use report::input::range::{Axis, Numbers};
use report::number_text;

use super::{ExploreField, narrowing};
use crate::state::inputs::Inputs;
use crate::state::model::fields::{self, count};
use crate::state::scenario::ScenarioPart;

/// Batches that are tried for a scenario with one user.
const USUAL_BATCHES: &str = "1..256x2";
/// Most combinations of batches and prompts. With all schemes on all devices in all power modes they are some ten million points.
pub const MOST_COMBINATIONS: u64 = 4096;
/// Limits of the power cap [W], those of `ridgepoint schedule`.
const POWER: (f64, f64) = (1e-3, 1e9);

/// The question: which of them are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subject {
    /// All devices for the model of the scenario.
    Devices,
    /// All models for the device of the scenario.
    Models,
}

impl Subject {
    /// All subjects with their keys and questions.
    pub const ALL: [(&'static str, &'static str, Self); 2] = [
        ("devices", "Devices for a model", Self::Devices),
        ("models", "Models for a device", Self::Models),
    ];

    /// The word for one of them.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Devices => "device",
            Self::Models => "model",
        }
    }

    /// The word for many of them.
    pub const fn many(self) -> &'static str {
        match self {
            Self::Devices => "devices",
            Self::Models => "models",
        }
    }
}

/// The rows of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFilter {
    /// Those that no other point beats.
    Front,
    /// The best one of every device or model by the first criterion.
    Each,
}

impl RowFilter {
    /// All choices with their keys and labels.
    pub const ALL: [(&'static str, &'static str, Self); 2] =
        [("front", "on the front", Self::Front), ("each", "the best of each", Self::Each)];
}

/// Label and unit of a criterion.
pub const fn criterion_name(criterion: Criterion) -> &'static str {
    match criterion {
        Criterion::Whole => "Whole answer",
        Criterion::Rate => "Token/s of a user",
        Criterion::Throughput => "Token/s of all users",
        Criterion::Energy => "Energy per token",
        Criterion::Memory => "Memory",
        Criterion::Quality => "Loss of quality",
    }
}

/// An exploration.
#[derive(Debug, Clone, PartialEq)]
pub struct ExploreQuestion {
    pub subject: Subject,
    pub criteria: [Criterion; 2],
    /// In ascending order, once each.
    pub batches: Vec<u64>,
    /// In ascending order, once each.
    pub prompts: Vec<u64>,
    pub power_cap: Option<Watts>,
    pub kept: RowFilter,
}

impl ExploreQuestion {
    /// Parses the fields.
    ///
    /// # Errors
    /// The first fault, as a sentence.
    pub fn read(inputs: &Inputs) -> Result<Self, String> {
        let subject = subject(inputs)?;
        let batches = batches(inputs)?;
        let prompts = prompts(inputs)?;
        let combinations = batches.len() as u64 * prompts.len() as u64;
        if combinations > MOST_COMBINATIONS {
            return Err(too_many(combinations));
        }
        Ok(Self {
            subject,
            criteria: [
                criterion(inputs, ExploreField::Across)?,
                criterion(inputs, ExploreField::Up)?,
            ],
            batches,
            prompts,
            power_cap: power_cap(inputs)?,
            kept: kept(inputs)?,
        })
    }
}

/// The fault of a field, as a sentence; `None` if there is none.
pub fn fault(inputs: &Inputs, field: ExploreField) -> Option<String> {
    match field {
        ExploreField::Subject => subject(inputs).err(),
        ExploreField::Batches => batches(inputs).err(),
        ExploreField::Prompts => prompts(inputs).err().or_else(|| {
            let product = batches(inputs).ok()?.len() * prompts(inputs).ok()?.len();
            (product as u64 > MOST_COMBINATIONS).then(|| too_many(product as u64))
        }),
        ExploreField::Power => power_cap(inputs).err(),
        ExploreField::Across | ExploreField::Up => criterion(inputs, field).err(),
        ExploreField::Rows => kept(inputs).err(),
        ExploreField::Sort => narrowing::order(inputs).err(),
        ExploreField::Brush => narrowing::brush(inputs).err(),
    }
}

fn too_many(combinations: u64) -> String {
    format!(
        "Batches and prompts have {} combinations; at most {} are compared here. `ridgepoint sweep` takes more.",
        number_text::count(combinations),
        number_text::count(MOST_COMBINATIONS)
    )
}

/// A word of a list, or its default where the field is empty.
fn word<T: Copy>(
    inputs: &Inputs,
    field: ExploreField,
    words: impl IntoIterator<Item = (&'static str, T)> + Clone,
    usual: T,
) -> Result<T, String> {
    let text = inputs.explore.get(field);
    if text.is_empty() {
        return Ok(usual);
    }
    let found = words.clone().into_iter().find(|(key, _)| *key == text);
    found.map(|(_, value)| value).ok_or_else(|| {
        let keys: Vec<&str> = words.into_iter().map(|(key, _)| key).collect();
        let typed: String = text.chars().take(40).collect();
        format!("{}={typed} is none of {}.", field.key(), keys.join(", "))
    })
}

/// Devices or models.
///
/// # Errors
/// An unknown word, as a sentence.
pub fn subject(inputs: &Inputs) -> Result<Subject, String> {
    let words = Subject::ALL.map(|(key, _, subject)| (key, subject));
    word(inputs, ExploreField::Subject, words, Subject::Devices)
}

/// The rows of the table. Few models are on the front of a device, and the reader asks for all that run.
///
/// # Errors
/// An unknown word, as a sentence.
pub fn kept(inputs: &Inputs) -> Result<RowFilter, String> {
    let usual = match subject(inputs) {
        Ok(Subject::Models) => RowFilter::Each,
        _ => RowFilter::Front,
    };
    word(inputs, ExploreField::Rows, RowFilter::ALL.map(|(key, _, kept)| (key, kept)), usual)
}

/// The criterion of an axis.
///
/// # Errors
/// An unknown word, as a sentence.
pub fn criterion(inputs: &Inputs, field: ExploreField) -> Result<Criterion, String> {
    let usual = match (field, subject(inputs)) {
        (ExploreField::Up, Ok(Subject::Models)) => Criterion::Memory,
        (ExploreField::Up, _) => Criterion::Energy,
        _ => Criterion::Rate,
    };
    word(inputs, field, Criterion::ALL, usual)
}

/// The batches that are tried where their field is empty: the users of the scenario if they are several, else a range.
pub fn usual_batches(inputs: &Inputs) -> &str {
    match inputs.model.text(fields::Field::Batch).trim() {
        "1" | "" => USUAL_BATCHES,
        users => users,
    }
}

/// The part of the scenario that all points have, beside those of the subject.
pub fn is_fixed(inputs: &Inputs, part: ScenarioPart) -> bool {
    let is_empty = |field: ExploreField| inputs.explore.get(field).is_empty();
    match part {
        ScenarioPart::Users => {
            is_empty(ExploreField::Batches) && usual_batches(inputs) != USUAL_BATCHES
        }
        ScenarioPart::In => is_empty(ExploreField::Prompts),
        ScenarioPart::Engine | ScenarioPart::Out => true,
        ScenarioPart::Model => subject(inputs) != Ok(Subject::Models),
        ScenarioPart::Device | ScenarioPart::Mode => subject(inputs) == Ok(Subject::Models),
        ScenarioPart::Scheme | ScenarioPart::Goal => false,
    }
}

/// The host, and memory of other programs, where the devices are the points: each has them.
pub fn of_any_device(inputs: &Inputs) -> Option<(ScenarioPart, &'static str, String)> {
    let beside =
        inputs.model.beside.as_ref().filter(|_| !is_fixed(inputs, ScenarioPart::Device))?;
    let (mut device, mut tokens) = (String::new(), String::new());
    beside.brief(&mut device, &mut tokens);
    let said = device.trim_start();
    (!said.is_empty()).then(|| (ScenarioPart::Device, " on each card ", said.to_owned()))
}

fn batches(inputs: &Inputs) -> Result<Vec<u64>, String> {
    let typed = match inputs.explore.get(ExploreField::Batches) {
        "" => usual_batches(inputs),
        typed => typed,
    };
    counts(typed, fields::Field::Batch)
}

/// Prompts of the range; of an empty one, the prompt of the scenario.
fn prompts(inputs: &Inputs) -> Result<Vec<u64>, String> {
    let typed = match inputs.explore.get(ExploreField::Prompts) {
        "" => inputs.model.text(fields::Field::Prompt),
        typed => typed,
    };
    counts(typed, fields::Field::Prompt)
}

/// The counts of a list or range as on the command line, in ascending order, each within the limits of its field.
fn counts(typed: &str, field: fields::Field) -> Result<Vec<u64>, String> {
    let name = field.spec().name;
    let axis = Axis::of_numbers(typed, Numbers::Counts).map_err(|why| {
        format!(
            "{name}: {why}. A list has commas, a range two dots: 1,2,4 · 1..8 · 1..64x2 doubles."
        )
    })?;
    for sample in axis.samples() {
        count(field, &sample).map_err(|fault| fault.text)?;
    }
    if axis.count() > MOST_COMBINATIONS {
        return Err(too_many(axis.count()));
    }
    let values = (0..axis.count()).map(|place| axis.value(place));
    let mut counts: Vec<u64> = values.filter_map(|value| number_input::count(&value)).collect();
    counts.sort_unstable();
    counts.dedup();
    Ok(counts)
}

fn power_cap(inputs: &Inputs) -> Result<Option<Watts>, String> {
    let typed = inputs.explore.get(ExploreField::Power);
    if typed.is_empty() {
        return Ok(None);
    }
    let value = number_input::real(typed).filter(|value| (POWER.0..=POWER.1).contains(value));
    let refusal = || "Power must be a number of watts above 0, or empty.".to_owned();
    value.map(|value| Some(Watts::new(value))).ok_or_else(refusal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::url;

    fn inputs(query: &str) -> Inputs {
        let (inputs, notes) = url::read(query);
        assert!(notes.is_empty(), "{query}: {notes:?}");
        inputs
    }

    #[test]
    fn an_empty_form_asks_for_devices_at_the_prompt_of_the_scenario() {
        let asked =
            ExploreQuestion::read(&inputs("?view=explore&prompt=2048")).expect("the default");
        assert_eq!(asked.subject, Subject::Devices);
        assert_eq!((asked.batches.len(), &*asked.prompts), (9, &[2048][..]));
        assert_eq!(asked.criteria, [Criterion::Rate, Criterion::Energy]);
        assert_eq!((asked.power_cap, asked.kept), (None, RowFilter::Front));
        let models =
            ExploreQuestion::read(&inputs("?view=explore&ask=models")).expect("the default");
        assert_eq!((models.subject, models.kept), (Subject::Models, RowFilter::Each));
    }

    #[test]
    fn the_users_of_the_scenario_are_tried_unless_a_range_is_typed() {
        let asked = |query: &str| ExploreQuestion::read(&inputs(query)).expect("readable").batches;
        assert_eq!(asked("?view=explore&batch=16"), [16]);
        assert_eq!(asked("?view=explore&batch=16&batches=1,2"), [1, 2]);
        let fixed = |query: &str| {
            let inputs = inputs(query);
            let parts = crate::state::scenario::parts(&inputs).into_iter();
            let kept = parts.filter(|(part, ..)| is_fixed(&inputs, *part));
            kept.map(|(.., said)| said).collect::<Vec<_>>().join(", ")
        };
        let said = fixed("?view=explore&batch=16&prompt=100");
        assert_eq!(said, "Llama-3.1 8B, the usual engine, 16 users, 100 tokens in, 128 out");
        let said = fixed("?view=explore&batch=16&batches=1&prompts=1,2");
        assert_eq!(said, "Llama-3.1 8B, the usual engine, 128 out");
        assert!(!fixed("?view=explore").contains("user"), "a range of users is tried");
        assert!(fixed("?view=explore&ask=models&batch=4").contains("Super, datasheet peaks"));
        let wrong = inputs("?view=explore&batch=0");
        assert!(fault(&wrong, ExploreField::Batches).is_some_and(|why| why.contains("Batch must")));
    }

    #[test]
    fn ranges_are_those_of_the_command_line() {
        let query = "?view=explore&batches=4,1..3,2&prompts=1k..4kx2&watts=15&ex=whole&ey=quality&best=each";
        let asked = ExploreQuestion::read(&inputs(query)).expect("readable");
        assert_eq!(asked.batches, [1, 2, 3, 4]);
        assert_eq!(asked.prompts, [1024, 2048, 4096]);
        assert_eq!(asked.criteria, [Criterion::Whole, Criterion::Quality]);
        assert_eq!((asked.power_cap, asked.kept), (Some(Watts::new(15.0)), RowFilter::Each));
    }

    #[test]
    fn every_wrong_text_is_said_at_its_field_and_nothing_is_compared() {
        for (query, field, says) in [
            ("batches=1..x", ExploreField::Batches, "`1..x` is not a range"),
            ("batches=0", ExploreField::Batches, "Batch must be"),
            ("batches=1..99999999", ExploreField::Batches, "Batch must be"),
            ("batches=1..5000", ExploreField::Batches, "5\u{202f}000 combinations"),
            ("prompts=many", ExploreField::Prompts, "`many` is not a number"),
            ("prompts=1e9", ExploreField::Prompts, "Prompt must be"),
            ("batches=1..100&prompts=1..100", ExploreField::Prompts, "10\u{202f}000 combinations"),
            ("watts=-1", ExploreField::Power, "above 0"),
            ("watts=%F0%9F%92%A9", ExploreField::Power, "above 0"),
            ("ask=all", ExploreField::Subject, "devices, models"),
            ("ex=speed", ExploreField::Across, "whole, rate, throughput"),
            ("ey=", ExploreField::Up, ""),
            ("best=1", ExploreField::Rows, "front, each"),
        ] {
            let inputs = inputs(&format!("?view=explore&{query}"));
            let fault = fault(&inputs, field);
            if says.is_empty() {
                assert_eq!(fault, None, "{query}");
                continue;
            }
            let fault = fault.unwrap_or_default();
            assert!(fault.contains(says), "{query}: {fault}");
            assert!(ExploreQuestion::read(&inputs).is_err(), "{query}");
        }
    }

    #[test]
    fn the_line_names_the_host_that_all_devices_have() {
        let query = "?view=explore&d=rtx_4090&model=gpt-oss-120b&host=ddr5&hostgb=96&v=1";
        let inputs = crate::state::url::read(query).0;
        let (part, before, said) = of_any_device(&inputs).expect("a host");
        assert_eq!((part, before), (ScenarioPart::Device, " on each card "));
        assert_eq!(said.replace(number_text::SPACE, " "), "with 96 GB of DDR5");
        assert!(of_any_device(&Inputs::default()).is_none());
    }
}
