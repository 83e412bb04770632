//! Figures of an answer: latencies, rates, energy and utilization; ideal beside expected.

use calc_core::calibration::Basis;
use calc_core::energy::idle_share;
use calc_core::estimate::Estimate;
use calc_core::expected::Expected;
use calc_core::provenance::Provenance;
use calc_core::units::{Joules, Seconds, TokensPerSec, Watts};
use report::number_text as text;
use report::output::lesson;
use report::output::verdict::badge;
use report::output::verdict::model as say;

use super::question::ModelQuestion;
use crate::state::derived::Cell;
use crate::state::inputs::Inputs;

/// A figure: ideal, expected and interval.
#[derive(Debug, Clone, PartialEq)]
pub struct Figure {
    pub name: &'static str,
    /// Description in a few words.
    pub meaning: &'static str,
    /// Value at the roof.
    pub ideal: Cell,
    /// Expected value.
    pub expected: Cell,
    /// Interval of the expected value.
    pub interval: String,
}

/// Source of an expected value, as a badge; "partly measured here" for a sum that includes own measurements.
pub fn origin(inputs: &Inputs, sure: Provenance) -> &'static str {
    match sure {
        Provenance::Mixed if inputs.own.is_some() => "partly measured here",
        sure => badge(sure),
    }
}

/// The figures, most requested first.
pub fn figures(question: &ModelQuestion<'_>, answer: &Estimate) -> Vec<Figure> {
    let batch = question.workload.batch as f64;
    let known = !answer.link_unknown;
    let mut figures = vec![
        latency(question, answer, Latency::FirstToken),
        latency(question, answer, Latency::EachToken),
        whole(question, answer),
        rate("Tokens per second", "for each user", "1 ÷ time per token", answer, 1.0),
        rate("Tokens per second", "in total", "batch ÷ time per token", answer, batch),
    ];
    figures.extend(energy(question, answer));
    figures.push(share(
        "MBU",
        "bandwidth used in decode",
        "(weights + KV cache) ÷ bandwidth ÷ time",
        answer.mean_mbu,
        (answer.mean.ideal, &answer.mean.expected),
        &answer.basis,
    ));
    figures.push(share(
        "MFU",
        "arithmetic used in prefill",
        "FLOP ÷ peak ÷ time",
        answer.prefill.mfu,
        (answer.prefill.totals.ideal, &answer.prefill.totals.expected),
        &answer.basis,
    ));
    if !known {
        for figure in &mut figures {
            figure.interval += " without the link";
        }
    }
    figures
}

#[derive(Clone, Copy)]
enum Latency {
    FirstToken,
    EachToken,
}

fn latency(question: &ModelQuestion<'_>, answer: &Estimate, which: Latency) -> Figure {
    let (name, meaning, ideal, expected, phase) = match which {
        Latency::FirstToken => {
            ("First token", "TTFT", answer.ttft_ideal, &answer.ttft, &answer.prefill)
        }
        Latency::EachToken => {
            let meaning =
                if question.workload.new_tokens > 1 { "mean TPOT of the answer" } else { "TPOT" };
            ("Each token", meaning, answer.mean.ideal, &answer.mean.expected, &answer.middle)
        }
    };
    Figure {
        name,
        meaning,
        ideal: Cell {
            text: text::time(ideal),
            explanation: say::ideal_latency(name, ideal, &question.place.device.name),
        },
        expected: Cell {
            text: text::time(expected.time),
            explanation: say::expected_latency(name, expected, phase, &answer.basis),
        },
        interval: text::time_range(expected.low, expected.high),
    }
}

/// Time of the whole answer: all new tokens, each at its own context.
fn whole(question: &ModelQuestion<'_>, answer: &Estimate) -> Figure {
    let name = "Whole answer";
    let steps = question.workload.new_tokens - 1;
    let cell = |first: Seconds, all: Seconds, provenance| Cell {
        text: text::time(all),
        explanation: say::derived(
            name,
            "TTFT + the decode steps after the first token, each at its own context",
            format!(
                "{} + {} for {} steps",
                text::time(first),
                text::time(all - first),
                text::count(steps)
            ),
            provenance,
            &answer.basis,
            lesson::STEP,
        ),
    };
    let (ideal, expected) = (answer.end_to_end_ideal, &answer.end_to_end);
    Figure {
        name,
        meaning: "first to last token",
        ideal: cell(answer.ttft_ideal, ideal, Provenance::Derived),
        expected: cell(answer.ttft.time, expected.time, expected.provenance),
        interval: text::time_range(expected.low, expected.high),
    }
}

