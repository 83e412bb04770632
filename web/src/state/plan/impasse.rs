//! Where no scheme meets the bounds: how many each bound drops, the nearest scheme, and changes after which one meets them.

use std::borrow::Cow;

use calc_core::catalog::devices;
use calc_core::device::Device;
use calc_core::math::{round_down, round_up};
use calc_core::recommend::{Drop, Dropped, Outcome, RecommendRequest, Recommendation, rank};
use calc_core::units::{Bytes, TokensPerSec};
use calc_core::workload::Workload;
use report::output::words::advice;

use super::{PlanShown, batch, rate};
use crate::state::advice::question::with_model;
use crate::state::goal::Bound;
use crate::state::inputs::Inputs;
use crate::state::model::answer::next as next_model;
use crate::state::model::fields::Field;
use crate::state::model::fit::{FitChange, more_devices};
use crate::state::model::host::{give_memory, larger_hosts, memory_text};
use crate::state::model::roles::Role;
use crate::state::place::Place;
use crate::state::scenario::brief;

/// Significant digits of a loosened bound.
const DIGITS: u32 = 2;
/// A loss below this counts as this [%], because a limit of 0 would make every other loss infinitely far.
const LEAST_LOSS: f64 = 0.01;

/// The verdict: the scheme that is nearest to all bounds.
pub(super) fn verdict(request: &RecommendRequest<'_>, found: &Recommendation) -> (String, String) {
    let mut line = String::new();
    if let Some((row, outcome)) = nearest(request, found) {
        let misses = misses(request, row, outcome).into_iter();
        let said: Vec<String> =
            misses.map(|miss| advice::dropped(&miss.drop, &row.quality)).collect();
        let name = advice::scheme_name(row.scheme);
        line = format!("The nearest is {name}: {}.", said.join("; "));
    }
    ("Nothing meets the bounds.".to_owned(), line)
}

/// The scheme that runs here and misses the bounds by the smallest factor, over all bounds.
pub(super) fn nearest<'a>(
    request: &RecommendRequest<'_>,
    found: &'a Recommendation,
) -> Option<(&'a Dropped, &'a Outcome)> {
    let factor = |(row, outcome): &(&Dropped, &Outcome)| -> f64 {
        misses(request, row, outcome).iter().map(|miss| miss.factor).product()
    };
    // A scheme that cannot be made or run has an outcome, too, and no bound that could be loosened for it.
    let is_bound = |drop: &Drop| {
        matches!(
            drop,
            Drop::Quality { .. }
                | Drop::Memory { .. }
                | Drop::Tpot { .. }
                | Drop::Ttft { .. }
                | Drop::Rate { .. }
        )
    };
    let dropped = found.dropped.iter().filter(|row| is_bound(&row.reason));
    let runs = dropped.filter_map(|row| Some((row, row.outcome.as_ref()?)));
    runs.min_by(|a, b| factor(a).total_cmp(&factor(b)))
}

/// A bound that a scheme misses.
struct Miss {
    /// By how much, from 1.
    factor: f64,
    drop: Drop,
}

/// All bounds that a scheme misses; the adviser names the first of them only.
fn misses(request: &RecommendRequest<'_>, row: &Dropped, outcome: &Outcome) -> Vec<Miss> {
    let bounds = &request.bounds;
    let mut misses = Vec::new();
    let mut test = |value: f64, limit: f64, drop: Drop| {
        if value > limit {
            misses.push(Miss { factor: value / limit, drop });
        }
    };
    let (needs, limit) = (outcome.memory, outcome.usable.bytes);
    test(needs.get(), limit.get(), Drop::Memory { needs, limit });
    let loss = row.quality.high.max(LEAST_LOSS);
    let bound = bounds.quality;
    test(loss, bound.max(LEAST_LOSS), Drop::Quality { bound });
    let takes = outcome.slowest_token();
    if let Some(bound) = bounds.tpot {
        test(takes.get(), bound.get(), Drop::Tpot { takes, bound });
    }
    if let Some(bound) = bounds.ttft {
        let takes = outcome.ttft.time;
        test(takes.get(), bound.get(), Drop::Ttft { takes, bound });
    }
    if let Some(bound) = bounds.rate {
        let gives = TokensPerSec::new(batch(request) / takes.get());
        test(bound.get(), gives.get(), Drop::Rate { gives, bound });
    }
    misses
}

