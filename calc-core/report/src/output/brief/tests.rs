//! Answers in a few lines: what each one has.

use super::*;
use crate::input::request::{Fields, FitInputs, Library, ScenariosInputs};

fn fields(line: &str) -> Fields {
    Fields::from_line(line).expect("JSON")
}

/// Checks that a text has all of these parts, in this order.
fn check(text: &str, parts: &[&str]) {
    let mut rest = &*text.replace(n::SPACE, " ");
    for part in parts {
        let found = rest.split_once(part);
        rest = found.unwrap_or_else(|| panic!("{part} is not in {rest}")).1;
    }
}

#[test]
fn an_estimate_has_its_numbers_with_interval_and_origin() {
    for (line, parts) in [
        (
            r#"{"hardware":"h100","model":"llama-3.1-8b","batch":8}"#,
            &[
                "Fits with",
                "token/s in all expected (",
                " to ",
                "; fitted), ",
                "(derived)",
                "(",
                "; fitted).",
            ][..],
        ),
        (
            r#"{"hardware":"h100","model":"llama-3.1-8b","prompt":200000}"#,
            &["The model does not serve this: 200000 tokens exceed", "Fits with"],
        ),
        (
            r#"{"hardware":"jetson_orin_nano_8gb_super","model":"llama-3.2-1b","tensor_parallel":2}"#,
            &["at most ", " token/s; ", " expected without the link between the devices"],
        ),
        (r#"{"hardware":"rtx_4090","model":"llama-3.1-70b"}"#, &["Does not fit: ", " usable."]),
    ] {
        let inputs = EstimateInputs::parse(fields(line), &Library::CATALOGS).expect("valid");
        check(&estimate(&inputs, &inputs.estimate().expect("valid")).sentence, parts);
    }
}

#[test]
fn a_product_has_times_and_a_model_has_rates() {
    for (line, unit) in [
        (r#"{"hardware":"h100","m":2048,"n":4096,"k":4096}"#, "µs ("),
        (r#"{"hardware":"h100","model":"llama-3.1-8b"}"#, "token/s ("),
    ] {
        let inputs = RecommendInputs::parse(fields(line), &Library::CATALOGS).expect("valid");
        let told = recommend(&inputs, &inputs.recommend().expect("valid"), Vec::new());
        check(&told.sentence, &["use ", unit, "; fitted)", " as fast as 16 bits"]);
        let next = told.lines.iter().find(|line| line.starts_with("Next: "));
        check(next.expect("others"), &[unit, "; fitted)"]);
    }
}

#[test]
fn what_an_unknown_memory_holds_is_not_said_to_fit() {
    for (device, says) in
        [("epyc_9654", "schemes may fit; the first is"), ("h100", "schemes fit; the first is")]
    {
        let line = format!(r#"{{"hardware":"{device}","model":"llama-3.1-8b"}}"#);
        let inputs = FitInputs::parse(fields(&line), &Library::CATALOGS).expect("valid");
        let told = fit::plan(&inputs, &inputs.plan(&Library::CATALOGS).expect("valid"));
        check(&told.sentence, &[says]);
        let by_memory = told.text().contains("limited by memory");
        assert_eq!(by_memory, device == "h100", "{}", told.text());
    }
}

#[test]
fn scenarios_whose_intervals_overlap_are_not_told_apart() {
    for (weights, says) in
        [("gguf_q4_0", "No clear difference in rate between"), ("bf16", "has the highest rate, ")]
    {
        let line = format!(
            r#"{{"hardware":"rtx_4090","model":"llama-3.1-8b","scenarios":[{{"weights":"q4_k_m"}},{{"weights":"{weights}"}}]}}"#
        );
        let asked = ScenariosInputs::parse(fields(&line), &Library::CATALOGS).expect("valid");
        check(
            &scenarios::scenarios(&asked.answers().expect("valid")).sentence,
            &[says, "; fitted)", "First token after ", " against "],
        );
    }
}
