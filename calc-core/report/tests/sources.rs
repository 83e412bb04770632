//! Conditions that sources of measurements state in some rows: a cached prefix, an inner chunk, streamed bytes, block-scaled FP8.

use calc_core::estimate::Estimate;
use calc_core::quant_format::ComputeClass;
use report::input::request::{AnalyzeInputs, EstimateInputs, Fields, Library};
use report::output::words::estimate_notes;

fn parsed(more: &str) -> EstimateInputs {
    let line = format!(
        r#"{{"hardware": "gb10", "model": "llama-3.1-8b", "batch": 1, "prompt": 512{more}}}"#
    );
    let fields = Fields::from_line(&line).expect("JSON");
    EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request")
}

fn estimate(more: &str) -> Estimate {
    parsed(more).estimate().expect("an answer")
}

#[test]
fn a_cached_prefix_is_read_and_moves_the_context() {
    let (plain, behind) = (estimate(""), estimate(r#", "cached_prefix": 4096"#));
    let read = |answer: &Estimate| answer.prefill.totals.cost.traffic.kv_cache.get();
    // 32 layers of 2 x 8 heads of 128 in 2 bytes for each token of the prefix.
    let prefix = 4096.0 * 32.0 * 2.0 * 8.0 * 128.0 * 2.0;
    assert!((read(&behind) - read(&plain) - prefix).abs() < 1.0);
    assert!(behind.ttft.time > plain.ttft.time);
    let asked = estimate(r#", "context": 4608"#);
    assert_eq!(behind.tpot, asked.tpot, "the decode step is behind both");
    assert_eq!(behind.memory.kv_cache, asked.memory.kv_cache);
    let [new, later] = [r#", "new_tokens": 3, "cached_prefix": 4096"#, r#", "new_tokens": 3"#];
    assert!(estimate(new).generation.time > estimate(later).generation.time);
}

#[test]
fn an_inner_chunk_has_no_head() {
    let (whole, inner) = (estimate(""), estimate(r#", "inner_chunk": true"#));
    let head = 128_256.0 * 4096.0;
    let less = whole.prefill.totals.cost.flops.get() - inner.prefill.totals.cost.flops.get();
    assert!((less - 2.0 * head).abs() < 1.0, "{less}");
    assert_eq!(whole.decode, inner.decode);
}

#[test]
fn a_decode_step_reads_the_streamed_bytes() {
    let answer = estimate(r#", "weights": "int8", "streamed_gb": 7.5"#);
    let read: f64 = answer
        .decode
        .operators
        .iter()
        .filter(|row| row.kind.key() != "embedding")
        .map(|row| row.totals.cost.traffic.weights.get())
        .sum();
    assert!((read / 7.5e9 - 1.0).abs() < 1e-12, "{read}");
    let both = r#"{"hardware": "gb10", "model": "llama-3.1-8b", "batch": 1, "prompt": 1, "streamed_gb": 7, "weight_gb": 8}"#;
    let refused = EstimateInputs::parse(Fields::from_line(both).expect("JSON"), &Library::CATALOGS);
    let said = refused.expect_err("one size").to_string();
    assert!(said.contains("weight_gb") && said.contains("streamed_gb"), "{said}");
}

#[test]
fn a_named_engine_fills_open_formats_with_a_note() {
    let inputs = parsed(r#", "weights": "gguf_q4_k", "engine": "llama.cpp""#);
    let answer = inputs.estimate().expect("an answer");
    let p = &answer.precision;
    let formats = (p.activations.key, p.embedding.key, p.lm_head.key);
    assert_eq!(formats, ("int8", "gguf_q4_k", "gguf_q6_k"));
    let notes = estimate_notes(&inputs, &answer).join("\n");
    assert!(
        notes
            .contains("as llama.cpp stores and computes it: activations int8, embedding gguf_q4_k, LM head gguf_q6_k"),
        "{notes}"
    );
}

#[test]
fn inputs_of_mxfp4_experts_are_those_of_the_engine_and_the_device() {
    let flag = "--moe-backend flashinfer_trtllm_afp8";
    for (device, engine, activations, note) in [
        ("b200", "vllm", "mxfp8", Some(flag)),
        ("gb10", "vllm", "mxfp8", Some("CUTLASS kernels")),
        ("rtx_5090", "vllm", "mxfp8", Some("CUTLASS kernels")),
        ("mi355x", "vllm", "bf16", None),
        ("b200", "sglang", "bf16", None),
        ("b200", "tensorrt-llm", "mxfp8", None),
    ] {
        let line =
            format!(r#"{{"hardware": "{device}", "model": "gpt-oss-20b", "engine": "{engine}"}}"#);
        let fields = Fields::from_line(&line).expect("JSON");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("an answer");
        let class = answer.precision.activations.class;
        let is_half = class.is_some_and(ComputeClass::is_carrier);
        let key = if is_half { "bf16" } else { answer.precision.activations.key };
        assert_eq!(key, activations, "{device} {engine}");
        let notes = estimate_notes(&inputs, &answer).join("\n");
        assert_eq!(notes.contains(flag), note == Some(flag), "{device} {engine}: {notes}");
        assert!(note.is_none_or(|note| notes.contains(note)), "{device} {engine}: {notes}");
    }
}

#[test]
fn a_named_engine_without_kernels_on_the_device_has_a_note() {
    for (device, engine, weights, note) in [
        ("mi300x", "vllm", "nvfp4", Some("vllm has no kernels for nvfp4 on this device")),
        ("v100_sxm2_32gb", "vllm", "awq", Some("on this device")),
        ("gb10", "vllm", "nvfp4", None),
        ("h100_sxm", "vllm", "awq", None),
        ("apple_m4", "llama.cpp", "q4_k_m", None),
        ("gb10", "vllm", "q4_k_m", Some("vllm has no kernels for gguf_q4_k")),
        ("apple_m4", "vllm", "bf16", Some("vllm has no build for this device")),
    ] {
        let line = format!(
            r#"{{"hardware": "{device}", "model": "llama-3.1-8b", "engine": "{engine}", "weights": "{weights}"}}"#
        );
        let fields = Fields::from_line(&line).expect("JSON");
        let inputs = EstimateInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.estimate().expect("an answer");
        let notes = estimate_notes(&inputs, &answer).join("\n");
        assert!(note.is_none() || !notes.contains("stores and computes"), "{device}: {notes}");
        let lacks = notes.contains("has no kernels for") || notes.contains("has no build");
        assert_eq!(lacks, note.is_some(), "{device} {weights}: {notes}");
        assert!(note.is_none_or(|note| notes.contains(note)), "{device} {weights}: {notes}");
    }
}

#[test]
fn block_scaled_fp8_can_be_chosen_and_waits_for_the_host() {
    let time = |weights: &str, engine: &str| {
        let line = format!(
            r#"{{"hardware": "h100_sxm", "m": 1, "n": 4096, "k": 4096, "weights": "{weights}",
                "activations": "{weights}", "engine": "{engine}"}}"#
        );
        let fields = Fields::from_line(&line).expect("JSON");
        let inputs = AnalyzeInputs::parse(fields, &Library::CATALOGS).expect("a request");
        let answer = inputs.analyze().expect("an answer");
        assert_eq!(answer.path.class.key(), "fp8");
        answer.expected.time.get() * 1e6
    };
    let (block, tensor) = (time("fp8_block128", "vllm"), time("fp8_e4m3", "vllm"));
    assert!(block > 2.0 * tensor, "vLLM launches them from the host: {block} and {tensor} µs");
    assert!(time("fp8_block128", "tensorrt-llm") < block);
}