/// Changes after which a scheme meets the bounds.
#[derive(Debug, Clone, PartialEq)]
pub struct Remedy {
    /// The changes, and the scheme that is recommended then.
    pub text: String,
    steps: Vec<Step>,
}

impl Remedy {
    /// Makes the changes.
    pub fn apply(&self, inputs: &mut Inputs) {
        for step in &self.steps {
            step.apply(inputs);
        }
    }
}

/// One change of the inputs.
#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// Another value of a bound, as typed.
    Loosen(Bound, String),
    /// No limit on the memory but the device's.
    AllMemory,
    /// A workload or format that needs less memory, or more devices.
    Model(FitChange, Workload),
    Device(&'static Device),
    /// An amount of host memory [GB as sold].
    Host(u32),
}

impl Step {
    fn apply(&self, inputs: &mut Inputs) {
        match self {
            Self::Loosen(bound, text) => inputs.goal.set_text(*bound, text.clone()),
            Self::AllMemory => inputs.model.set_text(Field::Memory, String::new()),
            Self::Model(change, workload) => change.apply(&mut inputs.model, workload),
            Self::Device(device) => inputs.set_device(Cow::Borrowed(device)),
            Self::Host(memory) => {
                let device = inputs.device.clone();
                give_memory(&mut inputs.model, *memory, Place::of(&device));
            }
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Loosen(Bound::Loss, text) => format!("a loss up to {text} %"),
            Self::Loosen(Bound::Tpot, text) => format!("up to {text} ms per token"),
            Self::Loosen(Bound::Ttft, text) => format!("up to {text} ms to the first token"),
            Self::Loosen(Bound::Rate, text) => format!("at least {text} token/s"),
            Self::AllMemory => "all usable memory".to_owned(),
            Self::Model(change, _) => change.text(),
            Self::Device(device) => brief(&device.name).to_owned(),
            Self::Host(memory) => memory_text(*memory),
        }
    }
}

/// How many schemes each bound drops.
pub fn counts(inputs: &Inputs) -> String {
    let count = |request: &RecommendRequest<'_>| {
        rank(request).map_or_else(|_| String::new(), |found| advice::drop_counts(&found.dropped))
    };
    with_model(inputs, count).unwrap_or_default()
}

/// Remedies for inputs for which nothing meets the bounds, each tried. First those that loosen one bound, without such a one
/// several together; then those for the memory; last another device.
pub fn remedies(shown: &PlanShown, inputs: &Inputs) -> Vec<Remedy> {
    let set = |bound: &Bound| *bound == Bound::Loss || !inputs.goal.text(*bound).trim().is_empty();
    let bounds: Vec<Bound> = Bound::ALL.into_iter().filter(set).collect();
    let mut found: Vec<Remedy> =
        bounds.iter().filter_map(|bound| loosened(inputs, core::slice::from_ref(bound))).collect();
    if found.is_empty() && bounds.len() > 1 {
        found.extend(loosened(inputs, &bounds));
    }
    let mut model: Vec<Step> = Vec::new();
    if inputs.model.memory_limit().is_some_and(|limit| limit > 0.0) {
        model.push(Step::AllMemory);
    }
    let model_of = next_model(None, &shown.taken.model, shown.taken.place());
    let memory = &model_of.answer.memory;
    let of_model = |change: FitChange| Step::Model(change, memory.workload);
    let fitting = memory.changes.iter().copied().filter(|change| {
        !matches!(change, FitChange::Format(Role::Weights, _) | FitChange::Devices(_))
    });
    model.extend(fitting.map(of_model));
    found.extend(model.into_iter().filter_map(|step| tried(inputs, vec![step])));
    found.extend(with_host(inputs));
    let more = more_devices(inputs.place(), memory.workload.parallel.tensor);
    let mut split = more.map(|ways| vec![of_model(FitChange::Devices(ways))]);
    found.extend(split.find_map(|steps| tried(inputs, steps)));
    found.extend(larger(inputs));
    found
}

