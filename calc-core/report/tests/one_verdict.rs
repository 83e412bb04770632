//! Limit of decode: every surface says the same of the same request.

use report::input::request::{EstimateInputs, Fields, Library, RecommendInputs};
use report::output::verdict::model as view;
use report::output::words::advice;
use report::output::{brief, summary};

/// Heads of the command line, of a program's answer and of the Model view, and the line below the last.
fn said(line: &str) -> [String; 4] {
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect(line);
    let answer = inputs.estimate().expect(line);
    [
        summary::estimate(&inputs, &answer).to_text(),
        brief::estimate(&inputs, &answer).sentence,
        view::sentence(&answer, &inputs.workload),
        view::line(&answer),
    ]
}

fn advised(line: &str) -> String {
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect(line);
    let answer = inputs.recommend().expect(line);
    advice::regime(&answer.ranked[0], inputs.part, &answer.baseline)
}

#[test]
fn links_that_take_the_largest_share_are_named_everywhere() {
    // By PCIe the links take half of a token, DRAM less.
    let line = r#"{"hardware":"h200_sxm","link":"pcie_5_x16","model":"deepseek-v3.2","tensor_parallel":8,"prompt":4096,"new_tokens":256}"#;
    let [text, brief, sentence, below] = said(line);
    let waits = "Decode waits for the links between devices";
    assert!(text.contains(waits) && brief.contains(waits), "{text}\n{brief}");
    assert!(text.contains("token/s at the roof, which leaves out the links."), "{text}");
    assert!(brief.contains("at the roof, which leaves out the links (derived)"), "{brief}");
    assert!(sentence.contains("the links between devices limit decode"), "{sentence}");
    assert!(below.contains("The links between devices take"), "{below}");
    assert!(!below.contains("Faster arithmetic"), "{below}");
    assert!(advised(line).starts_with(waits), "{}", advised(line));
}

#[test]
fn fixed_times_that_take_the_largest_share_are_named_everywhere() {
    let line = r#"{"hardware":"h100_sxm","model":"qwen3-0.6b","prompt":512,"new_tokens":128}"#;
    let [text, brief, sentence, below] = said(line);
    assert!(text.contains("Decode is launch-bound") && brief.contains("Decode is launch-bound"));
    assert!(sentence.contains("launching its operators limits decode"), "{sentence}");
    assert!(below.contains("fixed cost of kernels takes"), "{below}");
    assert!(advised(line).starts_with("Decode is launch-bound"), "{}", advised(line));
}

#[test]
fn faster_arithmetic_is_advised_where_decode_waits_for_it_alone() {
    for (weights, batch, helps) in [("int4_g128", 2048, true), ("fp16", 1, false)] {
        let line = format!(
            r#"{{"hardware":"h100_sxm","model":"llama-3.1-8b","weights":"{weights}","batch":{batch},"prompt":16}}"#
        );
        let [_, _, _, below] = said(&line);
        assert_eq!(below.contains("Faster arithmetic"), helps, "{below}");
    }
}
