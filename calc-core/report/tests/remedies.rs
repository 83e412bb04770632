//! Changes after which a model fits: what a request with their fields answers, and what is said of them.

use report::input::request::{EstimateInputs, Fields, Library, RecommendInputs, remedies};
use report::output::json::recommend::pretty;
use report::output::summary;
use report::output::words::remedies::{Asked, what_would_fit};
use report::output::words::split_notes;

fn parsed(line: &str) -> Result<EstimateInputs, String> {
    let fields = Fields::from_line(line).expect("JSON");
    EstimateInputs::parse(fields, &Library::CATALOGS).map_err(|error| error.to_string())
}

fn inputs(line: &str) -> EstimateInputs {
    parsed(line).unwrap_or_else(|error| panic!("{line}: {error}"))
}

/// Words on the host, and the options of llama.cpp.
#[test]
fn a_model_that_does_not_fit_says_what_would() {
    let line = r#"{"hardware":"rtx_4090","model":"llama-3.1-70b","prompt":4096,"new_tokens":256}"#;
    let asked = inputs(line);
    let answer = asked.estimate().expect("an estimate");
    let found = remedies(&asked, &answer);
    let keys: Vec<&str> = found.iter().map(|remedy| remedy.fields[0].0).collect();
    assert_eq!(keys, ["host", "tensor_parallel"], "no format and no context fits 70B on 24 GB");
    let long = r#"{"hardware":"rtx_4090","model":"qwen3-8b","prompt":"120k"}"#;
    let (asked, shorter) = (inputs(long), inputs(&long.replace("120k", "4k")));
    let found = remedies(&asked, &asked.estimate().expect("an estimate"));
    let keys: Vec<&str> = found.iter().map(|remedy| remedy.fields[0].0).collect();
    assert_eq!(keys, ["host", "weights", "prompt", "tensor_parallel"]);
    assert!(remedies(&shorter, &shorter.estimate().expect("an estimate")).is_empty());
}