/// The smallest memory of a host beside the card with which a scheme meets the bounds.
fn with_host(inputs: &Inputs) -> Option<Remedy> {
    let least = with_model(inputs, |request| {
        let found = rank(request).ok()?;
        let needs = found.dropped.iter().filter_map(|row| Some(row.outcome.as_ref()?.memory));
        needs.min_by(|a, b| a.get().total_cmp(&b.get()))
    })??;
    let card = inputs.device.usable_memory(None).bytes;
    let may_hold = |memory: &u32| card + Bytes::from_gib(f64::from(*memory)) > least;
    let mut hosts = larger_hosts(&inputs.model, inputs.place()).into_iter().filter(may_hold);
    hosts.find_map(|memory| tried(inputs, vec![Step::Host(memory)]))
}

/// The device with the least memory on which a scheme meets the bounds, one of the same class and vendor if there is one.
fn larger(inputs: &Inputs) -> Option<Remedy> {
    let memory = |device: &Device| device.usable_memory(None).bytes;
    let own = &inputs.device;
    let mut devices: Vec<&Device> = devices::all()
        .filter(|device| memory(device) >= memory(own) && device.key != own.key)
        .collect();
    let is_other = |device: &Device| (device.class != own.class, device.vendor != own.vendor);
    devices.sort_by(|a, b| {
        let smaller = memory(a).get().total_cmp(&memory(b).get());
        is_other(a).cmp(&is_other(b)).then(smaller)
    });
    devices.into_iter().find_map(|device| tried(inputs, vec![Step::Device(device)]))
}

/// The remedy that loosens these bounds as little as any scheme needs; `None` if that is not enough.
fn loosened(inputs: &Inputs, bounds: &[Bound]) -> Option<Remedy> {
    let mut open = inputs.clone();
    for bound in bounds {
        let widest = if *bound == Bound::Loss { "1000000" } else { "" };
        open.goal.set_text(*bound, widest.to_owned());
    }
    let values = with_model(&open, |request| {
        let found = rank(request).ok()?;
        let of = |row: &calc_core::recommend::Ranked| -> Vec<f64> {
            let tokens = batch(request);
            bounds
                .iter()
                .map(|bound| needed(*bound, &row.outcome, row.quality.high, tokens))
                .collect()
        };
        let rows = found.ranked.iter().map(of);
        rows.min_by(|a, b| cost(bounds, a).total_cmp(&cost(bounds, b)))
    })??;
    let steps = bounds.iter().zip(values);
    tried(inputs, steps.map(|(bound, value)| Step::Loosen(*bound, value.to_string())).collect())
}

/// The value of a bound that a scheme meets just so, in the unit of the field.
fn needed(bound: Bound, outcome: &Outcome, loss: f64, batch: f64) -> f64 {
    let token = outcome.slowest_token().get();
    match bound {
        Bound::Loss => round_up(loss.max(LEAST_LOSS), DIGITS),
        Bound::Tpot => round_up(token * 1e3, DIGITS),
        Bound::Ttft => round_up(outcome.ttft.time.get() * 1e3, DIGITS),
        Bound::Rate => round_down(batch / token, DIGITS),
    }
}

/// Size of the demands on the reader: the product of the values, in which a higher rate is better.
fn cost(bounds: &[Bound], values: &[f64]) -> f64 {
    let of = |(bound, value): (&Bound, &f64)| match bound {
        Bound::Rate => 1.0 / value,
        Bound::Loss | Bound::Tpot | Bound::Ttft => *value,
    };
    bounds.iter().zip(values).map(of).product()
}