fn rate(
    name: &'static str,
    meaning: &'static str,
    formula: &str,
    answer: &Estimate,
    users: f64,
) -> Figure {
    let at = |time: Seconds| TokensPerSec::new(users / time.get());
    let cell = |time: Seconds, provenance| Cell {
        text: text::plain(at(time).get()),
        explanation: say::derived(
            name,
            formula,
            format!(
                "{} ÷ {} = {}",
                text::plain(users),
                text::time(time),
                text::token_rate(at(time))
            ),
            provenance,
            &answer.basis,
            lesson::STEP,
        ),
    };
    Figure {
        name,
        meaning,
        ideal: cell(answer.mean.ideal, Provenance::Derived),
        expected: cell(answer.mean.expected.time, answer.mean.expected.provenance),
        interval: range(&answer.mean.expected, |time| text::plain(at(time).get())),
    }
}

/// Interval of a rate: the slow end of the time gives the low rate.
fn range(time: &Expected, show: impl Fn(Seconds) -> String) -> String {
    interval(&show(time.high), &show(time.low))
}

/// Both ends, with a common unit written once.
fn interval(from: &str, to: &str) -> String {
    let is_unit = |word: &&str| !word.starts_with(|letter: char| letter.is_ascii_digit());
    let unit = |shown: &str| shown.rsplit(text::SPACE).next().filter(is_unit).map(str::to_owned);
    match (unit(from), from.rsplit_once(text::SPACE)) {
        (Some(same), Some((number, _))) if unit(to).as_ref() == Some(&same) => {
            format!("{number}–{to}")
        }
        _ => format!("{from}–{to}"),
    }
}

/// Energy as the core computes it: idle power all the time, plus the rest of the budget while the devices are busy at their roof.
/// Beside a host that is a part of the ideal time.
fn energy(question: &ModelQuestion<'_>, answer: &Estimate) -> Option<Figure> {
    let (energy, mean) = (answer.mean.energy?, answer.mean);
    let budget: Watts = question.place.mode.and_then(|mode| mode.watts).or(question
        .place
        .device
        .tdp
        .map(|tdp| tdp.value))?;
    let devices = question.workload.parallel.devices() as f64;
    let batch = question.workload.batch as f64;
    let idle = budget * idle_share(question.place.device.class);
    let share = (energy.power.all - idle * devices) / ((budget - idle) * devices);
    let busy = mean.expected.time * share;
    let per_token =
        |time: Seconds| -> Joules { (idle * time + (budget - idle) * busy) * devices / batch };
    let ideal = budget * busy * devices / batch;
    let name = "Energy per token";
    Some(Figure {
        name,
        meaning: "mean power × time",
        ideal: Cell {
            text: text::energy(ideal),
            explanation: say::derived(
                name,
                "power budget × devices × busy time ÷ batch",
                format!("{} × {}", text::power(budget * devices), text::time(busy)),
                Provenance::Derived,
                &answer.basis,
                lesson::ENERGY,
            ),
        },
        expected: Cell {
            text: text::energy(energy.per_token),
            explanation: say::derived(
                name,
                "(idle + (budget − idle) × busy ÷ expected) × devices × time ÷ batch",
                format!(
                    "{} of {} × {}; idle is assumed to take {}",
                    text::power(energy.power.all),
                    text::power(budget * devices),
                    text::time(mean.expected.time),
                    text::percent(idle_share(question.place.device.class))
                ),
                Provenance::Assumed,
                &answer.basis,
                lesson::ENERGY,
            ),
        },
        interval: interval(
            &text::energy(per_token(mean.expected.low)),
            &text::energy(per_token(mean.expected.high)),
        ),
    })
}