#[test]
fn a_request_with_the_fields_of_a_remedy_is_the_promised_one() {
    let cards = [
        "rtx_3090",
        "rtx_4090 + 16 GB DDR4",
        "h100",
        "arc_b580",
        "gb10",
        "tpu_v6e",
        "2 x rtx_3090",
    ];
    let models = ["llama-3.1-70b", "gpt-oss-120b", "qwen3.5-27b", "llama-3.1-8b"];
    let options = [
        "",
        r#","reserve_gb":12"#,
        r#","prompt":100000,"image":"8x1024x1024","weights":"q4_k_m""#,
        r#","weights":"q8_0","weight_gb":200,"kv":"q8_0""#,
        r#","engine":"vllm""#,
        r#","engine":"llama.cpp","batch":4,"prompt":30000,"new_tokens":500"#,
        r#","prompt":1000,"cached_prefix":120000,"weights":"q3_k_m""#,
    ];
    let mut found = std::collections::BTreeMap::new();
    for (card, model) in cards.iter().flat_map(|card| models.map(|model| (card, model))) {
        for option in options {
            let line = format!(r#"{{"hardware":"{card}","model":"{model}"{option}}}"#);
            let Ok(asked) = parsed(&line) else { continue };
            let Ok(answer) = asked.estimate() else { continue };
            for remedy in remedies(&asked, &answer) {
                let set = remedy.fields.iter().map(|(key, value)| ((*key).into(), value.clone()));
                let changed = Fields::from_line(&line).expect("JSON").overlaid(set.collect());
                let again = EstimateInputs::parse(changed, &Library::CATALOGS);
                let again = again.unwrap_or_else(|error| panic!("{line}: {error}"));
                let got = again.estimate().expect("an estimate");
                let case = format!("{line} with {:?}", remedy.fields);
                assert!(got.memory.verdict().may_fit(), "{case}");
                assert_eq!(
                    (got.tpot, got.ttft),
                    (remedy.answer.tpot, remedy.answer.ttft),
                    "{case}"
                );
                assert_eq!(got.placement, remedy.answer.placement, "{case}");
                assert!(again.served(&got).is_ok(), "{case}");
                *found.entry(remedy.fields[0].0).or_insert(0) += 1;
            }
        }
    }
    let kinds: Vec<&str> = found.keys().copied().collect();
    let all = ["hardware", "host", "prompt", "tensor_parallel", "weights"];
    assert_eq!(kinds, all, "{found:?}");
    assert!(found.values().all(|count| *count > 2), "{found:?}");
}

#[test]
fn a_remedy_says_all_that_changes() {
    let fields_of = |line: &str, kind: &str| {
        let asked = inputs(line);
        let all = remedies(&asked, &asked.estimate().expect("an estimate"));
        let found = all.iter().find(|remedy| remedy.fields[0].0 == kind);
        found.unwrap_or_else(|| panic!("{line}: no {kind}")).fields.clone()
    };
    // Text and images share the context; the field is about the text.
    let line = r#"{"hardware":"rtx_3090","model":"qwen3.5-27b","weights":"q4_k_m","prompt":"128k","image":"8x1024x1024"}"#;
    let fields = fields_of(line, "prompt");
    let number = |place: usize| fields[place].1.as_u64().expect("a number");
    let images = inputs(line).workload.images.expect("images").tokens();
    assert!(number(0) + images <= number(1), "{fields:?}");
    let line = r#"{"hardware":"rtx_3090","model":"qwen3.5-27b","weights":"q8_0","weight_gb":29}"#;
    assert!(fields_of(line, "weights")[1].1.is_null(), "the stated size is that of Q8_0");
    let line =
        r#"{"hardware":"h100","model":"nemotron-3-super-120b-a12b","prompt":"8k","engine":"vllm"}"#;
    assert_eq!(fields_of(line, "weights")[0].1, "int4_g128");
}

#[test]
fn a_model_that_fits_without_its_towers_says_so() {
    let line = r#"{"hardware":"rtx_4090","model":"gemma-3-12b","new_tokens":16"#;
    let whole = inputs(&format!("{line}}}")).estimate().expect("an estimate");
    let towers = inputs(&format!("{line}}}")).model.arch.tower_bytes();
    // Half of the towers is missing.
    let usable = (whole.memory.total().get() - 0.5 * towers.get()) / 1e9;
    let limited = format!(r#"{line},"memory_limit_gb":{usable}"#);
    let asked = inputs(&format!("{limited}}}"));
    let found = remedies(&asked, &asked.estimate().expect("an estimate"));
    let said = what_would_fit(&asked, &asked.estimate().expect("an estimate"), Asked::Flags);
    assert_eq!(found[0].fields, [("language_model_only", true.into())]);
    assert!(said[0].contains("with --language-model-only:"), "{}", said[0]);
    // An image needs its tower.
    let pictured = inputs(&format!(r#"{limited},"image":"896x896"}}"#));
    let found = remedies(&pictured, &pictured.estimate().expect("an estimate"));
    assert!(found.iter().all(|remedy| remedy.fields[0].0 != "language_model_only"));
    // Among memories whose steps are less than the towers, one has room for 16 bits but not for the towers.
    let ranked_from = |end: &str, mut memories: core::ops::Range<u32>| {
        let says = "of towers for images or sound more schemes would fit: ";
        memories.any(|memory| {
            let line = format!(r#"{line},"memory_gb":{}{end}"#, 0.4 * f64::from(memory));
            let fields = Fields::from_line(&line).expect("JSON");
            let asked = RecommendInputs::parse(fields, &Library::CATALOGS).expect("valid");
            pretty(&asked).contains(says)
        })
    };
    let ranked = |end: &str| ranked_from(end, 54..62);
    assert!(ranked("}"));
    assert!(!ranked(r#","language_model_only":true}"#));
    // So does a pipeline whose engine the request leaves open.
    assert!(ranked_from(r#","pipeline_parallel":2,"link":"pcie_4_x16"}"#, 14..40));
}

#[test]
fn a_split_by_tensors_and_stages_says_whose_each_number_is() {
    let of = |tensor: u64, stages: u64| {
        let line = format!(
            r#"{{"hardware":"h100_sxm","model":"llama-3.1-70b","tensor_parallel":{tensor},"pipeline_parallel":{stages}}}"#
        );
        split_notes(&inputs(&line).workload.parallel)
    };
    assert!(of(1, 1).is_empty());
    assert!(of(2, 1)[0].contains("are per device, 2 devices"), "{:?}", of(2, 1));
    assert!(of(1, 2)[0].contains("fullest of 2 stages; work, time and energy are those of all"));
    let both = of(2, 4);
    let says = "memory is that of one device of the fullest of 4 stages; work and traffic are those of one device of each stage, \
                added up; time, energy and power are those of all 8 devices";
    assert_eq!(both, [says]);
}

#[test]
fn a_shorter_prompt_keeps_its_images() {
    let line = r#"{"hardware":"a100_40gb_sxm","model":"gemma-3-12b","weights":"bf16","image":"1024x768","prompt":100000,"batch":4}"#;
    let asked = inputs(line);
    let answer = asked.estimate().expect("valid");
    let found = remedies(&asked, &answer);
    let shorter = found.iter().find(|remedy| remedy.fields[0].0 == "prompt");
    let shorter = shorter.unwrap_or_else(|| panic!("a shorter prompt fits: {found:?}"));
    let text = shorter.fields[0].1.as_u64().expect("a count");
    let images = asked.workload.images.expect("images").tokens();
    assert!(text > 0 && images > 0);
    let mut fields = Fields::from_line(line).expect("JSON");
    fields.replace_text("prompt", &text.to_string());
    fields.replace_text("new_tokens", "1");
    let changed = EstimateInputs::parse(fields, &Library::CATALOGS).expect("valid");
    let needs = changed.estimate().expect("valid").memory.total();
    assert!((needs / shorter.answer.memory.total() - 1.0).abs() < 1e-3, "{text} tokens of text");
}

#[test]
fn what_would_fit_stands_below_the_verdict_in_the_words_of_the_reader() {
    let line = r#"{"hardware":"rtx_4090","model":"gpt-oss-120b","prompt":512,"new_tokens":128}"#;
    let asked = inputs(line);
    let text = summary::estimate(&asked, &asked.estimate().expect("an estimate")).to_text();
    let lines: Vec<&str> = text.lines().skip(1).take(2).collect();
    assert!(lines[0].starts_with("Does not fit"), "{text}");
    assert!(lines[1].starts_with("It fits with --host ddr5 --host-memory-gb 64: "), "{text}");

    let fields = Fields::from_line(line).expect("JSON");
    let inputs = RecommendInputs::parse(fields, &Library::CATALOGS).expect("a request");
    let (request, answer) = (inputs.request().expect("valid"), inputs.recommend().expect("valid"));
    let text = summary::recommendation(&inputs, &request, &answer, &[]).to_text();
    assert!(text.contains("\nWith --host ddr5 --host-memory-gb 64: as published, "), "{text}");
    assert!(!text.contains("Ranked by"), "{text}");
    let told = report::output::brief::recommend(&inputs, &answer, Vec::new()).text();
    assert!(told.contains("\nWith host ddr5, host_memory_gb 64: as published, "), "{told}");
}

#[test]
fn devices_without_a_published_link_are_not_offered_together() {
    for (device, offers) in [("jetson_orin_nano_8gb_super", false), ("h100", true)] {
        let asked = inputs(&format!(r#"{{"hardware":"{device}","model":"llama-3.1-70b"}}"#));
        let found = remedies(&asked, &asked.estimate().expect("an estimate"));
        let has = found.iter().any(|remedy| remedy.fields[0].0 == "tensor_parallel");
        assert_eq!(has, offers, "{device}");
    }
    let none = inputs(r#"{"hardware":"m4_max","model":"llama-3.1-405b"}"#);
    let said = what_would_fit(&none, &none.estimate().expect("an estimate"), Asked::Flags);
    assert!(said[0].starts_with("No change tried here makes it fit"), "{said:?}");
}