/// The remedy of these changes, if a scheme meets the bounds after them.
fn tried(inputs: &Inputs, steps: Vec<Step>) -> Option<Remedy> {
    let mut remedy = Remedy { text: String::new(), steps };
    let mut changed = inputs.clone();
    remedy.apply(&mut changed);
    let then = with_model(&changed, |request| {
        let found = rank(request).ok()?;
        let first = found.ranked.first()?;
        let speed = rate(request, first.outcome.token.expected.time);
        Some(format!("{}, {speed}", advice::scheme_name(first.scheme)))
    })??;
    let said: Vec<String> = remedy.steps.iter().map(Step::text).collect();
    remedy.text = format!("{}: {then}", advice::capital(&said.join(" and ")));
    Some(remedy)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::inputs::View;
    use crate::state::model::inputs::ModelSource;
    use crate::state::plan::explained;
    use calc_core::catalog;

    fn inputs(device: &str, model: &str, bounds: &[(Bound, &str)]) -> Inputs {
        let mut inputs = Inputs { view: View::Plan, ..Inputs::default() };
        inputs.set_device(Cow::Borrowed(catalog::device(device).expect("catalog key")));
        inputs.model.set_base(ModelSource::Catalog(catalog::model(model).expect("catalog key")));
        for (bound, text) in bounds {
            inputs.goal.set_text(*bound, (*text).to_owned());
        }
        inputs
    }

    #[test]
    fn each_remedy_makes_something_meet_the_bounds() {
        for (device, model, bounds, names) in [
            ("jetson_orin_nano_8gb_super", "llama-3.1-70b", vec![], "AGX Orin"),
            ("rtx_4090", "gpt-oss-120b", vec![], "GB of host memory"),
            (
                "jetson_orin_nano_8gb_super",
                "llama-3.1-8b",
                vec![(Bound::Loss, "0.1")],
                "loss up to",
            ),
            ("h100_sxm", "llama-3.1-70b", vec![(Bound::Rate, "300")], "At least"),
            ("h100_sxm", "llama-3.1-8b", vec![(Bound::Ttft, "1"), (Bound::Tpot, "1")], " and "),
            ("h100_sxm", "llama-3.1-8b", vec![(Bound::Tpot, "2")], "ms per token"),
        ] {
            let before = inputs(device, model, &bounds);
            let shown = explained(None, &before);
            assert_eq!(shown.answer.sentence, "Nothing meets the bounds.", "{device} {model}");
            let found = remedies(&shown, &before);
            assert!(found.iter().any(|remedy| remedy.text.contains(names)), "{names}: {found:?}");
            for remedy in found {
                let mut after = before.clone();
                remedy.apply(&mut after);
                let answer = explained(None, &after).answer;
                assert!(answer.sentence.starts_with("Take "), "{}", remedy.text);
            }
        }
    }

    #[test]
    fn nothing_is_offered_that_cannot_be() {
        let shown = explained(None, &inputs("rtx_4090", "gpt-oss-120b", &[]));
        let line = &shown.answer.line;
        assert!(line.starts_with("The nearest is GGUF ") && line.contains("short of"), "{line}");
        for (device, offers) in [("jetson_orin_nano_8gb_super", false), ("rtx_4090", true)] {
            let before = inputs(device, "llama-3.1-70b", &[]);
            let found = remedies(&explained(None, &before), &before);
            let splits = found.iter().any(|remedy| remedy.text.contains("tensor-parallel"));
            assert_eq!(splits, offers, "{device}: {found:?}");
        }
    }

    #[test]
    fn the_verdict_counts_what_each_bound_drops_and_names_the_nearest() {
        let inputs = inputs("h100_sxm", "llama-3.1-70b", &[(Bound::Rate, "300")]);
        let shown = explained(None, &inputs);
        let plain = |said: &str| said.replace(report::number_text::SPACE, " ");
        let (line, counts) = (plain(&shown.answer.line), plain(&counts(&inputs)));
        assert!(
            counts.starts_with("Of ") && counts.contains("cannot reach 300 token/s"),
            "{counts}"
        );
        assert!(line.starts_with("The nearest is "), "{line}");
        assert!(line.contains("300 token/s required"), "{line}");
        let weights = shown.model.answer.weights.clone();
        assert_ne!(weights, "BF16", "the memory is that of the nearest scheme");
        let memory = &shown.model.answer.memory;
        assert!(memory.changes.is_empty() && memory.room.contains("nearest"), "{}", memory.room);
    }
}