fn share(
    name: &'static str,
    meaning: &'static str,
    formula: &str,
    expected_share: f64,
    (ideal, expected): (Seconds, &Expected),
    basis: &Basis,
) -> Figure {
    // The fast end of a wide interval may lie beyond the roof, where the share is limited to 100 %.
    let at = |time: Seconds| (expected_share * (expected.time / time)).min(1.0);
    let cell = |time: Seconds, provenance| Cell {
        text: text::percent(at(time)),
        explanation: say::derived(
            name,
            formula,
            format!("{} in {}", text::percent(at(time)), text::time(time)),
            provenance,
            basis,
            lesson::STEP,
        ),
    };
    Figure {
        name,
        meaning,
        ideal: cell(ideal, Provenance::Derived),
        expected: cell(expected.time, expected.provenance),
        interval: range(expected, |time| text::percent(at(time))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::model::inputs::ModelInputs;
    use crate::state::place::Place;
    use calc_core::catalog;

    #[test]
    fn the_energy_of_the_interval_is_that_of_the_core() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let inputs = ModelInputs::default();
        let question = ModelQuestion::read(&inputs, Place::of(device)).expect("valid");
        let answer = question.estimate().expect("valid");
        let energy = answer.mean.energy.expect("known power").per_token;
        let figure = energy_text(&question, &answer);
        assert_eq!(figure.expected.text, text::energy(energy));
        let mut slow = answer.clone();
        slow.mean.expected.low = slow.mean.expected.time;
        let number = text::energy(energy);
        let number = number.split(text::SPACE).next().expect("a number before its unit");
        let interval = energy_text(&question, &slow).interval;
        assert!(interval.starts_with(number), "{interval} {number}");
    }

    #[test]
    fn the_energy_beside_a_host_lies_in_its_interval() {
        let query = "?view=model&model=gpt-oss-120b&d=rtx_4090&host=ddr5&hostgb=96";
        let (inputs, notes) = crate::state::url::read(query);
        assert!(notes.is_empty(), "{notes:?}");
        let question = ModelQuestion::read(&inputs.model, inputs.place()).expect("valid");
        let answer = question.estimate().expect("valid");
        let shown = energy_text(&question, &answer);
        let joule = |text: &str| -> f64 {
            let number = text.split(text::SPACE).next().expect("a number");
            number.parse().unwrap_or_else(|_| panic!("{text}"))
        };
        let (low, high) = shown.interval.split_once('–').expect("an interval");
        let figures = [&shown.ideal.text[..], low, &shown.expected.text, high].map(joule);
        assert!(figures.is_sorted() && figures[1] < figures[3], "{figures:?}");
        assert!(shown.expected.text.ends_with('J') && !shown.expected.text.contains('m'));
    }

    fn energy_text(question: &ModelQuestion<'_>, answer: &Estimate) -> Figure {
        energy(question, answer).expect("known power")
    }

    #[test]
    fn the_longest_answers_are_summed() {
        let device = catalog::device("h100_sxm").expect("catalog key");
        let mut inputs = ModelInputs::default();
        let mut of = |new_tokens: &str| {
            inputs.set_text(crate::state::model::fields::Field::Generate, new_tokens.into());
            let question = ModelQuestion::read(&inputs, Place::of(device)).expect("valid");
            let answer = question.estimate().expect("valid");
            let figures = figures(&question, &answer);
            let shown = |name: &str| {
                let found = figures.iter().find(|figure| figure.name == name).expect("a figure");
                found.expected.text.clone()
            };
            (shown("Whole answer"), shown("Each token"), shown("Energy per token"), answer)
        };
        for new_tokens in ["8193", "131072", "10000000"] {
            let (whole, token, energy, answer) = of(new_tokens);
            assert_eq!(whole, text::time(answer.end_to_end.time), "{new_tokens}");
            assert_eq!(token, text::time(answer.mean.expected.time), "{new_tokens}");
            let joule = answer.mean.energy.expect("known power").per_token;
            assert_eq!(energy, text::energy(joule), "{new_tokens}");
        }
    }

    #[test]
    fn a_unit_stands_once_and_thousands_are_no_unit() {
        let space = text::SPACE;
        let spaced = |shown: &str| shown.replace(' ', &space.to_string());
        for (from, to, expected) in [
            ("1.19 J", "1.76 J", "1.19–1.76 J"),
            ("900 mJ", "1.2 J", "900 mJ–1.2 J"),
            ("49 %", "100 %", "49–100 %"),
            ("924", "2 460", "924–2 460"),
            ("1 460", "2 460", "1 460–2 460"),
            ("1 460", "3 460", "1 460–3 460"),
        ] {
            assert_eq!(interval(&spaced(from), &spaced(to)), spaced(expected));
        }
    }

    #[test]
    fn figures_without_a_published_link_say_so() {
        let device = calc_core::catalog::devices::all()
            .find(|device| device.link.is_none())
            .expect("a device without a link");
        let mut inputs = ModelInputs::default();
        inputs.set_text(crate::state::model::fields::Field::Tensor, "2".into());
        let question = ModelQuestion::read(&inputs, Place::of(device)).expect("valid");
        let answer = question.estimate().expect("valid");
        for figure in figures(&question, &answer) {
            let text = &figure.interval;
            assert!(text.ends_with(" without the link"), "{text}");
            assert!(!figure.ideal.text.contains("link"), "{}", figure.ideal.text);
        }
    }
}
