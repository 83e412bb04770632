//! Tests: an address that `report` writes for a request of the command line opens the page with that very request.

use calc_core::recommend::Recommendation;
use report::input::request::{
    AnalyzeInputs, CheckInputs, EstimateInputs, Fields, Library, RecommendInputs, ScenariosInputs,
};
use report::output::address::{self, PageAddress};

use super::{read, scenario, write};
use crate::state::advice::question::with_model;
use crate::state::check::{Judged, judge};
use crate::state::inputs::{Inputs, View};
use crate::state::model::question::ModelQuestion;
use crate::state::plan::shown_inputs;

fn fields(line: &str) -> Fields {
    Fields::from_line(line).expect("JSON")
}

/// The inputs that the page reads from an address, in the form that the page itself writes.
fn opened(address: &PageAddress) -> Inputs {
    let (inputs, notes) = read(&address.query);
    assert!(notes.is_empty(), "{}: {notes:?}", address.query);
    assert_eq!(read(&write(&inputs)).0, inputs, "{}", address.query);
    inputs
}

fn estimate(line: &str) -> EstimateInputs {
    EstimateInputs::parse(fields(line), &Library::CATALOGS).expect("a request")
}

#[test]
fn an_estimate_opens_as_the_same_request() {
    for line in [
        r#"{"hardware":"h100","model":"llama-3.1-8b"}"#,
        r#"{"hardware":"jetson_orin_nano_8gb_super","power_mode":"15W","model":"llama-3.1-8b","weights":"int4_g128","context":4096}"#,
        r#"{"hardware":"h100","model":"deepseek-v3","weights":"fp8_e4m3","experts":"int4_g128","activations":"fp8_e4m3","kv":"fp8_e4m3","embedding":"bf16","batch":8,"prompt":2048,"new_tokens":64,"tensor_parallel":8,"engine":"vllm"}"#,
        r#"{"hardware":"rtx_4090","model":"gpt-oss-20b","batch":4}"#,
        r#"{"hardware":"rtx_4090","model":"gpt-oss-20b","weights":"bf16"}"#,
        r#"{"hardware":"rtx_4090","model":"llama-3.1-8b","weights":"q4_k_m","weight_bits":4.83,"memory_limit_gb":20}"#,
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":512}"#,
        r#"{"hardware":"rtx_3090","host":"ryzen 9 7950x","host_memory_gb":64,"host_link":"pcie_3_x16","ssd_gb_s":7,"reserve_gb":"desktop","model":"qwen3-235b-a22b","weights":"q3_k_m"}"#,
        r#"{"hardware":"gb10","reserve_gb":4,"model":"gemma-4-26b-a4b","image":"2x1024x768","image_tokens":256,"prompt":900}"#,
        r#"{"hardware":"gb10","memory_limit_gb":100,"model":"gemma-4-26b-a4b","language_model_only":true}"#,
        r#"{"hardware":"rtx_4090","model":"llama-3.1-8b","draft_tokens":3,"acceptance":0.6,"draft_model":"llama-3.2-1b"}"#,
        r#"{"hardware":"rtx_4090","model":"hugging-quants/Meta-Llama-3.1-8B-Instruct-AWQ-INT4","kv":"fp8_e4m3"}"#,
    ] {
        let asked = estimate(line);
        let address = address::estimate(&asked).expect("of the catalogs");
        assert!(address.lacks.is_empty(), "{line}: {:?}", address.lacks);
        let inputs = opened(&address);
        assert_eq!(inputs.view, View::Model);
        let question = ModelQuestion::read(&inputs.model, inputs.place()).expect("valid");
        let request = question.request(question.workload);
        assert_eq!(
            format!("{request:?}"),
            format!("{:?}", asked.request().expect("valid")),
            "{line}"
        );
    }
}

#[test]
fn what_the_page_does_not_have_is_named() {
    let line = r#"{"hardware":"m4_max","memory_gb":64,"model":"llama-3.1-8b","static_batch":true,"cached_prefix":8,"streamed_gb":5}"#;
    let address = address::estimate(&estimate(line)).expect("of the catalogs");
    assert_eq!(address.lacks, ["memory_gb", "streamed_gb", "cached_prefix", "static_batch"]);
    opened(&address);
}

