//! Answer of `check` for people.

use calc_core::check::{Check, Claim};

use super::Document;
use super::analyze::{expected, shape};
use crate::input::request::{CheckInputs, Done, EstimateInputs};
use crate::number_text as n;
use crate::output::table::{Align, Table};
use crate::output::words;

/// Document of a judgment.
pub fn check(inputs: &CheckInputs, answer: &Check) -> Document {
    let mut out = Document::default();
    let mode = inputs.power_mode().map_or(String::new(), |mode| format!(" in mode {mode}"));
    out.heading(format!("{} on {}{mode}", what(inputs), inputs.hardware_name()));
    out.line(words::check::sentence(answer));
    out.line("");
    out.line(format!("claim       {}", claimed(inputs, answer)));
    out.line(format!(
        "ideal       {}  {}-bound",
        n::time(answer.ideal),
        words::bound(answer.bound)
    ));
    out.line(format!("expected    {}", expected(&answer.expected)));
    out.line(format!("work        {}", n::flops(answer.cost.flops)));
    out.line(format!("traffic     {}", n::bytes(answer.cost.traffic.total())));
    let mut table = Table::new(&[
        ("", Align::Left),
        ("implied", Align::Right),
        (words::check::roofs_head(answer), Align::Right),
        ("sustained", Align::Right),
        ("basis", Align::Left),
    ]);
    let host = answer.host.as_ref().filter(|host| host.computes).map(words::check::host_rates);
    for rates in words::check::rates(answer).into_iter().chain(host) {
        table.push(rates.into());
    }
    out.table(table);
    out.heading("Possible explanations");
    for explanation in words::check::explanations(answer) {
        out.line(explanation);
    }
    out.notes(words::check::notes(inputs, answer));
    out
}

/// The subject of a claim: `A token of Llama-3.1 8B in BF16 at 512 cached`.
pub fn what(inputs: &CheckInputs) -> String {
    match &inputs.done {
        Done::Operator(inputs) => shape(&inputs.operator),
        Done::Token(inputs) => {
            format!("A token of {} at {} cached", model(inputs), inputs.workload.context)
        }
        Done::Answer(inputs) => format!(
            "{} new {} of {} after a prompt of {}",
            inputs.workload.new_tokens,
            if inputs.workload.new_tokens == 1 { "token" } else { "tokens" },
            model(inputs),
            inputs.workload.prompt
        ),
    }
}

fn model(inputs: &EstimateInputs) -> String {
    let precision = inputs.filled().map_or(inputs.precision, |(filled, _)| filled);
    let experts = precision.experts.filter(|_| inputs.model.arch.has_experts());
    let experts =
        experts.map_or(String::new(), |format| format!(" with experts in {}", format.short_name));
    let batch = inputs.workload.batch;
    let users = if batch > 1 { format!(", batch {batch},") } else { String::new() };
    format!("{} in {}{experts}{users}", inputs.model.name, precision.weights.short_name)
}

/// The claimed time, and the rate that it was given as.
pub fn claimed(inputs: &CheckInputs, answer: &Check) -> String {
    let time = n::time(answer.time);
    match inputs.claim {
        Claim::Time(_) => time,
        Claim::Rate { rate, per_user } => {
            let of = if per_user { "for each user" } else { "in all" };
            format!("{time}  = {} {of}", n::token_rate(rate))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::request::{Fields, Library};

    #[test]
    fn a_claim_about_a_model_names_the_formats_that_its_engine_computes() {
        for (engine, formats) in [
            ("", "in GGUF Q8_0 with experts in GGUF MXFP4"),
            (r#", "engine": "vllm""#, "in BF16 with experts in MXFP4"),
        ] {
            let line = format!(
                r#"{{"hardware": "gb10", "model": "gpt-oss-120b", "tokens_per_s": 55{engine}}}"#
            );
            let fields = Fields::from_line(&line).expect("JSON");
            let inputs = CheckInputs::parse(fields, &Library::CATALOGS).expect("a request");
            assert!(what(&inputs).contains(formats), "{}", what(&inputs));
        }
    }
}
