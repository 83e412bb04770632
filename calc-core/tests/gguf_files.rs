//! GGUF names mean the files that llama-quantize writes.

use calc_core::calibration::Calibration;
use calc_core::catalog;
use calc_core::estimate::{Estimate, EstimateRequest, estimate};
use calc_core::footprint::bits_per_weight;
use calc_core::op::OpKind;
use calc_core::precision::PrecisionChoice;
use calc_core::roofline::Roofs;
use calc_core::workload::Workload;

fn file(model: &str, weights: &str) -> Estimate {
    estimate(EstimateRequest {
        device: catalog::device("rtx_4090").expect("catalog key"),
        mode: None,
        memory_limit: None,
        model: &catalog::model(model).expect("catalog key").arch,
        precision: PrecisionChoice::weights(catalog::format(weights).expect("known")),
        workload: Workload::new(1, 512),
        weight_size: None,
        draft: None,
        engine: None,
        calibration: &Calibration::FITTED,
        host: None,
        cards: None,
    })
    .expect("an estimate")
}

/// Weights that a decode step reads [GB]; the embedding is only looked up.
fn streamed(answer: &Estimate) -> f64 {
    let rows = answer.decode.operators.iter().filter(|row| row.kind != OpKind::Embedding);
    rows.map(|row| row.totals.cost.traffic.weights.get()).sum::<f64>() / 1e9
}

/// All weights of a file with an LM head of its own [GB]: those on the card, and the embedding beside it.
fn stored(answer: &Estimate) -> f64 {
    (answer.memory.weights + answer.memory.tables_on_host).get() / 1e9
}

/// By hand from llama.cpp's rules: layers, embedding, LM head and 32-bit norms of Llama-3.1-8B [GB]. The sizes are those of
/// published files but for their metadata of some megabytes.
#[test]
fn sizes_and_streamed_bytes_are_those_of_the_files() {
    for (name, size, read) in [
        ("q2_k", 3.1713, 2.9979),
        ("q3_k_s", 3.6567, 3.4299),
        ("q3_k_m", 4.0111, 3.7843),
        ("q3_k_l", 4.3141, 4.0873),
        ("q4_0", 4.6534, 4.3568),
        ("q4_k_s", 4.6848, 4.3883),
        ("q4_k_m", 4.9129, 4.6163),
        ("q5_k_s", 5.5915, 5.2292),
        ("q5_k_m", 5.7252, 5.3629),
        ("q6_k", 6.5882, 6.1562),
        ("q8_0", 8.5329, 7.9737),
    ] {
        let answer = file("llama-3.1-8b", name);
        let weights = stored(&answer);
        assert!((weights - size).abs() < 1e-4, "{name}: {weights} GB, by hand {size}");
        assert!((streamed(&answer) - read).abs() < 1e-4, "{name}: {}", streamed(&answer));
    }
}

#[test]
fn the_embedding_is_in_the_format_of_the_layers_unless_it_is_the_lm_head() {
    for (model, name, formats) in [
        ("llama-3.1-8b", "q4_0", ["gguf_q4_0", "gguf_q6_k"]),
        ("llama-3.1-8b", "q4_k_m", ["gguf_q4_k", "gguf_q6_k"]),
        ("llama-3.1-8b", "q8_0", ["gguf_q8_0", "gguf_q8_0"]),
        // Tied: one matrix, in the format of the LM head.
        ("llama-3.2-3b", "q4_0", ["gguf_q6_k", "gguf_q6_k"]),
        // 2880 inputs are 11.25 blocks of 256.
        ("gpt-oss-20b", "q4_k_m", ["gguf_q5_0", "gguf_q8_0"]),
    ] {
        let precision = file(model, name).precision;
        let found = [precision.embedding.key, precision.lm_head.key];
        assert_eq!(found, formats, "{model} {name}");
    }
}

#[test]
fn a_mixture_follows_the_layers_of_the_model() {
    // tools/quantize/README.md rounds to 43.1 GB; 80 layers with shared heads have attn_v in Q5_K and Q6_K.
    let model = &catalog::model("llama-3.1-70b").expect("catalog key").arch;
    let answer = file("llama-3.1-70b", "q4_k_m");
    assert!((stored(&answer) / 43.1 - 1.0).abs() < 0.02, "{:?}", answer.memory);
    assert!((bits_per_weight(model, &answer.precision) - 4.82).abs() < 0.01);
    // Mixtral's attention is in Q8_0, because it has eight experts.
    let answer = file("mixtral-8x7b", "q4_k_m");
    let kept = |kind| answer.precision.mixture.ratio(kind);
    assert!(kept(OpKind::Qkv) > 1.2 && kept(OpKind::OProj) > 1.2, "{:?}", answer.precision);
    assert_eq!(kept(OpKind::ExpertGateUp).to_bits(), 1.0_f64.to_bits());
}

#[test]
fn up_projections_of_latent_attention_take_the_bytes_of_their_rows() {
    // Keys are stored with 128 inputs each, which no block of 256 divides, so the file has them in a wider format.
    let model = &catalog::model("deepseek-v3").expect("catalog key").arch;
    let roofs = Roofs::new(catalog::device("h100_sxm").expect("catalog key"), None).expect("roofs");
    let weights = catalog::format("q4_k_m").expect("known");
    let mixture = PrecisionChoice::weights(weights).resolve_model(model, &roofs).mixture;
    for (kind, ratio) in [(OpKind::WUk, 5.5 / 4.5), (OpKind::WUv, 1.0), (OpKind::KvB, 10.0 / 9.0)] {
        assert!(
            (mixture.ratio(kind) / ratio - 1.0).abs() < 1e-9,
            "{kind:?}: {}",
            mixture.ratio(kind)
        );
    }
}

/// Queries, keys and values are one tensor with a format of its own. The published Phi-3-mini-4k-instruct-q5_k_m.gguf has
/// 2 815 274 944 bytes, 0.7 MB of them vocabulary; with three tensors it came out at 2.73 GB.
#[test]
fn one_tensor_of_queries_keys_and_values_has_a_format_of_its_own() {
    for (model, name, size) in [
        ("phi-3-mini-4k", "q3_k_m", 1.9548),
        ("phi-3-mini-4k", "q4_k_m", 2.3925),
        ("phi-3-mini-4k", "q5_k_m", 2.8145),
    ] {
        let weights = stored(&file(model, name));
        assert!((weights - size).abs() < 2e-4, "{model} {name}: {weights} GB, by hand {size}");
    }
}
