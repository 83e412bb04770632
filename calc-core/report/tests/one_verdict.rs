//! Limit of decode: every surface says the same of the same request.

use calc_core::catalog;
use calc_core::recommend::{Axis, Change};
use report::input::request::{EstimateInputs, Fields, Library, RecommendInputs};
use report::output::verdict::model as view;
use report::output::words::advice;
use report::output::{brief, json, summary};

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
    for said in [&text, &brief] {
        assert!(
            said.contains("Decode waits for launches of kernels, 80\u{202f}% of its time"),
            "{said}"
        );
        assert!(!said.contains("launch-bound"), "{said}");
    }
    assert!(sentence.contains("launching its operators limits decode"), "{sentence}");
    assert!(below.contains("fixed cost of kernels takes"), "{below}");
    assert!(
        advised(line).starts_with("Decode waits for launches of kernels: they take "),
        "{}",
        advised(line)
    );
}

#[test]
fn a_limit_that_the_roof_does_not_have_is_told_with_that_of_the_roof() {
    let of = |batch: u32| {
        said(&format!(
            r#"{{"hardware":"h100_sxm","model":"llama-3.1-8b","weights":"int4_g128","batch":{batch},"prompt":128}}"#
        ))
    };
    let [text, brief, sentence, _] = of(64);
    let headline = "Decode is compute-bound as kernels run, and memory-bound at the roof: ";
    assert!(text.contains(headline) && brief.contains(headline), "{text}\n{brief}");
    let sees = "arithmetic limits decode as kernels run, and memory-bound at the roof: ";
    assert!(sentence.contains(sees), "{sentence}");
    let rows =
        text.lines().filter(|line| line.starts_with("bound") || line.contains("of expected time"));
    let rows: Vec<&str> = rows.collect();
    assert!(rows[0].ends_with("memory") && rows[1].ends_with("compute"), "{rows:?}");
    let [text, brief, sentence, _] = of(1);
    for said in [text, brief, sentence] {
        assert!(!said.contains("as kernels run"), "{said}");
    }
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

#[test]
fn the_prompt_that_would_flip_an_order_is_that_of_the_request() {
    // The image is 8 of the tokens of this prompt, and no request can ask for fewer.
    let line = r#"{"hardware":"a100_80gb_sxm","model":"qwen2.5-vl-7b","prompt":512,"image":"1x64x64","image_tokens":8,"phase":"prefill"}"#;
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect(line);
    let answer = inputs.recommend().expect(line);
    let first = &answer.ranked[0];
    let said: Vec<String> = first.flips.iter().map(advice::flip).collect();
    let (when, value) = first
        .flips
        .iter()
        .find_map(|flip| match flip.when {
            Change::From(Axis::Text, value) | Change::DownFrom(Axis::Text, value) => {
                Some((flip, value))
            }
            _ => None,
        })
        .unwrap_or_else(|| panic!("{said:?}"));
    assert!(advice::flip(when).starts_with("Prompt without images "), "{said:?}");
    let moved = line.replace("512", &value.to_string());
    let fields = Fields::from_line(&moved).expect("JSON");
    let moved = RecommendInputs::parse(fields, &Library::CATALOGS).expect(line);
    let then = moved.recommend().expect(line).ranked[0].scheme.key;
    assert_eq!(Some(then), when.to.map(|scheme| scheme.key), "{said:?}");
}

#[test]
fn an_operator_of_the_host_is_bound_by_its_memory_or_its_link() {
    let line = r#"{"hardware":"rtx_4090","host":"96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":128}"#;
    let fields = Fields::from_line(line).expect("JSON");
    let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect(line);
    let answer = inputs.estimate().expect(line);
    let text = summary::estimate(&inputs, &answer).to_text();
    let decode = text.split("Operators of decode").nth(1).expect("a table");
    let row = |name: &str| decode.lines().find(|line| line.starts_with(name)).expect(name);
    assert!(row("expert_gate_up").ends_with("  host memory"), "{decode}");
    assert!(row("expert_down").ends_with("  host memory"), "{decode}");
    assert!(row("qkv").ends_with("  memory"), "{decode}");
    // A prompt of 4,096 tokens copies the experts of the host to the card.
    let prefill = text.split("Operators of prefill").nth(1).expect("a table");
    let copied = prefill.lines().find(|line| line.starts_with("expert_down")).expect("a row");
    assert!(copied.ends_with("  host link"), "{prefill}");
    // The published word stays.
    let json =
        serde_json::to_value(json::estimate::EstimateJson::new(&inputs, &answer)).expect("JSON");
    let operators = json["decode"]["operators"].as_array().expect("operators");
    let down = operators.iter().find(|row| row["name"] == "expert_down").expect("a row");
    assert_eq!(down["bound"], "memory");
}

#[test]
fn the_copies_of_a_prompt_are_those_that_the_model_counts() {
    let line = r#"{"hardware":"rtx_4090","host":"96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":128}"#;
    let [text, ..] = said(line);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let copied = "every step of a prompt copies weights to the card again: 75 % of the experts that its tokens would read if each chose at random;";
    assert!(text.contains(copied), "{text}");
    // Both rates of the link, where a device and where its host is shown.
    let rates = "31.5 GB/s per direction by line rate (derived), 25.0 GB/s in practice (assumed)";
    assert!(text.contains(&format!("PCIe 4.0 x16 with {rates}")), "{text}");
    let device = summary::device(catalog::device("rtx_4090").expect("a key")).to_text();
    let device = device.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(device.contains(&format!("PCIe 4.0 x16: {rates}")), "{device}");
    // A rate of the user's own says nothing of a line.
    let own = r#"{"hardware":"rtx_4090","link":"25","tensor_parallel":2,"model":"llama-3.1-8b"}"#;
    assert!(!said(own)[0].contains("line rate"));
}
