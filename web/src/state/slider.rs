//! Stops of the sliders: powers of two up to the largest value that fits, and the power modes of a device.

use calc_core::plan::Plan;
use calc_core::recommend::{Outcome, Recommendation, rank};
use calc_core::scheme::Scheme;
use calc_core::workload::Workload;
use report::input::number_input;
use report::number_text;

use super::advice::SchemeFormats;
use super::advice::question::with_model;
use super::derived::{ModeChoice, chosen, mode_choices};
use super::inputs::{Inputs, View};
use super::model::fields::Field;
use super::model::fit::{fits, image_tokens, largest};
use super::model::question::ModelQuestion;
use super::operator;

/// A position of a slider.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SliderStop {
    /// Text that the field takes.
    pub value: String,
    /// The value in words.
    pub name: String,
}

/// All positions of a slider, and the present one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SliderStops {
    pub all: Vec<SliderStop>,
    /// Index of the stop that is nearest to the field's value.
    pub at: usize,
}

impl SliderStops {
    /// 1, 2, 4 and so on, and `most`; at the largest of them that is not above the typed number.
    pub fn of_numbers(most: u64, typed: &str) -> Self {
        let powers = core::iter::successors(Some(1_u64), |power| power.checked_mul(2));
        let mut values: Vec<u64> = powers.take_while(|power| *power < most).collect();
        values.extend((most > 0).then_some(most));
        let number = number_input::count(typed).unwrap_or(1);
        let at = values.partition_point(|value| *value <= number).saturating_sub(1);
        let stop =
            |value: u64| SliderStop { value: value.to_string(), name: number_text::count(value) };
        Self { all: values.into_iter().map(stop).collect(), at }
    }

    /// The power modes of the device whose clocks are published, by their power, and its own peaks last.
    pub fn of_modes(inputs: &Inputs) -> Self {
        let mut choices = mode_choices(inputs);
        choices.retain(|choice| !choice.unknown);
        choices.sort_by_key(|choice| choice.name.is_empty());
        let at = choices.iter().position(|choice| choice.chosen).unwrap_or_default();
        let stop = |choice: ModeChoice| SliderStop { value: choice.name, name: choice.text };
        Self { all: choices.into_iter().map(stop).collect(), at }
    }

    /// Index of the last stop.
    pub fn last(&self) -> usize {
        self.all.len().saturating_sub(1)
    }

    /// Whether there is nothing to choose.
    pub fn is_single(&self) -> bool {
        self.all.len() < 2
    }

    /// Name of a stop; empty if there is none.
    pub fn name(&self, at: usize) -> String {
        self.all.get(at).map_or_else(String::new, |stop| stop.name.clone())
    }
}

/// Whether a field of the model has a slider.
pub const fn slides_in_model(field: Field) -> bool {
    matches!(field, Field::Batch | Field::Prompt | Field::Context)
}

/// Whether a field of the operator has a slider.
pub const fn slides_in_kernel(field: operator::Field) -> bool {
    use operator::Field as F;
    matches!(field, F::M | F::Tokens | F::Batch | F::New | F::Cached)
}

/// The text that a slider shows the place of: an empty context is as long as the prompt.
pub fn typed_of(inputs: &Inputs, field: Field) -> &str {
    match inputs.model.text(field).trim() {
        "" if field == Field::Context => inputs.model.text(Field::Prompt),
        typed => typed,
    }
}

/// The inputs on which the range of a field's slider depends: all except the field itself, so that the range stands still while
/// the slider moves.
pub fn beside_model(inputs: &Inputs, field: Field) -> Inputs {
    let mut beside = inputs.clone();
    let first = if field == Field::Context { String::new() } else { "1".to_owned() };
    beside.model.set_text(field, first);
    beside
}

/// As [`beside_model`], for a field of the operator.
pub fn beside_kernel(inputs: &Inputs, field: operator::Field) -> Inputs {
    let mut beside = inputs.clone();
    beside.typed.set(field, "1".to_owned());
    beside
}

/// The largest value of a field that fits in memory and that the model allows; 0 if none fits, `None` while an input is invalid.
/// In the Plan view it is that of the scheme that was picked, else of the smallest scheme within the bounds.
pub fn most_in_model(inputs: &Inputs, field: Field) -> Option<u64> {
    let mut taken = inputs.clone();
    if inputs.view == View::Plan
        && let Some(formats) = with_model(inputs, |request| smallest(&rank(request).ok()?, inputs))?
    {
        formats.of_model(&mut taken);
    }
    let question = ModelQuestion::read(&taken.model, taken.place()).ok()?;
    let plan = Plan::new(question.request(question.workload)).ok()?;
    let follows = taken.model.text(Field::Context).trim().is_empty();
    let w = question.workload;
    let with = |value: u64| match field {
        Field::Batch => Workload { batch: value, ..w },
        Field::Context => Workload { context: value, ..w },
        _ => {
            let prompt = value.saturating_add(image_tokens(&w));
            Workload { prompt, context: if follows { prompt } else { w.context }, ..w }
        }
    };
    let longest = question.arch.max_context.filter(|_| field != Field::Batch);
    let most = field.spec().max.min(longest.unwrap_or(u64::MAX));
    Some(largest(most, |value| fits(&plan, &with(value))))
}