#[test]
fn a_recommendation_opens_with_the_same_ranking() {
    let keys = |found: &Recommendation| -> Vec<&'static str> {
        found.ranked.iter().map(|row| row.scheme.key).collect()
    };
    for line in [
        r#"{"hardware":"h100","model":"llama-3.1-70b","prompt":4096,"new_tokens":128}"#,
        r#"{"hardware":"gb10","model":"qwen3-30b-a3b","objective":"energy","max_quality_loss":20,"max_tpot_ms":33.3,"max_ttft_ms":900}"#,
        r#"{"hardware":"rtx 4090 with 96 GB of DDR5","model":"gpt-oss-120b","prompt":4096,"new_tokens":128}"#,
        r#"{"hardware":"gb10","model":"gemma-4-26b-a4b","image":"1024x768","new_tokens":128}"#,
        r#"{"hardware":"rtx_4090","model":"llama-3.1-8b","phase":"prefill","min_tokens_per_s":30,"weights":"int4_g128","kv":"fp8_e4m3"}"#,
    ] {
        let asked = RecommendInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
        let inputs = opened(&address::recommend(&asked).expect("of the catalogs"));
        assert_eq!(inputs.view, View::Plan);
        let page = with_model(&inputs, |request| {
            calc_core::recommend::recommend(request).map(|found| keys(&found))
        });
        let told = asked.recommend().expect("valid");
        assert_eq!(page.expect("readable").expect("valid"), keys(&told), "{line}");
    }
}

#[test]
fn a_claim_opens_with_the_same_judgment() {
    for line in [
        r#"{"hardware":"h100","model":"llama-3.1-8b","weights":"bf16","tokens_per_s":500}"#,
        r#"{"hardware":"h100","model":"llama-3.1-8b","weights":"bf16","batch":8,"tokens_per_s":50,"per_user":true}"#,
        r#"{"hardware":"gb10","model":"llama-3.1-8b","weights":"fp8_e4m3","prompt":2048,"new_tokens":256,"seconds":9}"#,
        r#"{"hardware":"jetson_orin_nano_8gb_super","m":1,"n":4096,"k":4096,"weights":"int4_g128","time_us":60}"#,
    ] {
        let asked = CheckInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
        let address = address::check(&asked).expect("on the page");
        assert!(address.lacks.is_empty(), "{line}: {:?}", address.lacks);
        let Some(Judged::Answer(page)) = judge(&opened(&address)) else { panic!("{line}") };
        let told = asked.check().expect("valid");
        assert_eq!(page.sentence, report::output::words::check::sentence(&told), "{line}");
    }
}

#[test]
fn an_operator_opens_as_the_same_operator() {
    for line in [
        r#"{"hardware":"t4","m":8,"n":1024,"k":2048,"weights":"int8","activations":"int8"}"#,
        r#"{"hardware":"h100","op":"attention","heads":32,"kv_heads":8,"head_dim":128,"new":2,"cached":900,"batch":3,"kv":"fp8_e4m3","unfused":true}"#,
        r#"{"hardware":"h100","op":"ffn","tokens":4,"hidden":4096,"width":11008,"weights":"fp8_e4m3","plain":true}"#,
        r#"{"hardware":"h100","op":"moe","tokens":4,"hidden":2048,"width":768,"n_experts":128,"per_token":8,"weights":"bf16"}"#,
        r#"{"hardware":"h100","op":"norm","tokens":4,"hidden":4096}"#,
    ] {
        let asked = AnalyzeInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
        let address = address::operator(&asked).expect("on the page");
        assert!(address.lacks.is_empty(), "{line}: {:?}", address.lacks);
        let inputs = opened(&address);
        assert_eq!(inputs.view, View::Kernel);
        assert_eq!(inputs.operator(), Ok(asked.operator), "{line}");
        let page = calc_core::analysis::analyze(&calc_core::analysis::AnalyzeRequest {
            precision: inputs.precision(inputs.format()),
            ..asked.request().expect("valid")
        });
        assert_eq!(page.expect("valid"), asked.analyze().expect("valid"), "{line}");
    }
}

#[test]
fn the_columns_of_a_comparison_show_its_numbers() {
    let line = r#"{"model":"llama-3.1-8b","batch":4,"new_tokens":64,"scenarios":[{"hardware":"h100","weights":"fp8"},{"hardware":"rtx_4090","weights":"q4_k_m"},{"hardware":"gb10"}]}"#;
    let asked = ScenariosInputs::parse(fields(line), &Library::CATALOGS).expect("a request");
    let asked = asked.answers().expect("valid");
    let columns: Vec<_> = asked.iter().map(|row| (&row.inputs, row.scheme)).collect();
    let address = address::compare(&columns).expect("of the catalogs");
    assert!(address.lacks.is_empty(), "{:?}", address.lacks);
    let inputs = opened(&address);
    assert_eq!((inputs.view, inputs.pins.list.len()), (View::Compare, asked.len()));
    for (pin, asked) in inputs.pins.list.iter().zip(&asked) {
        let column = scenario(pin, &[]).expect("readable");
        let (taken, shown) = shown_inputs(&column);
        assert_eq!(shown, asked.scheme, "{pin}");
        let question = ModelQuestion::read(&taken.model, taken.place()).expect("valid");
        assert_eq!(question.estimate().expect("valid").mean, asked.answer.mean, "{pin}");
    }
}
