//! Weights of the stages of a pipeline where the layers of a file have different formats: never less than the fullest stage has.

use calc_core::calibration::Engine;
use calc_core::parallel::stage_layers;
use report::input::request::{EstimateInputs, Fields, Files, Library};
use report::output::words::estimate_notes;
use serde_json::json;

/// Weights of attention and MLP in a layer of Llama-3.1-8B, its two norms, and one of its tables.
const ATTENTION: f64 = 4096.0 * (2.0 * 4096.0 + 2.0 * 1024.0);
const MLP: f64 = 3.0 * 4096.0 * 14_336.0;
const NORMS: f64 = 2.0 * 4096.0;
const TABLE: f64 = 128_256.0 * 4096.0;
/// Bits per weight of the quantized matrices, and of the others.
const QUANTIZED: f64 = 4.5;
const KEPT: f64 = 16.0;

/// Weights of the fullest device of a pipeline [GB], with these modules kept in 16 bits; and whether they are said to be a bound.
fn weights_gb(kept: &[String], stages: u64) -> (f64, bool) {
    weights_on((kept, 8), (stages, 1))
}

/// [`weights_gb`] with `kv_heads` heads of keys and values, on `tensor` devices per stage that share each layer.
fn weights_on((kept, kv_heads): (&[String], u64), (stages, tensor): (u64, u64)) -> (f64, bool) {
    let config = json!({
        "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4096,
        "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": kv_heads,
        "intermediate_size": 14_336, "vocab_size": 128_256, "tie_word_embeddings": false,
        "max_position_embeddings": 131_072, "torch_dtype": "bfloat16",
        "quantization_config": {
            "quant_method": "bitsandbytes", "load_in_4bit": true, "llm_int8_skip_modules": kept
        }
    })
    .to_string();
    let read = |_: &str| Ok(config.clone());
    let files = Files::new(&read);
    let (stages, tensor) = (stages.to_string(), tensor.to_string());
    let fields = Fields::from_texts([
        ("hardware", "h100"),
        ("model", "config.json"),
        ("engine", "vllm"),
        ("pipeline_parallel", stages.as_str()),
        ("tensor_parallel", tensor.as_str()),
    ]);
    let inputs = EstimateInputs::parse(fields, &Library::with_files(&files)).expect("a request");
    let answer = inputs.estimate().expect("an estimate");
    let is_said = estimate_notes(&inputs, &answer).iter().any(|note| note.contains("it can have"));
    (answer.memory.weights.get() / 1e9, is_said)
}

/// Weights of the fullest device [GB], summed layer by layer; the layers in `kept` are in 16 bits.
fn by_hand(kept: &[u64], stages: u64) -> f64 {
    let mut start = 0;
    let counts = stage_layers(Engine::Vllm, 32, stages);
    let last = counts.len() - 1;
    let bits = counts.iter().enumerate().map(|(index, count)| {
        let layers = start..start + count;
        start += count;
        let layer = |layer| if kept.contains(&layer) { KEPT } else { QUANTIZED };
        let matrices: f64 = layers.map(|index| layer(index) * (ATTENTION + MLP)).sum();
        let table = if index == 0 || index == last { TABLE } else { 0.0 };
        let norms = NORMS * *count as f64 + if index == last { 4096.0 } else { 0.0 };
        matrices + KEPT * (table + norms)
    });
    bits.fold(0.0, f64::max) / 8e9
}

#[test]
fn layers_that_are_kept_count_where_they_are_most() {
    for stages in 2..=8 {
        for kept in [vec![0], vec![31], vec![0, 31], vec![5, 6, 7], (0..32).step_by(2).collect()] {
            let names: Vec<String> = kept.iter().map(|i| format!("model.layers.{i}")).collect();
            let ((found, is_said), least) = (weights_gb(&names, stages), by_hand(&kept, stages));
            assert!(is_said);
            assert!(found >= least * (1.0 - 1e-9), "{stages} {kept:?}: {found} {least}");
        }
        // A single layer in 16 bits lies in one stage: the first, which is among the fullest.
        let (found, _) = weights_gb(&["model.layers.0".into()], stages);
        let exact = by_hand(&[0], stages);
        assert!(found <= exact * 1.02, "{stages}: {found} {exact}");
    }
}

#[test]
fn what_all_layers_keep_is_divided_evenly() {
    let names: Vec<String> = (0..32).map(|i| format!("model.layers.{i}.self_attn")).collect();
    let layer = KEPT * (ATTENTION + NORMS) + QUANTIZED * MLP;
    let exact = (8.0 * layer + KEPT * TABLE) / 8e9;
    let (found, is_said) = weights_gb(&names, 4);
    assert!(!is_said);
    assert!((found / exact - 1.0).abs() < 1e-4, "{found} {exact}");
}

#[test]
fn keys_and_values_that_devices_repeat_count_whole() {
    for (kv_heads, layers, tensor, stages) in
        [(1, 32, 8, 1), (1, 8, 8, 4), (8, 32, 16, 1), (8, 32, 16, 4)]
    {
        let kept = (0..layers).flat_map(|i| {
            ["k_proj", "v_proj"].map(|name| format!("model.layers.{i}.self_attn.{name}"))
        });
        let kept: Vec<String> = kept.collect();
        let (found, _) = weights_on((&kept, kv_heads), (stages, tensor));
        let (plain, _) = weights_on((&[], kv_heads), (stages, tensor));
        // One head of keys and one of values, 128 wide, on each device and in each kept layer of the fullest stage.
        let more = (layers.min(32 / stages) * 2 * 128 * 4096) as f64 * (KEPT - QUANTIZED) / 8e9;
        assert!(
            found - plain >= more * (1.0 - 1e-9),
            "{kv_heads} {tensor} {stages}: {found} {plain} {more}"
        );
        assert!(
            found - plain <= more * 1.01,
            "{kv_heads} {tensor} {stages}: {found} {plain} {more}"
        );
    }
}
