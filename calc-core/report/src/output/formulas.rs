//! The formulas behind the numbers of an answer, each with its values, its origin and the page that explains it.

mod cards;
mod host;

use calc_core::analysis::Analysis;
use calc_core::estimate::Estimate;
use calc_core::provenance::Provenance;
use calc_core::units::{Bytes, TokensPerSec};

use super::lesson;
use super::verdict::explain::{self, Explanation};
use super::verdict::model as say;
use super::work;
use crate::input::request::{AnalyzeInputs, EstimateInputs};
use crate::number_text as text;

/// Symbols of the steps that read the roofs of a device.
const AT_THE_ROOF: [&str; 4] = ["I_ridge", "t_mem", "t_comp", "t_ideal"];

/// The formulas behind the analysis of an operator, from its shape to its expected time.
pub fn operator(inputs: &AnalyzeInputs, answer: &Analysis) -> Vec<Explanation> {
    let steps = work::steps(&inputs.operator, answer);
    let step = |step: &work::Step| {
        let [symbols, values] = step.plain();
        Explanation {
            title: step.title.clone(),
            formula: format!("{} = {symbols}", step.symbol),
            values: format!("{values} = {}", step.text),
            provenance: Provenance::Derived,
            source: if AT_THE_ROOF.contains(&step.symbol) {
                format!("the roofs of {}", inputs.device.name).into()
            } else {
                "the shape and the formats of the operator".into()
            },
            lesson: lesson::ROOFLINE,
        }
    };
    let mut told: Vec<Explanation> = steps.iter().map(step).collect();
    // The last step is the expected time, whose factors have an origin of their own.
    let last = told.pop();
    let expected = explain::expected(answer);
    told.extend(last.map(|last| Explanation { formula: last.formula, ..expected }));
    told
}

/// The formulas behind an estimate: memory, times and rate.
pub fn estimate(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Explanation> {
    let roles = say::memory_roles(&answer.memory);
    let mut told: Vec<Explanation> = roles
        .iter()
        .filter(|role| role.key != "towers" || role.bytes > Bytes::ZERO)
        .map(|role| say::memory_part(role.name, role.formula, role.bytes, role.provenance))
        .collect();
    cards::fullest(inputs, answer, &mut told);
    told.extend(cards::layers(inputs, answer));
    let tiers = host::Split::of(inputs, answer);
    if let Some(split) = &tiers {
        split.card(&mut told);
        told.extend(split.memory());
    }
    let roofs = match &inputs.host {
        Some(behind) => format!("{} and {}", inputs.device.name, behind.host.name),
        None => inputs.hardware_name(),
    };
    told.push(say::ideal_latency("First token", answer.ttft_ideal, &roofs));
    told.push(say::ideal_latency("Each token", answer.mean.ideal, &roofs));
    if !answer.link_unknown {
        told.extend(expected(inputs, answer));
        told.extend(tiers.iter().flat_map(host::Split::times));
    }
    told
}

/// The formulas behind the operators of an estimate, those of prefill first.
pub fn operators(answer: &Estimate) -> Vec<Explanation> {
    let phases = [("prefill", &answer.prefill), ("decode", &answer.middle)];
    let rows = phases.into_iter().flat_map(|(name, phase)| {
        phase.operators.iter().map(move |row| {
            let share = row.totals.expected.time / phase.totals.expected.time;
            let told = say::operator(row, phase.totals.ideal, share);
            Explanation { title: format!("{} in {name}: {}", row.kind.key(), told.title), ..told }
        })
    });
    rows.collect()
}

fn expected(inputs: &EstimateInputs, answer: &Estimate) -> Vec<Explanation> {
    let (mean, basis) = (&answer.mean, &answer.basis);
    let users = inputs.workload.batch as f64;
    let rate = TokensPerSec::new(users / mean.expected.time.get());
    let values = format!(
        "{} ÷ {} = {}",
        text::plain(users),
        text::time(mean.expected.time),
        text::token_rate(rate)
    );
    vec![
        say::expected_latency("First token", &answer.ttft, &answer.prefill, basis),
        say::expected_latency("Each token", &mean.expected, &answer.middle, basis),
        say::derived(
            "Tokens per second",
            "batch ÷ time per token",
            values,
            mean.expected.provenance,
            basis,
            lesson::STEP,
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::request::{Fields, Library};

    #[test]
    fn every_formula_has_values_an_origin_and_a_page() {
        let fields = |line| Fields::from_line(line).expect("JSON");
        let line = r#"{"hardware":"h100","m":1,"n":4096,"k":4096,"weights":"int4_g128"}"#;
        let inputs = AnalyzeInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
        let mut told = operator(&inputs, &inputs.analyze().expect("valid"));
        let last = told.last().expect("the expected time");
        assert_eq!((last.title.as_str(), last.provenance), ("Expected time", Provenance::Fitted));
        assert!(told[0].formula.starts_with("F = 2 × M × N × K"), "{:?}", told[0]);
        let line = r#"{"hardware":"h100","model":"mixtral-8x7b","batch":4}"#;
        let inputs = EstimateInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("valid");
        told.extend(estimate(&inputs, &answer));
        told.extend(operators(&answer));
        assert!(told.len() > 30, "{}", told.len());
        for step in told {
            assert!(!step.values.is_empty() && !step.source.text().is_empty(), "{step:?}");
        }
    }
    #[test]
    fn a_split_model_has_the_formulas_of_its_host() {
        let line = r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b"}"#;
        let fields = Fields::from_line(line).expect("JSON");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let told = estimate(&inputs, &inputs.estimate().expect("valid"));
        let values = |title: &str| {
            let step = told.iter().find(|step| step.title == title).expect(title);
            step.values.replace(text::SPACE, " ")
        };
        for (title, says) in [
            ("Weights on the card", "63.4 GB − "),
            ("Weights on the host", " ÷ 36, n_l"),
            ("Memory of the host", "89.6 GB/s"),
            ("Each token, on the host", " × 89.6 GB/s)"),
            ("Prompt, copies to the card", " × 31.5 GB/s: "),
            ("Each token, changes of sides", "T = 1, H = 2 880"),
        ] {
            assert!(values(title).contains(says), "{title}: {}", values(title));
        }
        assert!(told.iter().all(|step| step.title != "Weights"), "the whole is not on the card");
    }
}