/// Formats of the picked scheme, else of the one with the least memory among those that meet the bounds, else among all.
fn smallest(found: &Recommendation, inputs: &Inputs) -> Option<SchemeFormats> {
    let ranked = || found.ranked.iter().map(|row| (row.scheme, &row.outcome));
    let dropped =
        || found.dropped.iter().filter_map(|row| Some((row.scheme, row.outcome.as_ref()?)));
    let by_memory = |a: &(&'static Scheme, &Outcome), b: &(&'static Scheme, &Outcome)| {
        a.1.memory.get().total_cmp(&b.1.memory.get())
    };
    let picked = inputs
        .model
        .scheme
        .and_then(|scheme| ranked().chain(dropped()).find(|(other, _)| other.key == scheme.key));
    let least = || ranked().min_by(by_memory).or_else(|| dropped().min_by(by_memory));
    let (scheme, outcome) = picked.or_else(least)?;
    Some(SchemeFormats::of(scheme, &outcome.precision))
}

/// The largest power of two of a field at which the operator's data fits in the device's memory; `None` while an input is
/// invalid.
pub fn most_in_kernel(inputs: &Inputs, field: operator::Field) -> Option<u64> {
    inputs.operator().ok()?;
    let memory = inputs.device.memory.value.get();
    let fits = |value: &u64| {
        let mut other = inputs.clone();
        other.typed.set(field, value.to_string());
        // An operator moves each of its operands at least once. A format that does not run has no numbers and limits nothing.
        let answer = other.operator().ok().and_then(|operator| chosen(&other, operator).ok());
        answer.is_none_or(|answer| answer.cost.traffic.total().get() <= memory)
    };
    let powers = core::iter::successors(Some(1_u64), |power| power.checked_mul(2));
    let (_, end) = field.range();
    Some(powers.take_while(|power| *power <= end && fits(power)).last().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::*;
    use calc_core::catalog;

    fn values(stops: &SliderStops) -> Vec<&str> {
        stops.all.iter().map(|stop| stop.value.as_str()).collect()
    }

    fn plan(device: &str, texts: &[(Field, &str)]) -> Inputs {
        let mut inputs = Inputs::default();
        inputs.set_device(Cow::Borrowed(catalog::device(device).expect("catalog key")));
        for (field, text) in texts {
            inputs.model.set_text(*field, (*text).to_owned());
        }
        inputs
    }

    #[test]
    fn numbers_double_up_to_the_most() {
        assert_eq!(values(&SliderStops::of_numbers(6, "1")), ["1", "2", "4", "6"]);
        assert_eq!(values(&SliderStops::of_numbers(8, "1")), ["1", "2", "4", "8"]);
        assert!(
            SliderStops::of_numbers(0, "1").is_single()
                && SliderStops::of_numbers(1, "1").is_single()
        );
        for (typed, at) in [("1", 0), ("3", 1), ("5", 2), ("6", 3), ("99", 3), ("x", 0), ("4k", 3)]
        {
            assert_eq!(SliderStops::of_numbers(6, typed).at, at, "{typed}");
        }
    }

    #[test]
    fn the_last_stop_is_the_largest_that_fits() {
        for field in [Field::Batch, Field::Prompt, Field::Context] {
            let inputs = plan("jetson_orin_nano_8gb_super", &[]);
            let most = most_in_model(&beside_model(&inputs, field), field).expect("valid");
            assert!(most > 1 && most < field.spec().max, "{field:?}: {most}");
            for (value, is_fit) in [(most, true), (most + 1, false)] {
                let mut inputs = inputs.clone();
                inputs.model.set_text(field, value.to_string());
                let answer = crate::state::plan::next(None, &inputs).answer;
                let longest = inputs.model.base.arch().max_context;
                let is_long =
                    field != Field::Batch && longest.is_some_and(|longest| value > longest);
                assert_eq!(answer.no_speed.is_none(), is_fit || is_long, "{field:?} {value}");
            }
        }
    }

    #[test]
    fn the_range_does_not_depend_on_the_slider_itself() {
        let one = |text| {
            let inputs = plan("rtx_4090", &[(Field::Batch, text)]);
            beside_model(&inputs, Field::Batch)
        };
        assert_eq!(one("1"), one("64"));
        assert_eq!(one("x"), one("64"), "nor on its faults");
    }

    #[test]
    fn what_never_fits_has_no_slider_and_faults_elsewhere_have_none() {
        let mut inputs = plan("jetson_orin_nano_4gb", &[]);
        let model = catalog::model("llama-3.1-405b").expect("catalog key");
        inputs.model.set_base(crate::state::model::inputs::ModelSource::Catalog(model));
        assert_eq!(most_in_model(&inputs, Field::Batch), Some(0));
        let wrong = plan("rtx_4090", &[(Field::Prompt, "x")]);
        assert_eq!(most_in_model(&wrong, Field::Batch), None);
    }

    #[test]
    fn operators_end_where_their_data_fill_the_memory() {
        let inputs = Inputs::default(); // 4096 x 4096 on 8 GB
        let most = most_in_kernel(&inputs, operator::Field::M).expect("valid");
        assert!((1 << 17..=1 << 20).contains(&most), "{most}");
    }

    #[test]
    fn modes_stand_by_their_power_and_the_datasheet_last() {
        let mut inputs = plan("jetson_orin_nano_8gb_super", &[]);
        let stops = SliderStops::of_modes(&inputs);
        let names: Vec<&str> = values(&stops);
        assert_eq!(names.last(), Some(&""));
        assert_eq!(stops.at, stops.last());
        let place = |name| names.iter().position(|other| *other == name);
        assert!(place("7W") < place("15W") && place("15W") < place("25W"), "{names:?}");
        inputs.mode = Some("15W".into());
        assert_eq!(Some(SliderStops::of_modes(&inputs).at), place("15W"));
        assert!(SliderStops::of_modes(&plan("rtx_4090", &[])).is_single());
    }
}
